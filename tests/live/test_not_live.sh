#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A session that was made without --live, and one that does not exist.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

lttng --no-sessiond create dead --ctrl-url="$PT_RELAY_CONTROL" --data-url="$PT_RELAY_DATA" \
	>/dev/null || fail "lttng create"
fill_session dead
generate 10000000 1000
start_console "$PT_RELAY" "$(session_url nobody)"
expect 8 "$(row "$(session_url dead)" waiting 'is not live .made without --live.. Recreate it')"
expect 5 "$(row "$(session_url nobody)" waiting 'has no session .*pythiatop --list')"
"$build_dir/pythiatop" --list "$PT_RELAY" | grep -Eq "dead +not live" || fail "--list"
end_console
