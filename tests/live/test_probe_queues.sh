#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whom threads wait for on run queues, where only their own process is recorded (--tree): beside a second
# probe that records the whole machine. Both tell the same switches of a processor while a thread waits
# there; none is told, and the processor is said to be unknown, once nobody waits any more.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

# It wakes up each millisecond, on a processor that others keep busy in turns.
cp "$(command -v bash)" "$work/pt-waits"
taskset -c 0 "$work/pt-waits" -c 'exec 9<> <(:); while :; do read -rt 0.001 <&9; done' &
waits=$!
started+=("$waits")
for i in 1 2; do
	taskset -c 0 bash -c 'while :; do for ((i = 0; i < 3000; i++)); do :; done; read -rt 0.002 <> <(:); done' &
	started+=("$!")
done
start_probe --session all
all=$probe
expect_session 5 all
start_probe --session some --tree "$waits"
expect_session 5 some
sleep 3
end_probe
probe=$all
end_probe
read_kept some "$work/some"
read_kept all "$work/all"

# Of each wait for processor 0, from its wake-up to its switch: "prev next prev next ...".
waits_of() {
	sed -E 's/^\[([^]]*)\].* ([a-z_]+): \{ cpu_id = ([0-9]+) \}, (.*)/\2 \3 \4/' "$1" | awk -v tid="$waits" '
	function number(name, text) { text = $0; sub(".*[{,] " name " = ", "", text); return text + 0 }
	$1 == "sched_waking" && number("tid") == tid { waits = 1; seen = ""; next }
	$1 == "sched_switch" && $2 == 0 {
		prev = number("prev_tid"); to = number("next_tid")
		if (waits) seen = seen " " prev "-" to
		if (waits && to == tid) { print seen; waits = 0 }
		if (prev == tid && (number("prev_state") == 0 || number("prev_state") == 256)) { waits = 1; seen = "" }
	}'
}
waits_of "$work/all" >"$work/waits.all"
waits_of "$work/some" >"$work/waits.some"
# The second began later, and ended earlier: its waits stand in those of the first, one after the other.
n=$(wc -l <"$work/waits.some")
many=$(awk 'NF > 1' "$work/waits.some" | wc -l)
[ "$n" -ge 300 ] || fail "only $n waits"
[ "$many" -ge 20 ] || fail "in only $many of $n waits there was more than one switch"
awk 'NR == FNR { all[++n] = $0; next }
	{ some[++m] = $0 }
	END {
		for (from = 0; from + m <= n; from++) {
			for (i = 2; i < m && all[from + i] == some[i]; i++) ;
			if (i >= m) exit 0
		}
		exit 1
	}' "$work/waits.all" "$work/waits.some" || fail "other switches than those of the whole machine:
$(diff "$work/waits.all" "$work/waits.some" | head -n 20)"
echo "$n waits, $many with more than one switch, $(grep -c sched_switch "$work/some") of $(grep -c sched_switch "$work/all") switches"
