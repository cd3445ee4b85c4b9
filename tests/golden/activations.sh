#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a bare kernel trace shows: no group is a wait of an idle thread, and the activations of each
# program and the requests of disks are as many, and as long, as babeltrace2's text says. What was asked
# of servers over Unix sockets meanwhile is counted beside. Skipped where the recordings are missing.
# Usage: activations.sh BUILD_DIR TRACES_DIR
set -u
pythiatop=$1/pythiatop traces=$2 here=$(dirname "$0")
[ -d "$traces/kernel-4.4-basic" ] || {
	echo "skipped: no recorded traces in $traces"
	exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-activations.XXXXXX") || exit 1
export XDG_STATE_HOME=$work/state # what was learned here is nothing to it
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# "N NANOSECONDS KIND" of a document, as activations.pl says it; a line of each group that is neither.
sums='local $/; my $d = decode_json(<STDIN>); my (%n, %sum, %other);
	for my $g (@{$d->{groups}}) {
		$other{"idle wait $g->{type}"} = 1 if $g->{detection}{idle_wait};
		next if !$g->{count} || $g->{type} =~ /^(irq|softirq|timer) /;
		$other{$g->{type}} = 1 if $g->{type} =~ /^(compat )?syscall /;
		my $kind = $g->{type} =~ /^disk / ? "disk" : "program $g->{type}";
		for ($kind, $kind eq "disk" ? () : "activations") {
			$n{$_} += $g->{count};
			$sum{$_} += $g->{count} * $g->{mean_ns};
		}
	}
	printf "%d %.0f %s\n", $n{$_}, $sum{$_}, $_ for sort keys %n;
	print "other: $_\n" for sort keys %other;'

for trace in kernel-6.2-2cpu:3500 kernel-4.4-basic:800; do
	least=${trace#*:} trace=${trace%:*}
	babeltrace2 "$traces/$trace" >"$work/text"
	perl "$here/activations.pl" <"$work/text" >"$work/true"
	"$pythiatop" --batch=json --horizon=all --window=3600 "$traces/$trace" >"$work/json" 2>"$work/err" ||
		complain "$trace: $(cat "$work/err")"
	perl -MJSON::PP -e "$sums" <"$work/json" >"$work/ours"
	diff "$work/true" "$work/ours" >"$work/diff" || complain "$trace: expected <, is >: $(cat "$work/diff")"
	n=$(awk '$3 == "activations" { print $1 }' "$work/true")
	[ "${n:-0}" -ge "$least" ] || complain "$trace: only ${n:-0} activations"
	# What is inferred, written down and given back, makes the same requests.
	"$pythiatop" --show-schema "$traces/$trace" >"$work/schema.yaml" 2>/dev/null
	grep -q '^# nothing but a kernel is traced: .* (an activation)' "$work/schema.yaml" ||
		complain "$trace: the schema does not say what requests are"
	perl "$here/desktop_servers.pl" <"$work/text" >"$work/asked"
	sed -nE 's/^# server ([^ ]+) \(it accepts connections\): ([0-9]+) requests? over Unix sockets .*/\1 \2/p' \
		"$work/schema.yaml" | LC_ALL=C sort | diff "$work/asked" - >"$work/diff" && [ -s "$work/asked" ] ||
		complain "$trace: requests over Unix sockets: expected <, is >: $(cat "$work/diff")"
	"$pythiatop" --batch=json --horizon=all --window=3600 --schema="$work/schema.yaml" "$traces/$trace" \
		>"$work/given" 2>"$work/err" || complain "$trace, as its schema says: $(cat "$work/err")"
	cmp -s "$work/json" "$work/given" || complain "$trace: its own schema makes other requests"
	# Who says what requests are is right.
	"$pythiatop" --batch=json --request='*:syscall_openat' "$traces/$trace" >"$work/named" 2>/dev/null
	perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>);
		exit !grep { $_->{type} eq "syscall openat" && $_->{count} } @{$d->{groups}}' <"$work/named" ||
		complain "$trace: --request=*:syscall_openat finds none"
done

[ $failures -eq 0 ] && echo "activations of recordings are as babeltrace2 tells them"
exit $((failures > 0))
