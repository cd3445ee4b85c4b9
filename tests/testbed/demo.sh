#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo: private LTTng daemons, the testbed under load with a fault, and the console on it with the
# terminal. All of it ends with the console: demo.sh BUILD-DIR [FAULT [KEY=VALUE...]] [CONSOLE OPTION...]
#
# demo.sh BUILD-DIR redis [CONSOLE OPTION...]: instead of the testbed a redis-server as Debian packages it,
# some of whose clients ask for a whole list now and then, searched on autopilot by its functions.
#
# Where the console may act (--autopilot, --mode=approve), only the skeleton is recorded by the
# session that is there, and where points stand is learned first, before the fault: the log of that
# is kept apart ($PT_DIR/learn.log).
set -u

# Inside: daemons and testbed are running.
guided() {
	local console=$1 fault=$2
	shift 2
	export XDG_STATE_HOME=$PT_DIR/state
	local control=(--schema="$here/schema.yaml"
		--control.relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}")
	echo "demo: learning where points stand, for ten seconds, without a fault" >&2
	"$console" "$PT_RELAY" "${control[@]}" --autopilot --batch=json --until=learned \
		--log="$PT_DIR/learn.log" >"$PT_DIR/learn.json" || {
		echo "demo: learning failed" >&2
		return 1
	}
	# A fault is several words.
	# shellcheck disable=SC2086
	"$(dirname "$console")/testbed/pt-fault" --dir "$PT_TESTBED_DIR" $fault || return 1
	echo "demo: fault: $fault" >&2
	exec "$console" "$PT_RELAY" "${control[@]}" "$@"
}

# Records the kernel's events beside the testbed's, where this user may; else one line says why not.
kernel_events() {
	local probe=$1 i
	if [ ! -x "$probe" ]; then
		echo "demo: no kernel events: pythiatop-probe was not built (it needs libbpf, clang, bpftool)" >&2
		return
	fi
	setpriv --pdeathsig TERM "$probe" --kernel --session=kernel \
		--relay="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}" \
		2>"$PT_DIR/probe.err" >/dev/null </dev/null &
	for ((i = 0; i < 30; i++)); do
		kill -0 $! 2>/dev/null || break
		"${probe%-probe}" --list "$PT_RELAY" 2>/dev/null | grep -q kernel && return
		sleep 0.1
	done
	kill -0 $! 2>/dev/null ||
		echo "demo: no kernel events: $(sed 's/^pythiatop-probe: //; q' "$PT_DIR/probe.err")" >&2
}

# Inside: daemons and testbed are running, and nobody acts.
watched() {
	local console=$1
	shift
	kernel_events "$console-probe"
	setpriv --pdeathsig TERM "$here/names.sh" "$console" demo >/dev/null 2>&1 </dev/null &
	exec "$console" "$PT_RELAY" "$@"
}

# A stock server, its clients, and what the helper may record of it.
redis() {
	local console=$1 socket=$PT_DIR/redis.sock only=1 i
	local url=net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}
	shift
	# Of this server only, where processes can be told apart.
	"$console-probe" --relay="$url" --session=tree --function=redis-server:processCommand --tree=$$ \
		2>"$PT_DIR/probe.err" &
	sleep 0.5
	kill $! 2>/dev/null || ! grep -q 'pid namespace' "$PT_DIR/probe.err" || only=
	wait $! 2>/dev/null
	"$console-probe" --relay="$url" --session=trial --function=redis-server:processCommand \
		2>"$PT_DIR/probe.err" &
	sleep 0.5
	kill $! 2>/dev/null || {
		echo "demo: functions cannot be recorded: $(sed 's/^pythiatop-probe: //; q' "$PT_DIR/probe.err")" >&2
		return 1
	}
	wait $! 2>/dev/null
	mkdir -p "$PT_DIR/data" "$PT_DIR/config/pythiatop"
	cp "${XDG_CONFIG_HOME:-${HOME-}/.config}"/pythiatop/* "$PT_DIR/config/pythiatop" 2>/dev/null
	export XDG_CONFIG_HOME=$PT_DIR/config XDG_STATE_HOME=$PT_DIR/state
	echo "control.functions = redis-server:processCommand,call,*Command,lookupKey*,addListRangeReply" \
		>>"$XDG_CONFIG_HOME/pythiatop/control.conf"
	setpriv --pdeathsig TERM redis-server --port 0 --unixsocket "$socket" --save '' --dir "$PT_DIR/data" \
		>"$PT_DIR/redis.log" 2>&1 </dev/null &
	[ -z "$only" ] || echo "control.tree = $!" >>"$XDG_CONFIG_HOME/pythiatop/control.conf"
	for ((i = 0; i < 50; i++)); do
		redis-cli -s "$socket" PING >/dev/null 2>&1 && break
		sleep 0.1
	done
	seq -f 'RPUSH big item-%.0f' 20000 | redis-cli -s "$socket" >/dev/null || {
		echo "demo: redis-server does not answer: $(tail -n 1 "$PT_DIR/redis.log")" >&2
		return 1
	}
	for i in 1 2 3; do
		setpriv --pdeathsig TERM redis-cli -s "$socket" -r 100000000 -i 0.003 GET "key$i" >/dev/null </dev/null &
	done
	setpriv --pdeathsig TERM redis-cli -s "$socket" -r 100000000 -i 0.05 LRANGE big 0 -1 >/dev/null </dev/null &
	echo "demo: redis-server, some of whose clients ask for a whole list now and then" >&2
	exec "$console" "$PT_RELAY" --autopilot --control="$(hostname)=local" --control.relay_url="$url" "$@"
}

here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
--guided | --watched | --redis)
	inside=${1#--}
	shift
	"$inside" "$@"
	exit
	;;
esac
build=$(cd "$1" && pwd) || exit 1
shift

if [ "${1-}" = redis ]; then
	shift
	exec "$here/daemons.sh" --session none -- "$here/demo.sh" --redis "$build/pythiatop" "$@"
fi
fault=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
	fault+=("$1")
	shift
done

acts=''
for option; do
	case $option in
	--autopilot | --mode=autopilot | --mode=approve) acts=1 ;;
	esac
done
if [ "$acts" ]; then
	exec "$here/daemons.sh" --session demo --events skeleton -- \
		"$build/testbed/pt-testbed" --fault none -- \
		"$here/demo.sh" --guided "$build/pythiatop" "${fault[*]:-semaphore}" "$@"
fi
exec "$here/daemons.sh" --session demo --events testbed -- \
	"$build/testbed/pt-testbed" --fault "${fault[*]:-semaphore}" -- \
	"$here/demo.sh" --watched "$build/pythiatop" "$@"
