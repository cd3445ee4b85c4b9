#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Records the testbed with everything on: first without a fault, to learn from (OUT/learn), then a
# while without, and on with one (OUT/run). What was wrong, and since when, is written beside the
# traces (OUT/fault), never in them.
set -u

usage() {
	cat <<-'END'
		usage: record.sh BUILD-DIR OUT [options] [-- FAULT [KEY=VALUE...]]
		  --seed N      of the load and of the services (1)
		  --learn S     seconds to learn from (60; 0: nothing)
		  --before S    seconds without the fault in the run itself (15)
		  --after S     seconds with it (85)
		  --subbuf SIZE of each of 8 sub-buffers per CPU (4M)
		  --load "OPTION..."   further options of pt-testbed
		Without a FAULT nothing goes wrong. OUT must not exist.
	END
}

fail() {
	echo "record.sh: $*" >&2
	exit 1
}

lttng_do() {
	lttng --no-sessiond "$@" >>"$PT_DIR/lttng.log" 2>&1 || {
		tail -n 5 "$PT_DIR/lttng.log" >&2
		fail "failed: lttng $*"
	}
}

# A session $1 with everything on, to the directory $2, with sub-buffers of $3.
start_session() {
	lttng_do create "$1" --output="$2"
	lttng_do enable-channel -u -s "$1" --buffers-uid --subbuf-size="$3" --num-subbuf=8 events
	lttng_do add-context -u -s "$1" -c events -t vpid -t vtid
	lttng_do enable-event -u -s "$1" -c events \
		'api:*,sched:*,compute:*,net:*,vol:*,lttng_ust_statedump:procname'
	lttng_do start "$1"
}

end_session() {
	lttng_do stop "$1"
	lttng_do destroy "$1"
}

# Beside the daemons, while the testbed runs.
inside() {
	local build=$1 out=$2 learn_s=$3 before_s=$4 after_s=$5 subbuf=$6 fault_ns
	shift 6
	sleep 2 # the first requests find caches empty and threads not yet started
	if [ "$learn_s" != 0 ]; then
		start_session learn "$out/learn" 4M
		sleep "$learn_s"
		end_session learn
	fi
	start_session run "$out/run" "$subbuf"
	sleep "$before_s"
	fault_ns=$(date +%s%N)
	if [ $# -gt 0 ]; then
		"$build/testbed/pt-fault" --dir "$PT_TESTBED_DIR" "$@" || fail "no fault: $*"
	fi
	sleep "$after_s"
	end_session run
	echo "$fault_ns $*" >"$out/fault"
}

if [ "${1-}" = --inside ]; then
	shift
	inside "$@"
	exit
fi
[ $# -ge 2 ] || { usage >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 1
out=$2 seed=1 learn_s=60 before_s=15 after_s=85 subbuf=4M load=()
shift 2
while [ $# -gt 0 ]; do
	case $1 in
	--seed | --learn | --before | --after | --subbuf | --load)
		[ $# -ge 2 ] || { usage >&2; exit 2; } ;;&
	--seed) seed=$2; shift 2 ;;
	--learn) learn_s=$2; shift 2 ;;
	--before) before_s=$2; shift 2 ;;
	--after) after_s=$2; shift 2 ;;
	--subbuf) subbuf=$2; shift 2 ;;
	--load) read -ra load <<<"$2"; shift 2 ;;
	--) shift; break ;;
	*) usage >&2; exit 2 ;;
	esac
done
mkdir -p "$(dirname "$out")"
mkdir "$out" || fail "cannot make $out"
out=$(cd "$out" && pwd)
"$here/../testbed/daemons.sh" --session none -- \
	"$build/testbed/pt-testbed" --seed "$seed" --fault none "${load[@]}" -- \
	bash "$here/record.sh" --inside "$build" "$out" "$learn_s" "$before_s" "$after_s" "$subbuf" "$@" \
	>"$out/log" 2>&1 || {
	tail -n 5 "$out/log" >&2
	fail "nothing recorded"
}
