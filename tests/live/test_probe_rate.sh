#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pythiatop-probe with its default buffers at 200,000 events/s and more for five seconds: every system
# call is there, twice, or is told as lost; a machine that gives it no processor for a while may lose
# one in twenty so. Says what it took of a CPU for that.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

ran_ns() { cut -d ' ' -f 1 "/proc/$probe/schedstat"; }
start_probe --session rate --buffer 4096
expect_session 5 rate
sleep 0.5
before=$(ran_ns)
floods=()
for i in 1 2; do
	"$build_dir/tests/live/pt-probed" flood 5 50000 >"$work/flood.$i" &
	floods+=("$!")
	started+=("$!")
done
wait "${floods[@]}"
after=$(ran_ns)
end_probe
dir=$(kept rate)
babeltrace2 "$dir" 2>"$work/err" | awk '
	/ syscall_entry_getppid: / { entries++ }
	/ syscall_exit_getppid: / { exits++ }
	END { print NR, entries + 0, exits + 0 }' >"$work/counts"
read -r events entries exits <"$work/counts"
made=$(cat "$work"/flood.? | awk '{ n += $2 } END { print n }')
awk -v events="$events" -v made="$made" -v entries="$entries" -v exits="$exits" \
	-v ns="$((after - before))" 'BEGIN {
	printf "%d events; of %d calls %d entries, %d exits; %.2f us of a CPU an event, ", events, made,
		entries, exits, ns / 1000 / events
	printf "%.1f %% of one at 50,000 events/s\n", 100 * ns / events * 50000 / 1e9 }'
[ "$made" -ge 300000 ] || fail "the machine made only $made calls in five seconds"
! grep -v '^$\|WARNING: Tracer discarded [0-9]* events between ' "$work/err" >"$work/other" ||
	fail "babeltrace2 says: $(head -n 3 "$work/other")"
lost=$(awk '/ discarded [0-9]* events / { n += $4 } END { print n + 0 }' "$work/err")
echo "$lost events are told as lost"
[ "$((lost * 20))" -le "$events" ] || fail "$lost events are lost, of $events"
[ "$((entries + exits + lost))" -ge "$((2 * made))" ] || fail "calls are missing that no loss tells of"
