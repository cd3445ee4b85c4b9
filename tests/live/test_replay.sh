#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded kernel traces, replayed live into a real relay daemon: every event arrives, and the groups
# are those of the recordings read from their directories. Then two hosts at once.
#
# Requests that are open at a recording's end are counted there, and still pending live: `partial`,
# and what has only such requests, is not compared. A request that has ended while something of it is
# open waits a little for that: of those, too, live may lack the last one of a type.
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces/kernel-6.2-2cpu" ]; then
	echo "skipped: no recorded traces in $traces"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

groups_of() {
	grep -o '"groups":.*"unmatched":' "$1" | grep -o '{"id":[^{}]*}' | grep -v '"count":0,' |
		sed -E 's/"(id|rate_per_s|partial|variation_share)":[^,}]*,?//g' | sort
}

# Lines of `groups_of`: the same, but where live lacks one request; of four groups at the most.
same_groups() {
	awk 'function key(line) { match(line, /"type":"[^"]*","path":"[^"]*"/); return substr(line, RSTART, RLENGTH) }
		function n(line) { match(line, /"count":[0-9]+/); return substr(line, RSTART + 8, RLENGTH - 8) }
		NR == FNR { live[key($0)] = $0; next }
		{ k = key($0); lacks = n($0) - n(live[k])
		  if (live[k] != $0 && (lacks != 1 || ++lacking > 4)) { print "live: " live[k]; print "read: " $0; wrong = 1 }
		  delete live[k] }
		END { for (k in live) { print "live only: " live[k]; wrong = 1 } exit wrong }' "$1" "$2"
}

# Reads a recording, and re-cuts it into packets of a live timer.
prepare() {
	"$build_dir/pythiatop" --batch=json --schema=lttng-kernel --window=3600 \
		--dump "$work/$1" "$traces/$1" >"$work/$1.recorded" 2>"$work/$1.err" ||
		fail "$(cat "$work/$1.err")"
}

replay() {
	"$build_dir/testbed/pt-replay" --relay "$PT_RELAY" --control "${PT_RELAY_CONTROL##*:}" \
		--data "${PT_RELAY_DATA##*:}" --host "$2" --session "$3" --wait-viewer \
		"$work/$1"/*/kernel &
	started+=("$!")
}

for pair in kernel-6.2-2cpu:101669 kernel-4.4-basic:134500; do
	name=${pair%:*} url=$PT_RELAY/host/alone/${pair%:*}
	prepare "$name"
	replay "$name" alone "$name"
	start_console --schema=lttng-kernel --horizon=all --window=3600 "$url"
	expect 20 "$(row "$url" '[a-z]*' "\"events\":${pair#*:}[,}]")"
	expect 12 "$(row "$url" '(ended|waiting)')"
	newest >"$work/live"
	end_console
	groups_of "$work/live" >"$work/live.groups"
	groups_of "$work/$name.recorded" >"$work/recorded.groups"
	[ -s "$work/recorded.groups" ] || fail "$name: no groups"
	same_groups "$work/live.groups" "$work/recorded.groups" >"$work/differences" ||
		fail "$name: $(head -n 6 "$work/differences")"
done

replay kernel-6.2-2cpu first both
replay kernel-4.4-basic second both
start_console --schema=lttng-kernel --horizon=all --window=3600 "$PT_RELAY"
expect 20 "$(row "$PT_RELAY/host/first/both" '[a-z]*' '"events":101669[,}]')"
expect 20 "$(row "$PT_RELAY/host/second/both" '[a-z]*' '"events":134500[,}]')"
end_console
