#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo as a person meets it: the console in a terminal of 80x24, keys pressed from the groups down
# to the events of one request, the terminal made larger and smaller, frozen, a relay daemon gone,
# and quit: nothing is left of it. test_console.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
work=$(mktemp -d)
tmux=(tmux -S "$work/socket" -f /dev/null)

finish() {
	local status=$?
	"${tmux[@]}" kill-server 2>/dev/null
	kill_marked console
	rm -rf "$work"
	exit $status
}
trap finish EXIT

screen() { "${tmux[@]}" capture-pane -p -t console; }
coloured() { "${tmux[@]}" capture-pane -e -p -t console; }
press() { "${tmux[@]}" send-keys -t console "$@"; }

# Waits until the screen matches an extended regular expression.
shows() {
	local i
	for ((i = 0; i < ${2:-100}; i++)); do
		if screen | grep -qE -- "$1"; then
			return 0
		fi
		sleep 0.1
	done
	screen >&2
	fail "the screen does not show: $1"
}

hides() {
	local i
	for ((i = 0; i < 50; i++)); do
		screen | grep -qE -- "$1" || return 0
		sleep 0.1
	done
	screen >&2
	fail "the screen still shows: $1"
}

"${tmux[@]}" new-session -d -s console -x 80 -y 24 -e TERM=screen-256color -e LC_ALL=C.UTF-8 \
	env PT_TEST_MARK="$mark-console" sh -c \
	"stty -a >'$work/before'; '$source_dir/tests/testbed/demo.sh' '$build' 2>'$work/err'; \
	echo \"ended with \$?\"; stty -a >'$work/after'; sleep 100" || fail "tmux does not start"

# The groups: all nine types, the worst one first, in colour.
shows 'server create' 300
shows '^.pythiatop +127\.0\.0\.1 .*ev/s'
shows 'volume list'
shows '3tree .*\?help'
coloured | grep -q $'\e\[[0-9;]*m' || fail "no colours"
sleep 3

# In: the worst group, a request of it, its spans and events; and back.
press 1 g Enter
shows 'groups › server create'
shows 'latency over time'
press w Enter
shows '› request [0-9.]+ms'
shows 'server_create'
shows 'critical path: [0-9]+ pieces'
press Enter
shows '[0-9]+ events'
press Escape
shows 'critical path: [0-9]+ pieces'
press /; press sem_acquire Enter
shows '^>.*sem_acquire'

# Compared with the median one: where it took longer, or not.
press c
shows 'request compared'
shows 'nearest to its group.s median'
shows 'LARGEST DIFFERENCES'
press Escape
shows '^>.*sem_acquire'
press Escape
shows 'latency over time'

# The calling contexts, down to the worst one.
press 3
shows 'calling contexts +[0-9]+ requests'
press w w
shows '^> .*● (build|serve_build|call_compute_build|sem_acquire)'
press Escape
shows 'latency over time'
press Escape
shows 'GROUP +N +RATE'

# Filter, and its end.
press f; press '^floating' Enter
shows 'floating ip list'
hides '^.{0,3}server create'
press f; press C-u Enter
shows 'server create'

# Frozen: the numbers stand still; stepping moves them back.
press p
shows 'P A U S E D'
sleep 0.5
one=$(screen | sed 1d)
sleep 1.5
[ "$one" = "$(screen | sed 1d)" ] || fail "the frozen screen moves"
press ,
shows '1(\.0+)? ?s'
press p
hides 'P A U S E D'

# Sources, unmatched, help, and back to where it was asked for.
press 7
shows 'active +vm|active .*demo'
shows 'unmatched'
press '?'
shows 'WHAT THEY DO'
press G
shows 'redraw|quit'
press Escape
shows 'unmatched'

# Any size; the message below 40x10; and back without losing the screen. Six lines of the list are on the
# smallest one, so that the first has to be the one that is asked about.
press 1 g
for size in 200x50 40x10 120x15 80x24; do
	"${tmux[@]}" resize-window -t console -x "${size%x*}" -y "${size#*x}"
	shows 'server create' 50
done
"${tmux[@]}" resize-window -t console -x 30 -y 8
hides 'server create'
shows '[0-9]+ ?x ?[0-9]+'
"${tmux[@]}" resize-window -t console -x 80 -y 24
shows 'server create'

# A relay daemon that is killed: said so, and `q` leaves at once.
relayd=$(process console '^lttng-relayd')
kill -KILL "$relayd"
press 7
shows 'broken|connecting|No relay daemon|stalled' 150
press 1
shows 'server create'
press q
shows 'ended with 0' 50
[ "$(cat "$work/before")" = "$(cat "$work/after")" ] || fail "the terminal is not as it was"

gone() { [ -z "$(processes console | grep -vx "$("${tmux[@]}" list-panes -F '#{pane_pid}')" | while read -r pid; do
	tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -v '^sleep' ; done)" ]; }
within_10s gone || fail "left: $(processes console | xargs -I{} sh -c 'tr "\0" " " </proc/{}/cmdline; echo')"
echo "the console is what the demo promises"
