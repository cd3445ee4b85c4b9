#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast recordings are read: pythiatop against `babeltrace2 -o dummy` on the same trace, in turns,
# and two sources against one. Prints medians of the ratios of RUNS pairs; fails where one is over
# its limit. Recorded kernel traces, which fill all tables of the state, are looked for in
# $PYTHIATOP_TRACES, else in ../shared/traces beside the checkout; they are short, so KERNEL_RUNS.
# And what planning a step takes (bench_pythia.c).
#
# usage: bench.sh [EVENTS [RUNS [KERNEL_RUNS]]]    (3000000 events, 7 runs, 21 runs)
set -u
events=${1:-3000000} runs=${2:-7} kernel_runs=${3:-21}
here=$(cd "$(dirname "$0")" && pwd)
pythiatop=$here/../../build/pythiatop
traces=${PYTHIATOP_TRACES:-$here/../../../shared/traces}
kernel_traces=(kernel-6.2-2cpu kernel-4.4-basic)
[ -x "$pythiatop" ] || { echo "bench.sh: build/pythiatop is missing: ./run build" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Wall and CPU seconds of a command, as "WALL CPU".
measure() {
	local TIMEFORMAT='%R %U %S' real user system
	{ time "$@" >"$work/out" 2>"$work/err"; } 2>"$work/time" || {
		cat "$work/err" >&2
		echo "bench.sh: failed: $*" >&2
		exit 1
	}
	read -r real user system <"$work/time"
	awk -v r="$real" -v u="$user" -v s="$system" 'BEGIN { print r, u + s }'
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", a / b }'; }

# One pair of runs over DIRECTORY: sets `wall` and `cpu`, and appends the ratios to $work/NAME-wall
# and -cpu, unless NAME is empty.
pair() { # DIRECTORY NAME
	local wall_dummy cpu_dummy
	read -r wall_dummy cpu_dummy < <(measure babeltrace2 -o dummy "$1")
	read -r wall cpu < <(measure "$pythiatop" --batch=json "$1")
	[ -n "$2" ] || return 0
	ratio "$wall" "$wall_dummy" >>"$work/$2-wall"
	ratio "$cpu" "$cpu_dummy" >>"$work/$2-cpu"
}

echo "recording two hosts, $events events each" >&2
# Both at once and for six seconds, so that the traces overlap in time: else one would be read after
# the other.
half= rate=$((events / 6))
if [ "$(id -u)" = 0 ]; then
	PT_HOSTNAME=bench-b "$here/record.sh" "$work/b" "$events" 2 $rate 1000000000 >"$work/b.path" &
	half=$!
	PT_HOSTNAME=bench-a "$here/record.sh" "$work/a" "$events" 2 $rate >"$work/a.path" || exit 1
	wait $half || exit 1
else
	"$here/record.sh" "$work/a" "$events" 2 $rate >"$work/a.path" || exit 1
fi
a=$(cat "$work/a.path")

pair "$a" '' # warms the caches
for ((i = 0; i < runs; i++)); do
	pair "$a" ust
	echo "$wall" >>"$work/seconds"
	if [ -n "$half" ]; then
		read -r both _ < <(measure "$pythiatop" --batch=json "$a" "$(cat "$work/b.path")")
		# Twice the events in `both` seconds, against one trace in `wall`.
		ratio "$(ratio "$wall" "$both")" 0.5 >>"$work/two"
	fi
done

for trace in "${kernel_traces[@]}"; do
	[ -d "$traces/$trace" ] || continue
	pair "$traces/$trace" ''
	for ((i = 0; i < kernel_runs; i++)); do
		pair "$traces/$trace" "$trace"
	done
done

failed=0
report() { # FILE WHAT LIMIT at-most|at-least
	local value verdict=ok
	value=$(median <"$work/$1")
	if awk -v v="$value" -v l="$3" -v most="$4" 'BEGIN { exit !(most == "at-most" ? v > l : v < l) }'; then
		verdict='MISSED'
		failed=1
	fi
	printf '%-52s %6.3f  (%s %s)  %s\n' "$2" "$value" "${4/-/ }" "$3" "$verdict"
}
printf '%s events, %s runs, %s events/s\n' "$events" "$runs" \
	"$(median <"$work/seconds" | awk -v e="$events" '{ printf "%.0f", e / $1 }')"
report ust-wall 'wall: --batch=json / babeltrace2 -o dummy' 1.25 at-most
report ust-cpu 'CPU:  --batch=json / babeltrace2 -o dummy' 2.0 at-most
if [ -n "$half" ]; then
	report two 'events/s: two sources / one' 1.25 at-least
else
	echo 'two sources / one: not measured: naming a second host needs root'
fi
for trace in "${kernel_traces[@]}"; do
	if [ -d "$traces/$trace" ]; then
		report "$trace-wall" "wall: $trace" 1.5 at-most
		# Not a limit: two processes share what one does alone.
		printf '%-52s %6.3f\n' "CPU:  $trace" "$(median <"$work/$trace-cpu")"
	else
		echo "$trace: skipped: not in $traces"
	fi
done
"$here/../../build/tests/bench_pythia" || failed=1
exit $failed
