#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The same events live and as the relay daemon recorded them: the same numbers.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

# What does not depend on the sources' names and states, nor on how long one looked (a live horizon
# goes on after the last event). A recording is looked at once more at its end.
numbers() {
	sed -E 's/"verdict":.*"unmatched":/"unmatched":/; s/"sources":\[[^]]*\],//; s/"(events_per_s|lag_ns|rate_per_s|at_ns|window_ns)":[^,}]*,?//g'
}

url=$(session_url demo)
start_console --horizon=all "$PT_RELAY"
expect 5 "$(row "$url" attached)"
generate 30000 10000
wait "$generator"
expect 10 "$(row "$url" '[a-z]*' '"events":30000')"
destroy_session demo
expect 10 "$(row "$url" ended)"
newest >"$work/live"
end_console

trace=$(dirname "$(find "$PT_DIR/relay" -name metadata | head -n 1)")
"$build_dir/pythiatop" --batch=json "$trace" >"$work/recorded" || fail "cannot read $trace"
grep -q '"in":30000' "$work/recorded" || fail "recorded: $(cat "$work/recorded")"
numbers <"$work/live" >"$work/live.numbers"
numbers <"$work/recorded" >"$work/recorded.numbers"
live_groups=$(grep -o '"groups":.*' "$work/live.numbers")
recorded_groups=$(grep -o '"groups":.*' "$work/recorded.numbers")
[ "$live_groups" = "$recorded_groups" ] || fail "live:     $live_groups
recorded: $recorded_groups"
