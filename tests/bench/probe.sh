#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What pythiatop-probe costs a host: the testbed's clients with and without all kernel events, in turns,
# as ratios of throughput and of each request type's p50; and the probe's own CPU.
#
# usage: probe.sh [ROUNDS [SECONDS]]    (8 rounds of 12 s each way)
set -u
rounds=${1:-8} seconds=${2:-12}
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
[ -x "$build/pythiatop-probe" ] || { echo "probe.sh: build/pythiatop-probe is missing: ./run build" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# One run; what the clients saw goes to $work/$1.$2, the probe's CPU and events to $work/probe.$2.
run() { # without|with ROUND
	# shellcheck disable=SC2016
	"$here/../testbed/daemons.sh" --session demo --events testbed -- "$build/testbed/pt-testbed" --fault none -- \
		bash -c 'probe=$1 how=$2 out=$3 seconds=$4
			if [ "$how" = with ]; then
				"$probe" --relay="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}" \
					--kernel --session=kernel & pid=$!
				sleep "$seconds"
				ticks=$(cut -d" " -f14,15 "/proc/$pid/stat")
				kill "$pid"; wait "$pid"
				dir=$(find "$PT_DIR/relay" -type d -path "*/kernel-*/kernel" | tail -n 1)
				echo "$ticks $(babeltrace2 "$dir" 2>/dev/null | wc -l)" >"$out"
			else
				sleep "$seconds"
			fi' sh "$build/pythiatop-probe" "$1" "$work/probe.$2" "$seconds" >"$work/$1.$2" 2>&1
}

for ((round = 1; round <= rounds; round++)); do
	for how in without with; do
		run $how $round
		printf '.' >&2
	done
done
echo >&2

# Medians of the ratios, round by round.
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
p50s() { awk '/ requests, p50/ { print $1, $5 }' "$1"; }
for ((round = 1; round <= rounds; round++)); do
	join <(p50s "$work/without.$round" | sort) <(p50s "$work/with.$round" | sort) |
		awk '$2 > 0 { print $1, $3 / $2 }' >>"$work/ratios"
	for how in without with; do
		grep -o '^[0-9.]* requests/s' "$work/$how.$round" | cut -d' ' -f1
	done | paste -sd' ' | awk '{ print "throughput", $2 / $1 }' >>"$work/ratios"
done
for name in $(cut -d' ' -f1 "$work/ratios" | sort -u); do
	printf '%-20s %s\n' "$name" "$(awk -v n="$name" '$1 == n { print $2 }' "$work/ratios" | median)"
done
printf '%-20s %s\n' 'all p50' "$(awk '$1 != "throughput" { print $2 }' "$work/ratios" | median)"
cat "$work"/probe.* | awk -v s="$seconds" -v hz="$(getconf CLK_TCK)" '
	{ cpu += ($1 + $2) / hz; events += $3 }
	END { printf "the probe: %.2f %% of a CPU at %.0f events/s\n", 100 * cpu / s / NR, events / s / NR }'
