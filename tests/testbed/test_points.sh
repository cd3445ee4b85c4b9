#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Under load, with everything recorded: at least 300 points fire, at least 100 requests/s get done, no
# event is lost, the trace is what its readers rely on, and where faults are injected, points fire:
# test_points.sh SOURCE-DIR PROGRAM-DIR
set -eu
source_dir=$1 programs=$2

fail() {
	echo "test_points: $*" >&2
	exit 1
}

if [ "${3:-}" != --inside ]; then
	exec "$source_dir/tests/testbed/daemons.sh" --session all --events testbed -- \
		"$0" "$source_dir" "$programs" --inside
fi

"$programs/pt-testbed" --duration 12 --seed 7 | tee "$PT_DIR/load"
lttng --no-sessiond list all >"$PT_DIR/session"
lttng --no-sessiond destroy all
grep -q 'Discarded events: 0$' "$PT_DIR/session" || fail "events were lost"

# At the end, threads are stopped in the midst of requests: only exits may be missing.
babeltrace2 "$PT_DIR/relay" |
	awk -f "$source_dir/tests/testbed/check-trace.awk" >"$PT_DIR/fired" || fail "a wrong trace"

"$programs/pt-fault" --list | sort >"$PT_DIR/known"
sort "$PT_DIR/fired" | comm -13 "$PT_DIR/known" - | grep . && fail "points that no table has"
known=$(wc -l <"$PT_DIR/known") fired=$(wc -l <"$PT_DIR/fired")
echo "$fired of $known points fired; not seen:" \
	"$(sort "$PT_DIR/fired" | comm -23 "$PT_DIR/known" - | paste -sd' ')"
[ "$fired" -ge 300 ] || fail "fewer than 300 points fired"

"$source_dir/tests/diagnosis/check_sites.sh" "$source_dir" "$programs" "$PT_DIR/fired" ||
	fail "a fault where nothing fires"

awk '/requests\/s:/ { exit !($1 >= 100 && $(NF - 1) == 0) }' "$PT_DIR/load" ||
	fail "fewer than 100 requests/s, or failed ones"
