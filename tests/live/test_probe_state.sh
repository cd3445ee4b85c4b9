#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The state of systems, of kernel events by pythiatop-probe. A process works and rests for ten seconds:
# its CPU time, summed up over babeltrace2's text, is what the kernel counted for it, within 1 %; and
# what the console says of its last seconds is the sum over the same time, within 1 %. Live, the console
# says the same of the processors' load as /proc/stat, within 5 points and what is hidden from BPF.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

start_probe --session state
expect_session 5 state
start_console --schema=lttng-kernel "$(session_url state)"
expect 10 "$(row "$(session_url state)" active)"
# What /proc/stat counts, ten times a second: SECONDS BUSY ALL STOLEN, in ticks.
sample() {
	local cpu user nice system idle iowait irq softirq steal
	while sleep 0.1; do
		read -r cpu user nice system idle iowait irq softirq steal _ </proc/stat
		echo "$EPOCHREALTIME $((user + nice + system + irq + softirq)) $((user + nice + system +
			idle + iowait + irq + softirq)) $steal"
	done
}
background sample >"$work/samples"
sleep 1
began=$EPOCHREALTIME
"$build_dir/tests/live/pt-probed" burn 10 >"$work/burn" || fail "pt-probed"
ended=$EPOCHREALTIME
# A loaded machine takes its time until the console shows ten seconds that were sampled.
for ((i = 0; i < 200; i++)); do
	newest >"$work/live"
	live_ns=$(grep -o '"state":{"at_ns":[0-9]*' "$work/live" | grep -o '[0-9]*$')
	awk -v at="$((live_ns / 1000000))" 'NR == 1 { exit $1 * 1000 > at - 10000 }' "$work/samples" && break
	sleep 0.1
done
end_console
end_probe
read -r tid counted_ns <"$work/burn"

# As of then, not of the end: a console that is far behind has been waited for meanwhile.
"$build_dir/pythiatop" --batch=json --schema=lttng-kernel --state-of=tid="$tid" \
	--state-at="$(date -u -d "@$ended" '+%F %T.%6N')" "$(kept state)" >"$work/document" \
	2>"$work/document.err" || fail "$(cat "$work/document.err")"
at_ns=$(grep -o '"state":{"at_ns":[0-9]*' "$work/document" | grep -o '[0-9]*$')
shown_ns=$(grep -o "\"tid\":$tid,[^}]*" "$work/document" | grep -o '"cpu_ns":[0-9]*' | head -n 1 |
	grep -o '[0-9]*$')

# When the process is switched in and out, and from what on: all of it, and of the console's window. Of
# some threads a kernel may tell BPF nothing (seen with a sandbox's own): who runs after them is not known
# until it makes a system call, or the next switch.
babeltrace2 --clock-seconds "$(kept state)" 2>"$work/read.err" | awk -v tid="$tid" \
	-v live="$((live_ns / 1000000000 - 10))" \
	-v from="$(((at_ns - 10000000000) / 1000000000)).$(printf %09d $(((at_ns - 10000000000) % 1000000000)))" '
	function number(text, name) { sub(".*" name " = ", "", text); return text + 0 }
	/ sched_switch: / {
		now = substr($1, 2) + 0
		cpu = number($0, "cpu_id")
		if (cpu in runs && runs[cpu] != number($0, "prev_tid") && now > live && now < live + 10)
			hidden += now - since[cpu]
		runs[cpu] = number($0, "next_tid")
		since[cpu] = now
		if (number($0, "next_tid") == tid) began = now
		if (number($0, "prev_tid") == tid && began) {
			sum += now - began
			if (now > from) late += now - (began > from ? began : from)
			began = 0
		}
	}
	/ pythiatop_cpu_taken: / {
		now = substr($1, 2) + 0
		cpu = number($0, "cpu_id")
		if (cpu in runs && now > live && now < live + 10) hidden += now - since[cpu]
		runs[cpu] = number($0, "[{,] tid")
		since[cpu] = now
		if (runs[cpu] == tid && !began) began = now
	}
	END { printf "%.6f %.6f %.6f\n", sum, late, hidden }' >"$work/sums"
[ ! -s "$work/read.err" ] || fail "babeltrace2 says: $(head -n 3 "$work/read.err")"
read -r sum late hidden <"$work/sums"
shown=$(grep -o '"cpus":\[[^]]*' "$work/live" | grep -o '"busy_percent":[0-9.]*' |
	awk -F: '{ sum += $2; n++ } END { if (n) printf "%.1f", sum / n }')
[ -n "$shown" ] || fail "no processors live: $(head -c 500 "$work/live")"
grep -q '"trimmed":true' "$work/live" || awk -v shown="$shown" -v at="$((live_ns / 1000000))" -v hidden="$hidden" -v n="$(nproc)" '
	$1 * 1000 < at - 10000 { busy = $2; all = $3 }
	$1 * 1000 < at { counted = 100 * ($2 - busy) / ($3 - all) }
	END {
		unknown = 100 * hidden / (10 * n)
		printf "processors busy live: %.1f %%, /proc/stat says %.1f %%; %.1f %% is hidden from BPF\n",
			shown, counted, unknown
		exit !all || shown > counted + 5 + unknown || shown < counted - 5 - unknown
	}' "$work/samples" || fail "the processors' load is another"
within() { # WHAT A B MORE, in seconds; A may be that share of B more
	awk -v what="$1" -v a="$2" -v b="$3" -v more="$4" 'BEGIN {
		printf "%s: %.3f s and %.3f s, %+.2f %%\n", what, a, b, 100 * (a - b) / b
		exit a > (1.01 + more) * b || a < 0.99 * b || b < 1 }'
}
# What a hypervisor takes from a running thread the kernel does not count, and no event tells. Of one
# thread it may be twice what it is of all.
stolen=$(awk -v from="$began" -v to="$ended" '$1 >= from && $1 <= to { if (!n++) { busy = $2; steal = $4 }
	share = $2 > busy ? ($4 - steal) / ($2 - busy) : 0 } END { printf "%.5f", 2 * share }' "$work/samples")
within "CPU time by the events, and as the kernel counts ($stolen may be stolen)" "$sum" \
	"$(awk -v ns="$counted_ns" 'BEGIN { print ns / 1e9 }')" "$stolen" || fail "the CPU time is another"
if grep -q '"trimmed":true' "$work/document"; then
	echo "the console is not compared: this machine has more events than its state keeps for ten seconds"
else
	[ -n "$shown_ns" ] || fail "the process is not in the state: $(head -c 500 "$work/document")"
	within "CPU time of ten seconds on the console, and by the events" \
		"$(awk -v ns="$shown_ns" 'BEGIN { print ns / 1e9 }')" "$late" 0 ||
		fail "the console's CPU time is another"
fi
