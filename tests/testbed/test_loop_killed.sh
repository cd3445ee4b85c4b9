#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The console killed, stopped, and asked to end, each in the middle of a step: no session of ours is
# left once the lease (10 s) has run out, or at once where it was asked; others' are as before.
# test_loop_killed.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
. "$source_dir/tests/testbed/loop.sh"
lease_s=10

# A step was carried out, and is not over: it is watched for five seconds.
in_a_step() {
	tail -n 1 "$work/log-$1" 2>/dev/null | grep -q '"do":"outcome".*"undo":false,"ok":true'
}

# What holds the daemons runs on when the console is gone, so that they can be asked.
console_of() {
	process "$1" '/pythiatop net:.*--until=300'
}

hit() { # SIGNAL SECONDS
	local signal=$1 console holder
	start_loop "$signal" /dev/null semaphore --autopilot --until=300
	within 120 in_a_step "$signal" || fail "$signal: no step: $(cat "$work/err-$signal")"
	[ -n "$(ours_of "$signal")" ] || fail "$signal: no session of ours"
	others_of "$signal" >"$work/before"
	console=$(console_of "$signal")
	# The scripts around it would end the daemons with it.
	for holder in $(processes "$signal"); do
		case $(tr '\0' ' ' <"/proc/$holder/cmdline" 2>/dev/null) in
		*bash\ */daemons.sh\ * | */pt-testbed\ --fault\ *) kill -STOP "$holder" ;;
		esac
	done
	kill -"$signal" "$console" || fail "$signal: no console to be hit"
	within "$2" none_of_ours "$signal" || fail "$signal: left after $2 s: $(ours_of "$signal")"
	others_of "$signal" >"$work/after"
	[ -s "$work/before" ] || fail "$signal: nothing to compare with"
	cmp -s "$work/before" "$work/after" ||
		fail "$signal: others' sessions have changed: $(diff "$work/before" "$work/after")"
	kill_marked "$signal"
	echo "$signal: gone after $took_ms ms"
}

for signal in KILL STOP TERM; do
	case $signal in TERM) limit_s=5 ;; *) limit_s=$((lease_s + 5)) ;; esac
	hit $signal $limit_s
done
