#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording of ROS 2: chains of callbacks across processes, as many and as long as babeltrace2's text
# says; in the tree each callback is below the one that has sent what it takes. Skipped where the recording
# is missing.
# Usage: ros2_chains.sh BUILD_DIR TRACES_DIR
set -u
pythiatop=$1/pythiatop trace=$2/ust-ros2 here=$(dirname "$0")
[ -d "$trace" ] || {
	echo "skipped: there is no $trace"
	exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-ros2.XXXXXX") || exit 1
export XDG_STATE_HOME=$work/state # what was learned here is nothing to it
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

babeltrace2 "$trace" 2>/dev/null | perl "$here/ros2_chains.pl" >"$work/true"
"$pythiatop" --batch=json --horizon=all --window=3600 "$trace" >"$work/json" 2>"$work/err" ||
	fail "$(cat "$work/err")"
# shellcheck disable=SC2016
perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>); my (%n, %sum);
	for my $g (@{$d->{groups}}) {
		my ($process) = $g->{type} =~ /^callback (\S+) / or die "a group that is no callback: $g->{type}";
		$n{$process} += $g->{count};
		$sum{$process} += $g->{count} * $g->{mean_ns};
		die "cut off or lost: $g->{type}" if $g->{partial} || $g->{tainted};
	}
	printf "%d %.0f %s\n", $n{$_}, $sum{$_}, $_ for sort keys %n;' <"$work/json" >"$work/ours" ||
	fail "the document"
"$pythiatop" --show-schema "$trace" 2>/dev/null | grep -q '^# a ready schema, chosen by itself since there are events ros2:callback_start' ||
	fail "the schema was not chosen"
diff "$work/true" "$work/ours" || fail "expected <, is >"
[ "$(awk '$3 == "source" { print ($1 >= 2000) }' "$work/true")" = 1 ] || fail "too few chains: $(cat "$work/true")"
# shellcheck disable=SC2016
perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>);
	my ($g) = sort { $b->{count} <=> $a->{count} } @{$d->{groups}};
	my ($c) = grep { ($_->{type} // "") eq $g->{type} && $_->{path} eq $g->{path} } @{$d->{contexts}};
	my %of = map { $_->{depth} . " " . $_->{context} =~ s/^callback_(source|sync_one_to_one|sink)_.*/$1/r => $_->{count} } @{$c->{rows}};
	my @n = @of{"0 source", "1 sync_one_to_one", "2 sink"};
	printf "%d chains of three callbacks, %.0f us (p50 %.0f us)\n", $g->{count}, $g->{mean_ns} / 1e3, $g->{p50_ns} / 1e3;
	exit !($n[0] && $n[0] == $n[1] && $n[0] == $n[2]);' <"$work/json" || fail "the callbacks are not below each other"
