#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `./run demo redis` and `./run demo postgres`: requests of a stock server are seen, and with the console
# everything ends. What is found there: test_process.sh, and the field. test_demo_stock.sh SOURCE-DIR BUILD-DIR
. "$(dirname "$0")/process.sh"
begin "$2" redis-server python3
source_dir=$1
chmod 755 "$work" "$TMPDIR" # PostgreSQL is not root's
export PT_DEMO_MARK=$work # of all that the demos start
demo() {
	timeout --foreground 120 "$source_dir/tests/field/demo.sh" "$build_dir" "$@" 2>"$work/said"
}

expect_nothing_left() {
	local i left
	for ((i = 0; i < 100; i++)); do
		left=$(grep -lzxF "PT_DEMO_MARK=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | grep -vxF "$$" |
			while read -r pid; do
				[ "$(ps -o ppid= -p "$pid" | tr -d ' ')" = "$$" ] || ps -o pid=,ppid=,stat=,wchan:24=,args= -p "$pid"
			done)
		[ -n "$left$(ls "$TMPDIR")" ] || return 0
		sleep 0.1
	done
	fail "left: $left $(ls "$TMPDIR")"
}

# TYPE NUMBER: a group of that type (a pattern) has so many requests, and with the demo everything ends.
expect_requests() {
	jq -se --arg type "$1" --argjson n "$2" \
		'last | [.groups[] | select(.type | test($type))][0].count >= $n' "$work/documents" >/dev/null ||
		fail "no requests of $1: $(tail -n 1 "$work/documents" | jq -c '[.groups[] | [.type, .count]]')"
	expect_nothing_left
}

if ! demo redis --batch=json -n 3 >"$work/documents"; then
	skip_unable "$work/said"
	fail "demo redis: $(cat "$work/said")"
fi
expect_requests '^redis-server' 100

demo postgres --batch=json -n 5 >"$work/documents" || {
	status=$?
	[ $status != 77 ] || cat "$work/documents"
	[ $status != 77 ] || exit 77
	fail "demo postgres ended with $status: $(cat "$work/said")"
}
expect_requests '^postgres:' 50
