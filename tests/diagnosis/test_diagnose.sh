#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One short recording of the testbed with everything on, and what is made of it: a rehearsal sees the
# skeleton and what it enabled, nothing else; with the strategy "all" it sees all of the edge; twice
# it takes the same decisions; the table has a row of it, and is not recorded again.
# test_diagnose.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "test_diagnose: $*" >&2
	exit 1
}

diagnose() {
	PT_BUILD_DIR=$build "$source_dir/tests/diagnosis/diagnose.sh" "$@" --scenarios semaphore \
		--seeds 1 --strategies all --budget 50k --learn 15 --before 5 --after 48 --work "$work" \
		--out "$work/results.jsonl" --keep 2>"$work/err"
}

rehearse() {
	"$build/pythiatop" --batch=json --schema="$source_dir/tests/testbed/schema.yaml" --rehearse \
		--learn="$recording/profile.json" --budget=50k "$@" "$recording/run"
}

# The values of a key, a line each, of the array or object $1 of the document $2.
values() {
	sed "s/.*\"$1\":\(\[[^]]*\]\|{[^}]*}\).*/\1/" "$2" | grep -Eo "\"$3\":\"?[^\",}]*" |
		sed 's/^"[^"]*":"*//'
}

# The pairs of compute's that a recording has within serve_build: the edge of the semaphore.
edge_of() {
	babeltrace2 "$1" 2>/dev/null | awk '
		match($0, /vtid = [0-9]+/) { thread = substr($0, RSTART, RLENGTH) }
		!match($0, /compute:[a-z0-9_]+/) { next }
		{ event = substr($0, RSTART, RLENGTH) }
		event == "compute:serve_build_exit" { inside[thread] = 0 }
		inside[thread] && event ~ /_entry$/ && event !~ /:call_/ { print event }
		event == "compute:serve_build_entry" { inside[thread] = 1 }' | sort -u
}

diagnose long >"$work/table" || fail "$(cat "$work/err")"
recording=$work/tuning-semaphore-1
grep -q '^| semaphore | all | 1 | ' "$work/table" || fail "no row: $(cat "$work/table" "$work/err")"
[ "$(wc -l <"$work/results.jsonl")" = 1 ] || fail "not one result"
diagnose long >"$work/again" || fail "$(cat "$work/err")"
cmp -s "$work/table" "$work/again" || fail "recorded again: $(cat "$work/again")"

# The same decisions, byte for byte but for what a clock says.
for i in 1 2; do
	rehearse --strategy=all --dump-text="$work/seen-$i" >"$work/document-$i" 2>"$work/err" ||
		fail "no rehearsal: $(cat "$work/err")"
	sed 's/"lag_ns":[0-9]*//g' "$work/document-$i" >"$work/steps-$i"
done
cmp -s "$work/steps-1" "$work/steps-2" || fail "the second rehearsal is another"
cmp -s "$work/seen-1" "$work/seen-2" || fail "the second rehearsal saw other events"

# Of the last ten seconds it saw what is enabled at the end and the skeleton, all and no more.
values rules "$work/document-1" event | sort -u >"$work/rules"
[ -s "$work/rules" ] || fail "nothing was enabled"
grep -Eo '\b(api|sched|compute|net|vol):[a-z0-9_]+' "$work/seen-1" | sort -u >"$work/seen"
grep -Ev ':(call|serve)_|^api:(server|volume|floating_ip)_(create|list|delete)_(entry|exit)$' \
	"$work/seen" >"$work/beyond"
babeltrace2 "$recording/run" 2>/dev/null | tail -n 20000 |
	grep -Eo '\b(api|sched|compute|net|vol):[a-z0-9_]+' | sort -u >"$work/fired"
comm -12 "$work/rules" "$work/fired" >"$work/expected"
comm -23 "$work/expected" "$work/beyond" >"$work/missing"
comm -13 "$work/rules" "$work/beyond" >"$work/too_many"
[ ! -s "$work/missing" ] || fail "enabled, but not seen: $(cat "$work/missing")"
[ ! -s "$work/too_many" ] || fail "seen, but not enabled: $(cat "$work/too_many")"

# All of the edge, of what was learned.
edge_of "$recording/run" >"$work/edge_run"
edge_of "$recording/learn" | comm -12 - "$work/edge_run" >"$work/edge"
[ "$(wc -l <"$work/edge")" -ge 40 ] || fail "an edge of $(wc -l <"$work/edge") points"
comm -23 "$work/edge" "$work/rules" >"$work/missing"
[ ! -s "$work/missing" ] || fail "of the edge, but not enabled: $(cat "$work/missing")"
echo "$(wc -l <"$work/rules") rules; all $(wc -l <"$work/edge") points of the edge"
cat "$work/table"

# What it is not for is refused.
rehearse --autopilot >"$work/out" 2>"$work/err" && fail "--autopilot was taken"
grep -q 'leave out' "$work/err" || fail "--autopilot: $(cat "$work/err")"
"$build/pythiatop" --batch=json --rehearse net://127.0.0.1:1 >"$work/out" 2>"$work/err" &&
	fail "a live source was taken"
grep -q 'recordings alone' "$work/err" || fail "a live source: $(cat "$work/err")"
