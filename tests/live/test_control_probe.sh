#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pythiatop-probe as what a host is controlled by, beside its session daemon: kernel events with and
# without filters of threads, system calls, functions of a program that nobody prepared. The same verbs,
# rights, dry run and undo as for tracepoints; nothing is left of it, whoever is killed or stopped.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe
. "$source_dir/tests/live/control.sh"

called=$work/one
cp "$build_dir/tests/live/pt-called" "$called"
ln -s one "$work/two" # one file as two programs, as redis-check-rdb is redis-server
mkdir -p "$XDG_CONFIG_HOME/pythiatop"
rights=$XDG_CONFIG_HOME/pythiatop/control.conf
cat >"$rights" <<END
control.functions = $called:called_request,called_step
control.functions = $work/two:called_step
control.deny = *irq*
END

# The newest trace of $1, kernel or ust, as text.
recorded() {
	local dir
	dir=$(find "$PT_DIR/relay" -type d -path "*-probe-*/$1*" -name "${2:-$1}" -printf '%T@ %p\n' |
		sort -n | tail -n 1 | cut -d' ' -f2-)
	babeltrace2 "$dir" 2>"$work/read.err"
	[ ! -s "$work/read.err" ] || fail "babeltrace2 says: $(head -n 3 "$work/read.err")"
}

# Has process $1 no BPF program any more, and is no session of the probe left?
expect_nothing_left() {
	local i
	for ((i = 0; i < 200; i++)); do
		[ ! -d "/proc/$probe" ] && ! "$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null |
			grep -q -- -probe && break
		sleep 0.1
	done
	[ ! -d "/proc/$probe" ] || fail "$1: the probe is left: $(ps -fp "$probe")"
	! "$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null | grep -- -probe || fail "$1: its session is left"
	expect_no_programs "$1" "$programs"
	! kill -0 "$PT_SESSIOND_PID" 2>/dev/null || expect_none 10 "$1"
}

start_probing() {
	start_driver
	tells ' ready ' ready
	tells '^answer 0 ' "create $relay kernel"
	guardian=$(children_of "$driver")
	probe=$(children_named "$guardian" pythiatop-probe)
	[ -n "$probe" ] || fail "no probe was started: $(ps -f --ppid "$guardian")"
	programs=$(programs_of_probe)
	[ -n "$programs" ] || fail "it has no programs"
	tells '^change sched_switch done probe$' 'enable kernel:sched_switch'
	tells '^change one:called_request_entry done probe$' 'enable one:called_request_entry'
}

# --- what it offers, before there is a session; what is allowed
start_driver
tells ' ready ' ready
tell points
grep -q '^point sched_switch processes=0 ' <<<"$said" && grep -q '^point openat processes=0 ' <<<"$said" ||
	fail "no kernel events are offered: $(head -n 5 <<<"$said")"
grep -q '^point one:called_step_exit ' <<<"$said" || fail "no functions are offered"
grep -q '^point two:called_step_exit ' <<<"$said" || fail "no functions by the file's other name"
! grep -q 'two:called_request' <<<"$said" || fail "the file's other name offers what is not its own"
! grep -q 'called_hot' <<<"$said" || fail "offered although it is not allowed"
tells '^change sched_switch would probe$' 'check kernel:sched_switch'
tells '^change sched_switch would probe$' 'check kernel:sched_switch prev_tid == 3'
tells '^answer 0 .*pythiatop-' "create $relay kernel"
guardian=$(children_of "$driver")
probe=$(children_named "$guardian" pythiatop-probe)
programs=$(programs_of_probe)
tells '^session pythiatop-[^ ]*-probe active ours$' sessions
tells '^change irq_handler_entry refused .*does not allow it' 'enable kernel:irq_handler_entry'
tells '^change sched_nothing refused there is no kernel event' 'enable kernel:sched_nothing'
tells '^change sched_switch refused the filter speaks of something' 'enable kernel:sched_switch prev_prio == 3'

# --- a filter of threads: only what that thread is in
sleep 60 &
other=$!
started+=("$other")
bash -c 'for ((i = 0; i < 50; i++)); do sleep 0.02; done' &
thread=$!
tells '^change sched_switch done probe$' "enable kernel:sched_switch prev_tid == $thread || next_tid == $thread"
tells '^change sched_switch was_so probe$' "enable kernel:sched_switch prev_tid == $thread || next_tid == $thread"
tells '^change sched_switch refused it is on with another filter' "enable kernel:sched_switch prev_tid == $other"
tells '^rule .*probe.* sched_switch enabled' channels
tells '^change openat done probe$' 'enable syscall:openat'
tells '^change one:called_request_entry done probe$' 'enable one:called_request_entry'
tells '^change one:called_request_exit done probe$' 'enable one:called_request_exit'
sleep 0.5
"$called" requests 5
cat "$rights" >/dev/null
wait "$thread"
tells '^change sched_switch done probe$' 'disable kernel:sched_switch'
tells '^change sched_switch was_so ' 'disable kernel:sched_switch'
tells '^change one:called_request_entry done probe$' 'disable one:called_request_entry'
"$called" requests 7
sleep 1
recorded kernel >"$work/kernel"
recorded ust 64-bit >"$work/functions"
grep -q " sched_switch: .*_tid = $thread," "$work/kernel" || fail "no switch of the thread $thread: $(sed -E "s/.*\\) [^ ]* ([^:]*):.*/\\1/" "$work/kernel" | sort | uniq -c | head; ls -la "$PT_DIR"/relay/*/*probe*)"
! grep ' sched_switch: ' "$work/kernel" | grep -v "_tid = $thread," | head -n 1 | grep . ||
	fail "a switch of another thread"
grep -qF "filename = \"$rights\"" "$work/kernel" || fail "the call is not recorded"
! grep -E ' (sched_waking|syscall_entry_read): ' "$work/kernel" | head -n 1 | grep . ||
	fail "what was not enabled is recorded"
[ "$(grep -c called_request_entry: "$work/functions")" = 5 ] || fail "not the 5 calls: $(cat "$work/functions")"
[ "$(grep -c called_request_exit: "$work/functions")" = 12 ] || fail "not the 12 exits"
! grep called_step "$work/functions" || fail "a function that is not enabled"
tells '^answer 0 ' destroy
! "$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null | grep -- -probe || fail "destroy leaves the session"
end_driver
expect_nothing_left "console ended"

# --- the console, the guardian, the probe killed; the guardian and the probe stopped, and both
start_probing
kill -KILL "$driver"
expect_nothing_left "console killed"
exec {driver_fd}>&-

start_probing
kill -KILL "$guardian"
expect_nothing_left "guardian killed"
end_driver

start_probing
stop "$probe"
kill -KILL "$guardian"
expect_nothing_left "probe stopped, guardian killed"
end_driver

start_probing
kill -KILL "$probe"
for ((i = 0; i < 100; i++)); do
	tell state
	grep -q 'pythiatop-probe has ended' "$driver_out" && break
	sleep 0.1
done
grep -q 'pythiatop-probe has ended: what it recorded is off' "$driver_out" || fail "not told: $(tail -n 3 "$driver_out")"
tell channels
! grep -q '^rule .*sched_switch' <<<"$said" || fail "its rules stand although it is gone: $said"
expect_no_programs "probe killed" "$programs"
tells '^answer 0 ' destroy
# It is there again for the next session, whatever is asked meanwhile.
for ((i = 0; i < 150; i++)); do
	tell channels
	[ -z "$(children_named "$guardian" pythiatop-probe)" ] || break
done
tells '^answer 0 ' "create $relay kernel"
tells '^change sched_switch done probe$' 'enable kernel:sched_switch'
probe=$(children_named "$guardian" pythiatop-probe)
programs=$(programs_of_probe)
end_driver
expect_nothing_left "after another one"

start_probing
kill -STOP "$guardian"
expect_nothing_left "guardian stopped"
kill -KILL "$guardian" 2>/dev/null # the console has done it, most likely
end_driver

# --- a console that is gone before it has read all that it has asked for, while functions are attached
cp "$rights" "$work/rights"
echo "control.functions = $build_dir/pythiatop:*" >"$rights"
mkfifo "$work/ask" "$work/answers"
"$helper" <"$work/ask" >"$work/answers" &
guardian=$!
started+=("$guardian")
exec {ask}>"$work/ask" {answers}<"$work/answers"
printf '{"id":%s}\n' '1,"do":"hello","protocol":2' "2,\"do\":\"create\",\"kind\":\"live\",\"relay\":\"$relay\"" \
	'3,"do":"points"' '4,"do":"points"' >&"$ask"
for ((i = 0; i < 100; i++)); do
	[ -z "$(ours)" ] || break
	sleep 0.1
done
sleep 3
[ "$(ours)" ] || fail "no session was made"
probe=$(children_named "$guardian" pythiatop-probe)
programs=$(programs_of_probe)
exec {ask}>&- {answers}<&-
expect_none 5 "console gone with answers unread"
expect_nothing_left "console gone with answers unread"
for ((i = 0; i < 50; i++)); do
	kill -0 "$guardian" 2>/dev/null || break
	sleep 0.1
done
! kill -0 "$guardian" 2>/dev/null || fail "the helper is left: $(ps -fp "$guardian")"
expect_no_record

mkfifo "$work/learn"
"$helper" <"$work/learn" >"$work/learned" &
guardian=$!
started+=("$guardian")
exec {ask}>"$work/learn"
printf '{"id":%s}\n' '1,"do":"hello","protocol":2' "2,\"do\":\"create\",\"kind\":\"live\",\"relay\":\"$relay\"" \
	'3,"do":"learn","providers":["pythiatop"]' >&"$ask"
for ((i = 0; i < 100; i++)); do
	probe=$(children_named "$guardian" pythiatop-probe)
	[ -z "$probe" ] || [ "$(ls "/proc/$probe/fd" | wc -l)" -lt 120 ] || break
	sleep 0.1
done
[ "$i" -lt 100 ] || fail "no functions are attached: $(cat "$work/learned")"
programs=$(programs_of_probe)
kill -TERM "$guardian"
exec {ask}>&-
began=$(date +%s%N)
expect_nothing_left "helper ended while it learned"
took=$((($(date +%s%N) - began) / 1000000))
[ "$took" -lt 5000 ] || fail "it took $took ms to let go of functions"
cp "$work/rights" "$rights"

# --- a host without LTTng is controlled by the probe alone; where LTTng is, its daemon is waited for
kill -KILL "$PT_SESSIOND_PID"
sleep 0.5
start_driver
tells ' ready ' ready
tells 'No session daemon is available' "create $relay kernel"
end_driver
mkdir "$work/bin"
driver_path=$work/bin
start_driver
tells ' ready ' ready
tells '^point sched_switch ' points
tells '^answer 0 .*-probe$' "create $relay kernel"
guardian=$(children_of "$driver")
probe=$(children_named "$guardian" pythiatop-probe)
programs=$(programs_of_probe)
tells '^session pythiatop-[^ ]*-probe active ours$' sessions
tells '^change sched_switch done probe$' 'enable kernel:sched_switch'
sleep 1
recorded kernel | grep -q ' sched_switch: ' || fail "nothing is recorded without LTTng"
end_driver
expect_nothing_left "without LTTng"
