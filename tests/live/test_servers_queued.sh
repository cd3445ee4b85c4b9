#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long a message lies in a server's socket, where the server alone is recorded: a client keeps Redis
# busy for a while, and another one asks meanwhile, on its connection or on one that nobody has accepted so
# far. What it waited by its own clock is told of its request, as time in the socket, and who was served
# instead.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs redis-server jq
start_redis --enable-debug-command yes
start_probe --session queued --tree "$redis"
expect_session 5 queued
sleep 1
# Each line: what the kind of connection is, and how long the answer took in ns.
"$python" - "$redis_port" >"$work/clients" <<'END' || fail "the clients"
import socket, sys, time

def connect():
    return socket.create_connection(("127.0.0.1", int(sys.argv[1])))

def ask(on):
    on.sendall(b"PING\r\n")
    on.recv(100)

busy, old = connect(), connect()
ask(busy)
for i in range(40):
    ask(old) # so that acknowledgements are put off, as in a conversation
    busy.sendall(b"DEBUG SLEEP %.3f\r\n" % (0.02, 0.06, 0.15, 0.3)[i % 4])
    time.sleep(0.005)
    began = time.monotonic_ns()
    ask(old if i % 8 < 4 else connect())
    print("old" if i % 8 < 4 else "new", time.monotonic_ns() - began)
    busy.recv(100)
END
sleep 1
end_probe
read_kept queued "$work/events"
"$build_dir/pythiatop" --batch=json --window=60 "$(kept queued)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"
document=$(tail -n 1 "$work/out.json")
jq -e '.discarded == 0' <<<"$document" >/dev/null || fail "events were lost"

# The messages that lay there for more than 10 ms are those, in their order. It is told at least, and by the
# kernel's ticks where an acknowledgement was sent meanwhile: 10 ms less at most (a tick at 100 Hz).
sed -nE 's/.*socket_recv: .* length = 6, queued = ([0-9]+) .*/\1/p' "$work/events" | awk '$1 > 10e6' >"$work/queued"
paste -d' ' "$work/clients" "$work/queued" >"$work/both"
cat "$work/both"
awk 'NF != 3 { print "not as many:", $0; bad = 1 }
	$3 > $2 + 1e5 { print "longer than it took:", $0; bad = 1 }
	$3 < $2 - 13e6 { print "too short:", $0; bad = 1 }
	{ n[$1]++ }
	END { exit bad || n["old"] != 20 || n["new"] != 20 }' "$work/both" >"$work/wrong" || fail "$(cat "$work/wrong")"

# So are the requests: the slow ones are these and those that kept it busy, and whom the time is for.
group=$(jq -c --arg type "redis-server:$redis_port" '.groups[] | select(.type == $type)' <<<"$document")
slowest=$(awk '$2 > most { most = $2 } END { printf "%d", most }' "$work/clients")
jq -e --argjson most "$slowest" '.max_ns > 0.95 * $most' <<<"$group" >/dev/null ||
	fail "the slowest took $slowest ns: $(jq -c '[.count, .max_ns]' <<<"$group")"
jq -e '[.waits[] | select(.context == "(in the socket)" and .evidence == "queued") | .holders[] |
	select(.type | startswith("redis-server:")) | .of_variation] | add > 0.9' <<<"$group" >/dev/null ||
	fail "not whom it served: $(jq -c '[.waits[] | [.context, .what, .evidence, .holders]]' <<<"$group")"
