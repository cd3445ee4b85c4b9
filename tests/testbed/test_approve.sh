#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A person finds the demo's fault by keys alone: reads what is proposed, approves it in the dialog,
# until there is a verdict; then takes everything back and quits. One point of the first step is left
# out by keys: it is not enabled, the others are.
# test_approve.sh SOURCE-DIR BUILD-DIR
set -euo pipefail
source_dir=$1 build=$2
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
. "$source_dir/tests/testbed/marked.sh"
. "$source_dir/tests/testbed/loop.sh"
export LC_ALL=C.UTF-8
unset TMUX NO_COLOR
socket=pythiatop-approve-$$

mux() { tmux -L "$socket" -f /dev/null "$@"; }
screen() { mux capture-pane -p -t test; }
press() { mux send-keys -t test "$@"; }

finish() {
	mux kill-server 2>/dev/null || true
	kill_marked approve
	rm -rf "$work"
}
trap finish EXIT

# Waits up to SECONDS for TEXT.
sees() { # TEXT SECONDS WHAT
	local i
	for ((i = 0; i < $2 * 5; i++)); do
		if screen | grep -qF -- "$1"; then
			return 0
		fi
		sleep 0.2
	done
	fail "$3: \"$1\" is not on the screen:
$(screen)
$(cat "$work/err")"
}

# Does the dialog that is open list so many points?
lists() {
	[ "$(screen | grep -cE '\[[x ]\] enable ')" -ge "$1" ]
}

# A point of the step that may be missed: not on the way to where the fault is.
choose_point() {
	local points
	points=$(screen | sed -nE 's/.*\[x\] enable ([a-z]+:[a-z_]+) .*/\1/p')
	line=0
	for left_out in $points; do
		case $left_out in
		compute:build | compute:build_queued | compute:sem_acquire) line=$((line + 1)) ;;
		*) return 0 ;;
		esac
	done
	left_out=
	return 1
}

rules() {
	beside approve lttng --no-sessiond list "$(ours_of approve)" | grep -F '[enabled]' || true
}

# What the hosts would do is asked, and nothing is changed.
try_step() {
	press : ; press -l 'dry-run' ; press Enter
	sees 'nothing was changed: ' 5 ':dry-run asks the hosts'
	screen | grep -qE 'nothing was changed: [1-9][0-9]* events? enabled on 1 host' ||
		fail "the dry run says something else: $(screen)"
	! rules | grep -E ' [a-z]+:[a-z_]+_(entry|exit) ' || fail "the dry run has enabled points"
}

# Leaves a point out, approves the rest, and looks at what is enabled really. $left_out is the point.
edit_step() {
	local kept i
	press e
	sees 'y approve it so' 5 'e opens the step'
	if ! lists 2 || ! choose_point; then
		press Escape
		return 1
	fi
	for ((i = 0; i < line; i++)); do
		press Down
	done
	press Space
	sees "[ ] enable $left_out " 5 'Space leaves a point out'
	kept=$(screen | sed -nE 's/.*\[x\] enable ([a-z]+:[a-z_]+) .*/\1/p')
	press y
	sees ' approved' 5 'y approves what is left'
	for point in $kept; do
		for ((i = 0; i < 50; i++)); do
			rules | grep -qF " ${point}_entry " && break
			sleep 0.1
		done
		rules | grep -qF " ${point}_entry " || fail "$point is not enabled: $(rules)"
	done
	! rules | grep -F " ${left_out}_" || fail "$left_out was left out, and is enabled"
}

# What marked() does, for what tmux starts.
mux new-session -d -s test -x 80 -y 24 "env PT_TEST_MARK=$mark-approve \
	'$source_dir/tests/testbed/demo.sh' '$build' semaphore --mode=approve \
	--log='$work/log' 2>'$work/err'; echo code=\$?; sleep 600"
# Learned on a loaded machine, where everything varies, the fault stands out late.
sees 'mode: approve' 240 'the console, after learning'

# A step is approved as soon as it is on the screen; the dialog names its events.
approved=0 left_out=
for ((second = 0; second < 240; second++)); do
	shown=$(screen)
	if grep -qF 'VERDICT server create' <<<"$shown"; then
		break
	fi
	if grep -qF 'NEXT +' <<<"$shown"; then
		[ "$approved" -gt 0 ] || try_step
		if [ -z "$left_out" ] && edit_step; then
			approved=$((approved + 1))
			continue
		fi
		press a
		sees 'Esc cancel' 5 'a opens the dialog'
		screen | grep -qE 'enable ([a-z]+:[a-z_]+_entry|[a-z_]+ \(kernel\))' ||
			fail "no events in the dialog: $(screen)"
		press y
		sees ' approved' 5 'y approves'
		approved=$((approved + 1))
	fi
	sleep 1
done
grep -qF 'VERDICT server create' <<<"$shown" || fail "no verdict: $shown"
[ -n "$left_out" ] || fail "no step had a point that could be left out"
[ "$approved" -gt 0 ] || fail "a verdict without any step: $shown"
press 5
sees 'stopped by rule' 5 'the steps'
shown=$(screen)
grep -q 'sem_acquire' <<<"$shown" || fail "it is not the semaphore: $shown"
# "6/438 points"
read -r enabled known <<<"$(sed -nE 's|.*s, ([0-9]+)/([0-9]+) points.*|\1 \2|p' <<<"$shown")"
[ -n "$known" ] && [ $((enabled * 10)) -le "$known" ] ||
	fail "more than a tenth of the points: $shown"

# The session had begun before anybody attached: who the processes are, their host has told.
press 6 / ; press -l 'pt-compute' ; press Enter
sees ' pt-compute-' 5 'the names of processes'
press 5
sees 'stopped by rule' 5 'the steps again'

press q
sees 'Quitting undoes them' 5 'q asks'
press Escape X
sees 'mode: observe' 10 'X goes back to observe'
for ((i = 0; i < 50; i++)); do
	screen | grep -qE '^ mode: .* [0-9]+\+0 of' && break
	sleep 0.2
done
screen | grep -qE '^ mode: .* [0-9]+\+0 of' || fail "not everything is undone: $(screen)"
press q
sees 'code=0' 20 'q, where nothing is in force'
mux kill-server
within_10s is_gone approve || fail "left behind: $(processes approve)"
echo "$approved steps by hand to the verdict, the first without $left_out, $enabled of $known points; undone"
