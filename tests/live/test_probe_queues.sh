#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whom threads wait for, where only their own process is recorded (--tree): beside a second probe that
# records the whole machine. Both tell the same switches of a processor while a thread waits on its run
# queue; none is told, and the processor is said to be unknown, once nobody waits any more. And both know
# who wakes it, a timer or somebody else's thread.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

# It wakes up each millisecond, or when it is told something, on a processor that others keep busy in turns.
# Who tells it runs on the same one: wake-ups from another race with switches.
cp "$(command -v bash)" "$work/pt-waits"
mkfifo "$work/told"
taskset -c 0 "$work/pt-waits" -c 'exec 9<>"$1"; while :; do read -rt 0.001 <&9; done' - "$work/told" &
waits=$!
started+=("$waits")
taskset -c 0 bash -c 'exec 9<>"$1" 8<> <(:); while :; do read -rt 0.02 <&8; echo >&9; done' - "$work/told" &
tells=$!
started+=("$tells")
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
# Of each of its wake-ups who did it: a thread, or "timer".
wakers_of() {
	sed -E 's/^\[([^]]*)\].* ([a-z_]+): \{ cpu_id = ([0-9]+) \}, (.*)/\2 \3 \4/' "$1" | awk -v tid="$waits" '
	function number(name, text) { text = $0; sub(".*[{,] " name " = ", "", text); return text + 0 }
	$1 == "timer_hrtimer_expire_entry" { timer[$2] = 1 }
	$1 == "timer_hrtimer_expire_exit" { delete timer[$2] }
	$1 == "sched_switch" { runs[$2] = number("next_tid") }
	$1 == "pythiatop_waker" { told[$2] = number("interrupt") == 1 ? "timer" : number("tid") }
	$1 == "sched_waking" && number("tid") == tid {
		print $2 in told ? told[$2] : $2 in timer ? "timer" : runs[$2]
	}
	$1 == "sched_waking" { delete told[$2] }'
}
for of in waits wakers; do
	"${of}_of" "$work/all" >"$work/$of.all"
	"${of}_of" "$work/some" >"$work/$of.some"
done
by_timer=$(grep -c timer "$work/wakers.some")
by_thread=$(grep -cx "$tells" "$work/wakers.some")
[ "$by_timer" -ge 100 ] || fail "a timer woke it only $by_timer times"
[ "$by_thread" -ge 20 ] || fail "the other one woke it only $by_thread times"
# The second began later, and ended earlier: its waits stand in those of the first, one after the other.
n=$(wc -l <"$work/waits.some")
many=$(awk 'NF > 1' "$work/waits.some" | wc -l)
[ "$n" -ge 300 ] || fail "only $n waits"
[ "$many" -ge 20 ] || fail "in only $many of $n waits there was more than one switch"
for of in waits wakers; do
	awk 'NR == FNR { all[++n] = $0; next }
		{ some[++m] = $0 }
		END {
			for (from = 0; from + m <= n; from++) {
				for (i = 2; i < m && all[from + i] == some[i]; i++) ;
				if (i >= m) exit 0
			}
			exit 1
		}' "$work/$of.all" "$work/$of.some" || fail "other $of than those of the whole machine:
$(diff "$work/$of.all" "$work/$of.some" | head -n 20)"
done
echo "$n waits, $many with more than one switch, $(grep -c sched_switch "$work/some") of $(grep -c sched_switch "$work/all") switches"
echo "woken $by_timer times by a timer, $by_thread by another process"
