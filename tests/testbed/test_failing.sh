#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Requests that begin to fail, live: a place that ends with an error and takes no longer for it, then
# a replica that crashes, then a peer that closes connections. Each is a finding with the place where
# it begins, its time, and what is told there; before the first there is none.
# test_failing.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
if [ "${3:-}" != --inside ]; then
	exec "$source_dir/tests/testbed/daemons.sh" --session failing --events testbed -- \
		"$0" "$source_dir" "$build" --inside
fi
work=$PT_DIR/failing
mkdir "$work"
trap 'kill_marked run console' EXIT

(marked run "$build/testbed/pt-testbed" --dir "$work/run" --rate 80 >"$work/out" 2>&1 </dev/null) &
testbed=$!
within_10s grep -qs ready "$work/out" || fail "no testbed: $(cat "$work/out")"
(marked console "$build/pythiatop" --batch=json -d 1 -n 240 --schema "$source_dir/tests/testbed/schema.yaml" \
	"$PT_RELAY" >"$work/documents" 2>"$work/err" </dev/null) &

# What the last document says of the failure whose place ends in $1: "since_ns text"; nothing: there
# is none that goes on.
finding() {
	tail -n 2 "$work/documents" | head -n 1 | python3 -c '
import json, sys
document = json.loads(sys.stdin.readline() or "{}")
for finding in document.get("findings", []):
    if finding["rule"] == "fails" and finding["where"].split(" > ")[-1] == sys.argv[1]:
        print(finding["since_ns"], finding["text"])
' "$1"
}
is_found() {
	finding "$1" | grep -q -- "$2"
}
any_found() {
	tail -n 2 "$work/documents" | grep -q '"rule":"fails"'
}
# Fault $3... is told as one that begins in $1, with words like $2, within a minute, since when
# it was made.
expect() {
	local place=$1 words=$2 made_ns off text
	shift 2
	made_ns=$(date +%s%N)
	"$build/testbed/pt-fault" --dir "$work/run" "$@" || fail "refused: $*"
	for ((i = 0; i < 60; i++)); do
		is_found "$place" "$words" && break
		sleep 1 # as often as there is a document: who looks more often takes the console's CPU
	done
	text=$(finding "$place")
	grep -q -- "$words" <<<"$text" || fail "not found: $*: $text: $(tail -n 1 "$work/documents" | head -c 3000)"
	off=$(((${text%% *} - made_ns) / 1000000))
	echo "$*: found after $(((($(date +%s%N)) - made_ns) / 1000000)) ms, since $off ms: ${text#* }"
	[ "$off" -gt -3000 ] && [ "$off" -lt 8000 ] || fail "$place fails since $off ms after it was made"
}

sleep 25 # so that it is known what is usual
any_found && fail "found before anything was wrong: $(tail -n 1 "$work/documents")"
grep -q '"failed":' "$work/documents" || fail "no documents: $(cat "$work/err")"

expect disk_format 'status = 28' error point=compute:disk_format p=0.4 errno=28
"$build/testbed/pt-fault" --dir "$work/run" none

# The answer is lost, the work was done: it begins in the call.
expect call_net_fip_create 'status = 104' lost_peer service=network p=0.5
"$build/testbed/pt-fault" --dir "$work/run" none

expect call_compute_build 'peer=compute-2 .*in 100% of them' crash service=compute-2
kill -0 $testbed || fail "the testbed ended: $(cat "$work/out")"

kill -TERM "$(process run '^[^ ]*/pt-testbed --dir')"
wait $testbed || fail "the testbed failed: $(cat "$work/out")"
[ ! -e "$work/run" ] || fail "left: $(ls "$work/run")"
