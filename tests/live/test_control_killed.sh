#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 and SIGSTOP of each process that control is made of, while a session of ours records:
# afterwards none is left, or --undo removes it; other people's sessions are as before; the console
# goes on, or says what to do.
#
# A session daemon that waits for a relay daemon answers nobody, unless it was started with this; what
# it was asked is done later, then.
export LTTNG_NETWORK_SOCKET_TIMEOUT=2000
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:request_exit' -- "$@"
. "$source_dir/tests/live/control.sh"

generate 100000000 20000
sleep 0.5
before=$(others)
unchanged() {
	[ "$(others)" = "$before" ] || fail "$1: other people's sessions have changed:
$(diff <(echo "$before") <(others))"
}

# --- the console ---
start_acting
kill -KILL "$driver"
expect_none 3 "console killed"
expect_no_record
exec {driver_fd}>&-
unchanged "console killed"

start_acting
kill -STOP "$driver"
sleep 8
[ -n "$(ours)" ] || fail "the lease was shorter than 8 s"
expect_none 6 "console stopped"
expect_no_record
kill -CONT "$driver"
sleep 1.5
tells ' ready generation=2 session= ' ready
tells '^answer 0 ' "create $relay"
end_driver
expect_none 3 "console ended"

# --- the helper: its guardian, its worker, both, and its guardian stopped ---
start_acting
kill -KILL "$guardian"
expect_none 3 "guardian killed"
tell state
grep -q ' failed .*its helper was ended by SIGKILL\. Try: ' <<<"$said" || fail "guardian killed: $said"
sleep 1
tells ' ready generation=2 session= ' ready
tells 'Session name not found' channels
end_driver
unchanged "guardian killed"

start_acting
kill -KILL "$worker"
sleep 0.3
tells '^rule .* gen:point enabled' channels
tells '^change gen:point done explore' 'disable gen:point'
tells ' ready generation=1 ' state
stop "$(children_named "$guardian" pythiatop-control)"
tells '^answer 2 after_us=3[0-9]* .*given up' 'asap channels'
tells '^rule .* gen:point disabled' channels
kill -STOP "$guardian"
expect_none 13 "guardian stopped"
sleep 1
tells ' ready generation=2 ' ready
end_driver
unchanged "guardian stopped"

start_acting
kill -STOP "$driver" "$guardian" "$worker"
kill -KILL "$driver" "$worker" "$guardian"
exec {driver_fd}>&-
sleep 0.5
[ -n "$(ours)" ] || fail "who has undone it?"
# What a worker that was killed had saved goes, too; what one that lives has saved does not.
mkdir "$records/saved-4194304" "$records/saved-$$"
touch "$records/saved-4194304/session.lttng"
touch -d '2 minutes ago' "$records/saved-4194304" "$records/saved-$$"
"$helper" --undo | grep -q '^undid pythiatop-.*, whose owner is gone$' || fail "--undo says nothing"
expect_none 1 "console and helper killed, --undo"
[ ! -e "$records/saved-4194304" ] || fail "what a killed worker had saved is left"
[ -d "$records/saved-$$" ] || fail "what a living process has saved is gone"
rmdir "$records/saved-$$"
expect_no_record

start_acting
left=$(ours)
kill -STOP "$driver" "$guardian" "$worker"
kill -KILL "$driver" "$worker" "$guardian"
exec {driver_fd}>&-
start_driver
tells ' ready ' ready
tell sessions
grep -q "notice .* undid $left, whose owner is gone" "$driver_out" || fail "the next start says nothing"
expect_none 1 "console and helper killed, next start"
end_driver
unchanged "console and helper killed"

start_acting
kill -STOP "$driver" "$guardian" "$worker"
"$helper" --undo && [ -n "$(ours)" ] || fail "--undo takes a helper away whose lease goes on"
sleep 12
"$helper" --undo | grep -q '^undid pythiatop-' || fail "--undo leaves what is stopped"
expect_none 1 "all stopped, --undo"
kill -CONT "$worker" "$guardian" "$driver"
sleep 1
end_driver
expect_none 3 "all go on"

# --- a traced process ---
start_acting
stop "$generator"
tells '^answer 2 after_us=3[0-9]* .*given up' 'asap enable gen:request_entry'
tells ' ready generation=1 ' state
kill -KILL "$driver"
exec {driver_fd}>&-
expect_none 20 "traced process stopped, console killed"
kill -CONT "$generator"
unchanged "traced process stopped"

start_acting
kill -KILL "$generator"
tells '^change gen:point done' 'disable gen:point'
end_driver
expect_none 3 "traced process killed"
unchanged "traced process killed"
generate 100000000 20000
sleep 0.5

# --- the relay daemon ---
start_acting
stop "$PT_RELAYD_PID"
sleep 0.5
tells ' ready generation=1 ' state
kill -KILL "$driver"
exec {driver_fd}>&-
expect_none 13 "relay daemon stopped, console killed"
expect_no_record
kill -CONT "$PT_RELAYD_PID"
unchanged "relay daemon stopped"

start_acting
kill -KILL "$PT_RELAYD_PID"
sleep 0.5
tells '^answer 0 ' destroy
# How far the session daemon came decides what it says; what to do is the same.
tells '(Unable to connect to lttng-relayd|Fatal error of the session daemon): can this host reach' "create $relay"
# shellcheck disable=SC2086
background $PT_RELAYD >"$work/relayd.log" 2>&1
for _ in $(seq 100); do
	tell "create $relay"
	grep -q '^answer 0 ' <<<"$said" && break
	sleep 0.1
done
tells '^change gen:point done' 'enable gen:point'
end_driver
expect_none 3 "relay daemon killed"
unchanged "relay daemon killed"

# --- the session daemon ---
start_acting
stop "$PT_SESSIOND_PID"
tells '^answer 2 after_us=3[0-9]* .*given up' 'asap points'
tells ' ready generation=1 ' state
kill -KILL "$driver"
exec {driver_fd}>&-
sleep 1
kill -CONT "$PT_SESSIOND_PID"
expect_none 20 "session daemon stopped, console killed"
expect_no_record
unchanged "session daemon stopped"

start_acting
kill -KILL "$PT_SESSIOND_PID"
sleep 0.5
tells '^answer -2 .*No session daemon is available: start one with' 'enable gen:request_entry'
tells ' ready generation=1 ' state
background lttng-sessiond --no-kernel --agent-tcp-port=$((20000 + RANDOM % 12000)) \
	>"$work/sessiond.log" 2>&1
for _ in $(seq 100); do
	lttng --no-sessiond list >/dev/null 2>&1 && break
	sleep 0.05
done
tells 'Session name not found: somebody destroyed it; create it again' 'enable gen:point'
tells '^answer 0 ' "create $relay"
tells '^change gen:point done' 'enable gen:point'
end_driver
expect_none 3 "session daemon killed"
expect_no_record
