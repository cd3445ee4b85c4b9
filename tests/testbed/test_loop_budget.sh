#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A budget of 1,000 events/s: what our sessions bring is never over it for longer than a step is
# watched (5 s; its mean may be within it), and then for three seconds in a row. All points of an edge
# are wanted at once, so that it has something to bound. test_loop_budget.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
. "$source_dir/tests/testbed/loop.sh"

mkfifo "$work/documents"
"$check_loop" budget 1000 8 <"$work/documents" >"$work/said" 2>&1 &
check=$!
start_loop budget "$work/documents" semaphore --autopilot --until=60 --budget=events=1000 \
	--strategy=all -d 0.5
wait $check || fail "$(cat "$work/said")
$(head -n 3 "$work/err-budget")"
wait $loop_job || fail "the demo failed: $(cat "$work/err-budget")"
within 10 is_gone budget || fail "left: $(processes budget)"
cat "$work/said"
