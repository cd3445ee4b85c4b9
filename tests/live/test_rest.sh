#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Ten seconds after the last key that asks for something the readers of live sessions rest, and
# bring what there is once for each time the screen is drawn; a key wakes them at once. Nothing is missed
# meanwhile.
. "$(dirname "$0")/lib.sh"
if ! command -v tmux >/dev/null; then
	echo "skipped: tmux is not installed"
	exit 77
fi
beside_daemons --events 'gen:*' -- "$@"
export LC_ALL=C.UTF-8

tmux=(tmux -L "pt-rest-$$" -f /dev/null)
end_all() {
	local status=$?
	"${tmux[@]}" kill-server 2>/dev/null
	(exit $status)
	finish
}
trap end_all EXIT

url=$PT_RELAY/host/$(hostname)/demo
"${tmux[@]}" new-session -d -x 100 -y 30 "exec '$build_dir/pythiatop' --mode=observe '$url'"
console=$("${tmux[@]}" list-panes -F '#{pane_pid}')

shows() { # PATTERN
	local i
	for ((i = 0; i < 200; i++)); do
		! "${tmux[@]}" capture-pane -p | grep -qE -- "$1" || return 0
		sleep 0.1
	done
	fail "the screen does not show: $1
$("${tmux[@]}" capture-pane -p)"
}

"${tmux[@]}" send-keys 7
shows attached
generate 9000 450
shows active
reader=
for pid in $(children_of "$console"); do
	! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- '--live ' || reader=$pid
done
[ -n "$reader" ] || fail "no reader of the session"

# How often it goes to sleep in three seconds.
sleeps() {
	local before
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$reader/status")
	sleep 3
	awk -v n="$before" '/^voluntary/ { print $2 - n }' "/proc/$reader/status"
}

sleep 11
resting=$(sleeps)
"${tmux[@]}" send-keys 1
awake=$(sleeps)
[ "$awake" -gt $((2 * resting)) ] ||
	fail "$resting sleeps in 3 s at rest, $awake after a key: it does not rest"

sleep 11
wait "$generator"
sleep 2
"${tmux[@]}" send-keys ":export json $work/export.json" Enter
for _ in $(seq 50); do
	[ -s "$work/export.json" ] && break
	sleep 0.1
done
events=$(grep -o '"in":[0-9]*' "$work/export.json" | head -n 1 | cut -d: -f2)
[ "$events" = 9000 ] || fail "9000 events were written, ${events:-none} read"
grep -q '"late":0' "$work/export.json" || fail "some came late"
echo "at rest $resting sleeps in 3 s, awake $awake"
