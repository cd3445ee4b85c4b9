#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded kernel traces, replayed live into a real relay daemon under two host names at once: every
# event arrives, and the groups are those of the recordings read from their directories.
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces/kernel-6.2-2cpu" ]; then
	echo "skipped: no recorded traces in $traces"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

# Groups without what depends on when and where one looks.
groups_of() {
	grep -o '"groups":.*"state"' "$1" | sed -E 's/"(events_per_s|lag_ns|rate_per_s)":[^,}]*,?//g'
}

replay() {
	local name=$1 host=$2
	"$build_dir/pythiatop" --batch=json --window=3600 --dump "$work/$name" "$traces/$name" \
		>"$work/$name.recorded" 2>"$work/$name.err" || fail "$(cat "$work/$name.err")"
	"$build_dir/testbed/pt-replay" --relay "$PT_RELAY" --control "${PT_RELAY_CONTROL##*:}" \
		--data "${PT_RELAY_DATA##*:}" --host "$host" --session replay --wait-viewer \
		"$work/$name"/*/kernel &
	started+=("$!")
}

replay kernel-6.2-2cpu first
replay kernel-4.4-basic second
sleep 1
start_console --horizon=all --window=3600 "$PT_RELAY"
for pair in first:101669 second:134500; do
	url=$PT_RELAY/host/${pair%:*}/replay
	expect 15 "$(row "$url" '[a-z]*' "\"events\":${pair#*:}[,}]")"
done
newest | grep -q '"late":0' || fail "events came late: $(newest | head -c 400)"
end_console
