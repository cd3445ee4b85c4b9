#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The console on a recorded kernel trace (a near-idle desktop, 7,600 events/s), replayed at its own
# pace into a real relay daemon, again and again as one live session. Everything but the screen (the
# analysis thread, and the pythiatop-source processes) may take 1.2 % of a CPU, and memory may move by
# 5 % once it has settled: what is kept of twice the window, samples of groups that are seldom seen, and
# tables of what is explained, while a window of the recording holds a quarter more or less. (A shorter
# run does not tell.) The console runs in a terminal of its own (tmux), with the state of the systems
# on its screen; nobody types, so that its readers rest.
#
# What the screen's thread takes is told, too, and so is how often each sleeps: an idle console should.
#
# usage: soak_replay.sh [SECONDS [TRACE [SPEED]]]    (600 s of event time, kernel-6.2-2cpu, 1)
#
# With a SPEED above 1 it takes as many times less; the share of a CPU is then told as if it had run
# at its own pace, which overstates nothing but the fixed cost of waking up. Without a recording: 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${PT_BUILD_DIR:-$here/../../build}
traces=${PYTHIATOP_TRACES:-$here/../../../shared/traces}
fill=40    # 20 s of window, 13 s of recording, and attaching
settle=140 # from the start: `bench_rounds` has 99.7 % of what it has after 22 minutes

fail() {
	echo "soak_replay.sh: $*" >&2
	exit 1
}

if [ "${1:-}" != --inside ]; then
	trace=${2:-$traces/kernel-6.2-2cpu}
	if [ ! -d "$trace" ]; then
		echo "skipped: no recorded trace $trace"
		exit 77
	fi
	for tool in tmux lttng-relayd; do
		command -v $tool >/dev/null || fail "$tool is not installed"
	done
	for program in pythiatop pythiatop-source testbed/pt-replay; do
		[ -x "$build/$program" ] || fail "$build/$program is missing: ./run build"
	done
	exec "$here/../testbed/daemons.sh" --session none -- \
		"$0" --inside "${1:-600}" "$trace" "${3:-1}"
fi

shift
seconds=$1 trace=$2 speed=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-soak.XXXXXX") || exit 1
replayer=''
tm() { tmux -L "pt-soak-$$" "$@"; }
finish() {
	tm kill-server 2>/dev/null
	[ -z "$replayer" ] || kill "$replayer" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

"$build/testbed/pt-replay" --relay "$PT_RELAY" --control "${PT_RELAY_CONTROL##*:}" \
	--data "${PT_RELAY_DATA##*:}" --host desktop --session soak --speed "$speed" --wait-viewer \
	--loop 0 "$trace" &
replayer=$!
tm -f /dev/null new-session -d -x 120 -y 40 "$build/pythiatop --schema=lttng-kernel \
	$PT_RELAY/host/desktop/soak 2>$work/errors" || fail "tmux does not start"
console=$(tm list-panes -F '#{pane_pid}')
# The shell of tmux becomes the console, or is its parent.
for _ in $(seq 100); do
	[ "$(cat "/proc/$console/comm" 2>/dev/null)" = pythiatop ] && break
	child=$(pgrep -P "$console" -x pythiatop) && console=$child && break
	sleep 0.05
done
[ "$(cat "/proc/$console/comm" 2>/dev/null)" = pythiatop ] ||
	fail "the console did not start: $(cat "$work/errors")"
sleep 3
tm send-keys 6

sources() { pgrep -P "$console" -x pythiatop-sourc; } # 15 letters of its name are kept
# Sums of CLASS: ns on a CPU, and voluntary switches, of the threads of these processes.
threads_of() { # CLASS
	local pid task
	case $1 in
	screen) echo "/proc/$console/task/$console" ;;
	analysis)
		for task in "/proc/$console/task/"*; do
			[ "${task##*/}" = "$console" ] || echo "$task"
		done
		;;
	source) for pid in $(sources); do echo "/proc/$pid/task/"*; done ;;
	relay) echo "/proc/$PT_RELAYD_PID/task/"* ;;
	esac
}
cpu_ns() { # CLASS
	local task sum=0 ns
	for task in $(threads_of "$1"); do
		read -r ns _ <"$task/schedstat" && sum=$((sum + ns))
	done
	echo $sum
}
sleeps() { # CLASS
	local task
	for task in $(threads_of "$1"); do cat "$task/status"; done 2>/dev/null |
		awk '/^voluntary_ctxt/ { n += $2 } END { print n + 0 }'
}
memory_kib() {
	local pid
	for pid in "$console" $(sources); do cat "/proc/$pid/smaps_rollup"; done 2>/dev/null |
		awk '/^Pss:/ { n += $2 } END { print n + 0 }'
}

sleep "$(awk -v f=$fill -v s="$speed" 'BEGIN { print f / s }')"
classes='analysis source screen relay'
declare -A cpu_before sleeps_before
for class in $classes; do
	cpu_before[$class]=$(cpu_ns $class) sleeps_before[$class]=$(sleeps $class)
done
began=$(date +%s%N)
settled=$(awk -v n="$began" -v s=$((settle - fill)) -v x="$speed" 'BEGIN { printf "%.0f", n + s / x * 1e9 }')
low='' high=0
until=$(awk -v n="$began" -v s="$seconds" -v x="$speed" 'BEGIN { printf "%.0f", n + s / x * 1e9 }')
while [ "$(date +%s%N)" -lt "$until" ]; do
	sleep 1
	kill -0 "$console" 2>/dev/null || fail "the console has ended: $(cat "$work/errors")"
	kib=$(memory_kib)
	echo "$kib" >>"${PT_SOAK_MEMORY:-$work/memory}"
	[ "$(date +%s%N)" -ge "$settled" ] || continue
	[ -n "$low" ] && [ "$low" -le "$kib" ] || low=$kib
	[ "$high" -ge "$kib" ] || high=$kib
done
took=$(($(date +%s%N) - began))
declare -A cpu slept
for class in $classes; do
	cpu[$class]=$(($(cpu_ns $class) - cpu_before[$class]))
	slept[$class]=$(($(sleeps $class) - sleeps_before[$class]))
done
kill -0 "$replayer" 2>/dev/null || fail "the replay has ended"
tm send-keys ":export json $work/export.json" Enter
sleep 1
[ -s "$work/export.json" ] || fail "no export; the screen: $(tm capture-pane -p | head -n 3)"
count() { grep -oE "\"$1\":[0-9]+" "$work/export.json" | head -n 1 | cut -d: -f2; }
percent() { awk -v n="$1" -v t="$took" -v s="$speed" 'BEGIN { printf "%.2f", 100 * n / t / s }'; }

failed=0
check() { # WHAT VALUE LIMIT
	local verdict=ok
	if [ -z "$2" ] || awk -v v="$2" -v l="$3" 'BEGIN { exit !(v > l) }'; then
		verdict=MISSED
		failed=1
	fi
	printf '%-44s %12s  (at most %s)  %s\n' "$1" "${2:-none}" "$3" "$verdict"
}
for class in $classes; do
	printf '%-44s %12s  (%s sleeps/s)\n' "$class, % of a CPU" "$(percent "${cpu[$class]}")" \
		"$(awk -v n="${slept[$class]}" -v t="$took" 'BEGIN { printf "%.0f", n * 1e9 / t }')"
done
printf '%-44s %12s\n' 'events analysed' "$(count in)"
if [ -n "$low" ]; then
	printf '%-44s %12s  to %s\n' 'memory, kB' "$low" "$high"
else
	printf '%-44s %12s\n' 'memory, kB' 'not measured'
fi
check 'all but the screen, % of a CPU' "$(percent $((cpu[analysis] + cpu[source])))" 1.2
check 'events late or lost' "$(($(count late) + $(count discarded)))" 0
if [ -n "$low" ]; then
	check 'memory, high over low, %' \
		"$(awk -v h="$high" -v l="$low" 'BEGIN { printf "%.1f", 100 * (h / l - 1) }')" 5
fi
if ! awk -v n="$(count in)" -v s="$seconds" 'BEGIN { exit !(n > 7000 * s) }'; then
	[ "$trace" != "$traces/kernel-6.2-2cpu" ] || { echo "too few events"; failed=1; }
fi
exit $failed
