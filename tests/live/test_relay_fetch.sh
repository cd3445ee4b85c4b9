#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The viewer's protocol with a real relay daemon, without decoding: what comes of each stream is, byte
# for byte, what the relay daemon wrote; also of processes that come and go with buffers of
# their own.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none --events 'gen:*' -- "$@"

port=${PT_RELAY##*:}

fetch() { # SESSION
	mkdir -p "$work/$1"
	background "$build_dir/tests/live/pt-fetch" 127.0.0.1 "$port" "$(hostname)" "$1" "$work/$1" 50 \
		>"$work/$1.said" 2>&1
	reader=$pid
	sleep 0.7 # attached: what comes from now on is seen
}

# What is in the files $1... by their content.
digests() {
	local file
	for file in "$@"; do
		[ ! -s "$file" ] || sha256sum "$file" | cut -d ' ' -f 1
	done | sort
}

await() { # SESSION
	wait "$reader" || fail "$1: $(cat "$work/$1.said")"
	mapfile -t kept < <(find "$PT_DIR/relay" -path "*/$1-*" -type f ! -name '*.idx')
	mapfile -t fetched < <(find "$work/$1" -type f)
}

create_session uid
fetch uid
background "$build_dir/tests/live/pt-generate" 60000 4 60000
wait "$pid"
destroy_session uid
await uid
[ "$(digests "${fetched[@]}")" = "$(digests "${kept[@]}")" ] || fail "$(ls -l "${fetched[@]}" "${kept[@]}")"

# Per process: traces that come and go.
lttng --no-sessiond create pid --live=200000 --ctrl-url="$PT_RELAY_CONTROL" \
	--data-url="$PT_RELAY_DATA" >/dev/null || fail "lttng create"
lttng --no-sessiond enable-channel -u -s pid --buffers-pid events >/dev/null &&
	lttng --no-sessiond enable-event -u -s pid -c events 'gen:*' >/dev/null &&
	lttng --no-sessiond start pid >/dev/null || fail "lttng start"
fetch pid
for _ in 1 2 3; do
	"$build_dir/tests/live/pt-generate" 4500 1 5000
	background "$build_dir/tests/live/pt-generate" 9000 1 9000
done
wait "$pid"
sleep 1
destroy_session pid
await pid
grep -q 'streams 12 traces 6 ' "$work/pid.said" || fail "$(cat "$work/pid.said")"
# The relay daemon 2.13 tells the end of a stream that is closed, at times, before its last packets:
# whatever comes is the begin of one of its files.
for file in "${fetched[@]}"; do
	size=$(stat -c %s "$file")
	found=0
	for of in "${kept[@]}"; do
		cmp -s -n "$size" "$file" "$of" && found=1
	done
	[ $found = 1 ] || fail "$file is no file of the relay daemon"
done
