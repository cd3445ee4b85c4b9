# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Sessions beside private daemons, for the scripts here: sourced, with $here set.

everything='api:*,sched:*,compute:*,net:*,vol:*,lttng_ust_statedump:procname'

# What else the machine does should not look like a fault: ahead of it, where that is allowed.
ahead() {
	if [ "$(nice -n -10 nice 2>/dev/null)" = -10 ]; then
		nice -n -10 "$@"
	else
		"$@"
	fi
}

lttng_do() {
	lttng --no-sessiond "$@" >>"$PT_DIR/lttng.log" 2>&1 || {
		tail -n 5 "$PT_DIR/lttng.log" >&2
		echo "failed: lttng $*" >&2
		exit 1
	}
}

# The request ends and calls, as daemons.sh --events skeleton has them.
skeleton() {
	sed -n 's/^PT_TYPE(\([a-z_]*\),.*/api:\1_entry,api:\1_exit/p' "${here:?}/../testbed/types.def" |
		paste -sd, | sed 's/$/,*:call_*,*:serve_*,lttng_ust_statedump:procname/'
}

# Makes session $1 with the events $2, in $4 sub-buffers of $3 a CPU; what else "lttng create" takes
# follows. It is not started: to enable hundreds of events takes the traced processes a moment.
make_session() {
	local name=$1 events=$2 subbuf=$3 subbufs=$4
	shift 4
	lttng_do create "$name" "$@"
	lttng_do enable-channel -u -s "$name" --buffers-uid --subbuf-size="$subbuf" \
		--num-subbuf="$subbufs" events
	lttng_do add-context -u -s "$name" -c events -t vpid -t vtid
	lttng_do enable-event -u -s "$name" -c events "$events"
}

end_session() {
	lttng_do stop "$1"
	lttng_do destroy "$1"
}

# Records everything for $2 seconds to the directory $1.
record_calm() {
	make_session learn "$everything" 4M 8 --output="$1"
	sleep 2 # the first requests find caches empty and threads not yet started
	lttng_do start learn
	sleep "$2"
	end_session learn
}

# Tells the services of the build $1 what goes wrong.
inject() {
	local build=$1
	shift
	[ $# -eq 0 ] || "$build/testbed/pt-fault" --dir "$PT_TESTBED_DIR" "$@" || {
		echo "no fault: $*" >&2
		exit 1
	}
}
