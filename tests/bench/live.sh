#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Live sessions of many streams by either reader, own and babeltrace2 in turns, beside a relay daemon of
# its own. Packets that are there already (as fast as they can), at 2 and 200 streams: events/s, the
# medians of ROUNDS, and their ratio. As they are made, at 200 streams and 270,000 events/s: how far
# behind; 1,000 streams, and 50 sessions of 8 at 100,000 events/s: that, time to attach, memory.
#
# usage: live.sh [ROUNDS [EVENTS]]    (3, 1000000)
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${PT_BUILD_DIR:-$here/../../build}
timer=200000

if [ "${1:-}" != --inside ]; then
	for program in pythiatop-source tests/live_read tests/live_streams; do
		[ -x "$build/$program" ] || { echo "live.sh: $build/$program is missing: ./run build" >&2; exit 1; }
	done
	exec "$0" --inside "${1:-3}" "${2:-1000000}"
fi

# Beside new daemons: live_streams with SESSIONS STREAMS RATE LENGTH, and READER on it until UNTIL
# events have come.
if [ "${2:-}" = --once ]; then
	sessions=$3 streams=$4 rate=$5 length=$6 reader=$7 until=$8
	urls=()
	for ((i = 0; i < sessions; i++)); do
		urls+=("$PT_RELAY/host/many/many-$i")
	done
	"$build/tests/live_streams" "${PT_RELAY##*:}" "${PT_RELAY_CONTROL##*:}" "${PT_RELAY_DATA##*:}" \
		"$sessions" "$streams" "$rate" "$length" $timer >/dev/null 2>&1 &
	maker=$!
	sleep 1
	timeout 150 "$build/tests/live_read" "$build/pythiatop-source" "$reader" $timer "$until" \
		"${urls[@]}" 2>/dev/null
	kill $maker 2>/dev/null
	exit 0
fi

once() {
	"$here/../testbed/daemons.sh" --session none -- "$0" --inside --once "$@"
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
rate_of() { sed -n 's/.* rate \([0-9]*\) .*/\1/p'; }

rounds=$2 events=$3
# The last events wait for what streams say next, and none say more.
most=$((events * 95 / 100))
for streams in 2 200; do
	own='' library=''
	for ((i = 0; i < rounds; i++)); do
		own+=$(once 1 $streams 0 "$events" own $most | rate_of)$'\n'
		library+=$(once 1 $streams 0 "$events" babeltrace2 $most | rate_of)$'\n'
	done
	own=$(median <<<"${own%$'\n'}") library=$(median <<<"${library%$'\n'}")
	echo "$streams streams, packets ready: own $own events/s, babeltrace2 $library events/s," \
		"ratio $(awk -v a="$own" -v b="$library" 'BEGIN { printf "%.1f", a / b }')"
done
for reader in own babeltrace2; do
	echo "200 streams, 270000 events/s, $reader: $(once 1 200 270000 8 $reader 0)"
done
echo "1000 streams, 100000 events/s, own: $(once 1 1000 100000 8 own 0)"
echo "50 sessions of 8 streams, 100000 events/s, own: $(once 50 8 100000 8 own 0)"
