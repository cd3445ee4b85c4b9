#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording whose metadata is cut off, and a reader that stands still: both end, and say why.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

# --- a recording of our own -----------------------------------------------------------------------

lttng --no-sessiond create cut --output="$work/trace" >/dev/null || fail "lttng create"
fill_session cut
generate 2100 20000
wait "$generator"
destroy_session cut
trace=$(dirname "$(find "$work/trace" -name metadata)")
[ -d "$trace" ] || fail "nothing was recorded"
size=$(stat -c %s "$trace/metadata")
cp "$trace/metadata" "$work/metadata"

# --- cut off at many places -----------------------------------------------------------------------

n_cut=0
for ((cut = 40; cut < size; cut += size / 40)); do
	head -c $cut "$work/metadata" >"$trace/metadata"
	# An own limit, below that of readers that stand still: none does.
	timeout -s KILL 8 "$build_dir/pythiatop" --batch=json --horizon=all "$trace" \
		>"$work/out" 2>"$work/err"
	code=$?
	[ $code -eq 0 ] || [ $code -eq 1 ] || fail "cut at $cut of $size: code $code, $(cat "$work/err")"
	if grep -q 'metadata is cut off: ' "$work/err"; then
		n_cut=$((n_cut + 1))
		[ $code -eq 1 ] || fail "cut at $cut of $size: code $code"
		cp "$trace/metadata" "$work/cut"
	fi
done
[ $n_cut -ge 10 ] || fail "only $n_cut of 40 cuts are said to be such"

# Beside a whole one there is a document, and that says it, too.
cp -r "$trace" "$work/whole"
cp "$work/metadata" "$work/whole/metadata"
cp "$work/cut" "$trace/metadata"
"$build_dir/pythiatop" --batch=json --horizon=all "$trace" "$work/whole" >"$work/out" 2>"$work/err"
grep -Eq '"state":"refused",.*"detail":"[^"]*is cut off: [0-9]+ of the [0-9]+ bytes' "$work/out" ||
	fail "the document does not say it: $(cat "$work/out")"
grep -q '"state":"ended",.*"events":2100' "$work/out" || fail "the whole one: $(cat "$work/out")"

# --- a reader that stands still -------------------------------------------------------------------

# More than its ring holds, so that it is not done before it is stopped.
lttng --no-sessiond create long --output="$work/long" >/dev/null || fail "lttng create"
fill_session long
generate 3000000 1000000
wait "$generator"
destroy_session long
[ "$(du -sm "$work/long" | cut -f 1)" -ge 12 ] || fail "too little was recorded"

# Stops the console as soon as it has a reader, $reader, and waits until that has filled its ring. (The
# kernel is asked without another process: a recording is read fast.)
stop_at_reader() {
	local file end=$((SECONDS + 20))
	reader=
	while [ $SECONDS -lt $end ]; do
		for file in "/proc/$console/task/"*/children; do
			read -r reader _ <"$file" # ends without a newline, which is no success
			[ -z "$reader" ] || break 2
		done 2>/dev/null
		kill -0 "$console" || fail "the console has ended: $(cat "$documents.err")"
	done
	stop "$console"
	[ -n "$reader" ] || fail "no reader"
	sleep 2
	[ -d "/proc/$reader" ] || fail "it was read too fast"
}

# The console is stopped for longer than any limit: its reader waits for it, and goes on with it.
start_console --horizon=all "$work/long"
stop_at_reader
sleep 11
[ -d "/proc/$reader" ] || fail "the reader did not wait"
kill -CONT "$console"
wait "$console" || fail "a console that was stopped for 13 s: $(cat "$documents.err")"
grep -q '"state":"ended"' "$documents" || fail "$(cat "$documents")"

# The reader is stopped, with part of the recording read: that counts.
start_console --horizon=all "$work/long"
stop_at_reader
stop "$reader"
kill -CONT "$console"
began=$(date +%s)
wait "$console"
code=$?
took=$(($(date +%s) - began))
[ $code -eq 0 ] || fail "a reader that stands still: code $code"
grep -q 'no progress for 10 s' "$documents.err" || fail "standard error: $(cat "$documents.err")"
grep -Eq '"state":"refused",.*"detail":"[^"]*no progress for 10 s[^"]*","events":[1-9]' "$documents" ||
	fail "the document does not say it: $(cat "$documents")"
{ [ $took -ge 9 ] && [ $took -le 25 ]; } || fail "after $took s"
[ ! -d "/proc/$reader" ] || fail "the reader is still there"
echo "$n_cut cuts were said to be such; a reader that stood still was ended after $took s"
