#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of PostgreSQL under pgbench, by pythiatop-probe alone: as many as the server itself logs
# statements, and one for each connection that began; as long as the clients saw them.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs jq setpriv
start_postgres
pgbench -h 127.0.0.1 -p "$pg_port" -U postgres -i -s 1 -q postgres >"$work/init" 2>&1 ||
	fail "pgbench -i: $(tail -n 3 "$work/init")"

start_probe --session postgres
expect_session 5 postgres
sleep 1
: >"$work/pg.log"
# At a rate that leaves processors idle: what clients wait for themselves is not the server's.
pgbench -h 127.0.0.1 -p "$pg_port" -U postgres -n -S -c 8 -j 8 -t 250 -R 1500 -l \
	--log-prefix="$work/transactions" postgres >"$work/clients" 2>&1 ||
	fail "pgbench: $(tail -n 3 "$work/clients")"
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept postgres)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"

statements=$(grep -c 'duration: .*statement: ' "$work/pg.log")
connections=$(grep -c 'connection received' "$work/pg.log")
[ "$statements" -ge 2000 ] || fail "the server logged $statements statements only"
group=$(jq -c --arg type "postgres:$pg_port" '.groups[] | select(.type == $type)' "$work/out.json")
[ "$(jq .count <<<"$group")" = $((statements + connections)) ] ||
	fail "not $statements statements and $connections connections: $(
		jq -c --arg port ":$pg_port" '.groups[] | select(.type | endswith($port)) |
			[.type, .path, .count, .partial, .tainted]' "$work/out.json")"
# Each connection says good-bye in the end, which nobody answers.
[ "$(jq .partial <<<"$group")" -le "$connections" ] || fail "more are cut off: $group"
# Of each transaction its time in us, and how much of that it was late by.
clients_ns=$(awk '{ print $3 - $7 }' "$work"/transactions.* | sort -n |
	awk '{ all[NR] = $1 } END { printf "%d", all[int((NR + 1) / 2)] * 1e3 }')
near "$clients_ns" "$(jq '.p50_ns | floor' <<<"$group")"
