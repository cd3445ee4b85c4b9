#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# nginx before a Python application before PostgreSQL, none of them prepared for it: each request of a
# client is one tree, with the application's request and as many of the database's as it made.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs jq setpriv
needs_chain
start_postgres
start_application
start_nginx

start_probe --session chain
expect_session 5 chain
sleep 1
n=1200
load_chain $n
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept chain)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"

# All requests of the clients, and no request of the others that stands by itself.
count() {
	jq --arg port ":$1" '[.groups[] | select((.type | endswith($port)) and (.path | test($path)))
		| .count] | add // 0' --arg path "${2:-}" "$work/out.json"
}
groups() {
	jq -c '.groups[] | [.type, .path, .count, .partial, .tainted]' "$work/out.json" |
		grep -E ":($web_port|$app_port|$pg_port)\""
}
[ "$(count "$web_port")" = $n ] || fail "not $n requests: $(groups)"
[ "$(count "$app_port")" = 0 ] || fail "some requests of the application are nobody's: $(groups)"
[ "$(count "$pg_port")" = 0 ] || fail "some requests of the database are nobody's: $(groups)"
# A third of them asks the database nothing, the others all in the same way.
jq -e '.discarded == 0' "$work/out.json" >/dev/null || fail "events were lost"
[ "$(jq -c --arg port ":$web_port" '[.groups[] | select(.type | endswith($port)) | .count] | sort' \
	"$work/out.json")" = "[$((n / 3)),$((n - n / 3))]" ] || fail "not two kinds: $(groups)"

# Groups are called by the servers that are asked, one behind the other.
paths=$(jq -r --arg port ":$web_port" '[.groups[] | select(.type | endswith($port)) | .type + " " + .path] | sort | .[]' \
	"$work/out.json")
[ "$paths" = "nginx:$web_port › python3:$app_port
nginx:$web_port › python3:$app_port › postgres:$pg_port" ] || fail "not what the servers are called: $paths"

# What was found, and why.
"$build_dir/pythiatop" --show-schema --window=60 "$(kept chain)" >"$work/schema" 2>"$work/schema.err" ||
	fail "no schema: $(cat "$work/schema.err")"
said() {
	grep -qE "^# server $1 \(its port is listened on\): $n requests on [0-9]+ connections?; $2" \
		"$work/schema" || fail "not $n requests of $1: $(grep "^# server $1" "$work/schema")"
}
said "nginx:$web_port" "none joined with a call: their clients worked for no request"
said "python3:$app_port" "$n joined with the call .*, by both addresses and ports, and the position in the stream"

# Each tree holds one request of the application, and those of the database, as far as trees are sampled.
"$build_dir/pythiatop" --batch=json --window=60 "$(kept chain)" 2>/dev/null | tail -n 1 >"$work/tree.json"
spans() {
	jq "[.contexts[] | .rows[] | select(.context == \"$1\") | .$2] | add // 0" "$work/tree.json"
}
nginx=$(spans "nginx:$web_port" count) application=$(spans "python3:$app_port" count)
database=$(spans "postgres:$pg_port" count)
echo "of $nginx trees: $application requests of the application, $database of the database"
[ "$nginx" -gt 0 ] && [ "$nginx" = "$application" ] || fail "not one in each: $nginx, $application"
[ "$database" -ge $((nginx / 2)) ] || fail "too few questions: $database in $nginx"
