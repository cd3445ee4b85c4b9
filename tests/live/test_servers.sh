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

# A port of the loopback interface that nobody has: Redis itself says whether it got it.
for ((try = 0; try < 20; try++)); do
	port=$(some_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" \
		>"$work/redis.log" 2>&1 &
	redis=$!
	started+=("$redis")
	for ((i = 0; i < 50; i++)); do
		grep -q "Ready to accept" "$work/redis.log" && break 2
		kill -0 "$redis" 2>/dev/null || break
		sleep 0.1
	done
done
grep -q "Ready to accept" "$work/redis.log" || fail "redis-server: $(tail -n 3 "$work/redis.log")"

start_probe --session redis
expect_session 5 redis
sleep 1
n=5000
redis-benchmark -h 127.0.0.1 -p "$port" -c 4 -n $n -P 1 -t get --csv >"$work/clients" ||
	fail "redis-benchmark"
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept redis)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"

# Before it begins the benchmark asks for two settings, in one message.
group=$(jq -c --arg type "redis-server:$port" '.groups[] | select(.type == $type)' "$work/out.json")
[ "$(jq .count <<<"$group")" = $((n + 1)) ] ||
	fail "not $((n + 1)) requests: $group $(jq -c .accounting "$work/out.json")"
[ "$(jq '[.partial, .tainted] | add' <<<"$group")" = 0 ] || fail "some are not whole: $group"
jq -e '.discarded == 0' "$work/out.json" >/dev/null || fail "events were lost"
client_ns=$(awk -F, '/GET/ { gsub("\"", ""); printf "%d", $5 * 1e6 }' "$work/clients")
ours_ns=$(jq '.p50_ns | floor' <<<"$group")
near "$client_ns" "$ours_ns"
