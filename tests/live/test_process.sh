#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One command on programs that nobody prepared, without any daemon: `pythiatop -p NAME|PID` and
# `pythiatop -- COMMAND`. Of a stock redis-server the requests and, on autopilot, the function that
# some are slow in; events are of its processes alone; a command's end is the batch's; wrong
# processes and missing rights get a sentence; however it ends, nothing is left.
# test_process.sh SOURCE-DIR BUILD-DIR
. "$(dirname "$0")/process.sh"
begin "$2" redis-server redis-cli setpriv
# All of the time is recorded, also where other tests take the processors (test_process_pace.sh).
watch() {
	timeout --foreground 100 "$build_dir/pythiatop" --batch=json --cost=100 "$@"
}

# What was started beside a console, and its directory, is gone at the latest after ten seconds.
ours() {
	grep -lzF "TMPDIR=$TMPDIR" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | while read -r pid; do
		case $(readlink "/proc/$pid/exe") in
		*/lttng-relayd | */pythiatop*) echo "$pid" ;;
		esac
	done
}
expect_nothing_left() {
	local i
	for ((i = 0; i < 100; i++)); do
		[ -n "$(ours)$(ls "$TMPDIR")" ] || return 0
		sleep 0.1
	done
	fail "left ($1): $(ps -o pid=,args= -p "$(ours | paste -sd,)") $(ls "$TMPDIR")"
}

# --- a command: its events and no others, and the batch ends with it; it fails, which is said
if ! watch -- sh -c 'for i in 1 2 3 4 5; do ls / >/dev/null; done; sleep 0.2; exit 7' >"$work/command" \
	2>"$work/command.err"; then
	skip_unable "$work/command.err"
	fail "pythiatop -- sh: $(cat "$work/command.err")"
fi
grep -q '^pythiatop: sh ended with code 7$' "$work/command.err" || fail "its end is not told: $(cat "$work/command.err")"
# Others are seen where a processor was given to one of ours, but none of their calls.
calls=$(jq -r '.state.syscalls[] | select(.pid != null) | .process' "$work/command" | sort -u | paste -sd' ')
[[ " $calls " == *" sh "* && " $calls " == *" ls "* ]] || fail "not the command's calls: $calls"
[ -z "$(tr ' ' '\n' <<<"$calls" | grep -vxE 'sh|ls|sleep|pythiatop')" ] || fail "calls of others: $calls"
expect_nothing_left "the command ended"

# --- a stock server with something wrong: the function that is slow, and the variable
start_redis
seq -f 'RPUSH big item-%.0f' 20000 | redis-cli -s "$socket" >/dev/null || fail "$(tail -n 1 "$work/redis.log")"
for i in 1 2 3; do
	redis-cli -s "$socket" -r 100000000 -i 0.003 GET "key$i" >/dev/null </dev/null &
	started+=($!)
done
redis-cli -s "$socket" -r 100000000 -i 0.05 LRANGE big 0 -1 >/dev/null </dev/null &
started+=($!)

watch -p "$server" -n 5 >"$work/watched" 2>"$work/watched.err" || fail "$(cat "$work/watched.err")"
tail -n 1 "$work/watched" | jq -e '[.groups[] | select(.type == "redis-server")][0].count >= 500' >/dev/null ||
	fail "no requests: $(tail -n 1 "$work/watched" | jq -c '[.groups[] | [.type, .count]]')"
calls=$(jq -r '.state.syscalls[] | select(.pid != null) | .pid' "$work/watched" | sort -u | paste -sd' ')
[ "$calls" = "$server" ] || fail "calls of others: $calls, not only $server"
expect_nothing_left "a batch of five documents ended"

# Two programs at once, the second by its name: calls of both, and of nobody else.
watch -p "$server" -p redis-cli -n 3 >"$work/both" 2>"$work/both.err" || fail "$(cat "$work/both.err")"
# Now and then the server's allocator works in a thread of its own name.
calls=$(jq -r '.state.syscalls[] | select(.pid != null) | .process' "$work/both" | sort -u |
	grep -vx jemalloc_bg_thd | paste -sd' ')
[ "$calls" = "redis-cli redis-server" ] || fail "not the calls of both: $calls"
expect_nothing_left "two programs were watched"
watch $(printf -- '-p %s ' "$server"{,,,,,,,,}) 2>&1 | grep -q 'no more than 8 programs' || fail "nine programs"

# On a machine that is busy with other things the waits for a processor are what varies, of one place or
# of all, and that is what is to be said; or, of a virtual one, how long processors take to wake up, which
# is no verdict. Otherwise once more.
wakes=''
for attempt in 1 2; do
	timeout --foreground 150 "$build_dir/pythiatop" --batch=json --cost=100 -p "$server" --autopilot --until=verdict \
		--log="$work/log.$attempt" >"$work/found" 2>"$work/found.err"
	status=$?
	tail -n 1 "$work/found" | jq -c '.verdict | [.rule, .where, .text]'
	named=$(tail -n 1 "$work/found" | jq -r '.verdict | .where + " " + .text' |
		grep -oE 'addListRangeReply|lrangeCommand|length.*: 23 -> |in \(runnable\) of redis-server|not the code, but its CPU' | head -n 1)
	[ $status != 0 ] || [ -z "$named" ] || break
	tail -n 3 "$work/found" | grep -q 'sleeps, and takes its time to wake up' && wakes=1 && break
done
if [ -z "$wakes" ]; then
	[ $status = 0 ] || fail "no verdict ($status): $(cat "$work/found.err") $(tail -n 1 "$work/found" | jq -c .budget)"
	[ -n "$named" ] || fail "neither the list nor the command is named"
	grep -q '"do":"order".*"redis-server:[A-Za-z_]*_entry"' "$work"/log.* || fail "no function was recorded"
fi
expect_nothing_left "a verdict was found"

# --- killed, in whatever way: nothing is left, and the server goes on
for victim in console keeper both; do
	: >"$work/killed"
	"$build_dir/pythiatop" --batch=json -p redis-server --autopilot >"$work/killed" 2>/dev/null &
	console=$!
	started+=("$console")
	for ((i = 0; i < 100; i++)); do
		[ -s "$work/killed" ] && break
		sleep 0.1
	done
	keeper=$(ps -o pid=,args= --ppid "$console" | awk '/pythiatop --batch/ { print $1 }')
	[ -n "$keeper" ] || fail "no keeper: $(ps -o pid=,args= --ppid "$console")"
	case $victim in
	console) kill -KILL "$console" ;;
	keeper) kill -KILL "$keeper" && sleep 1 && kill -TERM "$console" ;;
	both) kill -KILL "$console" "$keeper" ;;
	esac
	wait "$console" 2>/dev/null
	if [ $victim != console ]; then
		sleep 2
		"$build_dir/pythiatop" -p redis-server --batch=json -n 1 >/dev/null 2>&1 # sweeps the directory
	fi
	expect_nothing_left "$victim killed"
done
redis-cli -s "$socket" PING | grep -q PONG || fail "the server has gone"

# --- what is wrong is said, and what to do
expect() {
	local words=$1
	shift
	"$@" >"$work/out" 2>&1 && fail "$* succeeds"
	grep -q "$words" "$work/out" || fail "$*: $(cat "$work/out")"
}
expect 'no process no-such-program runs' watch -p no-such-program
expect 'no process 4999999 runs' watch -p 4999999
expect 'do not go together' watch -p 1 net://127.0.0.1
expect 'do not go together' watch -p 1 -- true
expect 'can it be run?' sh -c "'$build_dir/pythiatop' --batch=json -- $work/no-such-command; exit 1"
expect 'may not\|denied\|cannot' setpriv --reuid 65534 --regid 65534 --clear-groups \
	env TMPDIR=/tmp "$build_dir/pythiatop" --batch=json -n 1 -p "$server"
expect_nothing_left "nothing was started"
