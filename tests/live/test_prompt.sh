#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# An ssh that asks for a password: the question never reaches the screen, nothing that is typed
# reaches ssh, and the console says why there is no control, and what to try. What the configuration
# file says of hosts is in force. test_prompt.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
work=$(mktemp -d)
tmux=(tmux -S "$work/socket" -f /dev/null)

finish() {
	local status=$?
	"${tmux[@]}" kill-server 2>/dev/null
	kill_marked prompt
	rm -rf "$work"
	exit $status
}
trap finish EXIT

# Asks as ssh does, on the terminal, then where its errors go.
cat >"$work/ssh" <<-END
	#!/bin/sh
	echo "\$*" >>'$work/arguments'
	if echo "ops@compute-2's password: " 2>/dev/null >/dev/tty; then
		echo terminal >>'$work/reached'
		read -r answer </dev/tty && echo "\$answer" >>'$work/reached'
	fi
	echo "ops@compute-2's password: " >&2
	read -r answer 2>/dev/null <&2 && echo "\$answer" >>'$work/reached'
	echo 'Permission denied (publickey,password).' >&2
	exit 255
END
chmod +x "$work/ssh"
mkdir -p "$work/config/pythiatop"
cat >"$work/config/pythiatop/pythiatop.conf" <<-END
	control = compute-2=ssh://ops@compute-2:2222
	control = compute-3=ssh://compute-3
	control.relay_url = net://relay.example
	control.ssh = $work/ssh
END

screen() { "${tmux[@]}" capture-pane -p -t console; }
"${tmux[@]}" new-session -d -s console -x 100 -y 24 -e LC_ALL=C.UTF-8 \
	env PT_TEST_MARK="$mark-prompt" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" \
	"$build/pythiatop" net://127.0.0.1:1 || fail "tmux does not start"
for ((i = 0; i < 100; i++)); do
	screen | grep -qF 'Permission denied' && break
	! screen | grep -i 'password:' || fail "the question is on the screen"
	"${tmux[@]}" send-keys -t console j
	sleep 0.1
done
said=$(screen | tr -s ' \n' ' ')
[[ $said == *'No control of compute-2: ssh: '*'Permission denied (publickey,password)'* ]] ||
	fail "it does not say why: $said"
[[ $said == *'Try: ssh -o BatchMode=yes -p 2222 ops@compute-2 pythiatop-control --version'* ]] ||
	fail "it does not say what to try: $said"
[[ $said != *password:\ * ]] || fail "the question is on the screen: $said"
[ ! -e "$work/reached" ] || fail "ssh had a terminal: $(cat "$work/reached")"
for arguments in '-p 2222 -l ops -- compute-2' '-- compute-3'; do
	grep -qF -- "-T -o BatchMode=yes -o ConnectTimeout=5 -o ServerAliveInterval=5 $arguments pythiatop-control" \
		"$work/arguments" || fail "not called with $arguments: $(cat "$work/arguments")"
done
"${tmux[@]}" send-keys -t console q
is_gone() {
	[ -z "$(processes prompt)" ]
}
within_10s is_gone || fail "left: $(processes prompt)"
