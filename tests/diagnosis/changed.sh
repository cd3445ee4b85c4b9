#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What has changed, on made-up systems: changed.sh BUILD-DIR WORK-DIR SET PAIRS [SEED]
# Each row of the set in changes.def: a minute without a fault as the baseline, and one with the fault.
# Then PAIRS pairs of minutes without a fault of each system, from SEED on.
set -u
build=$1 work=$2 set_name=$3 pairs=$4 from=${5:-100000}
here=$(cd "$(dirname "$0")" && pwd)
topology=$build/tests/diagnosis/topology console=$build/pythiatop
score=$build/tests/diagnosis/score_changes

fail() {
	echo "changed: $*" >&2
	exit 1
}

# Compares two minutes: DIRECTORY SYSTEM SEED FAULT
compare() {
	local dir=$1 system=$2 seed=$3 fault=$4
	mkdir -p "$dir" || fail "cannot make $dir"
	"$topology" "$system" "$seed" none "$dir/traces/before" &&
		"$topology" "$system" $((seed + 1)) "$fault" "$dir/traces/after" &&
		"$console" --batch=json --save-baseline="$dir/before" "$dir/traces/before" >/dev/null &&
		"$console" --batch=json --baseline="$dir/before" --save-baseline="$dir/after" \
			"$dir/traces/after" >"$dir/document" || fail "$dir: $system $seed $fault"
	rm -rf "$dir/traces"
}

rm -rf "$work/sites"
[ "$pairs" = 0 ] || rm -rf "$work/null"
n=0
while IFS=$'\t' read -r system _ _ fault _; do
	compare "$work/sites/$n" "$system" $((1000 + 2 * n)) "$fault"
	n=$((n + 1))
done < <(awk -F'\t' -v set="$set_name" '!/^#/ && $2 == set' "$here/changes.def")
[ "$n" -gt 0 ] || fail "no such set: $set_name"
for system in chain fan queues sparse noisy mesh; do
	for ((i = 0; i < pairs; i++)); do
		compare "$work/null/$system-$i" "$system" $((from + 2 * i)) none
	done
done
"$score" sites "$here/changes.def" "$set_name" "$work/sites" || exit 1
[ "$pairs" = 0 ] || "$score" null "$work"/null/*
