#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `./run demo redis`: autopilot on a stock server names the function that a whole list is written by; with
# the console everything ends. test_demo_redis.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build_dir=$2
command -v redis-server >/dev/null || {
	echo "skipped: no redis-server is installed"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

export PT_DEMO_MARK=$work # of all that the demo starts
left() {
	grep -lzxF "PT_DEMO_MARK=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | grep -vxF "$$" |
		while read -r pid; do
			[ "$(ps -o ppid= -p "$pid" | tr -d ' ')" = "$$" ] || ps -o pid=,args= -p "$pid"
		done
}

timeout 90 "$source_dir/tests/testbed/demo.sh" "$build_dir" redis --batch=json --until=verdict \
	>"$work/documents" 2>"$work/said"
status=$?
if grep -q '^demo: functions cannot be recorded' "$work/said"; then
	echo "skipped: $(cat "$work/said")"
	exit 77
fi
[ $status = 0 ] || fail "the demo ended with $status: $(tail -n 3 "$work/said")"
tail -n 1 "$work/documents" | grep -o '"verdict":{[^}]*}' >"$work/verdict"
grep -q 'lrangeCommand\|addListRangeReply' "$work/verdict" || fail "not the list: $(cat "$work/verdict")"
for ((i = 0; i < 100; i++)); do
	[ -n "$(left)" ] || break
	sleep 0.1
done
[ -z "$(left)" ] || fail "left: $(left)"
grep -o '"where":"[^"]*"' "$work/verdict"
