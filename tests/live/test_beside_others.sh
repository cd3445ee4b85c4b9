#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A person's own `lttng clear` and `lttng destroy` return as quickly as without a viewer, plus two
# seconds at most: beside a console that only watches, and beside one that has a session of its own. A
# session that was destroyed and made again is followed again.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"
export XDG_STATE_HOME=$work/state

url=$(session_url demo)
generate 100000000 1000
relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}"

took() { # COMMAND ...: milliseconds into $took
	local began
	began=$(date +%s%N)
	timeout 30 lttng --no-sessiond "$@" >"$work/said" 2>&1 || fail "lttng $*: $(cat "$work/said")"
	took=$((($(date +%s%N) - began) / 1000000))
}

took clear demo
alone=$took

beside() { # WHAT CLEARS
	for ((i = 0; i < $2; i++)); do
		took clear demo
		[ "$took" -le $((alone + 2000)) ] || fail "$1: clear took $took ms, alone $alone"
	done
	expect_more_events 5 "$url"
	took destroy demo
	[ "$took" -le $((alone + 2000)) ] || fail "$1: destroy took $took ms, a clear alone $alone"
	create_session demo
	expect 10 "$(row "$url" active '"gaps":[1-9]')"
	expect_more_events 5 "$url"
}

start_console "$PT_RELAY"
expect 15 "$(row "$url" active)"
beside "a console that watches" 2
end_console

# Its session is like any other one beside the person's: that LTTng mixes up parts of the same number
# must not be felt.
start_console --mode=approve --control.relay_url="$relay_url" "$PT_RELAY"
expect 15 '"controls":\[{"host":"[^"]*","ready":true,"session":"pythiatop-[^"]+"'
beside "a console with a session of its own" 3
end_console
! lttng --no-sessiond list | grep -q pythiatop- || fail "a session of ours is left"
