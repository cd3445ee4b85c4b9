#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A server whose first thread hands requests to a pool, before Redis, recorded by pythiatop-probe: what
# threads of the pool ask is found under the request that they were given. Requests of its second port
# ask nothing: none of them may be said to. With several clients at once not all is found.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs redis-server jq

start_redis
for ((try = 0; try < 20; try++)); do
	asking=$(some_port) other=$(some_port)
	"$build_dir/tests/live/pt-pooled" serve "$asking" "$other" "$redis_port" 4 >"$work/pool" 2>"$work/pool.err" &
	pool=$!
	started+=("$pool")
	is_ready 50 "$pool" grep -q ready "$work/pool" && break
done
grep -q ready "$work/pool" || fail "the server: $(cat "$work/pool.err")"

# Requests of a port, all of them, or those that asked Redis.
count() { # SESSION PORT [PATH]
	jq --arg type "pt-pooled:$2" --arg path "${3:-}" '[.groups[]
		| select(.type == $type and (.path | test($path))) | .count] | add // 0' "$work/$1.json"
}

record() { # SESSION CLIENTS N
	start_probe --session "$1"
	expect_session 5 "$1"
	sleep 1
	"$build_dir/tests/live/pt-pooled" load "$asking" "$other" "$2" "$3" 2>"$work/load.err" ||
		fail "the clients: $(cat "$work/load.err")"
	sleep 1
	end_probe
	"$build_dir/pythiatop" --batch=json --window=60 "$(kept "$1")" >"$work/$1.json" 2>"$work/out.err" ||
		fail "pythiatop: $(cat "$work/out.err")"
	jq -e '.discarded == 0' "$work/$1.json" >/dev/null || fail "events were lost"
	asked=$(count "$1" "$asking") joined=$(count "$1" "$asking" redis)
	silent=$(count "$1" "$other") wrong=$(count "$1" "$other" redis)
	echo "$2 clients: $joined of $asked found to ask Redis, $wrong of $silent wrongly"
	[ "$wrong" = 0 ] || fail "requests that ask nothing seem to"
}

# Who has just finished may be faster than the one that was woken: such a request is cut.
n=500
record one 1 $n
[ $asked -ge $((n / 2)) ] && [ $silent -ge $((n / 2)) ] || fail "too many are cut: $asked, $silent of $n"
[ $joined -ge $((asked * 95 / 100)) ] || fail "of one client's only $joined of $asked are found"
record several 4 $n
[ $asked -ge $((n / 2)) ] && [ $silent -ge $((n / 2)) ] || fail "most are cut: $asked, $silent of $((4 * n))"
[ $joined -ge $((asked / 4)) ] || fail "of four clients' only $joined of $asked are found"
