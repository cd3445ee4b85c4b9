#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Batch from the command line: how many documents, on which channel, and with which exit code.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:*' -- "$@"

program=$build_dir/pythiatop

# Runs the program; $code, and the files out and err, are what came of it.
run() {
	"$program" "$@" >"$work/out" 2>"$work/err"
	code=$?
}

expect_code() {
	[ $code = "$1" ] || fail "$2: exit code $code, not $1: $(head -c 2000 "$work/out" "$work/err")"
}

lines() {
	wc -l <"$work/out"
}

run --batch=json /no/such/directory
expect_code 1 "no such directory"
grep -q "/no/such/directory: No such file" "$work/err" || fail "$(cat "$work/err")"
run --batch=json "$source_dir/src"
expect_code 1 "no trace"
run --batch=json net://relay:0
expect_code 2 "a wrong URL"
run --batch=yaml "$PT_RELAY"
expect_code 2 "a wrong format"
run "$PT_RELAY" </dev/null
expect_code 2 "no terminal"
grep -q -- "--batch" "$work/err" || fail "no hint at --batch"
run --list "$PT_RELAY/host/h/s"
expect_code 2 "--list of a session"
mkdir "$work/garbage"
head -c 4096 /dev/urandom >"$work/garbage/metadata"
run --batch=json "$work/garbage"
expect_code 1 "garbage"
grep -q "$work/garbage: ." "$work/err" || fail "garbage says: $(cat "$work/err")"

generate 10000000 5000
run --batch=json -n 3 -d 0.5 "$PT_RELAY"
expect_code 0 "three documents"
[ "$(lines)" = 3 ] || fail "$(lines) documents, not 3"
[ ! -s "$work/err" ] || fail "$(cat "$work/err")"
run --batch=csv -n 2 -d 2 "$PT_RELAY"
expect_code 0 "csv"
[ "$(grep -c ',count,' "$work/out")" = 1 ] || fail "csv: not one line of names: $(cat "$work/out")"

run --list "$PT_RELAY"
expect_code 0 "--list"
grep -Eq "^$(hostname) +demo +0.2 s +[0-9]+ +[0-9]+ +$(session_url demo)$" "$work/out" ||
	fail "--list: $(cat "$work/out")"

run --show-schema "$PT_RELAY"
expect_code 0 "--show-schema"
grep -q '^- match: gen:request_entry' "$work/out" || fail "--show-schema: $(cat "$work/out")"

# A reader that goes away, and signals: an end, and neither noise nor processes that stay.
"$program" --batch=json -d 0.1 "$PT_RELAY" 2>"$work/err" | head -n 2 >"$work/out"
[ "$(lines)" = 2 ] || fail "two documents into a pipe"
start_console "$PT_RELAY"
expect 5 "$(row "$(session_url demo)" active)"
end_console
kill -KILL "$generator"

trace=$(dirname "$(find "$PT_DIR/relay" -name metadata | head -n 1)")
run --batch=text "$trace"
expect_code 0 "a recording"
grep -q '^ GROUP' "$work/out" || fail "a recording as text: $(cat "$work/out")"
run --batch=json "$trace" "$work/garbage"
expect_code 0 "a recording and garbage"
grep -q "$work/garbage: ." "$work/err" || fail "the garbage beside a recording is not told"
