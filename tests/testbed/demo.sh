#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo: private LTTng daemons, the testbed under load with a fault, and the console on it with the
# terminal. All of it ends with the console: demo.sh BUILD-DIR [FAULT [KEY=VALUE...]] [CONSOLE OPTION...]
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

here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
--guided | --watched)
	inside=${1#--}
	shift
	"$inside" "$@"
	exit
	;;
esac
build=$(cd "$1" && pwd) || exit 1
shift

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
