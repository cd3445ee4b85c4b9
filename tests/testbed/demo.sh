#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo: private LTTng daemons, the testbed under load with a fault, and the console on it with the
# terminal. All of it ends with the console: demo.sh BUILD-DIR [FAULT [KEY=VALUE...]] [CONSOLE OPTION...]
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 1
shift

fault=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
	fault+=("$1")
	shift
done

# The console learns the relay's address from the environment that daemons.sh makes.
# shellcheck disable=SC2016
exec "$here/daemons.sh" --session demo --events testbed -- \
	"$build/testbed/pt-testbed" --fault "${fault[*]:-semaphore}" -- \
	sh -c 'console=$1 names=$2; shift 2
		setpriv --pdeathsig TERM "$names" "$console" demo >/dev/null 2>&1 </dev/null &
		exec "$console" "$PT_RELAY" "$@"' sh "$build/pythiatop" "$here/names.sh" "$@"
