#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records a user-space trace of requests (three events of two fields each, contexts vpid and vtid)
# with a private session daemon, and prints the trace's directory. No event is lost.
#
# usage: record.sh DIR EVENTS [THREADS [EVENTS_PER_S [FIRST_ID]]]
# DIR must not exist. PT_HOSTNAME (root only) is the host that the trace says it was recorded on.
set -u
here=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "record.sh: $*" >&2
	exit 1
}

if [ "${1:-}" = --inside ]; then
	shift
	dir=$1
	shift
	{
		lttng --no-sessiond create bench --output="$dir" &&
			lttng enable-channel -u -s bench --buffers-uid --subbuf-size=1M --num-subbuf=8 \
				--blocking-timeout=inf main &&
			lttng enable-event -u -s bench -c main 'gen:*' &&
			lttng add-context -u -s bench -c main -t vpid -t vtid &&
			lttng start bench &&
			LTTNG_UST_ALLOW_BLOCKING=1 "$PT_GEN_UST" "$@" &&
			lttng destroy bench
	} >"$PT_DIR/record.log" 2>&1 || {
		cat "$PT_DIR/record.log" >&2
		exit 1
	}
	exit 0
fi

[ $# -ge 2 ] || {
	echo "usage: record.sh DIR EVENTS [THREADS [EVENTS_PER_S [FIRST_ID]]]" >&2
	exit 2
}
[ ! -e "$1" ] || fail "$1 exists already"
work=$(mktemp -d) || fail "cannot make a directory"
trap 'rm -rf "$work"' EXIT
export PT_GEN_UST=$work/gen_ust
${CC:-cc} -O2 -I"$here" "$here/gen_ust.c" -o "$PT_GEN_UST" -llttng-ust -lpthread -ldl ||
	fail "cannot build the generator"
other_host=()
if [ -n "${PT_HOSTNAME:-}" ]; then
	other_host=(unshare --uts -- sh -c 'hostname "$PT_HOSTNAME" && exec "$@"' sh)
fi
"${other_host[@]}" "$here/../testbed/daemons.sh" --session none -- "$0" --inside "$@" || exit 1
dirname "$(find "$1" -name metadata | head -n 1)"
