#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `q` leaves at once whatever the sources do: connecting to a deaf host, active, the relay daemon
# stopped, killed. Nothing is left behind.
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

quit_console() {
	local pid children i child
	pid=$(console_pid)
	children=$(children_of "$pid")
	tmux -L "$socket" send-keys q
	for i in $(seq 20); do
		[ -d "/proc/$pid" ] || break
		sleep 0.05
	done
	if [ -d "/proc/$pid" ]; then
		tmux -L "$socket" kill-server
		fail "one second after q the console is still there ($1)"
	fi
	sleep 0.1
	tmux -L "$socket" capture-pane -p | grep -q 'ended with 0' || fail "q ended badly ($1)"
	tmux -L "$socket" kill-server
	for child in $children; do
		[ ! -d "/proc/$child" ] || fail "the reader process $child is left ($1)"
	done
}

background "$build_dir/tests/live/pt-deaf" "$work/port"
for _ in $(seq 50); do
	[ -s "$work/port" ] && break
	sleep 0.1
done
generate 10000000 20000

open_console connecting "net://127.0.0.1:$(cat "$work/port")"
quit_console "connecting to a deaf host"

open_console active "$PT_RELAY"
quit_console "active"

open_console active "$PT_RELAY"
kill -STOP "$PT_RELAYD_PID"
sleep 1
quit_console "relay daemon stopped"
kill -CONT "$PT_RELAYD_PID"

open_console active "$PT_RELAY"
kill -KILL "$PT_RELAYD_PID"
sleep 0.5
quit_console "relay daemon killed"
