#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The process that reads a session is killed, and hangs; a traced process is killed.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

reader_of() {
	local child
	for child in $(children_of "$1"); do
		if tr '\0' ' ' <"/proc/$child/cmdline" | grep -q -- ' --live '; then
			echo "$child"
		fi
	done
}

url=$(session_url demo)
generate 10000000 1000
first=$generator
generate 10000000 1000
start_console "$PT_RELAY"
expect 5 "$(row "$url" active)"

kill -KILL "$(reader_of "$console")"
expect 5 "$(row "$url" '(broken|waiting|connecting|attached|active)' '"gaps":1')"
expect 8 "$(row "$url" active '"gaps":1')"
expect_more_events 5 "$url"
grep -q 'was ended by SIGKILL' "$documents" || fail "no word on why"

kill -STOP "$(reader_of "$console")"
# Whichever notices first: that it is silent, or that the session has streams it does not bring.
expect 20 "$(row "$url" broken '(no sign of life|nothing came)')"
expect 8 "$(row "$url" active '"gaps":2')"
expect_more_events 5 "$url"

kill -KILL "$first"
expect_more_events 5 "$url"
expect 3 "$(row "$url" active '"gaps":2')"
end_console
