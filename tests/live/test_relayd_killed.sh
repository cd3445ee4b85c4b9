#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The relay daemon is stopped, goes on, is killed, comes back: each is said, and recovers by itself.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

url=$(session_url demo)
generate 10000000 1000
start_console "$PT_RELAY"
expect 5 "$(row "$url" active)"

kill -STOP "$PT_RELAYD_PID"
expect 8 "$(row "$url" stalled 'silent')"
end_state=$(newest)
kill -CONT "$PT_RELAYD_PID"
expect 8 "$(row "$url" active)"
[[ $end_state == *'"late":0'* ]] || fail "late events: $end_state"

kill -KILL "$PT_RELAYD_PID"
expect 5 "$(row "$PT_RELAY" broken 'No relay daemon at .* Start one: lttng-relayd')"
expect 5 "$(row "$url" broken 'detail":"[^"]')"

# shellcheck disable=SC2086
background setsid $PT_RELAYD >/dev/null 2>&1
expect 15 "$(row "$PT_RELAY" waiting 'has no live session')"
lttng --no-sessiond destroy demo >/dev/null 2>&1 # complains: its relay daemon is another one
create_session demo
expect 10 "$(row "$url" active '"gaps":[1-9]')"
expect_more_events 5 "$url"
end_console
