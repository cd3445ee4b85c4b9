#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The console on a live stream for minutes: 200,000 events/s through a real relay daemon. Nothing may
# be lost, it may lag by the live timer + 250 ms, memory may move by 10 % once the window has filled
# (after 25 s: a shorter run does not tell), and 99 of 100 keys are answered within 50 ms.
#
# usage: soak.sh [SECONDS [EVENTS_PER_S]]    (120 s, 200000/s)
set -u
here=$(cd "$(dirname "$0")" && pwd)
timer_us=200000

if [ "${1:-}" != --inside ]; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/pt-soak.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	export PT_SOAK_WORK=$work
	${CC:-cc} -O2 -I"$here" "$here/gen_ust.c" -o "$work/gen_ust" -llttng-ust -lpthread -ldl || exit 1
	"$here/../testbed/daemons.sh" --session soak --events 'gen:*' --timer $timer_us --subbuf 1M -- \
		"$0" --inside "${1:-120}" "${2:-200000}"
	exit $?
fi

shift
seconds=$1 rate=$2 fill=25 work=$PT_SOAK_WORK
pythiatop=$here/../../build/pythiatop
probe=$here/../../build/tests/console_probe
for program in "$pythiatop" "$probe"; do
	[ -x "$program" ] || { echo "soak.sh: $program is missing: ./run build" >&2; exit 1; }
done

"$work/gen_ust" $((rate * (seconds + 5))) 4 "$rate" &
generator=$!
trap 'kill $generator 2>/dev/null' EXIT
sleep 1 # the session lives once the application has registered
result=$("$probe" "$seconds" $fill '?' 'WHAT THEY DO' $'\e' "$work/export.json" \
	"$pythiatop" "$PT_RELAY")
echo "$result"
field() { sed -E "s/.*\"$1\":([0-9.]+).*/\1/" <<<"$result"; }
lags() { grep -o '"lag_ns":[0-9]*' "$work/export.json.log" | cut -d: -f2; }
sums() { grep -oE "\"$1\":[0-9]+" "$work/export.json.log" | cut -d: -f2 | sort -n | tail -n 1; }

failed=0
check() { # WHAT VALUE LIMIT
	local verdict=ok
	if [ -z "$2" ] || awk -v v="$2" -v l="$3" 'BEGIN { exit !(v > l) }'; then
		verdict=MISSED
		failed=1
	fi
	printf '%-44s %12s  (at most %s)  %s\n' "$1" "${2:-none}" "$3" "$verdict"
}
seen=$(sums in)
printf '%-44s %12s  (about %s generated meanwhile)\n' 'events analysed by the last export' \
	"${seen:-none}" $((rate * (seconds - 5)))
check 'events missing, % of those generated' \
	"$(awk -v s="${seen:-0}" -v g=$((rate * (seconds - 10))) 'BEGIN { print s < g ? 100 * (1 - s / g) : 0 }')" 0
check 'events lost by the tracer' "$(sums discarded)" 0
check 'largest lag, ms' "$(lags | sort -n | tail -n 1 | awk '{ print $1 / 1e6 }')" $((timer_us / 1000 + 250))
check 'key answered, p99, ms' "$(field key_p99_ms)" 50
if [ "$seconds" -gt $fill ]; then
	check 'memory, high over low after the fill, %' \
		"$(awk -v h="$(field memory_high_kib)" -v l="$(field memory_low_kib)" 'BEGIN { if (l > 0) print 100 * (h / l - 1) }')" 10
else
	printf '%-44s %12s\n' 'memory, high over low after the fill, %' 'not measured'
fi
exit $failed
