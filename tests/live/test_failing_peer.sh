#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stock server, python's own, that asks another one for each request: `pythiatop -p PID` on it. The
# other is ended: that connecting to it fails from then on is found, with the error and since when, and
# not before; no request is counted as failed for a system call's error alone.
# test_failing_peer.sh SOURCE-DIR BUILD-DIR
. "$(dirname "$0")/process.sh"
begin "$2" python3

# Serves; with a port, by asking there first. Tells its own port.
cat >"$work/server.py" <<'END'
import http.server, socketserver, sys, urllib.request

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = 200
        if len(sys.argv) > 1:
            try:
                urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1]).read()
            except OSError:
                status = 502
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"x")

    def log_message(self, *arguments):
        pass

server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
cat >"$work/client.py" <<'END'
import sys, time, urllib.error, urllib.request

while True:
    try:
        urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1]).read()
    except urllib.error.HTTPError:
        pass
    time.sleep(0.02)
END

# Starts one in the background; $pid is its, $port what it listens on.
serve() {
	local out
	out=$work/port-${#started[@]}
	python3 "$work/server.py" "$@" >"$out" 2>"$out.err" &
	pid=$!
	started+=("$pid")
	for ((i = 0; i < 100; i++)); do
		[ -s "$out" ] && break
		sleep 0.1
	done
	port=$(cat "$out")
	[ -n "$port" ] || fail "no server: $(cat "$out.err")"
}
serve
upstream=$pid
serve "$port"
python3 "$work/client.py" "$port" 2>"$work/client.err" &
started+=($!)

timeout --foreground 150 "$build_dir/pythiatop" --batch=json --cost=100 -d 1 -n 120 -p "$pid" >"$work/documents" \
	2>"$work/err" &
console=$!
started+=("$console")
# What fails, of the last document: since when, its place, in words.
failing() {
	tail -n 2 "$work/documents" | head -n 1 | jq -r '.findings[]? | select(.rule == "fails") |
		"\(.since_ns) \(.where) \(.text)"' 2>/dev/null
}
served() {
	tail -n 2 "$work/documents" | head -n 1 |
		jq '[.groups[]? | select(.type | startswith("python3:")) | .count] | add // 0' 2>/dev/null
}
for ((i = 0; i < 600; i++)); do
	kill -0 $console 2>/dev/null || {
		skip_unable "$work/err"
		fail "the console ended: $(cat "$work/err")"
	}
	[ "$(served)" -ge 150 ] 2>/dev/null && break
	sleep 0.1
done
[ "$(served)" -ge 150 ] || fail "no requests: $(cat "$work/err" "$work/client.err")"
sleep 8
[ -z "$(failing)" ] || fail "failing before anything was wrong: $(failing)"

ended_ns=$(date +%s%N)
kill -KILL "$upstream"
for ((i = 0; i < 400; i++)); do
	found=$(failing | grep 'connect ') && break
	sleep 0.1
done
[ -n "$found" ] || fail "not found: $(failing) $(tail -n 1 "$work/documents" | jq -c .findings | head -c 2000)"
echo "after $((($(date +%s%N) - ended_ns) / 1000000)) ms: $found"
grep -q 'ECONNREFUSED' <<<"$found" || fail "without its error: $found"
off=$(((${found%% *} - ended_ns) / 1000000))
[ "$off" -gt -2000 ] && [ "$off" -lt 4000 ] || fail "since $off ms after the end of the other server"
[ "$(tail -n 2 "$work/documents" | head -n 1 | jq '[.groups[].failed] | add')" = 0 ] ||
	fail "requests count as failed for a call's error alone"
