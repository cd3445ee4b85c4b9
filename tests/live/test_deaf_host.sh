#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nobody listens; somebody accepts and never answers; the host does not exist; the wrong one of a
# relay daemon's ports. The console says so, goes on with the others, and ends at once.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

background "$build_dir/tests/live/pt-deaf" "$work/port"
for _ in $(seq 50); do
	[ -s "$work/port" ] && break
	sleep 0.1
done
deaf=net://127.0.0.1:$(cat "$work/port")
wrong=net://127.0.0.1:${PT_RELAY_CONTROL##*:}
closed=net://127.0.0.1:1
url=$(session_url demo)
generate 10000000 1000

start_console "$deaf"
sleep 0.3
end_console

start_console "$deaf" "$wrong" "$closed" net://no-such-host.invalid "$PT_RELAY"
expect 5 "$(row "$closed" broken 'No relay daemon at 127.0.0.1:1\.')"
expect 8 "$(row net://no-such-host.invalid broken 'no-such-host.invalid')"
expect 15 "$(row "$deaf" broken 'answer')"
expect 15 "$(row "$wrong" broken '5344')"
expect 5 "$(row "$url" active)"
expect_more_events 5 "$url"
end_console

"$build_dir/pythiatop" --list "$closed" 2>"$work/err" && fail "--list of nothing succeeded"
grep -q "No relay daemon" "$work/err" || fail "--list says: $(cat "$work/err")"
"$build_dir/pythiatop" --batch=json -n 2 -d 0.5 "$closed" >/dev/null 2>"$work/err" &&
	fail "nothing could be read, and that is a success?"
grep -q "No relay daemon" "$work/err" || fail "batch says: $(cat "$work/err")"
