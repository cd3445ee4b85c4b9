#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of servers from LTTng's kernel events. Its modules are not there to be loaded: what the probe
# records of Redis, and of nginx before an application before PostgreSQL, is converted, event by event, to
# what LTTng would have recorded (as_lttng.c), and read again: as many requests, as long, with the same in
# them. So it is a conversion of real events, and no recording of LTTng.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs jq setpriv redis-server redis-benchmark
needs_chain
start_postgres
start_redis

# Connections are made after the recording has begun; that Redis and the database listen is older.
start_probe --session chain
expect_session 5 chain
sleep 1
start_application
start_nginx
n=900
load_chain $n
redis-benchmark -h 127.0.0.1 -p "$redis_port" -c 4 -n $n -P 1 -t get --csv >"$work/clients" ||
	fail "redis-benchmark"
sleep 1
end_probe
original=$(kept chain)

document() { # FILE SOURCE
	"$build_dir/pythiatop" --batch=json --window=120 "$2" 2>"$work/out.err" | tail -n 1 >"$1" ||
		fail "pythiatop: $(cat "$work/out.err")"
}
# Type, path and number of the groups of these servers.
groups() {
	jq -c --arg ports ":($web_port|$app_port|$pg_port|$redis_port)$" '[.groups[] |
		select(.count > 0 and ((.type // "") | test($ports))) |
		[.type, .path, .count, .partial, .tainted]] | sort | .[]' "$1"
}
# Requests of each server, and how many of them are in the request that asked for them: of all, where trees
# are of samples.
parts() { # SCHEMA
	sed -nE "s/^# server ([^ ]*:($web_port|$app_port|$pg_port|$redis_port)) .*: ([0-9]+) requests? on [0-9]+ connections?; ([0-9]+|none) joined.*/\\1 \\3 \\4/p" \
		"$1" | sed 's/none$/0/' | sort
}
schema() { # FILE SOURCE
	"$build_dir/pythiatop" --show-schema --window=120 "$2" >"$1" 2>"$work/out.err" ||
		fail "no schema: $(cat "$work/out.err")"
}
# Is the mean of each group that of the original? The probe tells of a send before the call begins.
means() {
	jq -r --arg ports ":($web_port|$redis_port)$" '.groups[] |
		select(.count > 0 and ((.type // "") | test($ports))) |
		"\(.type)\(.path | gsub(" "; "")) \(.mean_ns | floor)"' "$1" | sort
}

document "$work/probe.json" "$original"
jq -e '.discarded == 0' "$work/probe.json" >/dev/null || fail "events were lost"
as_lttng "$original" "$work/lttng"
document "$work/lttng.json" "$work/lttng"
groups "$work/probe.json" >"$work/groups"
[ "$(jq '.[2]' "$work/groups" | awk '{ sum += $1 } END { print sum }')" -ge $n ] || fail "too few: $(cat "$work/groups")"
groups "$work/lttng.json" | diff "$work/groups" - >"$work/diff" ||
	fail "other groups: by the probe <, by LTTng >: $(cat "$work/diff")"
schema "$work/probe.schema" "$original"
schema "$work/lttng.schema" "$work/lttng"
parts "$work/probe.schema" >"$work/parts"
[ "$(wc -l <"$work/parts")" = 4 ] || fail "not four servers: $(grep '^# server' "$work/probe.schema")"
parts "$work/lttng.schema" | diff "$work/parts" - >"$work/diff" ||
	fail "something else is in requests: by the probe <, by LTTng >: $(cat "$work/diff")"
paste -d' ' <(means "$work/probe.json") <(means "$work/lttng.json") >"$work/means"
awk '{ a = $(NF / 2); b = $NF; d = a > b ? a - b : b - a; if (d > 3000 && d > a / 50) { print; bad = 1 } }
	END { exit bad }' "$work/means" || fail "other durations: $(cat "$work/means")"
cat "$work/groups" "$work/means" "$work/parts"

# Why: both ends of each connection by the packets.
grep -qE "^# server python3:$app_port \\(its port is listened on\\): ([0-9]+) requests on [0-9]+ connections; \\1 joined with the call .*, by both addresses and ports, and the position in the stream" \
	"$work/lttng.schema" || fail "not why: $(grep '^# server' "$work/lttng.schema")"
known=$(sed -nE 's/^# of [0-9]+ connections that system calls accepted the other end is known of ([0-9]+) by TCP headers.*/\1/p' \
	"$work/lttng.schema")
[ "${known:-0}" -ge $n ] || fail "too few known by headers: $(grep '^# of' "$work/lttng.schema")"

# Without headers: whom a connection is with is known where only one can be meant, and never wrongly.
as_lttng "$original" "$work/bare" --without-headers
schema "$work/bare.schema" "$work/bare"
grep -q '^# of .* by the only connect() that could be meant; .*record net_dev_queue and net_if_receive_skb' \
	"$work/bare.schema" || fail "not what is missing: $(grep '^# of' "$work/bare.schema")"
grep '^# server \|^# of ' "$work/bare.schema"
document "$work/bare.json" "$work/bare"
web=$(jq '[.groups[] | select((.type // "") | startswith("nginx:")) | .count] | add' "$work/bare.json")
[ "$web" -ge $n ] || fail "$web requests of nginx: $(jq -c '.groups[] | [.type, .path, .count]' "$work/bare.json" | head -n 5)"
parts "$work/bare.schema" | awk 'NR == FNR { most[$1] = $3; next } $3 > most[$1] { print; bad = 1 } END { exit bad }' \
	"$work/parts" - >"$work/more" || fail "more is in requests than was: $(cat "$work/more")"
