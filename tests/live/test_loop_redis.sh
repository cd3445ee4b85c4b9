#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The whole loop on a server that nobody here wrote: redis-server as Debian packages it, without a
# tracepoint, an id, or LTTng's kernel modules. Its functions are recorded through pythiatop-probe: as
# many as its clients' commands; and where some commands sleep, autopilot names the function, having
# enabled what it needed itself, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
command -v redis-server >/dev/null || {
	echo "skipped: no redis-server is installed"
	exit 77
}
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
mkdir -p "$XDG_CONFIG_HOME/pythiatop" "$work/data"

# On a socket of its own: nobody else's server is met.
redis=$work/redis.sock
redis-server --port 0 --unixsocket "$redis" --save '' --dir "$work/data" --enable-debug-command yes \
	>"$work/redis.log" 2>&1 &
started+=("$!")
server=$!
for ((i = 0; i < 100; i++)); do
	redis-cli -s "$redis" PING 2>/dev/null | grep -q PONG && break
	sleep 0.1
done

# --- each command of its clients is a request
start_probe_with --session redis --function 'redis-server:processCommand' --pid "$server" --limit 100
expect_session 5 redis
sleep 0.5
redis-benchmark -s "$redis" -t get -n 3000 -c 5 -q >/dev/null || fail "redis-benchmark"
sleep 0.3
end_probe
read_kept_functions redis "$work/kept"
# Beside what it is told to send, redis-benchmark asks for the configuration twice.
n=$(grep -c 'redis-server:processCommand_entry' "$work/kept")
[ "$n" -ge 3000 ] && [ "$n" -le 3004 ] || fail "$n calls of processCommand for 3000 commands"
[ "$(grep -c 'redis-server:processCommand_exit' "$work/kept")" = "$n" ] || fail "not as many exits"
# Each of them is a request of its own, in the order of time, on one thread.
"$build_dir/pythiatop" --batch=text --window=3600 "$(kept_functions redis)" >"$work/table" || fail "console"
grep -Eq "processCommand +redis-server +$n " "$work/table" || fail "not $n requests: $(sed -n 6,9p "$work/table")"

# --- some commands are slow: autopilot finds the function
cat >"$XDG_CONFIG_HOME/pythiatop/control.conf" <<END
control.functions = redis-server:processCommand,call,*Command,lookupKey*,dictFind $work/nothing:none
control.tree = $server
END
for i in 1 2 3; do
	redis-cli -s "$redis" -r 1000000 -i 0.003 GET "key$i" >/dev/null &
	started+=("$!")
done
redis-cli -s "$redis" -r 1000000 -i 0.03 DEBUG SLEEP 0.004 >/dev/null &
started+=("$!")
timeout 80 "$build_dir/pythiatop" "$PT_RELAY" --autopilot --control="$(hostname)=local" \
	--control.relay_url="$probe_url" --batch=json --until=verdict >"$work/documents" 2>"$work/said" ||
	fail "no verdict within 80 s: $(tail -n 3 "$work/said")
$(tail -n 1 "$work/documents" | grep -o '"steps":\[.\{600\}')"
tail -n 1 "$work/documents" | grep -o '"verdict":{[^}]*}' >"$work/verdict"
grep -q 'debugCommand' "$work/verdict" || fail "the verdict does not name the function: $(cat "$work/verdict")"
# The helper undoes what it did, and ends, by itself.
left() {
	pgrep -af "pythiatop-probe --serve .*$work/nothing"
	"$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null | grep pythiatop-
}
for ((i = 0; i < 100; i++)); do
	[ -n "$(left)" ] || break
	sleep 0.1
done
[ -z "$(left)" ] || fail "left: $(left)"
redis-cli -s "$redis" PING | grep -q PONG || fail "the server does not answer any more"
grep -o '"text":"[^"]*"' "$work/verdict"
