#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The same tracepoints in two sessions of a host are counted once.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' --session one --session two -- "$@"

start_console --horizon=all "$PT_RELAY"
expect 5 "$(row "$(session_url one)" attached)"
expect 5 "$(row "$(session_url two)" attached)"
generate 21000 10000
wait "$generator"
expect 10 "$(row "$(session_url one)" '[a-z]*' '"events":21000')"
expect 10 "$(row "$(session_url two)" '[a-z]*' '"events":21000')"
expect 10 '"in":42000,.*"dropped":21000'
end_console
