#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a host offers is asked for again and again while others' sessions come and go: the session daemon
# outlives it. (One of LTTng 2.13 with --no-kernel aborts if it is asked for the kernel just then.)
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:request_exit' -- "$@"
. "$source_dir/tests/live/control.sh"

# What somebody else does meanwhile, until the file is there; $1 tells theirs apart.
come_and_go() {
	local n=0 name
	while [ ! -e "$work/enough" ] && kill -0 "$PT_SESSIOND_PID" 2>/dev/null; do
		name=theirs-$1-$((++n))
		lttng --no-sessiond create "$name" --live=200000 \
			--ctrl-url="$PT_RELAY_CONTROL" --data-url="$PT_RELAY_DATA" &&
			lttng --no-sessiond enable-event -u -s "$name" -a &&
			lttng --no-sessiond start "$name" &&
			lttng --no-sessiond destroy --no-wait "$name" || break
	done >"$work/theirs" 2>&1
	echo "$n" >"$work/count.$1"
}

generate 100000000 20000
start_driver
tells ' ready ' ready
theirs=()
for who in 1 2 3 4; do
	background come_and_go $who
	theirs+=("$pid")
done
until=$((SECONDS + 10)) asked=0
while [ $SECONDS -lt $until ]; do
	tell points
	kill -0 "$PT_SESSIOND_PID" 2>/dev/null || break
	grep -q '^answer 0 ' <<<"$said" || fail "points: $said"
	asked=$((asked + 1))
done
touch "$work/enough"
wait "${theirs[@]}"
kill -0 "$PT_SESSIOND_PID" || fail "after $asked questions"
count=$(cat "$work"/count.* | awk '{ n += $1 } END { print n }')
[ "$count" -ge 20 ] || fail "$count sessions came and went: $(cat "$work/theirs")"
echo "asked $asked times, beside $count sessions"
