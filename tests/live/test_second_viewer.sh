#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# There can be one viewer of a session: who it is that waits, and for what, is said.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

url=$(session_url demo)
generate 10000000 1000
background babeltrace2 -i lttng-live -o dummy "$url" >/dev/null 2>&1
viewer=$pid
for _ in $(seq 50); do
	"$build_dir/pythiatop" --list "$PT_RELAY" | grep -Eq ' 1 +net://' && break
	sleep 0.1
done
start_console "$url"
expect 5 "$(row "$url" waiting 'another viewer is attached')"
kill -KILL "$viewer"
expect 8 "$(row "$url" active)"
end_console
