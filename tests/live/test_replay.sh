#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded kernel traces, replayed live into a real relay daemon with the times of the recordings:
# every event arrives, and the last document says of groups, requests and the state of the systems
# what it says where the recordings are read from their directories, letter for letter. So does the
# state at an instant in the middle (--state-at). Then, with times from now on, two hosts at once, one
# of them as the tracer wrote it (pt-replay re-cuts it itself), and one session that goes on and on.
#
# Compared is all but the rows of the sources, which speak of the way of reading.
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces/kernel-6.2-2cpu" ]; then
	echo "skipped: no recorded traces in $traces"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

# What a document tells from the accounting on, a row a line; but not what was found: that is explained
# as event time goes on, which it does in other steps live, and of one finding only once it stands still. A
# recording is looked at once more at its end, and contexts are numbered as they are met.
told() {
	grep -o '"accounting":.*' "$1" | sed -E 's/"verdict":.*"unmatched":/"unmatched":/
		s/"id":[0-9]+,"context"/"context"/g; s/"a":[0-9]+,"b":[0-9]+,//g; s/[{[]/\n&/g'
}

# Of an instant in the middle, the statistics of the groups and the state: not what was counted so far,
# nor what is made of the requests kept so far, for it was read on a little; nor what threads wait for,
# which their wake-up tells later.
told_then() {
	grep -o '{"id":[0-9]*,"type":[^{[]*' "$1"
	grep -o '"state":{"at_ns".*' "$1" | sed -E 's/"waits_for":[^,]*,//g; s/[{[]/\n&/g'
}

same() { # WHAT TOLD LIVE RECORDED
	"$2" "$3" >"$work/told.live"
	"$2" "$4" >"$work/told.recorded"
	[ "$(wc -l <"$work/told.recorded")" -gt 500 ] || fail "$1: nothing is told: $(cat "$4" "$4.err")"
	cmp -s "$work/told.live" "$work/told.recorded" ||
		fail "$1: live (<) and recorded (>) differ:
$(diff "$work/told.live" "$work/told.recorded" | head -n 6)"
}

# Reads a recording, and re-cuts it into packets of a live timer.
prepare() {
	"$build_dir/pythiatop" --batch=json --schema=lttng-kernel --window=3600 \
		--horizon=all --dump "$work/$1" "$traces/$1" >"$work/$1.recorded" 2>"$work/$1.err" ||
		fail "$(cat "$work/$1.err")"
}

replay() { # TRACE HOST SESSION [options]
	local trace=$1 host=$2 session=$3
	shift 3
	"$build_dir/testbed/pt-replay" --relay "$PT_RELAY" --control "${PT_RELAY_CONTROL##*:}" \
		--data "${PT_RELAY_DATA##*:}" --host "$host" --session "$session" --wait-viewer "$@" \
		"$trace" &
	started+=("$!")
}

# The console beside a replay of a whole recording under its own names.
for pair in kernel-6.2-2cpu:101669:6 kernel-4.4-basic:134500:3; do
	IFS=: read -r name events back <<<"$pair"
	prepare "$name"
	host=$(ls "$work/$name") url=$PT_RELAY/host/$(ls "$work/$name")/$name
	replay "$work/$name/$host/kernel" "$host" "$name" --keep-time
	start_console --schema=lttng-kernel --horizon=all --window=3600 "$url"
	expect 20 "$(row "$url" '[a-z]*' "\"events\":$events[,}]")"
	expect 12 "$(row "$url" '(ended|waiting)')"
	sleep 0.5 # what is newest then is whole, and not of before
	newest >"$work/live"
	end_console
	same "$name" told "$work/live" "$work/$name.recorded"

	# The instant so many seconds before the end, as a time of its own.
	last=$(grep -o '^{[^{]*"time_ns":[0-9]*' "$work/$name.recorded" | grep -o '[0-9]*$')
	at=$(date -d "@$((last / 1000000000 - back))" +%FT%T).$(printf %09d $((last % 1000000000)))
	"$build_dir/pythiatop" --batch=json --schema=lttng-kernel --state-at="$at" "$traces/$name" \
		>"$work/$name.then" 2>"$work/$name.then.err" || fail "$(cat "$work/$name.then.err")"
	replay "$work/$name/$host/kernel" "$host" "$name-then" --keep-time
	timeout 40 "$build_dir/pythiatop" --batch=json --schema=lttng-kernel --state-at="$at" \
		"$url-then" >"$work/then" 2>"$work/then.err" || fail "$(cat "$work/then.err")"
	same "$name at $at" told_then "$work/then" "$work/$name.then"
done

replay "$traces/kernel-6.2-2cpu" first both
replay "$work"/kernel-4.4-basic/*/kernel second both
start_console --schema=lttng-kernel --horizon=all --window=3600 "$PT_RELAY"
expect 20 "$(row "$PT_RELAY/host/first/both" '[a-z]*' '"events":101669[,}]')"
expect 20 "$(row "$PT_RELAY/host/second/both" '[a-z]*' '"events":134500[,}]')"
end_console

# Three rounds of one session: nothing late, and the times go on.
replay "$traces/kernel-6.2-2cpu" first rounds --loop 3 --speed 20
url=$PT_RELAY/host/first/rounds
start_console --schema=lttng-kernel "$url"
expect 30 "$(row "$url" '[a-z]*' "\"events\":$((3 * 101669))[,}]")"
row_found=$(newest | grep -Eo "$(row "$url" '[a-z]*' '"late":0,')") || fail "late: $(newest | head -c 900)"
[ -n "$row_found" ]
end_console
