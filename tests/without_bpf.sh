#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A build without what pythiatop-probe needs: cmake says what is missing, and all the rest is made, and
# tested, as before. Usage: without_bpf.sh SOURCE_DIR
set -u
source=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-without.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# An empty name is what the search would leave behind where nothing is found, and is not searched again.
cmake -S "$source" -B "$work" -G Ninja -DPT_BPFTOOL= -DPT_BPF_CLANG= >"$work/said" 2>&1 ||
	fail "cmake: $(tail -n 20 "$work/said")"
grep -q 'pythiatop-probe is left out, and its tests: missing clang, bpftool$' "$work/said" ||
	fail "what is missing is not said: $(cat "$work/said")"
ninja -C "$work" -t targets all >"$work/targets" || fail "ninja"
for target in pythiatop pythiatop-source pythiatop-control pythiatop.1 testbed/pt-replay; do
	grep -q "^$target:" "$work/targets" || fail "$target is missing, too"
done
grep -E 'pythiatop-probe|pt_probe|pt-probed|test_probe|probe\.bpf' "$work/targets" >"$work/left" &&
	fail "there is still: $(head -n 3 "$work/left")"
exit 0
