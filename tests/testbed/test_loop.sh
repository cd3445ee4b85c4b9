#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The semaphore, found on autopilot without a screen: it learns first, then from the skeleton alone
# ends by itself in the wait for the semaphore, with few points enabled, within two minutes of the
# fault, and a report says so, with the latency of each queue length. The log is one object a line, others' sessions are as before, and nothing is left. Whatever
# is seen of a step is told; that its first events come soon, and the verdict within two minutes, is
# meant for a quiet machine, so the limits here are patient.
#
# With RUNS above 1 as many run at once, each with daemons of its own: none disturbs another.
# test_loop.sh SOURCE-DIR BUILD-DIR [RUNS]
set -u
source_dir=$1 build=$2 n=${3:-1}
. "$source_dir/tests/testbed/marked.sh"
. "$source_dir/tests/testbed/loop.sh"

# The demo's own session is there, and the console has not acted yet.
has_demo() {
	beside "$1" lttng --no-sessiond list demo 2>/dev/null | grep -q '\[active\]'
}

# A step was carried out.
has_acted() {
	grep -q '"do":"outcome"' "$work/log-$1" 2>/dev/null
}

limit=$(patient 120)
[ "$limit" = 120 ] || echo "the machine is busy: it may take $limit s"
for ((i = 0; i < n; i++)); do
	mkfifo "$work/documents-$i"
	"$check_loop" verdict "$work/log-$i" sem_acquire "$limit" 5000 <"$work/documents-$i" \
		>"$work/said-$i" 2>&1 &
	checks[i]=$!
	start_loop $i "$work/documents-$i" semaphore --autopilot --until=verdict -d 0.2 \
		--report="$work/report-$i"
	jobs[i]=$loop_job
done
for ((i = 0; i < n; i++)); do
	within 30 has_demo $i || fail "no session: $(cat "$work/err-$i")"
	others_of $i >"$work/before-$i"
	[ -s "$work/before-$i" ] || fail "nothing to compare with"
done
for ((i = 0; i < n; i++)); do
	within "$limit" has_acted $i || fail "no step: $(cat "$work/err-$i")"
	others_of $i >"$work/after-$i"
	cmp -s "$work/before-$i" "$work/after-$i" ||
		fail "others' sessions have changed: $(diff "$work/before-$i" "$work/after-$i")"
done
for ((i = 0; i < n; i++)); do
	wait "${checks[i]}" || fail "run $i: $(cat "$work/said-$i")
$(head -n 3 "$work/err-$i")"
	wait "${jobs[i]}" || fail "the demo failed: $(cat "$work/err-$i")"
	within 10 is_gone $i || fail "left: $(processes $i)"
	grep -q '^# Verdict: ' "$work/report-$i/report.md" || fail "no verdict in the report"
	grep -q '^## Latency by value of sem_acquire.queue_len' "$work/report-$i/report.md" ||
		fail "no latency by queue length: $(head -n 4 "$work/report-$i/report.md")"
	# But for its end, which comes after the report.
	cmp -s <(grep -vE '"do":"(offer|processes)"' "$work/report-$i/decisions.jsonl") \
		<(grep -vE '"do":"(offer|processes)"' "$work/log-$i" | sed '$d') || fail "other decisions in the report"
	babeltrace2 "$work/report-$i/trace" | grep -q sem_acquire || fail "no trace of a request that waits"
	cat "$work/said-$i"
done
