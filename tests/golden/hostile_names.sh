#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Hosts and sessions named like paths, with control characters, empty, or long: whatever is written of
# them (dumps, reports with their traces, logs, profiles, text) lies in the folder that was asked for,
# under names that a terminal can show. hostile_names.sh PYTHIATOP TRACES
set -u
pythiatop=$1 traces=$2
if [ ! -d "$traces/ust-cyg-profile" ]; then
	echo "skipped: no recorded traces in $traces"
	exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-names.XXXXXX")
export XDG_STATE_HOME=$work/state # what was learned here is nothing to it
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
	echo "FAILED: $*" >&2
	failed=1
}

"$pythiatop" --batch=json --window=3600 --dump "$work/plain" "$traces/ust-cyg-profile" >"$work/said" 2>&1 ||
	complain "no copy to rename: $(cat "$work/said")"
n=0
# As TSDL has them: \\ is a backslash, \x1b an escape, \n a new line.
for name in .. . ../../x "../../../../../../tmp/pt-names-$$" "/pt-names-$$" a/b 'x/..' '' '\x1b[31mred' 'two\nlines' '..\\..\\x' \
	"$(printf 'h%.0s' {1..300})"; do
	n=$((n + 1))
	in=$work/in-$n box=$work/box-$n/deep/er
	mkdir -p "$in" "$box"
	cp "$work"/plain/*/ust/* "$in"
	NAME=$name perl -i -pe 's/((?:hostname|trace_name) = ")[^"]*/$1$ENV{NAME}/' "$in/metadata"
	touch "$work/before"
	sleep 0.02
	"$pythiatop" --batch=json --window=3600 --dump="$box/dump" --dump-text="$box/text" \
		--report="$box/report" --log="$box/log" --save-profile="$box/profile" "$in" \
		>"$work/document" 2>"$work/said" || complain "'$name': $(cat "$work/said")"
	for written in dump/*/ust/metadata text report/report.md report/report.json log profile; do
		compgen -G "$box/$written" >/dev/null || complain "'$name': no $written"
	done
	outside=$(find "$work" -newer "$work/before" ! -path "$box*" ! -path "$work" ! -path "$in*" \
		! -path "$work/document" ! -path "$work/said" -print -quit)
	[ -z "$outside" ] && [ ! -e "/pt-names-$$" ] && [ ! -e "/tmp/pt-names-$$" ] ||
		complain "'$name' is written outside of its folder: $outside"
	find "$box" | LC_ALL=C grep -q '[[:cntrl:]]' && complain "'$name': control characters in names of files"
	LC_ALL=C grep -q $'\x1b' "$box/text" "$box/report/report.md" "$box/log" "$box/profile" "$work/document" "$work/said" &&
		complain "'$name': an escape sequence is written as it is"
done
exit $failed
