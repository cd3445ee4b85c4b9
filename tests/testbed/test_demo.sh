#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo in batch prints documents, and nothing else, to standard output; and it ends as a whole,
# also on signals: test_demo.sh SOURCE-DIR BUILD-DIR
set -eu
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"
work=$(mktemp -d)

finish() {
	kill_marked batch INT TERM HUP
	rm -rf "$work"
}
trap finish EXIT

demo() {
	local name=$1
	shift
	marked "$name" "$source_dir/tests/testbed/demo.sh" "$build" "$@" \
		>"$work/out-$name" 2>"$work/err-$name" </dev/null
}

is_gone() {
	[ -z "$(processes "$1")" ]
}

has_documents() {
	[ -s "$work/out-$1" ]
}

(demo batch --batch=json -n 5) || fail "the demo failed: $(cat "$work/err-batch")"
within_10s is_gone batch || fail "left by the demo: $(processes batch)"
lines=$(wc -l <"$work/out-batch")
[ "$lines" -eq 5 ] || fail "expected 5 documents, got $lines lines: $(head -c 300 "$work/out-batch")"
[ "$(grep -c '^{"schema":"pythiatop/1".*}$' "$work/out-batch")" -eq 5 ] ||
	fail "not documents: $(head -c 300 "$work/out-batch")"
for type in $(sed -n 's/^PT_TYPE(\([a-z_]*\),.*/\1/p' "$source_dir/tests/testbed/types.def"); do
	tail -n 1 "$work/out-batch" | grep -q "\"type\":\"${type//_/ }\"" || fail "no group of type $type"
done
# They have been asked for their names, so that threads are told by more than numbers; the kernel, where
# it is recorded, knows a replica's number, too.
for name in api compute network scheduler volume; do
	tail -n 1 "$work/out-batch" | grep -Eq "\"name\":\"pt-$name(-[0-9]+)?\"" || fail "no thread of pt-$name"
done

for signal in INT TERM HUP; do
	# A shell's background commands ignore SIGINT, unlike what a terminal runs.
	(demo $signal semaphore limit=1 --batch=json -d 0.5) &
	within_10s has_documents $signal || fail "no document: $(cat "$work/err-$signal")"
	dir=$(tr '\0' '\n' <"/proc/$(process $signal 'name volume')/cmdline" | sed -n '/^--dir$/{ n; p }')
	[ -d "$dir" ] || fail "no run directory: $dir"
	kill -$signal "$(process $signal '^[^ ]*bash .*daemons.sh')"
	within_10s is_gone $signal || within_10s is_gone $signal ||
		fail "left by SIG$signal: $(processes $signal)"
	[ ! -e "$dir" ] || fail "left by SIG$signal: $dir"
done
echo "the demo prints documents, and ends as a whole"
