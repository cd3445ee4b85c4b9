#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The console on a real terminal (tmux): keys, resize, suspend, and that the terminal is as before
# after quitting, SIGTERM, SIGHUP, SIGINT and crashes. Usage: terminal.sh CONSOLE_DRIVER
set -u
driver=$1
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
export LC_ALL=C.UTF-8 TZ=UTC
unset TMUX NO_COLOR
# Built with sanitizers, it is still the console's own handlers that are tested.
handlers=handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
export ASAN_OPTIONS=$handlers UBSAN_OPTIONS=$handlers TSAN_OPTIONS=$handlers
socket=pythiatop-test-$$
failures=0

mux() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null' EXIT

# The server lives as long as a session does.
mux new-session -d -s keep 'sleep 600'

screen() { mux capture-pane -p -t test; }

# Waits up to 5 s for TEXT on the screen.
sees() { # TEXT WHAT
	local i
	for ((i = 0; i < 50; i++)); do
		if screen | grep -qF -- "$1"; then
			return 0
		fi
		sleep 0.1
	done
	echo "FAILED: $2: \"$1\" is not on the screen:"
	screen
	failures=$((failures + 1))
	return 1
}

pid() { pgrep -P "$(mux display-message -p -t test '#{pane_pid}')" -x console_driver; }

# Starts the console from a shell, whose terminal settings are known before and compared after.
begin() { # ARGUMENT...
	mux kill-session -t test 2>/dev/null
	mux new-session -d -s test -x 80 -y 24 "env PS1='READY> ' bash --norc --noprofile"
	sees 'READY>' 'a shell' || exit 1
	mux send-keys -t test "before=\$(stty -g)" Enter
	mux send-keys -t test "$driver $*; echo code=\$?; [ \"\$before\" = \"\$(stty -g)\" ] && echo stty-\"\"same" Enter
	sees 'server create' 'the first screen' || exit 1
}

# The shell is back, with the settings and the screen it had, and the exit code.
restored() { # CODE WHAT
	sees "code=$1" "$2"
	sees 'stty-same' "$2"
	[ "$(mux display-message -p -t test '#{alternate_on}')" = 0 ] || {
		echo "FAILED: $2: still on the alternate screen"
		failures=$((failures + 1))
	}
	[ "$(mux display-message -p -t test '#{cursor_flag}')" = 1 ] || {
		echo "FAILED: $2: the cursor is still hidden"
		failures=$((failures + 1))
	}
}

begin
mux send-keys -t test Enter
sees 'latency over time' 'Enter goes to the group'
mux resize-window -t test -x 120 -y 40
sees 'latency over time' 'a larger terminal'
[ "$(screen | wc -l)" -ge 38 ] || { echo "FAILED: the larger terminal is not filled"; failures=$((failures + 1)); }
mux resize-window -t test -x 39 -y 12
sees 'pythiatop needs 40x10' 'a terminal that is too small'
mux resize-window -t test -x 80 -y 24
sees 'latency over time' 'the first size again'
mux send-keys -t test Escape
sees 'NEXT' 'Escape goes back'
mux send-keys -t test 7
sees 'unmatched' 'sources'
mux send-keys -t test ':hello there' Enter
sees 'command: hello there' 'a command is answered'
mux send-keys -t test x
sees 'x is no key here' 'a key that does nothing says so'
mux send-keys -t test C-z
sees 'Stopped' 'Ctrl-Z suspends'
mux send-keys -t test 'fg; echo code=$?' Enter
sees 'unmatched' 'fg resumes'
mux send-keys -t test q
restored 0 'q'

# Steps: what is asked first, and that leaving asks too.
begin --steps
mux send-keys -t test m
sees 'Mode: approve, instead of observe' 'm offers a mode'
mux send-keys -t test y
sees 'command: mode approve' 'y takes it'
mux send-keys -t test a
sees 'enable nova:sem_acquire_entry' 'a shows the exact events'
mux resize-window -t test -x 60 -y 16
sees 'Esc cancel' 'the dialog fits a smaller terminal'
mux resize-window -t test -x 80 -y 24
mux send-keys -t test Escape
sees 'nothing was done' 'Escape cancels'
mux send-keys -t test a y
sees 'command: approve 2' 'y approves'
mux send-keys -t test q
sees 'Quitting undoes them' 'q asks'
mux send-keys -t test Escape C-z
sees 'nobody watches' 'Ctrl-Z warns'
mux send-keys -t test y
sees 'Stopped' 'and suspends'
mux send-keys -t test 'fg; echo code=$?' Enter
sees 'server create' 'fg resumes with steps in force'
mux send-keys -t test X
sees 'command: undo all' 'X undoes everything'
mux send-keys -t test q
restored 0 'q after everything was undone'

# Colours: those of 256, of 8, none.
colored() { mux capture-pane -e -p -t test | grep -qE $'\e\\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7])(;|m)'; }
begin
colored || { echo "FAILED: no colours"; failures=$((failures + 1)); }
mux send-keys -t test q
restored 0 'q with colours'
begin --no-color
! colored || { echo "FAILED: colours despite --no-color"; failures=$((failures + 1)); }
mux send-keys -t test q
restored 0 'q without colours'
driver="env TERM=linux $driver" begin
colored || { echo "FAILED: no colours of eight"; failures=$((failures + 1)); }
mux send-keys -t test q
restored 0 'q with eight colours'
driver="env TERM=vt100 $driver" begin
! colored || { echo "FAILED: colours on a vt100"; failures=$((failures + 1)); }
mux send-keys -t test q
restored 0 'q on a vt100'

for signal in TERM HUP INT; do
	begin
	kill -"$signal" "$(pid)"
	restored $((128 + $(kill -l $signal))) "SIG$signal"
done
for signal in SEGV ABRT BUS FPE ILL QUIT; do
	begin
	kill -"$signal" "$(pid)"
	restored $((128 + $(kill -l $signal))) "SIG$signal"
done
begin --crash
mux send-keys -t test ':crash' Enter
restored 139 'a write to address 0'

[ "$failures" = 0 ] && echo "the terminal is left as it was found"
exit $((failures > 0))
