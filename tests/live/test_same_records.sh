#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A session read live, and as the relay daemon recorded it: the same events with the same values, in
# the same order, also those of one instant; and none is missing.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

background "$build_dir/tests/live/pt-records" --live "$(session_url demo)" >"$work/live"
reader=$pid
sleep 1 # attached: what comes from now on is seen
background "$build_dir/tests/live/pt-generate" 60000 4 60000
wait "$pid"
destroy_session demo
wait "$reader" || fail "the live reading failed"
trace=$(dirname "$(find "$PT_DIR/relay" -name metadata | head -n 1)")
"$build_dir/tests/live/pt-records" --trace "$trace" >"$work/recorded" || fail "cannot read $trace"
[ "$(wc -l <"$work/recorded")" -eq 60000 ] || fail "$(wc -l <"$work/recorded") events recorded"
cmp "$work/live" "$work/recorded" || fail "$(diff "$work/live" "$work/recorded" | head -n 20)"
