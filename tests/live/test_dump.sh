#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Dumps of recorded traces, read back: by babeltrace2, the same events with the same names, order and
# values; by pythiatop, the same to the nanosecond. And what is said where a dump cannot be written.
#
# Not compared, because it is lost on the way: the base of numbers (0x..), the content of strings in
# babeltrace2's own output (2.0.4 prints the one before where a string is empty; pythiatop's reading
# compares them), empty structures, and for arrays of variants the names in them.
set -u
build_dir=$2
traces=${PYTHIATOP_TRACES:-$1/../shared/traces}
if [ ! -d "$traces" ] || ! command -v babeltrace2 >/dev/null; then
	echo "skipped: no recorded traces in $traces, or no babeltrace2"
	exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-dump.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

dump() {
	timeout 60 "$build_dir/pythiatop" --batch=json --window=3600 "$@" 2>&1 >/dev/null
}

plain() {
	perl -pe 'no warnings; s/^\[[^]]*\] \([^)]*\)//; s/0x([0-9A-F]+)/hex($1)/ge;
		s/"(\\.|[^"\\])*"/""/g; s/(, )?\w+_padding = \{ \}//g;'
}

# The variants of the network events are structures in a dump.
without_variants() {
	grep -vE ' (net_dev_queue|net_if_receive_skb|netif_receive_skb): .*network_header'
}

for name in kernel-6.2-2cpu kernel-4.4-basic kernel-bigendian-1cpu ust-ros2 ust-cyg-profile \
	multi-domain-lost; do
	trace=$traces/$name
	dump --dump "$work/$name" --dump-text "$work/$name.txt" "$trace" >"$work/said" ||
		fail "$name: $(cat "$work/said")"
	cp "$work/said" "$work/said.lost"
	babeltrace2 "$trace" 2>/dev/null | plain >"$work/original"
	babeltrace2 "$work/$name" 2>"$work/errors" | plain >"$work/read"
	! grep -v '^WARNING: Tracer discarded' "$work/errors" || fail "$name: it cannot all be read"
	[ -s "$work/read" ] || fail "$name: nothing was written"
	[ "$(wc -l <"$work/read")" -eq "$(wc -l <"$work/original")" ] || fail "$name: count"
	[ "$(awk '{print $2}' "$work/read" | cksum)" = "$(awk '{print $2}' "$work/original" | cksum)" ] ||
		fail "$name: names or their order"
	for text in "$work/read" "$work/$name.plain"; do
		[ "$text" = "$work/read" ] || plain <"$work/$name.txt" >"$text"
		cmp -s <(without_variants <"$text") <(without_variants <"$work/original") ||
			fail "$name: $(diff <(without_variants <"$text") \
				<(without_variants <"$work/original") | head -n 4 | cut -c1-400)"
	done
	dump --dump-text "$work/again.txt" "$work/$name" >"$work/said" || fail "$(cat "$work/said")"
	cmp -s <(without_variants <"$work/again.txt") <(without_variants <"$work/$name.txt") ||
		fail "$name: pythiatop reads back other events"
done

# The number of lost events, on their CPU and from when to when (to the clock that both domains share).
lost_of() {
	babeltrace2 "$1" 2>&1 >/dev/null | sed -n 's/.*\(discarded 728 events between .*:02.352676\)[0-9]*\(.*:33.426663\)[0-9]*.*/\1\2/p'
}
[ -n "$(lost_of "$traces/multi-domain-lost")" ] || fail "how many events were lost is told otherwise"
[ "$(lost_of "$work/multi-domain-lost")" = "$(lost_of "$traces/multi-domain-lost")" ] ||
	fail "lost events: $(babeltrace2 "$work/multi-domain-lost" 2>&1 >/dev/null)"
grep -q '; 728 were lost' "$work/said.lost" || fail "nothing is said of lost events"

# A clock of another frequency; what a packet says of all its events.
cp -r "$work/ust-ros2" "$work/tsc"
find "$work/tsc" -name metadata -exec sed -i 's/freq = 1000000000/freq = 2394230123/; s/cpu_id/core_id/' {} +
grep -rq 'freq = 2394230123' "$work/tsc" || fail "the metadata has no frequency to change"
dump --dump "$work/tsc-dump" "$work/tsc" >"$work/said" || fail "$(cat "$work/said")"
times() {
	babeltrace2 --clock-seconds "$1" | sed 's/^\[\([0-9.]*\)\].*/\1/'
}
cmp -s <(times "$work/tsc") <(times "$work/tsc-dump") ||
	fail "times of another clock: $(diff <(times "$work/tsc") <(times "$work/tsc-dump") | grep -c '^<') differ"
[ "$(babeltrace2 "$work/tsc-dump" | grep -c 'core_id = ')" -eq "$(wc -l <"$work/ust-ros2.txt")" ] ||
	fail "what packets say is lost"

# Of the usual window, at an instant: all of it where reading stopped there; where the time was stepped
# back from the end, what is kept of it, and from when on that is, is told.
trace=$traces/kernel-6.2-2cpu
at_instant() { # NAME TIME
	timeout 60 "$build_dir/pythiatop" --batch=json --schema=lttng-kernel --state-at="$2" \
		--dump-text "$work/$1.txt" "$trace" 2>&1 >/dev/null
}
in_window() { # NAME SECONDS BEFORE THE INSTANT
	awk -F'[^0-9.]' -v s="$2" '{ t = $2 * 3600 + $3 * 60 + $4 } t >= 64516.290054592 - s' "$work/$1.txt" |
		sed 's/ ([^)]*)//'
}
said=$(at_instant stopped 1696182916.290054592) || fail "$said"
grep -Eq 'events of (9\.9|10\.0)[0-9]* s, and [0-9]+ older ones, of what was open then$' <<<"$said" || fail "all of a window: $said"
[ "$(in_window stopped 10 | wc -l)" -eq 62905 ] || fail "not all of the window was written"
said=$(at_instant back -3.2s) || fail "$said"
grep -Eq 'events of 6\.[78][0-9]* s(, and [0-9]+ older ones, of what was open then)?; of the window, what is older than 6\.[78][0-9]* s is not kept any more$' <<<"$said" ||
	fail "a part of a window: $said"
cmp -s <(in_window back 6.8) <(in_window stopped 6.8) || fail "what is kept differs"

said=$(dump --dump "$work/kernel-6.2-2cpu" "$trace") && fail "wrote over a directory"
grep -q 'exists already' <<<"$said" || fail "existing: $said"
said=$(dump --dump "$work/none/below" "$trace") && fail "wrote below what does not exist"
grep -q 'No such file' <<<"$said" || fail "missing parent: $said"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	export -f dump
	export build_dir
	mkdir "$work/small"
	# shellcheck disable=SC2016
	said=$(unshare -m bash -c 'mount -t tmpfs -o size=2m none "$0" || exit 0
		dump --dump "$0/full" "$1"; code=$?; ls "$0"; exit $code' "$work/small" "$trace") &&
		fail "wrote to a full disk: $said"
	grep -q 'Cannot write' <<<"$said" || fail "full disk: $said"
	! grep -q '^full' <<<"$said" || fail "something is left on the full disk: $said"
fi
exit 0
