#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `./run demo redis` and `./run demo postgres`: requests of a stock server are seen, and with the
# console everything ends, as it does where the demo itself is ended. What is found there:
# test_process.sh, and the field. test_demo_stock.sh SOURCE-DIR BUILD-DIR
. "$(dirname "$0")/process.sh"
begin "$2" redis-server python3
source_dir=$1
chmod 755 "$work" "$TMPDIR" # PostgreSQL is not root's
export PT_DEMO_MARK=$work # of all that the demos start

# Numbers of all that the demos have started, and of the processes that look for them.
marked() {
	grep -lzxF "PT_DEMO_MARK=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | grep -vx "$$"
}

# SESSIONS: also of processes that are ending, whose environment can be read no more, nothing is there.
expect_nothing_left() {
	local pid left until=$((SECONDS + 10))
	while [ $SECONDS -lt $until ]; do
		left=
		for pid in $(marked; ps -o pid= -s "$1"); do
			[ ! -d "/proc/$pid" ] || left+=" $pid"
		done
		[ -n "$left$(ls "$TMPDIR")" ] || return 0
		sleep 0.1
	done
	fail "left: $(ls "$TMPDIR")
$(for pid in $left; do ps -o pid=,ppid=,stat=,wchan:24=,args= -p "$pid"; done)"
}

# DEMO TYPE WHO STATUS: a group of that type (a pattern) soon has 10 requests, and all of the demo
# ends with the console, which ends on SIGINT as on `q`, or on a SIGTERM of its own, with that status.
expect_requests() {
	local demo console sessions seen='' until=$((SECONDS + 60))
	timeout --foreground 200 "$source_dir/tests/field/demo.sh" "$build_dir" "$1" --batch=json \
		>"$work/documents" 2>"$work/said" &
	demo=$!
	while [ -z "$seen" ] && [ $SECONDS -lt $until ] && kill -0 "$demo" 2>/dev/null; do
		sleep 0.2
		seen=$(tail -n 1 "$work/documents" | jq --arg type "$2" \
			'.groups[] | select((.type | test($type)) and .count >= 10)' 2>/dev/null)
	done
	sessions=$(marked | xargs -r ps -o sid= -p | sort -u | grep -vx " *$(ps -o sid= -p $$ | tr -d ' ')" |
		tr -d ' ' | paste -sd,)
	console=$(pgrep -x pythiatop -P "$(pgrep -P "$demo")")
	case $3 in
	console) [ -z "$console" ] || kill -INT "$console" ;;
	demo) kill -TERM "$demo" ;;
	esac
	wait "$demo"
	status=$?
	if [ $status != "$4" ]; then
		[ $status != 77 ] || cat "$work/documents"
		[ $status != 77 ] || exit 77
		skip_unable "$work/said"
		fail "demo $1 ended with $status: $(cat "$work/said")"
	fi
	[ -n "$seen" ] || fail "no requests of $2: $(tail -n 1 "$work/documents" | jq -c '[.groups[] | [.type, .count]]')"
	expect_nothing_left "$sessions"
}

expect_requests redis '^redis-server' console 0
expect_requests postgres '^postgres:' demo 1
