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
command_line "dump $work/slow"
for _ in $(seq 200); do
	writer=$(pgrep -f -- "--write $work/slow") && break
	sleep 0.01
done
[ -n "$writer" ] || fail "no writing process"
kill -STOP "$writer"
one=$(analysed)
sleep 1
two=$(analysed)
[ "$two" -gt $((one + 5000)) ] || fail "the analysis stood still: $one, then $two events"
command_line "dump $work/other"
shows "Still writing $work/slow"
kill -CONT "$writer"
shows "Written: $work/slow, [0-9]+ events"

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
command_line "dump $work/left"
for _ in $(seq 200); do
	writer=$(pgrep -f -- "--write $work/left") && break
	sleep 0.01
done
kill -STOP "$writer"
"${tmux[@]}" send-keys q
shows 'ended with 0' 20
! ls -d "$work"/left* 2>/dev/null || fail "an unfinished dump is left"
for _ in $(seq 50); do
	running=$(ps -o stat= -p "$writer" | grep -v Z) || break
	sleep 0.1
done
[ -z "$running" ] || fail "the writing process is left: $running"
exit 0
