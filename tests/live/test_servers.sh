#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of a stock server, without ids and without instrumentation: Redis under its own benchmark,
# recorded by pythiatop-probe. As many requests as the clients count, each as long as they saw it.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs redis-server redis-benchmark jq

start_redis

start_probe --session redis
expect_session 5 redis
sleep 1
n=5000
redis-benchmark -h 127.0.0.1 -p "$redis_port" -c 4 -n $n -P 1 -t get --csv >"$work/clients" ||
	fail "redis-benchmark"
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept redis)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"

# Before it begins the benchmark asks for two settings, in one message.
group=$(jq -c --arg type "redis-server:$redis_port" '.groups[] | select(.type == $type)' "$work/out.json")
[ "$(jq .count <<<"$group")" = $((n + 1)) ] ||
	fail "not $((n + 1)) requests: $group $(jq -c .accounting "$work/out.json")"
[ "$(jq '[.partial, .tainted] | add' <<<"$group")" = 0 ] || fail "some are not whole: $group"
jq -e '.discarded == 0' "$work/out.json" >/dev/null || fail "events were lost"
client_ns=$(awk -F, '/GET/ { gsub("\"", ""); printf "%d", $5 * 1e6 }' "$work/clients")
ours_ns=$(jq '.p50_ns | floor' <<<"$group")
near "$client_ns" "$ours_ns"
