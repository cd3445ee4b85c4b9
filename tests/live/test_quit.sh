#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `q` leaves at once whatever the sources do: connecting to a deaf host, active, the relay daemon
# stopped, killed. Nothing is left behind, nor where the console itself is killed.
. "$(dirname "$0")/lib.sh"
if ! command -v tmux >/dev/null; then
	echo "skipped: tmux is not installed"
	exit 77
fi
beside_daemons --events 'gen:*' -- "$@"

# Like pgrep, by the exact parent.
console_pid() {
	children_of "$(tmux -L "$socket" list-panes -F '#{pane_pid}')" | head -n 1
}

# Starts the console in a terminal of its own and waits until its sources screen shows $1.
open_console() {
	local wanted=$1 i
	shift
	socket=pt-quit-$$-$RANDOM
	tmux -L "$socket" -f /dev/null new-session -d -x 120 -y 30 \
		"'$build_dir/pythiatop' $*; echo ended with \$?; exec sleep 60"
	for i in $(seq 100); do
		tmux -L "$socket" send-keys 7
		sleep 0.2
		if tmux -L "$socket" capture-pane -p | grep -Eq -- "$wanted"; then
			return 0
		fi
	done
	tmux -L "$socket" capture-pane -p >&2
	tmux -L "$socket" kill-server
	fail "the screen does not show $wanted"
}

# Ends the console by $3..., after which the shell must say that it ended with $2.
end_by() {
	local when=$1 code=$2 pid children i
	shift 2
	pid=$(console_pid)
	children=$(children_of "$pid")
	[ -n "$children" ] || fail "no reader process to look at ($when)"
	"$@" "$pid"
	for ((i = 0; i < 20; i++)); do
		[ -d "/proc/$pid" ] || break
		sleep 0.05
	done
	if [ -d "/proc/$pid" ]; then
		tmux -L "$socket" kill-server
		fail "one second later the console is still there ($when)"
	fi
	# shellcheck disable=SC2086 # numbers
	expect_ended "$when" $children
	for ((i = 0; i < 100; i++)); do
		! tmux -L "$socket" capture-pane -pJ | grep -q "ended with $code" || break
		sleep 0.05
	done
	[ $i -lt 100 ] || fail "it ended badly ($when): $(tmux -L "$socket" capture-pane -p)"
	tmux -L "$socket" kill-server
}

press_q() {
	tmux -L "$socket" send-keys q
}

quit_console() {
	end_by "$1" 0 press_q
}

background "$build_dir/tests/live/pt-deaf" "$work/port"
for _ in $(seq 50); do
	[ -s "$work/port" ] && break
	sleep 0.1
done
generate 10000000 20000
active="active +$(hostname) demo " # the session, not the relay daemon alone

open_console connecting "net://127.0.0.1:$(cat "$work/port")"
quit_console "connecting to a deaf host"

open_console "$active" "$PT_RELAY"
quit_console "active"

open_console "$active" "$PT_RELAY"
end_by "the console killed" 137 kill -KILL

open_console "$active" "$PT_RELAY"
kill -STOP "$PT_RELAYD_PID"
sleep 1
quit_console "relay daemon stopped"
kill -CONT "$PT_RELAYD_PID"

open_console "$active" "$PT_RELAY"
kill -KILL "$PT_RELAYD_PID"
sleep 0.5
quit_console "relay daemon killed"
