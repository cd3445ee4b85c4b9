#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the clients see of the faults: one latency mode of server_create without any, several with a
# semaphore; a delay at a point reaches the requests that pass it; wrong commands are refused:
# test_faults.sh PROGRAM-DIR
set -eu
programs=$1
work=$(mktemp -d)
testbed=

finish() {
	[ -z "$testbed" ] || kill "$testbed" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT

fail() {
	echo "test_faults: $*" >&2
	exit 1
}

# Modes of server_create in log $1: peaks of a 10 ms histogram with at least 3 % of the requests, and
# between two of them a trough of less than half of either.
modes() {
	awk '
		$2 == "server_create" { bin = int($4 / 1e7); h[bin]++; n++; if (bin > last) last = bin }
		END {
			modes = 0; low = 0
			for (i = 0; i <= last + 1; i++) {
				if (h[i] > h[top]) top = i
				if (modes > 0 && h[i] < low) { low = h[i]; }
				if (rising && h[i] < h[i - 1] / 2) { modes++; rising = 0; peak = h[i - 1]; low = h[i] }
				else if (h[i] >= 0.03 * n && (modes == 0 || h[i] > 2 * low)) { rising = 1 }
			}
			print modes
		}' "$1"
}

# Share, in percent, of floating_ip_create over 40 ms that ended between $1 and $2 (epoch seconds).
slow() {
	awk -v from="$1" -v to="$2" '
		$2 == "floating_ip_create" && $1 > from && $1 < to { n++; slow += $4 > 40e6 }
		END { print n ? int(100 * slow / n) : -1 }' "$work/log"
}

# A machine busy with other things smears modes, so that one may look like two, or three like two:
# then once more.
for ((attempt = 1; attempt <= 3; attempt++)); do
	"$programs/pt-testbed" --duration 8 --log "$work/none" >"$work/out" ||
		fail "$(cat "$work/out")"
	"$programs/pt-testbed" --duration 8 --log "$work/semaphore" --fault "semaphore limit=1" \
		>"$work/out" || fail "$(cat "$work/out")"
	none=$(modes "$work/none") semaphore=$(modes "$work/semaphore")
	echo "modes of server_create: $none without a fault, $semaphore with the semaphore"
	[ "$none" -gt 2 ] || [ "$none" -ge "$semaphore" ] || [ "$semaphore" -lt 3 ] || break
done
[ "$none" -le 2 ] && [ "$none" -lt "$semaphore" ] || fail "several modes without a fault"
[ "$semaphore" -ge 3 ] || fail "fewer than three modes with the semaphore"

"$programs/pt-testbed" --dir "$work/run" --log "$work/log" >"$work/out" 2>&1 &
testbed=$!
for ((i = 0; i < 100; i++)); do
	grep -q ready "$work/out" && break
	sleep 0.1
done
fault() {
	"$programs/pt-fault" --dir "$work/run" "$@"
}
at0=$(date +%s.%N)
sleep 2.5
at1=$(date +%s.%N)
fault delay point=net:arp_announce dist=const:50ms p=0.5 || fail "delay was refused"
sleep 4
at2=$(date +%s.%N)
fault none || fail "none was refused"
sleep 0.5 # for what was delayed before
at2_after=$(date +%s.%N)
sleep 2.5
at3=$(date +%s.%N)
for wrong in "delay point=net:no_such dist=const:1ms" "delay point=net:arp_announce dist=gauss:1ms" \
	"delay point=net:arp_announce dist=const:1parsec" "delay dist=const:1ms" "no_such_fault" \
	"delay point=net:arp_announce dist=const:1ms p=2" "semaphore limit=0" "semaphore width=1"; do
	# shellcheck disable=SC2086
	if fault $wrong 2>"$work/error"; then
		fail "accepted: $wrong"
	fi
	grep -q '^pt-fault: ' "$work/error" || fail "no message for: $wrong"
done
kill -TERM $testbed
wait $testbed || fail "the launcher failed: $(cat "$work/out")"
testbed=
before=$(slow "$at0" "$at1") during=$(slow "$at1" "$at2")
after=$(slow "$at2_after" "$at3")
echo "floating_ip_create over 40 ms: $before %, with the delay $during %, after it $after %"
[ "$before" -le 10 ] && [ "$after" -le 10 ] && [ "$during" -ge 25 ] && [ "$during" -le 75 ] ||
	fail "a delay of probability 0.5 should show in half of the requests"
