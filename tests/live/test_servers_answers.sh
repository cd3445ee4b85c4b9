#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long an answer lies in the socket of the one who asked: nginx is stopped while the server that it
# asks answers, so that the answer waits for it and not it for the answer. As long as that server says, the
# call has time in the socket; of answers that are read at once nothing is told.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs nginx jq
# Answers at once, until $work/go names nginx' port and process; then asks it, and stops it meanwhile every
# other time. Each line but the first, its own port: for how many ns since it had answered.
"$python" - "$work/go" >"$work/upstream" 2>"$work/upstream.err" <<'END' &
import os, signal, socket, sys, threading, time

listener = socket.create_server(("127.0.0.1", 0))
pid, pause = 0, 0.0

def serve():
    while True:
        on, _ = listener.accept()
        on.recv(65536)
        stop = pause # of this request
        if stop:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.005)
        on.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        began = time.monotonic_ns()
        if stop:
            time.sleep(stop)
            print(time.monotonic_ns() - began, flush=True)
            os.kill(pid, signal.SIGCONT)
        on.close()

threading.Thread(target=serve, daemon=True).start()
print(listener.getsockname()[1], flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
port, pid = map(int, open(sys.argv[1]).read().split())
for i in range(40):
    pause = (0, 0.06, 0, 0.1, 0, 0.15, 0, 0.2)[i % 8]
    on = socket.create_connection(("127.0.0.1", port))
    on.sendall(b"GET / HTTP/1.0\r\n\r\n")
    while on.recv(65536):
        pass
print("done", flush=True)
END
upstream=$!
started+=("$upstream")
is_ready 50 "$upstream" grep -qs '[0-9]' "$work/upstream" || fail "$(cat "$work/upstream.err")"
start_nginx_before "http://127.0.0.1:$(head -n 1 "$work/upstream")" "access_log off;"
start_probe --session answers --tree nginx
expect_session 5 answers
sleep 1
echo "$web_port $(cat "$work/nginx.pid")" >"$work/go.new"
mv "$work/go.new" "$work/go"
is_ready 200 "$upstream" grep -q done "$work/upstream" || fail "not asked: $(cat "$work/upstream.err")"
sleep 1
end_probe
"$build_dir/pythiatop" --batch=json --window=60 "$(kept answers)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"
group=$(tail -n 1 "$work/out.json" | jq -c --arg type "nginx:$web_port" '.groups[] | select(.type == $type)')
[ "$(jq .count <<<"$group")" = 40 ] || fail "not 40 requests: $(cut -c1-300 <<<"$group")"
# It is told by the kernel's ticks: 10 ms less at most (a tick at 100 Hz).
lay=$(jq -c '.waits[] | select(.context == "(in the socket)" and .what == "(blocked)" and (.where | contains("call :")))' \
	<<<"$group")
[ "$(jq '.waits' <<<"${lay:-null}")" = 20 ] ||
	fail "not twenty that lay there: $(jq -c '[.waits[] | [.where, .context, .what, .waits]]' <<<"$group")"
stopped_ns=$(awk '$1 + 0 > 1e7 { n++; sum += $1 } END { printf "%d", n == 20 ? sum / n : 0 }' "$work/upstream")
told_ns=$(jq '.mean_ns | floor' <<<"$lay")
echo "answers lay for $stopped_ns ns, the console tells $told_ns"
[ "$told_ns" -lt $((stopped_ns + 1000000)) ] && [ "$told_ns" -gt $((stopped_ns - 13000000)) ] ||
	fail "for $told_ns ns, not $stopped_ns"
