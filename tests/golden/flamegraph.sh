#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Folded stacks as flame graph tools take them: the grammar, and FlameGraph's own flamegraph.pl, as
# Debian has it with Devel::NYTProf. flamegraph.sh BUILD-DIR TRACES-DIR
set -u
build=$1 trace=${PYTHIATOP_TRACES:-$2}/ust-cyg-profile
tool=$(command -v flamegraph.pl || echo /usr/share/perl5/Devel/NYTProf/flamegraph.pl)
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state # what was learned here is nothing to it
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

if [ ! -d "$trace" ]; then
	echo "skipped: no $trace"
	exit 77
fi
main='--request=*:0x40472b'
"$build/pythiatop" --batch=folded "$main" "$trace" >"$work/folded" || fail "exit $?"
[ -s "$work/folded" ] || fail "no lines"
grep -Evn '^[^; ]+(;[^; ]+)* [1-9][0-9]*$' "$work/folded" && fail "lines that are no folded stacks"
# All time is somebody's own: that of the only request.
"$build/pythiatop" --batch=json "$main" "$trace" >"$work/json" || fail "exit $?"
self=$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$work/folded")
grep -q "\"depth\":0,[^}]*\"total_ns\":$self\.0" "$work/json" ||
	fail "self times add up to $self ns, not to the request's duration"

# By variance, where there is some: of many requests.
if [ -d "$(dirname "$trace")/ust-ros2" ]; then
	"$build/pythiatop" --batch=folded --weight=variance "$(dirname "$trace")/ust-ros2" \
		>"$work/variance" || fail "exit $?"
	[ -s "$work/variance" ] || fail "no lines of variance"
	grep -Evn '^[^; ]+(;[^; ]+)* [1-9][0-9]*$' "$work/variance" &&
		fail "lines that are no folded stacks"
fi

if [ ! -r "$tool" ]; then
	echo "the grammar holds; flamegraph.pl is not here (Debian: libdevel-nytprof-perl)"
	exit 0
fi
perl "$tool" --hash "$work/folded" >"$work/svg" 2>"$work/said" || fail "flamegraph.pl: $(cat "$work/said")"
[ ! -s "$work/said" ] || fail "flamegraph.pl complains: $(cat "$work/said")"
frames=$(tr ';' '\n' <"$work/folded" | sed 's/ [0-9]*$//' | sort -u | wc -l)
shown=$(grep -o '<title>[^ ]*' "$work/svg" | sort -u | wc -l)
# "all", and those wide enough to be drawn.
[ "$shown" -gt $((frames / 2)) ] || fail "$shown of $frames frames drawn"
echo "the grammar holds; flamegraph.pl draws $shown of $frames frames"
