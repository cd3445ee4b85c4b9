#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The report of a recorded trace: its document is that of batch, its trace has the events of the
# requests that it names and no others, read back by babeltrace2 and by pythiatop. And what is said
# where it cannot be written, with nothing left behind.
set -u
build_dir=$2
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces/kernel-6.2-2cpu" ] || ! command -v babeltrace2 >/dev/null; then
	echo "skipped: no recorded traces in $traces, or no babeltrace2"
	exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-report.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
trace=$traces/kernel-6.2-2cpu

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

report() {
	# shellcheck disable=SC2069 # what it says is looked at, its document is kept
	timeout 60 "$build_dir/pythiatop" --batch=json --report="$1" "$2" 2>&1 >"${3:-/dev/null}"
}

mkdir "$work/empty"
for name in new/ empty; do # a '/' at the end means the same
	said=$(report "$work/$name" "$trace" "$work/document") || fail "$said"
	directory=$work/${name%/}
	grep -q "^pythiatop: Written: $directory, a report on the verdict, with [0-9]* events of [0-9]* req" \
		<<<"$said" || fail "said: $said"
	cmp "$directory/report.json" "$work/document" || fail "another document than that of batch"
	[ "$(ls "$directory")" = "$(printf 'decisions.jsonl\nreport.json\nreport.md\ntrace')" ] ||
		fail "files: $(ls "$directory")"
done
[ "$(ls "$work")" = "$(printf 'document\nempty\nnew\nstate')" ] || [ "$(ls "$work")" = \
	"$(printf 'document\nempty\nnew')" ] || fail "left behind: $(ls "$work")"

page=$work/new/report.md
grep -q '^# Verdict: kworker$' "$page" || fail "no verdict: $(head -n 1 "$page")"
grep -q '^| the slowest' "$page" || fail "no request stands for others"
[ "$(wc -l <"$work/new/decisions.jsonl")" -ge 2 ] || fail "no decisions"
grep -vq '^{"log":"pythiatop-decisions/1",.*}$' "$work/new/decisions.jsonl" && fail "decisions"
told=$(grep -Eo 'Their [0-9]+ original events' "$page" | grep -Eo '[0-9]+')
babeltrace2 --clock-seconds "$work/new/trace" >"$work/read" 2>"$work/errors" || fail "$(cat "$work/errors")"
[ "$(wc -l <"$work/read")" -eq "$told" ] || fail "told $told events, read $(wc -l <"$work/read")"
babeltrace2 --clock-seconds "$trace" >"$work/original" 2>/dev/null
others=$(grep -Eo '^\[[0-9.]+\]' "$work/read" | grep -Fvcf - "$work/original")
[ "$others" -gt 100000 ] || fail "the trace has more than the requests' events"
while read -r line; do
	grep -Fq -- "$line" "$work/original" || fail "not in the recording: $line"
done < <(grep -Eo '^\[[0-9.]+\]' "$work/read")
timeout 60 "$build_dir/pythiatop" --batch=json "$work/new/trace" >"$work/again" || fail "read again"
grep -q "\"in\":$told," "$work/again" || fail "pythiatop reads other than $told events"

said=$(report "$work/new" "$trace") && fail "wrote over a directory"
grep -q 'exists already' <<<"$said" || fail "existing: $said"
said=$(report "$page" "$trace") && fail "wrote over a file"
grep -q 'exists already' <<<"$said" || fail "existing file: $said"
said=$(report "$work/none/below" "$trace") && fail "wrote below what does not exist"
grep -q 'No such file' <<<"$said" || fail "missing parent: $said"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	export -f report
	export build_dir
	mkdir "$work/small"
	for size in 16k 512k 1000k; do # no room for the document, the trace, the page
		# shellcheck disable=SC2016
		said=$(unshare -m bash -c 'mount -t tmpfs -o size=$2 none "$0" || exit 1
			report "$0/full" "$1"; code=$?; ls "$0"; exit $code' \
			"$work/small" "$trace" "$size") && {
			[ "$size" != 1000k ] && fail "wrote to a full disk of $size: $said"
			continue # the machine's page size gave it room
		}
		grep -q 'Cannot write' <<<"$said" || fail "full disk of $size: $said"
		! grep -q '^full' <<<"$said" || fail "left on the full disk of $size: $said"
	done
	# shellcheck disable=SC2016
	said=$(unshare -m bash -c 'mount -t tmpfs -o ro none "$0" || exit 1
		report "$0/full" "$1"' "$work/small" "$trace") && fail "wrote where nothing may be: $said"
	grep -q 'Cannot write .*Read-only file system' <<<"$said" || fail "read-only: $said"
fi
exit 0
