#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Records the testbed with everything on: first without a fault, to learn from (OUT/learn), then a
# while without, and on with one (OUT/run). What was done, and since when, is written beside the
# traces (OUT/fault), never in them.
set -u

usage() {
	cat <<-'END'
		usage: record.sh BUILD-DIR OUT [options] [-- FAULT [KEY=VALUE...] [+ FAULT...]]
		  --seed N      of the load and of the services (1)
		  --learn S     seconds to learn from (60; 0: nothing)
		  --before S    seconds without the fault in the run itself (15)
		  --after S     seconds with it (100)
		  --load "OPTION..."     further options of pt-testbed
		  --daemons "OPTION..."  of daemons.sh; --subbuf and --subbufs are those of the run
		Without a FAULT, or with "none", nothing goes wrong. OUT must not exist.
	END
}

fail() {
	echo "record.sh: $*" >&2
	exit 1
}

# Beside the daemons, while the testbed runs.
inside() {
	local build=$1 out=$2 learn_s=$3 before_s=$4 after_s=$5 subbuf=$6 subbufs=$7 fault_ns
	shift 7
	make_session run "$everything" "$subbuf" "$subbufs" --output="$out/run"
	[ "$learn_s" = 0 ] || record_calm "$out/learn" "$learn_s"
	sleep 1
	lttng_do start run
	sleep "$before_s"
	fault_ns=$(date +%s%N)
	inject "$build" "$@"
	sleep "$after_s"
	end_session run
	echo "$fault_ns $*" >"$out/fault"
}

here=$(cd "$(dirname "$0")" && pwd)
. "$here/sessions.sh"
if [ "${1-}" = --inside ]; then
	shift
	inside "$@"
	exit
fi
[ $# -ge 2 ] || { usage >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 1
out=$2 seed=1 learn_s=60 before_s=15 after_s=100 subbuf=4M subbufs=8 load=() given=() daemons=()
shift 2
while [ $# -gt 0 ]; do
	case $1 in
	--seed | --learn | --before | --after | --load | --daemons)
		[ $# -ge 2 ] || { usage >&2; exit 2; } ;;&
	--seed) seed=$2; shift 2 ;;
	--learn) learn_s=$2; shift 2 ;;
	--before) before_s=$2; shift 2 ;;
	--after) after_s=$2; shift 2 ;;
	--load) read -ra load <<<"$2"; shift 2 ;;
	--daemons) read -ra given <<<"$2"; shift 2 ;;
	--) shift; break ;;
	*) usage >&2; exit 2 ;;
	esac
done
[ "$*" != none ] || set --
for ((i = 0; i < ${#given[@]}; i++)); do
	case ${given[i]} in
	--subbuf) subbuf=${given[++i]} ;;
	--subbufs) subbufs=${given[++i]} ;;
	*) daemons+=("${given[i]}") ;;
	esac
done
mkdir -p "$(dirname "$out")"
mkdir "$out" || fail "cannot make $out"
out=$(cd "$out" && pwd)
ahead "$here/../testbed/daemons.sh" --session none "${daemons[@]}" -- \
	"$build/testbed/pt-testbed" --seed "$seed" --fault none "${load[@]}" -- \
	bash "$here/record.sh" --inside "$build" "$out" "$learn_s" "$before_s" "$after_s" "$subbuf" \
	"$subbufs" "$@" >"$out/log" 2>&1 || {
	tail -n 5 "$out/log" >&2
	fail "nothing recorded"
}
