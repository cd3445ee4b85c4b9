#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A session read live, and as the relay daemon recorded it: the same events with the same values, in
# the same order, also those of one instant; and none is missing. By either reader, and where the
# relay daemon keeps a stream in many files.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none --events 'gen:*' -- "$@"

compare() { # SESSION READER
	local trace reader
	background "$build_dir/tests/live/pt-records" --live "$(session_url "$1")" "$2" >"$work/live"
	reader=$pid
	sleep 1 # attached: what comes from now on is seen
	background "$build_dir/tests/live/pt-generate" 60000 4 60000
	wait "$pid"
	destroy_session "$1"
	wait "$reader" || fail "$1: the live reading failed"
	trace=$(dirname "$(find "$PT_DIR/relay" -path "*/$1-*" -name metadata | head -n 1)")
	"$build_dir/tests/live/pt-records" --trace "$trace" babeltrace2 >"$work/recorded" ||
		fail "cannot read $trace"
	[ "$(wc -l <"$work/recorded")" -eq 60000 ] ||
		fail "$1: $(wc -l <"$work/recorded") events recorded"
	cmp "$work/live" "$work/recorded" ||
		fail "$1: $(diff "$work/live" "$work/recorded" | head -n 20)"
}

create_session first
compare first own
create_session second
compare second babeltrace2

lttng --no-sessiond create files --live=200000 --ctrl-url="$PT_RELAY_CONTROL" \
	--data-url="$PT_RELAY_DATA" >/dev/null &&
	lttng --no-sessiond enable-channel -u -s files --buffers-uid --subbuf-size=64k --num-subbuf=64 \
		--tracefile-size=65536 --tracefile-count=400 events >/dev/null &&
	lttng --no-sessiond add-context -u -s files -c events -t vpid -t vtid >/dev/null &&
	lttng --no-sessiond enable-event -u -s files -c events 'gen:*' >/dev/null &&
	lttng --no-sessiond start files >/dev/null || fail "lttng create"
compare files own
[ "$(find "$PT_DIR/relay" -path '*/files-*' -name 'events_*' ! -name '*.idx' | wc -l)" -gt 10 ] ||
	fail "the relay daemon kept few files"
