#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Packets that are lost between a server and the one that it asks: nginx before an application that is
# reached over a link which loses everything for a while. The time until TCP sends again is told as that, and
# that the network is waited for; as long as nginx itself says in its log.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs nginx jq
: >"$work/order" >"$work/delay"
for ((try = 0; try < 20; try++)); do
	number=$((RANDOM % 255 + 1)) # another test may have that one
	app=10.99.$number.2:8000
	"$build_dir/tests/slownet" "$work/order" "$number" \
		"$python" "$source_dir/tests/field/app.py" "$app" "$work/delay" 2 >"$work/app" 2>"$work/app.err" &
	started+=("$!")
	is_ready 50 "$!" grep -qs ready "$work/app" && break
done
if ! grep -qs ready "$work/app"; then
	echo "skipped: no network between namespaces: $(tail -n 1 "$work/app.err")"
	exit 77
fi
start_nginx_before "http://$app" "log_format times '\$upstream_connect_time'; access_log $work/access.log times;"
start_probe --session lost --tree nginx
expect_session 5 lost
sleep 1
: >"$work/access.log"
ask() { "$python" "$source_dir/tests/live/servers_app.py" load "$web_port" 1 || fail "no answer"; }
for i in 1 2 3 4; do
	for j in 1 2 3 4 5; do ask; done
	# What asks for a connection is lost; it is sent again after a second.
	echo "loss 0 0 1" >"$work/order"
	ask &
	asks=$!
	sleep 0.7 # to begin takes as long where other work is
	: >"$work/order"
	wait "$asks" || fail "no answer"
done
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept lost)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"
group=$(tail -n 1 "$work/out.json" | jq -c --arg type "nginx:$web_port" '.groups[] | select(.type == $type)')
[ "$(jq .count <<<"$group")" = 24 ] || fail "not 24 requests: $(cut -c1-300 <<<"$group")"
wait_=$(jq -c '.waits[] | select(.what == "(no acknowledgement)")' <<<"$group")
[ "$(jq .waits <<<"$wait_")" = 4 ] || fail "not four that waited: $(jq -c '[.waits[] | [.context, .what, .waits]]' <<<"$group")"
jq -e '.holders[0].interrupt == "network" and .holders[0].share == 1' <<<"$wait_" >/dev/null || fail "not for the network: $wait_"
nginx_ns=$(awk '$1 > 0.5 { n++; sum += $1 } END { printf "%d", n == 4 ? sum / n * 1e9 : 0 }' "$work/access.log")
near "$nginx_ns" "$(jq '.mean_ns | floor' <<<"$wait_")"
