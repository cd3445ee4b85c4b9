#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What tracing costs the services: the testbed runs with a semaphore that is too narrow, and is
# traced in turns in four ways, each as often as any other and never in the same order:
#   off        no session
#   skeleton   a live session with the skeleton, which a console observes
#   adaptive   the same, with the console on autopilot
#   all        a live session with everything on, which a console observes
# A line of JSON a turn is appended to RESULTS: latencies as clients saw them (the geometric mean
# over request types of each one's quantile), and CPU seconds of the services and of the daemons.
# The first three seconds of a turn do not count.
# overhead.sh BUILD-DIR RESULTS PAIRS SECONDS BUDGET
set -u
modes=(off skeleton adaptive all)
settle_s=3

fail() {
	echo "overhead.sh: $*" >&2
	exit 1
}

# CPU seconds of the processes that are given, by pid.
cpu_of() {
	local pid
	for pid; do
		sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null
	done | awk -v hz="$(getconf CLK_TCK)" '{ sum += $12 + $13 } END { printf "%.3f", sum / hz }'
}

minus() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a - b }'
}

services() {
	local name
	for name in "$PT_TESTBED_DIR"/*.port; do
		name=$(basename "$name" .port)
		pgrep -f -- "--name $name --dir $PT_TESTBED_DIR"
	done
}

daemons() {
	echo "$PT_SESSIOND_PID" "$PT_RELAYD_PID"
	cat "/proc/$PT_SESSIOND_PID/task/"*/children 2>/dev/null
}

begin_session() {
	make_session turn "$1" 512k 8 --live=200000 --ctrl-url="$PT_RELAY_CONTROL" \
		--data-url="$PT_RELAY_DATA"
	lttng_do start turn
}

begin_console() {
	XDG_STATE_HOME=$work "$build/pythiatop" "$PT_RELAY" --batch=json -d 1 --schema="$schema" \
		--learn="$work/profile.json" --budget="$budget" \
		--control.relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}" \
		"$@" >"$work/documents" 2>>"$work/console.log" &
	console_pid=$!
}

begin_mode() {
	console_pid=''
	case $1 in
	off) ;;
	skeleton)
		begin_session "$(skeleton)"
		begin_console
		;;
	adaptive)
		begin_session "$(skeleton)"
		begin_console --autopilot
		;;
	all)
		begin_session "$everything"
		begin_console
		;;
	esac
}

end_mode() {
	if [ -n "$console_pid" ]; then
		kill "$console_pid"
		wait "$console_pid"
	fi
	[ "$1" = off ] || end_session turn
}

# Quantile $1 of the requests that ended between two times, of each type; their geometric mean. The log
# is written by blocks, so its last line may be a part of one.
quantile() {
	awk -v from="$2" -v to="$3" 'NF == 5 && $1 >= from && $1 < to { print $2, $4 }' "$work/load.log" |
		sort -k1,1 -k2,2n | awk -v q="$1" '
		function finish() { if (n) { sum += log(value[int(q * (n - 1)) + 1]); types++ } n = 0 }
		$1 != type { finish(); type = $1 }
		{ value[++n] = $2 }
		END { finish(); printf "%.0f", types ? exp(sum / types) : 0 }'
}

count() {
	awk -v from="$1" -v to="$2" '$1 >= from && $1 < to { n++ } END { print n + 0 }' "$work/load.log"
}

# One turn of a mode: PAIR MODE.
turn() {
	local pair=$1 mode=$2 from to services_s daemons_s points=0
	local service_pids
	mapfile -t service_pids < <(services)
	begin_mode "$mode"
	sleep $settle_s
	from=$(date +%s.%N)
	services_s=$(cpu_of "${service_pids[@]}")
	# shellcheck disable=SC2046
	daemons_s=$(cpu_of $(daemons))
	sleep "$seconds"
	to=$(date +%s.%N)
	services_s=$(minus "$(cpu_of "${service_pids[@]}")" "$services_s")
	# shellcheck disable=SC2046
	daemons_s=$(minus "$(cpu_of $(daemons))" "$daemons_s")
	end_mode "$mode"
	[ "$mode" != adaptive ] ||
		points=$(tail -n 1 "$work/documents" | sed 's/.*"ever_enabled":\([0-9]*\).*/\1/')
	sleep 1 # until the log has them
	printf '{"pair":%d,"mode":"%s","p50_ns":%s,"p99_ns":%s,"cpu_s":%s,"daemons_cpu_s":%s,"requests":%s,"points":%s}\n' \
		"$pair" "$mode" "$(quantile 0.5 "$from" "$to")" "$(quantile 0.99 "$from" "$to")" \
		"$services_s" "$daemons_s" \
		"$(count "$from" "$to")" "${points:-0}" >>"$results"
}

inside() {
	local pair i
	record_calm "$work/learn" 30
	"$build/pythiatop" --batch=json --schema="$schema" --save-profile="$work/profile.json" \
		"$work/learn" >/dev/null 2>>"$work/console.log" ||
		fail "nothing learned: $(tail -n 1 "$work/console.log")"
	inject "$build" semaphore limit=2
	for ((pair = first; pair < first + pairs; pair++)); do
		for ((i = 0; i < ${#modes[@]}; i++)); do
			turn "$pair" "${modes[(pair + i) % ${#modes[@]}]}"
		done
		echo "overhead: round $((pair + 1)) done" >&2
	done
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=sessions.sh
. "$here/sessions.sh"
schema=$here/../testbed/schema.yaml
if [ "${1-}" = --inside ]; then
	build=$2 results=$3 pairs=$4 seconds=$5 budget=$6 first=$7 work=$8
	inside
	exit
fi
build=$1 results=$2 pairs=$3 seconds=$4 budget=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=0
[ ! -f "$results" ] || first=$(($(wc -l <"$results") / ${#modes[@]}))
ahead "$here/../testbed/daemons.sh" --session none -- \
	"$build/testbed/pt-testbed" --fault none --log "$work/load.log" -- \
	bash "$here/overhead.sh" --inside "$build" "$results" "$pairs" "$seconds" "$budget" "$first" \
	"$work"
