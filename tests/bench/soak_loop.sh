#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The loop on autopilot where nothing is wrong: it learns once, and then must enable nothing, however
# requests vary by themselves and whatever else the machine is busy with. Tells what was enabled, and
# why, should anything have been.
#
# usage: soak_loop.sh [SECONDS]    (300 s)
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${PT_BUILD_DIR:-$here/../../build}
seconds=${1:-300}
for program in pythiatop pythiatop-control testbed/pt-testbed tests/testbed/check_loop; do
	[ -x "$build/$program" ] || { echo "soak_loop.sh: $build/$program is missing: ./run build" >&2; exit 1; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-soak.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

"$here/../testbed/demo.sh" "$build" none --autopilot --batch=json --until="$seconds" \
	--log="$work/log" 2>"$work/err" | "$build/tests/testbed/check_loop" quiet
status=("${PIPESTATUS[@]}")
if [ "${status[0]}" -ne 0 ]; then
	echo "soak_loop.sh: the demo failed: $(cat "$work/err")" >&2
	exit 1
fi
[ "${status[1]}" -eq 0 ] && echo "ok: nothing was enabled in $seconds s"
exit "${status[1]}"
