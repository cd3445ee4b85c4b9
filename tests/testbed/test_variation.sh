#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The semaphore, live, with every point on: creating servers is what varies most and is flagged, and
# the wait for the semaphore is where; six segments hold 95 % of its variance. How soon that is seen
# depends on how busy the machine is, so any ten seconds will do; that shares and means add up does not.
# test_variation.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The console ends, and the demo with it, when nobody reads its documents any more.
timeout 100 "$source_dir/tests/testbed/demo.sh" "$build" semaphore \
	--batch=json --horizon=10s -d 3 -n 27 2>"$work/demo" |
	"$build/tests/testbed/check_variation" "server create" sem_acquire 0.95 6 2>"$work/said"
status=${PIPESTATUS[1]}
tail -n 3 "$work/said"
if [ "$status" -ne 0 ]; then
	echo "FAILED: $(tail -n 5 "$work/demo")" >&2
	exit 1
fi
echo "the semaphore is found"
