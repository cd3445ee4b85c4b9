#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stock redis-server at its limit, watched: spans of time are recorded, and that is said; nothing
# counts as lost, requests are whole, and their rate is that of the time that was recorded. What it forks
# in a pause is known as its child. Without a limit all of the time is recorded.
# test_process_pace.sh SOURCE-DIR BUILD-DIR
. "$(dirname "$0")/process.sh"
begin "$2" redis-server redis-cli redis-benchmark
start_redis
redis-benchmark -s "$socket" -t get -c 20 -n 1000000000 --csv >/dev/null 2>&1 </dev/null &
started+=($!)
commands() {
	redis-cli -s "$socket" INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p'
}

# Documents of "$@"; afterwards `rate` has what the server did meanwhile, in requests/s.
watch() {
	local before begin
	before=$(commands)
	begin=$(date +%s%N)
	timeout --foreground 100 "$build_dir/pythiatop" --batch=json -p "$server" "$@" >"$work/documents" \
		2>"$work/said" || {
		skip_unable "$work/said"
		fail "pythiatop -p: $(cat "$work/said")"
	}
	rate=$((($(commands) - before) * 1000 / (($(date +%s%N) - begin) / 1000000)))
	last=$(tail -n 1 "$work/documents")
}

is_whole() {
	jq -e '.discarded == 0' <<<"$last" >/dev/null
}

# Where the whole machine stands still for a moment, what a span records at a million events a second does
# not fit into the buffers: then once more.
for ((attempt = 1; attempt <= 2; attempt++)); do
	watch -n 14
	is_whole && break
	echo "events are lost: $(jq -c .discarded <<<"$last")"
done
jq -c '[.warnings, .discarded, (.groups[] | [.type, .count, .tainted, .partial, .rate_per_s])]' <<<"$last"
echo "the server: $rate requests/s"
share=$(jq -r '.warnings[]' <<<"$last" | sed -n 's/.* was recorded \([0-9]*\) % of the time.*/\1/p')
jq -r '.warnings[]' <<<"$last" | grep -q '[0-9] s at a time: ' || fail "it is not said how long a span is"
[ -n "$share" ] || fail "it is not said that it was not recorded all of the time"
((share < 60)) || fail "$share % of the time was recorded of a server at its limit"
is_whole || fail "events are lost"
jq -e '[.groups[] | select(.type == "redis-server")][0] |
	.count >= 500 and .tainted + .partial <= 0.05 * .count' <<<"$last" >/dev/null ||
	fail "requests are few, or not whole"
# Recording takes something from it, for as long as it goes on.
jq -e --argjson rate "$rate" '[.groups[] | select(.type == "redis-server") | .rate_per_s] | add |
	. >= 0.15 * $rate and . <= 1.5 * $rate' <<<"$last" >/dev/null ||
	fail "its rate is not that of the time that was recorded"

# Children that it forks, most of them in a pause, and that live for a second or so; from when the
# viewer has come, for whom the state of those before is dumped only later.
saves() {
	sed -n 's/.*Background saving started by pid \([0-9]*\)$/\1/p' "$work/redis.log"
}
redis-cli -s "$socket" EVAL "for i = 1, 1000 do redis.call('SET', 'key' .. i, i) end" 0 >/dev/null
redis-cli -s "$socket" CONFIG SET rdb-key-save-delay 1500 >/dev/null
(sleep 4
while sleep 0.3; do
	redis-cli -s "$socket" BGSAVE >/dev/null 2>&1
done) &
started+=($!)
watch -n 10 --window=30 --dump-text="$work/events"
kill "${started[-1]}"
seen=0
for child in $(saves); do
	grep -q "next_tid = $child," "$work/events" || continue
	seen=$((seen + 1))
	grep -Eq "sched_process_fork: .*child_tid = $child,|process_state: .* tid = $child,.* ppid = $server," \
		"$work/events" || fail "nothing tells whose child $child is"
done
echo "$seen children ran, of $(saves | wc -l)"
((seen >= 1)) || fail "no child was seen"

watch -n 4 --cost=100
jq -e '[.warnings[] | select(contains("was recorded"))] == []' <<<"$last" >/dev/null ||
	fail "without a limit: $(jq -c .warnings <<<"$last")"
exit 0
