#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Dumps and reports asked for on the screen of a live console: a kernel trace goes round and round through a real
# relay daemon meanwhile. What is written is whole, and of the window; the analysis goes on even while
# the writing process stands still; a full disk is told, and nothing is left on it, nor after `q`.
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces/kernel-6.2-2cpu" ] || ! command -v tmux >/dev/null; then
	echo "skipped: no recorded traces in $traces, or no tmux"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
export LC_ALL=C.UTF-8

tmux=(tmux -L "pt-dump-live-$$" -f /dev/null)
end_all() {
	local status=$?
	"${tmux[@]}" kill-server 2>/dev/null
	! mountpoint -q "$work/small" || umount -l "$work/small" # somebody may still write there
	(exit $status)
	finish
}
trap end_all EXIT

screen() { "${tmux[@]}" capture-pane -p; }
command_line() { "${tmux[@]}" send-keys ":$1" Enter; }

shows() { # PATTERN [TENTHS OF A SECOND]
	local i
	for ((i = 0; i < ${2:-100}; i++)); do
		! screen | grep -qE -- "$1" || return 0
		sleep 0.1
	done
	fail "the screen does not show: $1
$(screen)"
}

analysed() {
	rm -f "$work/now.json"
	command_line "export json $work/now.json"
	for _ in $(seq 50); do
		[ -s "$work/now.json" ] && break
		sleep 0.1
	done
	grep -o '"in":[0-9]*' "$work/now.json" 2>/dev/null | cut -d: -f2 | grep . || echo 0
}

# Pids of the children of process $1, found at once.
offspring() {
	local file pids
	for file in "/proc/$1/task/"*/children; do
		pids=
		read -r pids 2>/dev/null <"$file"
		echo "$pids"
	done
}

# The process that writes the dump of console $1, which a process forked for that has started.
find_writer() {
	local job pid words
	for job in $(offspring "$1"); do
		for pid in $(offspring "$job"); do
			words=$(tr '\0' ' ' <"/proc/$pid/cmdline") 2>/dev/null
			[[ $words != *" --write "* ]] || writer=$pid
		done
	done
	[ -n "$writer" ]
}

# Stops process $1. False: it has ended.
stop_in_time() {
	local state
	kill -STOP "$1" 2>/dev/null || return 1
	while state=$(ps -o stat= -p "$1"); do
		case $state in T*) return 0 ;; Z*) return 1 ;; esac
	done
	return 1
}

# Asks for a dump named $1 and a number, and stops the process that writes it before it is done: $dump
# and $writer. A dump that was faster is nothing to look at: then another one.
catch_dump() {
	local console try i
	console=$(offspring "$("${tmux[@]}" list-panes -F '#{pane_pid}')" | grep -o '[0-9]*' | head -n 1)
	for ((try = 1; try <= 10; try++)); do
		dump=$work/$1-$try
		writer=
		command_line "dump $dump"
		for ((i = 0; i < 1000; i++)); do
			[ ! -d "$dump" ] || continue 2
			! find_writer "$console" || break
		done
		[ -z "$writer" ] || ! stop_in_time "$writer" || return 0
	done
	fail "no writing process can be stopped: $(screen)"
}

"$build_dir/testbed/pt-replay" --relay "$PT_RELAY" --control "${PT_RELAY_CONTROL##*:}" \
	--data "${PT_RELAY_DATA##*:}" --host desktop --session dump --wait-viewer --speed 4 --loop 0 \
	"$traces/kernel-6.2-2cpu" &
started+=("$!")
"${tmux[@]}" new-session -d -x 160 -y 40 "$build_dir/pythiatop --schema=lttng-kernel \
	$PT_RELAY/host/desktop/dump; echo ended with \$?; sleep 60" || fail "tmux"
for _ in $(seq 30); do # the window fills
	[ "$(analysed)" -gt 60000 ] && break
	sleep 1
done

# A dump of the live window: as many events as were told, in order, of at most the window.
command_line "dump $work/whole"
shows "Written: $work/whole, [0-9]+ events of [0-9.]+ s"
told=$(screen | grep -Eo 'whole, [0-9]+ events' | grep -Eo '[0-9]+' | head -n 1)
babeltrace2 --clock-seconds "$work/whole" >"$work/read" 2>"$work/errors" || fail "$(cat "$work/errors")"
[ "$(wc -l <"$work/read")" -eq "$told" ] || fail "told $told, read $(wc -l <"$work/read")"
[ "$told" -gt 20000 ] || fail "only $told events"
grep -Eo '^\[[0-9.]+' "$work/read" | tr -d '[' | sort -nc || fail "out of order"
command_line "dump $work/whole"
shows 'exists already'
command_line "dump-text $work/text"
shows "Written: $work/text, [0-9]+ events"
[ "$(wc -l <"$work/text")" -gt 20000 ] || fail "the text is short"

# A report of what is known by now, beside the analysis; its trace has no more than was told.
command_line "report $work/report/"
shows "Written: $work/report, a report on .*, with [0-9]+ events of [0-9]+ requests" 200
grep -q '^## How it was recorded' "$work/report/report.md" || fail "no page"
tail -n 1 "$work/report/decisions.jsonl" | grep -q '"log":"pythiatop-decisions' || fail "no decisions"
grep -q '"verdict":' "$work/report/report.json" || fail "no document"
told=$(grep -Eo 'Their [0-9]+ original events' "$work/report/report.md" | grep -Eo '[0-9]+')
babeltrace2 "$work/report/trace" >"$work/read" 2>"$work/errors" || fail "$(cat "$work/errors")"
[ "$(wc -l <"$work/read")" -eq "${told:-0}" ] || fail "told $told, read $(wc -l <"$work/read")"
command_line "report $work/report"
shows 'exists already; name a new directory'

# The writer stands still: it is told, a second one is refused, and the analysis goes on.
catch_dump slow
one=$(analysed)
sleep 1
two=$(analysed)
[ "$two" -gt $((one + 5000)) ] || fail "the analysis stood still: $one, then $two events"
command_line "dump $work/other"
shows "Still writing $dump"
kill -CONT "$writer"
shows "Written: $dump, [0-9]+ events"

# No room.
if [ "$(id -u)" = 0 ]; then
	mkdir "$work/small"
	mount -t tmpfs -o size=1m none "$work/small" || fail "no small disk"
	command_line "dump $work/small/dump" # names differ, so that no sentence is taken for the next
	shows "Cannot write $work/small/dump: "
	command_line "dump-text $work/small/text"
	shows "Cannot write $work/small/text: No space left on device"
	head -c 1000k /dev/zero >"$work/small/filler" # a report is small
	command_line "report $work/small/report"
	shows "Cannot write $work/small/report: No space left on device"
	rm "$work/small/filler"
	[ -z "$(ls "$work/small")" ] || fail "left on the full disk: $(ls "$work/small")"
	umount "$work/small"
fi

# Leaving while it writes leaves nothing.
catch_dump left
"${tmux[@]}" send-keys q
shows 'ended with 0' 20
! ls -d "$dump"* 2>/dev/null || fail "an unfinished dump is left"
for _ in $(seq 50); do
	running=$(ps -o stat= -p "$writer" | grep -v Z) || break
	sleep 0.1
done
[ -z "$running" ] || fail "the writing process is left: $running"
exit 0
