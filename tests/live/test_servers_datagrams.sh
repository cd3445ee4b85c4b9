#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of a stock server of datagrams: dnsmasq, which answers some names by itself and asks another
# dnsmasq for the others, recorded by pythiatop-probe. As many requests as clients had answers, and the
# right ones have a request of the other server below them.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
. "$source_dir/tests/live/servers.sh"
needs_probe
needs_programs dnsmasq jq python3

# Starts one whose port is $1. start_dns NAME PORT OPTION...
start_dns() {
	local name=$1 port=$2
	shift 2
	dnsmasq --keep-in-foreground --port="$port" --listen-address=127.0.0.1 --bind-interfaces \
		--no-resolv --no-hosts --conf-file=/dev/null --pid-file --user=root --cache-size=0 \
		--log-facility=- "$@" >"$work/$name.log" 2>&1 &
	started+=($!)
	is_ready 50 $! grep -q started "$work/$name.log"
}

for ((try = 0; ; try++)); do
	[ $try -lt 20 ] || fail "dnsmasq: $(cat "$work"/*.log)"
	asked=$(some_port) behind=$(some_port)
	start_dns behind "$behind" --address=/far.test/10.0.0.2 || continue
	start_dns asked "$asked" --address=/near.test/10.0.0.1 --server="/far.test/127.0.0.1#$behind" &&
		break
done

start_probe --session dns
expect_session 5 dns
sleep 1
near_n=600 far_n=200
python3 - "$asked" $near_n $far_n >"$work/clients" 2>"$work/clients.err" <<'EOF' || fail "the clients: $(cat "$work/clients.err")"
import socket, struct, sys, threading

port, n = int(sys.argv[1]), {"near": int(sys.argv[2]), "far": int(sys.argv[3])}
answers = {"near": 0, "far": 0}


def ask(name):
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(5)
    for i in range(n[name]):
        question = struct.pack(">HHHHHH", i, 0x100, 1, 0, 0, 0) + b"\x01a"
        question += bytes([len(name)]) + name.encode() + b"\x04test\0" + struct.pack(">HH", 1, 1)
        client.sendto(question, ("127.0.0.1", port))
        answers[name] += client.recv(1000)[:2] == question[:2]


threads = [threading.Thread(target=ask, args=(name,)) for name in n]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(answers["near"], answers["far"])
EOF
sleep 1
end_probe
read -r near_n far_n <"$work/clients"
"$build_dir/pythiatop" --batch=json --window=60 "$(kept dns)" >"$work/out.json" 2>"$work/out.err" ||
	fail "pythiatop: $(cat "$work/out.err")"
jq -e '.discarded == 0' "$work/out.json" >/dev/null || fail "events were lost"
of_path() { # true or false: does it ask the other one?
	jq --arg type "dnsmasq:$asked" --arg to "dnsmasq:$behind" --argjson asks "$1" '[.groups[]
		| select(.type == $type and (.path | contains($to)) == $asks) | .count] | add // 0' "$work/out.json"
}
near=$(of_path false) far=$(of_path true)
echo "answered $near_n and $far_n; found $near, and $far that ask the other server"
[ "$near" = "$near_n" ] && [ "$far" = "$far_n" ] ||
	fail "$(jq -c '.groups[] | [.type, .path, .count, .partial]' "$work/out.json")"
