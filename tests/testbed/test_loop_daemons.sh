#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill -9 and SIGSTOP of the console and of what it stands on, each in the middle of a step: the
# helper's two processes, the session daemon, the relay daemon, a traced process. The console says
# what is wrong and what to do, goes on with the search once it can, and judges neither a step nor
# the code by what it could not see; others' sessions are as before, and none of ours is left.
#
# Without LTTNG_NETWORK_SOCKET_TIMEOUT, so that a stopped relay daemon may hold the session daemon up.
# Two consoles run side by side, beside daemons and a testbed of their own each. Two parts are tests
# of their own: "console", and "second": one on the same daemons enables nothing that the first has on.
# test_loop_daemons.sh SOURCE-DIR BUILD-DIR [console|helper|relay|second]
set -u
unset LTTNG_NETWORK_SOCKET_TIMEOUT
if [ -z "${PT_PART:-}" ] && [ $# -eq 2 ]; then
	ends=$(mktemp -d) parts=()
	trap 'rm -rf "$ends"' EXIT
	for part in helper relay; do
		"$0" "$1" "$2" $part >"$ends/$part" 2>&1 &
		parts+=($!)
	done
	status=0
	for pid in "${parts[@]}"; do
		wait "$pid" || status=$?
	done
	cat "$ends"/*
	exit $status
fi
export PT_PART=${PT_PART:-$3}
. "$1/tests/live/lib.sh"
sessions=(--session demo)
[ "$PT_PART" != second ] || sessions+=(--session demo2)
beside_daemons "${sessions[@]}" --events skeleton -- "$1" "$2"
. "$source_dir/tests/live/control.sh"

# Documents are long; what matters here stands at their begin.
newest() {
	sed -n 'x;$p' "$documents" | cut -c1-5000
}

# --- the stage: a testbed that was learned about, with something wrong in it ---

start_testbed() { # FAULT
	rm -rf "$work/testbed"
	background "$build_dir/testbed/pt-testbed" --dir "$work/testbed" --fault "$1" >"$work/testbed.log" 2>&1
	testbed=$pid
	for _ in $(seq 100); do
		grep -q '^ready' "$work/testbed.log" && return
		sleep 0.1
	done
	fail "no testbed: $(cat "$work/testbed.log")"
}

console_options=(--schema="$source_dir/tests/testbed/schema.yaml" --control.relay_url="$relay"
	--autopilot -d 0.5)
# Plain even where the machine is busy, and everything varies: what is done about it matters here.
fault="delay point=compute:sem_acquire dist=exp:400ms p=0.5"
start_testbed none
timeout 90 "$build_dir/pythiatop" "$PT_RELAY" "${console_options[@]}" --batch=json --until=learned >"$work/learned" ||
	fail "learning failed"
# A fault is several words.
# shellcheck disable=SC2086
"$build_dir/testbed/pt-fault" --dir "$work/testbed" $fault || fail "no fault"

start_loop() { # SOURCE
	source=$1
	log=$work/log.${#started[@]}
	: >"$log"
	start_console "$1" "${console_options[@]}" --until=600 --log="$log"
}

# A step was carried out, and is still watched.
in_a_step() {
	grep -E '"do":"(order|outcome|watch|decide|host_gone)"' "$log" | tail -n 1 |
		grep -q '"do":"outcome".*"undo":false,"ok":true'
}

# Every search has come to its end.
search_is_over() {
	local rules
	rules=$(sed -n 'x;$p' "$documents" | grep -Eo '"path":"[^"]*","rule":(null|"[a-z]*")')
	[ -n "$rules" ] && ! grep -q null <<<"$rules"
}

# Waits for a step to be in force, $STEP_S seconds at most. A console that has found it meanwhile
# takes no further steps: another one begins anew.
STEP_S=150
await_step() {
	local until=$((SECONDS + STEP_S)) over=0
	while ! in_a_step; do
		[ $SECONDS -lt $until ] || return 1
		kill -0 "$console" 2>/dev/null || return 1
		search_is_over && over=$((over + 1)) || over=0
		if [ $over -ge 100 ]; then
			kill -TERM "$console"
			wait "$console"
			expect_right
			start_loop "$source"
			over=0
		fi
		sleep 0.1
	done
}

# Whatever the console could not see for a while, the code it names is where the fault is.
expect_right() {
	local wrong
	wrong=$(sed -n 'x;$p' "$documents" | grep -Eo '"rule":"code","[^{]*"where":"[^"]*"' |
		grep -Ev '(> |")sem_acquire"$')
	[ -z "$wrong" ] || fail "a wrong place: $wrong"
}

expect_step() { # WHAT: comes next
	if ! await_step; then
		kill -0 "$console" || fail "$1: the console has ended: $(cat "$documents.err")"
		fail "$1: no step within $STEP_S s:
$(sed -n 'x;$p' "$documents" | grep -Eo '"(steps|findings)":\[.{0,2000}')"
	fi
	helper_of "$console"
	session=$(ours)
	[ -n "$session" ] || fail "$1: a step without a session of ours"
	before=$(others)
}

helper_of() {
	guardian=$(children_named "$1" pythiatop-control)
	worker=$(children_named "$guardian" pythiatop-control)
}

# The newest document from now on says this of the control.
expect_control() { # SECONDS PATTERN
	seen=$(($(wc -l <"$documents") - 1))
	expect "$1" "\"controls\":\[\{\"host\":\"[^\"]*\",$2"
}

unchanged() {
	[ "$(others)" = "$before" ] || fail "$1: others' sessions have changed:
$(diff <(echo "$before") <(others))"
	echo "$1: ok, $SECONDS s after the begin"
}

expect_gone() { # SESSION SECONDS WHAT
	local i
	for ((i = 0; i < $2 * 10; i++)); do
		ours | grep -qx -e "$1" -e '?' || return 0
		sleep 0.1
	done
	fail "$3: left after $2 s: $1"
}

# The screen is not frozen: documents come.
expect_documents() {
	local n
	n=$(wc -l <"$documents")
	sleep 3
	[ "$(wc -l <"$documents")" -ge $((n + 3)) ] || fail "$1: the console is frozen"
}

# How many steps were judged so far by what was seen of them.
count_judged() {
	grep -c '"do":"watch"' "$log"
}

ready='"ready":true,"session":"pythiatop-[^"]*","text":null'

# --- the console itself: gone at once, or when its lease (10 s) is over ---
part_console() {
	local signal
	for signal in KILL STOP TERM; do
		start_loop "$PT_RELAY"
		expect_step "console SIG$signal"
		kill -"$signal" "$console"
		expect_none $([ $signal = STOP ] && echo 15 || echo 5) "console SIG$signal"
		expect_no_record
		kill -KILL "$console" 2>/dev/null
		unchanged "console SIG$signal"
	done
}

# --- what control is made of, and what it talks to ---
part_helper() {
	start_loop "$PT_RELAY"
	expect_step "worker killed"
	kill -KILL "$worker"
	expect_documents "worker killed"
	expect_control 5 "$ready"
	[ "$(ours)" = "$session" ] || fail "worker killed: $session became $(ours)"
	unchanged "worker killed"

	# What does not answer is ended after six seconds, and another one is started.
	helper_of "$console"
	stop "$worker"
	for _ in $(seq 200); do
		kill -0 "$worker" 2>/dev/null || break
		sleep 0.1
	done
	! kill -0 "$worker" 2>/dev/null || fail "worker stopped: it is still there after 20 s"
	expect_control 10 "$ready"
	[ "$(ours)" = "$session" ] || fail "worker stopped: $session became $(ours)"
	unchanged "worker stopped"

	expect_step "session daemon stopped"
	stop "$PT_SESSIOND_PID"
	expect_control 15 '"ready":false,"session":"[^"]*","text":"no answer in time: the session daemon'
	expect_documents "session daemon stopped"
	kill -CONT "$PT_SESSIOND_PID"
	expect_control 15 "$ready"
	unchanged "session daemon stopped"

	expect_step "guardian killed"
	kill -KILL "$guardian"
	expect_control 5 '"ready":false,"session":null,"text":"No control of .*ended by SIGKILL. Try: '
	expect_gone "$session" 3 "guardian killed"
	expect_control 10 "$ready"
	unchanged "guardian killed"

	expect_step "guardian stopped"
	stop "$guardian"
	expect_control 12 '"ready":false,"session":null,"text":"No control of .*said nothing for 8 s'
	expect_gone "$session" 13 "guardian stopped"
	expect_control 10 "$ready"
	unchanged "guardian stopped"

	expect_step "session daemon killed"
	# Sessions live in their daemon: others', too, are gone with it.
	kill -KILL "$PT_SESSIOND_PID"
	expect_control 15 '"ready":false,"session":null,"text":"No session daemon is available: start one with'
	expect 5 '"effect":"undone on [^"]*: its control, or our session there, has ended"'
	background lttng-sessiond --no-kernel --agent-tcp-port=$((20000 + RANDOM % 12000)) \
		>"$work/sessiond.log" 2>&1
	expect_control 20 "$ready"
	[ -n "$(ours)" ] || fail "session daemon killed: no session was made again"
	expect_right
	kill -TERM "$console"
	wait "$console"
	expect_none 3 "console ended"
	expect_no_record
}

# --- where events come from, and where they go ---
part_relay() {
	local service relayd judged
	start_loop "$PT_RELAY"
	expect_step "relay daemon stopped"
	judged=$(count_judged)
	stop "$PT_RELAYD_PID"
	expect 15 "$(row "$PT_RELAY" '(broken|connecting)' 'has not answered for 5 s')"
	expect_documents "relay daemon stopped"
	[ "$(count_judged)" = "$judged" ] || fail "relay daemon stopped: a step was judged by nothing"
	kill -CONT "$PT_RELAYD_PID"
	expect_control 20 "$ready"
	expect_more_events 20 "$(session_url demo)"
	unchanged "relay daemon stopped"

	expect_step "traced process stopped"
	service=$(pgrep -P "$testbed" pt-volume)
	stop "$service"
	expect_documents "traced process stopped"
	kill -CONT "$service"
	expect_control 20 "$ready"
	unchanged "traced process stopped"

	# The testbed ends with one of its services, and others take its place.
	expect_step "traced process killed"
	kill -KILL "$service"
	wait "$testbed"
	start_testbed "$fault"
	expect_more_events 10 "$(session_url demo)"
	expect_control 10 "$ready"
	unchanged "traced process killed"

	expect_step "relay daemon killed"
	kill -KILL "$PT_RELAYD_PID"
	expect 15 "$(row "$PT_RELAY" broken 'Start one: lttng-relayd')"
	expect_documents "relay daemon killed"
	# shellcheck disable=SC2086
	background $PT_RELAYD >"$work/relayd.log" 2>&1
	relayd=$pid
	expect 20 '"effect":"undone on [^"]*: its control, or our session there, has ended"'
	expect 20 "$(row "$(session_url "$session")" '(attached|active)')"
	expect_control 10 "$ready"
	unchanged "relay daemon killed"

	expect_right
	# Both at once: what the session daemon waits for is over, and so is the console.
	stop "$relayd"
	kill -KILL "$console"
	sleep 3
	kill -CONT "$relayd"
	expect_none 20 "console killed, relay daemon stopped"
	expect_no_record
	unchanged "console killed, relay daemon stopped"
}

# --- a second console, each with a session to look at, for a session has one viewer ---
rules_of() {
	lttng --no-sessiond list "$1" | sed -nE 's/^ +([a-z]+:[a-z_]+) .*\[enabled\]$/\1/p' | sort
}

part_second() {
	local first
	start_loop "$(session_url demo)"
	expect_step "first console"
	first=$session
	start_loop "$(session_url demo2)"
	await_step || fail "second console: no step within $STEP_S s: $(cat "$documents.err")"
	for session in $(ours | grep -vxF "$first"); do
		[ -z "$(comm -12 <(rules_of "$first") <(rules_of "$session"))" ] ||
			fail "second console: enabled again: $(rules_of "$session")"
	done
	[ "$(ours | wc -l)" = 2 ] && [ -n "$(rules_of "$first")" ] || fail "second console: $(ours)"
	echo "second console: ok, $SECONDS s after the begin"
}

"part_$PT_PART"
