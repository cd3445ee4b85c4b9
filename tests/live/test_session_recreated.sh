#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A session is destroyed and made again: attached again, with its gap counted. Another one appears.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

url=$(session_url demo)
generate 10000000 1000
start_console "$PT_RELAY"
expect 5 "$(row "$url" active)"
destroy_session demo
expect 8 "$(row "$url" ended 'detail":"[^"]*attached again')"
expect 5 "$(row "$PT_RELAY" waiting 'has no live session. On the traced host: lttng create')"
create_session demo
expect 10 "$(row "$url" active '"gaps":1')"
expect_more_events 5 "$url"
create_session another
expect 8 "$(row "$(session_url another)" active)"
end_console
