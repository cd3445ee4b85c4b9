#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How pythiatop-probe ends, and goes on: nothing of it is left in the kernel after a signal, even one
# that cannot be caught, nor a session in the relay daemon; a relay daemon that is killed and comes
# back gets a new session; what may not be is said in a sentence.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

no_session() { # WHEN
	local i
	for ((i = 0; i < 100; i++)); do
		"$build_dir/pythiatop" --list "$PT_RELAY" 2>&1 | grep -q '/ends\b' || return 0
		sleep 0.1
	done
	fail "the session is left ($1): $("$build_dir/pythiatop" --list "$PT_RELAY" 2>&1)"
}

for signal in TERM INT HUP KILL; do
	start_probe --session ends
	expect_session 5 ends
	programs=$(programs_of_probe)
	[ "$(wc -w <<<"$programs")" -ge 20 ] || fail "only these programs are loaded: $programs"
	for id in $programs; do
		bpftool prog show id "$id" >/dev/null || fail "bpftool does not know the program $id"
	done
	kill "-$signal" "$probe"
	wait "$probe" 2>/dev/null
	status=$?
	[ $signal = KILL ] || [ $status = 0 ] || fail "SIG$signal: it ends with $status"
	expect_no_programs "after SIG$signal" "$programs"
	no_session "after SIG$signal"
done

# The relay daemon is stopped for longer than anybody waits, then killed, and comes back.
start_probe --session again
expect_session 5 again
kill -KILL "$PT_RELAYD_PID"
for ((i = 0; i < 100; i++)); do
	grep -q 'events are dropped' "$work/probe.err" && break
	sleep 0.1
done
grep -q 'events are dropped' "$work/probe.err" || fail "the loss is not said: $(cat "$work/probe.err")"
kill -0 "$probe" || fail "the probe has ended"
# shellcheck disable=SC2086
background setsid $PT_RELAYD >/dev/null 2>&1
expect_session 15 again
grep -Eq 'connected again, as a new session; [1-9][0-9]* events were dropped' "$work/probe.err" ||
	fail "what was dropped is not said: $(cat "$work/probe.err")"
sleep 1
end_probe
read_kept again "$work/kept"
grep -q 'lttng_statedump_end' "$work/kept" || fail "the new session has no dump of the state"

# Without the right to, without anybody there, with nonsense.
says() { # STATUS TEXT COMMAND...
	local status=$1 text=$2 got
	shift 2
	timeout 20 "$@" >"$work/out" 2>&1
	got=$?
	[ $got = "$status" ] && grep -q -- "$text" "$work/out" || fail "$*: $got $(cat "$work/out")"
}
says 1 'may not load BPF programs: run it as root, or' \
	setpriv --bounding-set=-all --inh-caps=-all --reuid 65534 --regid 65534 --clear-groups \
	"$build_dir/pythiatop-probe" --relay "$probe_url" --kernel
says 1 'start one with: lttng-relayd' "$build_dir/pythiatop-probe" --relay net://127.0.0.1:1:1 --kernel
says 2 'is not of the form net://HOST' "$build_dir/pythiatop-probe" --relay 127.0.0.1 --kernel
says 2 'give --kernel' "$build_dir/pythiatop-probe" --relay "$probe_url"
says 2 'is no name of a session' "$build_dir/pythiatop-probe" --session ../x --relay "$probe_url" --kernel
says 2 'is no size' "$build_dir/pythiatop-probe" --buffer 1 --relay "$probe_url" --kernel
says 0 '^sched_switch *sched_switch *5.8 *yes$' "$build_dir/pythiatop-probe" --events
