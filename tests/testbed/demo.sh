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

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1-}" = --guided ]; then
	shift
	guided "$@"
	exit
fi
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
# The console learns the relay's address from the environment that daemons.sh makes.
# shellcheck disable=SC2016
exec "$here/daemons.sh" --session demo --events testbed -- \
	"$build/testbed/pt-testbed" --fault "${fault[*]:-semaphore}" -- \
	sh -c 'console=$1 names=$2; shift 2
		setpriv --pdeathsig TERM "$names" "$console" demo >/dev/null 2>&1 </dev/null &
		exec "$console" "$PT_RELAY" "$@"' sh "$build/pythiatop" "$here/names.sh" "$@"
