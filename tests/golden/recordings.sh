#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What documents say of recorded traces, alone and together. Skipped where the recordings are missing.
# Usage: recordings.sh BUILD_DIR TRACES_DIR
set -u
pythiatop=$1/pythiatop traces=$2
[ -d "$traces/kernel-4.4-basic" ] || {
	echo "skipped: no recorded traces in $traces"
	exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-recordings.XXXXXX") || exit 1
export XDG_STATE_HOME=$work/state # what was learned here is nothing to it
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# What a Perl expression says of the document $d.
field() { # DOCUMENT EXPRESSION
	perl -MJSON::PP -0777 -e '$d = decode_json(<STDIN>); print eval($ARGV[0]), "\n"' "$2" <"$1"
}

document() { # FILE [options] SOURCES
	local file=$1
	shift
	"$pythiatop" --batch=json "$@" >"$file" 2>"$file.err" ||
		complain "pythiatop $*: $(cat "$file.err")"
}

# --- a host whose recording ended, beside one that goes on --------------------------------------

# The same recording, 5.5 years later: it begins with the other one's, and ends 5.7 s before it.
cp -r "$traces/kernel-4.4-basic" "$work/ended"
chmod -R u+w "$work/ended"
LC_ALL=C sed -i 's/offset = 1521473229552257809/offset = 1696171376552257809/' "$work/ended/metadata"

host='(grep { $_->{host} eq "ubuntu" } @{$d->{state}{hosts}})[0]'
busiest='(sort { $b <=> $a } map { $_->{cpu_ns} } grep { $_->{host} eq "ubuntu" } @{$d->{state}{threads}})[0]'
document "$work/alone" "$work/ended"
document "$work/both" "$work/ended" "$traces/kernel-6.2-2cpu"
document "$work/swapped" "$traces/kernel-6.2-2cpu" "$work/ended"

[ "$(field "$work/alone" "$busiest")" = "$(field "$work/both" "$busiest")" ] ||
	complain "a thread of the ended host runs on: $(field "$work/both" "$busiest") ns"
for key in capacity_ns window_ns threads_ns events_per_s; do
	both=$(field "$work/both" "$host->{$key}") swapped=$(field "$work/swapped" "$host->{$key}")
	[ "$both" = "$swapped" ] || complain "$key depends on the order: $both, $swapped"
done

# --- a window that is longer than the recording --------------------------------------------------

# 7.0 s were recorded of the 10 s of the window: 134,500 events at 19,300 a second.
rate=$(field "$work/alone" "int($host->{events_per_s})")
[ "$rate" = 19299 ] || complain "events a second: $rate"
unknown=$(field "$work/alone" "$host->{unknown_ns} / $host->{capacity_ns}")
awk -v u="$unknown" 'BEGIN { exit !(u < 0.001) }' ||
	complain "a part of $unknown of the CPUs' time was not recorded, and counts"

# --- threads that wait for something to do ---------------------------------------------------------

# As requests of their own, which they are by this schema alone.
for trace in kernel-6.2-2cpu kernel-4.4-basic; do
	document "$work/desktop" --schema=lttng-kernel "$traces/$trace"
	waits='poll|ppoll|select|pselect6|epoll wait|futex|wait4|nanosleep|rt sigtimedwait'
	first=$(field "$work/desktop" "\$d->{groups}[0]{type}")
	[[ $first =~ ^syscall\ ($waits)$ ]] && complain "$trace: the idle wait $first leads"
	after=$(field "$work/desktop" 'my $idle = 0; scalar grep { $idle ||= $_->{detection}{idle_wait}; $idle && !$_->{detection}{idle_wait} } @{$d->{groups}}')
	[ "$after" = 0 ] || complain "$trace: $after groups come after idle waits"
	n=$(field "$work/desktop" 'scalar grep { $_->{detection}{idle_wait} } @{$d->{groups}}')
	[ "$n" -ge 4 ] || complain "$trace: only $n groups are idle waits"
	flagged=$(field "$work/desktop" 'scalar grep { $_->{detection}{idle_wait} && ($_->{variation_share} || @{$_->{detection}{flags}}) } @{$d->{groups}}')
	[ "$flagged" = 0 ] || complain "$trace: $flagged idle waits are flagged"
	field "$work/desktop" 'JSON::PP->new->encode([$d->{verdict}, $d->{findings}])' |
		grep -E "syscall ($waits)\"" && complain "$trace: a verdict on an idle wait"
done

# --- system calls, descriptors, columns ------------------------------------------------------------

document "$work/calls" "$traces/kernel-4.4-basic"
late=$(field "$work/calls" 'my $callers = 0; scalar grep { $callers ||= !$_->{summed}; $callers && $_->{summed} } @{$d->{state}{syscalls}}')
sums=$(field "$work/calls" 'scalar grep { $_->{summed} } @{$d->{state}{syscalls}}')
[ "$late" = 0 ] && [ "$sums" = 89 ] || complain "$sums sums of system calls, $late after callers"
callers=$(field "$work/calls" 'scalar grep { !$_->{summed} && !defined $_->{pid} } @{$d->{state}{syscalls}}')
[ "$callers" = 4 ] || complain "$callers callers of unknown pid"
closed=$(field "$work/calls" 'my $closed = 0; scalar grep { $closed ||= !$_->{open}; $closed && $_->{open} } @{$d->{state}{fds}}')
[ "$closed" = 0 ] || complain "$closed open descriptors come after closed ones"

# Long names break no column: the number of requests ends in the 78th, whatever the group is called.
"$pythiatop" --batch=text "$traces/ust-ros2" >"$work/text" || complain "no text"
broken=$(perl -CSD -ne 'if (/^ GROUP/ .. /^$/) { print if !/^ GROUP|^$/ && substr($_, 77, 2) !~ /^\d / }' "$work/text")
[ -z "$broken" ] || complain "columns are broken: $broken"
grep -q '^nothing is known of 6 threads' "$work/text" || complain "threads of which nothing is known"
grep -q ' unknown  ' "$work/text" && complain "a table of unknown threads"

# --- verdicts on short recordings, and true sentences ----------------------------------------------

document "$work/chains" "$traces/ust-ros2"
verdict=$(field "$work/chains" '$d->{findings}[0]{text}')
[[ $verdict == *'callback source'*'no place surely holds half'*'(wait) 93%'* ]] ||
	complain "10.2 s of ROS 2, chains: $verdict"
document "$work/ros2" --until=verdict --schema=inferred "$traces/ust-ros2"
verdict=$(field "$work/ros2" '$d->{verdict}{text}')
[[ $verdict == *'callback source'*'nothing deeper in it was recorded'* ]] ||
	complain "10.2 s of ROS 2: verdict: $verdict"
grep -q 'is control on' "$work/ros2" && complain "a recording is asked whether control is on"
"$pythiatop" --batch=json --report="$work/report" --request='*:0x40472b' "$traces/ust-cyg-profile" >/dev/null 2>&1
grep -q '^# Nothing was found: too few requests' "$work/report/report.md" ||
	complain "the report on one request: $(head -n 1 "$work/report/report.md")"
grep -q 'lttng_test_filter_event .* thread not known: record sched_switch' \
	<("$pythiatop" --batch=text "$traces/multi-domain-lost") ||
	complain "a kernel without sched_switch: whose thread?"

# Each verdict says where, on which host, and what it is of.
for trace in kernel-6.2-2cpu kernel-4.4-basic ust-ros2; do
	document "$work/verdicts" --schema=inferred "$traces/$trace"
	bad=$(field "$work/verdicts" 'join ",", map { $_->{type} } grep { $_->{rule} && (!$_->{where} || !$_->{host} || $_->{seconds} <= 0) } @{$d->{findings}}')
	n=$(field "$work/verdicts" 'scalar grep { $_->{rule} } @{$d->{findings}}')
	[ -z "$bad" ] && [ "$n" -ge 3 ] || complain "$trace: $n verdicts, of them without place, host or time: $bad"
done

# --- stacks and shares of samples -----------------------------------------------------------------

# A third of these requests is sampled; the stacks are of all, and say so.
document "$work/ros2" --schema=inferred "$traces/ust-ros2"
truth=$(field "$work/ros2" 'my $sum = 0; $sum += $_->{count} * $_->{mean_ns} for @{$d->{groups}}; sprintf "%.0f", $sum')
stacks=$("$pythiatop" --batch=folded --schema=inferred "$traces/ust-ros2" 2>"$work/said" | awk '{ sum += $NF } END { printf "%d", sum }')
awk -v a="$truth" -v b="$stacks" 'BEGIN { exit !(a > 5e8 && b > 0.999 * a && b < 1.001 * a) }' ||
	complain "stacks of $stacks ns, requests of $truth ns"
grep -q 'are of samples, the smallest of 31 % .* standard error of at most' "$work/said" ||
	complain "stacks of samples: $(cat "$work/said")"
document "$work/sampled" --schema=lttng-kernel "$traces/kernel-4.4-basic"
wrong=$(field "$work/sampled" 'scalar grep { my $l = $_->{location}; my $r = $l->{located} ? $l->{sample_sd_ns} / $_->{sd_ns} : 1;
	$l->{located} && !!$l->{unlike} != ($r < 2 / 3 || $r > 1.5) } @{$d->{groups}}')
unlike=$(field "$work/sampled" 'scalar grep { $_->{location}{unlike} } @{$d->{groups}}')
[ "$wrong" = 0 ] && [ "$unlike" -ge 1 ] || complain "$unlike samples unlike their groups, $wrong wrongly"

# --- what is no cause ------------------------------------------------------------------------------

# The buffer of a read says nothing of how long it takes, however it is correlated.
"$pythiatop" --batch=json --schema=lttng-kernel --report="$work/addresses" "$traces/kernel-4.4-basic" >/dev/null 2>&1
grep -q '^| syscall_read.buf | an address, a hash' "$work/addresses/report.md" ||
	complain "an address explains: $(grep syscall_read.buf "$work/addresses/report.md")"

# --- an event that is dated far from all others ----------------------------------------------------

babeltrace2 convert "$traces/ust-ros2" --component=sink:sink.ctf.fs \
	--params="path=\"$work/dated\",quiet=true" || complain "no copy of ros2"
document "$work/dated-1" "$work/dated"
cycles=$(babeltrace2 --clock-cycles "$work/dated" | sed -n '1000s/^\[\([0-9]*\)\].*/\1/p')
for by in 1000000000000000000 -10000000000000; do
	cp -r "$work/dated" "$work/corrupt"
	perl -e 'my ($was, $by, @files) = @ARGV; my $n = 0; local $/; for (@files) {
		open my $f, "+<:raw", $_ or die; my $text = <$f>;
		$n += $text =~ s/\Q${\pack("Q<", $was)}\E/pack("q<", $was + $by)/e;
		seek $f, 0, 0; print $f $text; close $f } exit($n != 1)' \
		"$((10#$cycles))" "$by" $(find "$work/corrupt" -type f ! -name metadata) ||
		complain "there is no such event to corrupt"
	document "$work/corrupt-1" "$work/corrupt"
	for what in '$d->{time_ns}' '$d->{horizon_ns}' '$d->{accounting}{in}'; do
		[ "$(field "$work/corrupt-1" "$what")" = "$(field "$work/dated-1" "$what")" ] ||
			complain "an event dated by $by ns off changes $what"
	done
	[ "$(field "$work/corrupt-1" '"$d->{sources}[0]{misdated} $d->{accounting}{dropped}"')" = '1 1' ] ||
		complain "an event dated by $by ns off is not put aside"
	[[ $(field "$work/corrupt-1" '$d->{warnings}[0]') == '1 events of '*' are dated far from all others'* ]] ||
		complain "nothing is said of an event dated by $by ns off"
	rm -r "$work/corrupt"
done

# --- functions that never end ---------------------------------------------------------------------

# main() draws a picture again and again: requests are the pictures, 60 a second, from the second on.
document "$work/pictures" "$traces/ust-cyg-profile"
field "$work/pictures" 'join " ", map { "$_->{type}:$_->{count}:" . int($_->{p50_ns} / 1e6) } grep { $_->{count} } @{$d->{groups}}' |
	grep -qx '0x403760:562:16' || complain "pictures: $(field "$work/pictures" '$d->{groups}[0]{type}')"
"$pythiatop" --show-schema "$traces/ust-cyg-profile" |
	grep -q '^# 0x40472b does not end: what it calls again and again are requests' ||
	complain "the schema does not say that main() does not end"
document "$work/nothing" --request='nobody:nothing' "$traces/ust-cyg-profile"
[[ $(field "$work/nothing" '$d->{warnings}[0]') == 'no span nothing of a program nobody was entered'* ]] ||
	complain "a request that there is none of: no warning"

# --- a full disk ----------------------------------------------------------------------------------

if "$pythiatop" --batch=json --log=/dev/full "$traces/ust-ros2" >"$work/full.json" 2>"$work/said"; then
	complain "a log that is not written is no failure"
fi
grep -q 'the decision log /dev/full lacks its last [0-9]* lines: No space left on device; they are lost' "$work/said" ||
	complain "a log on a full disk: $(cat "$work/said")"
[[ $(field "$work/full.json" '$d->{warnings}[0]') == 'the decision log /dev/full lacks'* ]] ||
	complain "the document does not tell of the log"
# A pipe is written to, not replaced by a file.
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/profile" &
timeout 60 "$pythiatop" --batch=text --save-profile="$work/pipe" "$traces/ust-ros2" >/dev/null 2>&1 ||
	complain "no profile into a pipe"
wait
[ -p "$work/pipe" ] && [ -s "$work/profile" ] || complain "a pipe was replaced by a file"

# --- the other format ----------------------------------------------------------------------------

# The same recording in CTF 2 says the same, where the library knows that format.
if babeltrace2 convert "$traces/ust-ros2" --component=sink:sink.ctf.fs \
	--params="path=\"$work/ctf-2\",quiet=true,ctf-version=\"2\"" 2>/dev/null; then
	document "$work/ctf-2.json" "$work/ctf-2"
	document "$work/ctf-1.json" "$traces/ust-ros2"
	groups='JSON::PP->new->canonical->encode($d->{groups})'
	[ "$(field "$work/ctf-1.json" "$groups")" = "$(field "$work/ctf-2.json" "$groups")" ] ||
		complain "a recording in CTF 2 has other groups"
fi

[ $failures -eq 0 ] && echo "documents of recordings are as they should be"
exit $((failures > 0))
