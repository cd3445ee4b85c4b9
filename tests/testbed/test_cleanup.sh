#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two testbeds with their daemons run at once, and leave nothing behind: not if the launcher is
# killed, not if the script that holds the daemons is: test_cleanup.sh SOURCE-DIR PROGRAM-DIR
set -eu
source_dir=$1 programs=$2
. "$source_dir/tests/testbed/marked.sh"
work=$(mktemp -d)

start() {
	marked "$1" "$source_dir/tests/testbed/daemons.sh" --events testbed --stall 200:1000 -- \
		"$programs/pt-testbed" --dir "$work/run-$1" --fault "cpu_hog threads=1" >"$work/out-$1" 2>&1 </dev/null &
}

is_ready() {
	grep -q '^ready' "$work/out-$1"
}

is_gone() {
	[ -z "$(processes "$1")" ] && [ ! -e "$work/run-$1" ]
}

finish() {
	kill_marked one two
	rm -rf "$work"
}
trap finish EXIT

ls /dev/shm >"$work/shm-before"
start one
start two
within_10s is_ready one || fail "the first copy is not ready: $(cat "$work/out-one")"
within_10s is_ready two || fail "the second copy is not ready: $(cat "$work/out-two")"
sleep 2
n=$(processes one | wc -l)
for name in lttng-relayd lttng-sessiond lttng-consumerd pt-load pt-api pt-hog 'name compute-2'; do
	[ -n "$(process one "$name")" ] || fail "no $name runs"
done

kill -KILL "$(process one '^[^ ]*/pt-testbed --dir')"
within_10s is_gone one || fail "left by a killed launcher: $(processes one) $(ls "$work/run-one")"
[ -n "$(process two pt-load)" ] || fail "the second copy died with the first"

kill -KILL "$(process two '^[^ ]*bash .*daemons.sh')"
within_10s is_gone two || fail "left by killed daemons.sh: $(processes two) $(ls "$work/run-two")"

# Every traced program of a user shares the files by which the session daemon wakes it: not ours.
if ls /dev/shm | comm -13 "$work/shm-before" - | grep -E 'lttng|ust' | grep -v '^lttng-ust-wait-'; then
	fail "left in /dev/shm"
fi
echo "$n processes a copy, none left"
