#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sessions of our own: what is enabled in them is recorded, what is disabled is not, filters hold;
# what others record is used there; nobody else's session changes, even one with exclusions, whose
# rules nobody can list alive.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:request_exit' -- "$@"
. "$source_dir/tests/live/control.sh"

lttng --no-sessiond create fragile --snapshot >/dev/null &&
	lttng --no-sessiond enable-event -u -s fragile 'gen:p*' --exclude gen:pa,gen:pb >/dev/null &&
	lttng --no-sessiond start fragile >/dev/null || fail "cannot make the session fragile"
generate 100000000 20000
sleep 0.5
before=$(others)

start_driver
tells ' ready ' ready
tells '^session demo active$' sessions
tell points
grep -q '^point gen:request_exit processes=1 fields=2 on=demo$' <<<"$said" &&
	grep -q '^point gen:point .* on=fragile(partly)$' <<<"$said" || fail "points: $said"
tells '^change gen:point would explore$' 'check gen:point' # no session of ours so far
# Where BPF may be used pythiatop-probe has the kernel's events instead.
tells '^(lack kernel: Kernel tracer not available: |answer 0 )' "create $relay kernel"
grep -Eq '^answer 0 .*pythiatop-[^ ]*-[0-9]+$' <<<"$said" || fail "create: $said"
session=$(ours)
traces=$PT_DIR/relay/$(hostname)/$session-2*
tells '^state [^ ]+ ready generation=1 session=pythiatop' state

# How many events of a name our session has recorded.
count() {
	# shellcheck disable=SC2086
	babeltrace2 $traces 2>/dev/null | grep -c " $1: "
}

# Waits until more than $2 of a name are recorded.
expect_count() {
	local i
	for ((i = 0; i < 40; i++)); do
		[ "$(count "$1")" -gt "$2" ] && return 0
		sleep 0.25
	done
	fail "$(count "$1") events of $1 are recorded"
}

# Asking what would be done does nothing.
tells '^change gen:point would explore$' 'check gen:point'
tells '^change gen:request_entry would filter-1$' 'check gen:request_entry kind == 3'
tells 'refused its filter speaks of what the point does not have: knid' \
	'check gen:request_entry knid == 3'
! lttng --no-sessiond list "$session" | grep -F '[enabled]' | grep -F 'gen:' ||
	fail "a check has enabled something"

tells '^change gen:point done explore$' 'enable gen:point'
tells '^change gen:point was_so explore$' 'enable gen:point'
tells '^change gen:point was_so explore$' 'check gen:point'
expect_count gen:point 100
tells '^change gen:point done explore$' 'disable gen:point'
sleep 1 # what is on its way arrives
n=$(count gen:point)
sleep 1
[ "$(count gen:point)" = "$n" ] || fail "gen:point is recorded after it was disabled"

tells '^change gen:request_entry done filter-1$' 'enable gen:request_entry kind == 3'
tells '^change gen:request_entry done filter-2$' 'enable gen:request_entry kind == 5'
tells 'refused it is on with 2 other filters' 'enable gen:request_entry kind == 6'
tells 'refused it is on with a filter: disable it first' 'enable gen:request_entry'
tells 'refused its filter speaks of what the point does not have: knid' \
	'enable gen:request_entry knid == 3'
tells 'refused the point is a pattern: give exact names' 'enable gen:*'
tells '^rule .*/filter-1 gen:request_entry enabled kind == 3$' channels
grep -q '^channel .*/filter-1 discarded=0 tracefiles=4x16777216$' <<<"$said" || fail "$said"
expect_count gen:request_entry 100
# What the second filter lets pass comes in packets of its own, maybe later.
for _ in $(seq 40); do
	# shellcheck disable=SC2086
	kinds=$(babeltrace2 $traces | sed -n 's/.* gen:request_entry: .* kind = \([0-9]*\) .*/\1/p' | sort -u)
	[ "$kinds" = 3 ] || break
	sleep 0.25
done
[ "$kinds" = $'3\n5' ] || fail "the filters let these kinds pass: $kinds"

# What an attached session records whole is used there; a part of it, or a session that this console
# does not read, is not enough.
tell attached demo
tell attached fragile
tells '^change gen:request_exit used_there demo$' 'enable gen:request_exit'
tells '^change gen:request_exit used_there demo$' 'check gen:request_exit'
tells '^change gen:point done explore$' 'enable gen:point'

# A second console sees the first one's session, and duplicates none of its points.
first=$driver first_fd=$driver_fd first_out=$driver_out first_told=$told
start_driver
tells ' ready ' ready
tells "^session $session active pythiatop\$" sessions
tells '^answer 0 ' "create $relay"
tells "^change gen:point used_there $session\$" 'enable gen:point'
tells '^change gen:request_exit done explore$' 'enable gen:request_exit'
tells '^answer 0 ' destroy
end_driver
driver=$first driver_fd=$first_fd driver_out=$first_out told=$first_told

# A flight recorder, written when asked.
tells '^answer 0 ' "flight $relay"
tells '^change gen:point done explore$' 'enable-flight gen:point'
sleep 1
tells '^answer 0 ' snapshot
sleep 1
snapshot=$(find "$PT_DIR/relay" -name 'snapshot-1-*' -path '*-flight-*')
[ "$(babeltrace2 "$snapshot" 2>/dev/null | grep -c ' gen:point: ')" -gt 100 ] ||
	fail "the snapshot is empty: $snapshot: $(find "$snapshot" -size +5k)"

# Names that are no names go no further.
tells 'refused the point has a character that no tracepoint' 'enable gen:point$(touch x)'
tells "refused the point is longer" "enable $(printf 'a%.0s' $(seq 300))"
tells 'the relay daemon.s URL is not of the form' 'create file:///tmp/x'

tells '^answer 0 ' destroy
[ -z "$(ours)" ] || fail "left: $(ours)"
expect_no_record
tells 'control.relay_url' 'create net://127.0.0.1:1'

[ "$(others)" = "$before" ] || fail "other people's sessions have changed: $(diff <(echo "$before") <(others))"
kill -0 "$PT_SESSIOND_PID" || fail "the session daemon is dead"
