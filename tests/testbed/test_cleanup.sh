#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two testbeds with their daemons run at once, and leave nothing behind: not if the launcher is
# killed, not if the script that holds the daemons is: test_cleanup.sh SOURCE-DIR PROGRAM-DIR
set -eu
source_dir=$1 programs=$2
work=$(mktemp -d)
mark=pt-cleanup-$$-$RANDOM

fail() {
	echo "test_cleanup: $*" >&2
	exit 1
}

# Processes of copy $1: all that inherited its mark, whoever their parents are now.
processes() {
	grep -lsz "^PT_TEST_MARK=$mark-$1\$" /proc/[0-9]*/environ | cut -d/ -f3
}

# The one process of copy $1 whose command line has $2.
process() {
	local pid
	for pid in $(processes "$1"); do
		if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "$2"; then
			echo "$pid"
			return
		fi
	done
}

# Waits until `$@` succeeds, for at most 10 s.
within_10s() {
	local i
	for ((i = 0; i < 100; i++)); do
		if "$@"; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}

start() {
	PT_TEST_MARK=$mark-$1 "$source_dir/tests/testbed/daemons.sh" --events testbed -- \
		"$programs/pt-testbed" --dir "$work/run-$1" >"$work/out-$1" 2>&1 </dev/null &
}

is_ready() {
	grep -q '^ready' "$work/out-$1"
}

is_gone() {
	[ -z "$(processes "$1")" ] && [ ! -e "$work/run-$1" ]
}

finish() {
	local pid
	for pid in $(processes one) $(processes two); do
		kill -KILL "$pid" 2>/dev/null || true
	done
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
[ "$n" -ge 11 ] || fail "only $n processes"
for name in 'lttng-relayd' 'lttng-sessiond' 'lttng-consumerd' 'pt-load' 'pt-api' 'name compute-2'; do
	[ -n "$(process one "$name")" ] || fail "no $name runs"
done

kill -KILL "$(process one '^[^ ]*/pt-testbed --dir')"
within_10s is_gone one || fail "left by a killed launcher: $(processes one) $(ls "$work/run-one")"
[ -n "$(process two pt-load)" ] || fail "the second copy died with the first"

kill -KILL "$(process two '^[^ ]*bash .*daemons.sh')"
within_10s is_gone two || fail "left by killed daemons.sh: $(processes two) $(ls "$work/run-two")"

# Others may use LTTng here meanwhile, each in private; ours would be new names in the open.
ls /dev/shm | comm -13 "$work/shm-before" - | grep -E 'lttng|ust' && fail "left in /dev/shm"
echo "$n processes a copy, none left"
