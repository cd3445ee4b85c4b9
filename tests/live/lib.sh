# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of the console beside real LTTng daemons. A test begins with
#   . "$(dirname "$0")/lib.sh"; beside_daemons [options of daemons.sh] -- "$@"
# and is given SOURCE_DIR BUILD_DIR. It runs again beside the daemons, with PT_RELAY and so on set.
#
# The console runs in batch: its newest JSON document is what a person would see now.
set -u

fail() {
	echo "FAILED: $*" >&2
	[ -z "${PT_SESSIOND_PID:-}" ] || kill -0 "$PT_SESSIOND_PID" 2>/dev/null ||
		echo "The session daemon has ended: $(tail -n 3 "$PT_DIR/sessiond.log")" >&2
	exit 1
}

beside_daemons() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	source_dir=$1 build_dir=$2
	if [ -z "${PT_RELAY:-}" ]; then
		for tool in lttng-relayd lttng-sessiond babeltrace2; do
			if ! command -v $tool >/dev/null; then
				echo "skipped: $tool is not installed"
				exit 77
			fi
		done
		exec "$source_dir/tests/testbed/daemons.sh" "${options[@]}" -- \
			"$BASH" "$0" "$source_dir" "$build_dir"
	fi
	work=$(mktemp -d "${TMPDIR:-/tmp}/pt-live.XXXXXX")
	started=()
	trap finish EXIT
	trap 'exit 1' INT TERM
}

# Has this shell started process $1? One that ended long since may have left its number to another.
is_ours() {
	grep -qsx "PPid:	$$" "/proc/$1/status"
}

# Everything that a test started ends with it.
finish() {
	local status=$? pid
	! declare -F end_postgres >/dev/null || end_postgres # of servers.sh
	for pid in "${started[@]}"; do
		! is_ours "$pid" || kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
	exit $status
}

# Runs a program in the background; its number is $pid.
background() {
	"$@" &
	pid=$!
	started+=("$pid")
}

# Writes EVENTS events at RATE a second.
generate() {
	background "$build_dir/tests/live/pt-generate" "$1" 1 "$2"
	generator=$pid
}

# Starts the console on these sources; documents go to $documents.
start_console() {
	documents=$work/documents.${#started[@]}
	: >"$documents"
	seen=0
	"$build_dir/pythiatop" --batch=json -d 0.1 "$@" >"$documents" 2>"$documents.err" &
	console=$!
	started+=("$console")
}

# The newest whole document.
newest() {
	sed -n 'x;$p' "$documents"
}

# Waits at most SECONDS until a document matches an extended regular expression: the one that the last
# call found, or one after it. So states that last for a moment only are not missed.
expect() {
	local seconds=$1 wanted=$2 i found
	for ((i = 0; i < seconds * 10; i++)); do
		found=$(tail -n "+$((seen + 1))" "$documents" | grep -Enm1 -- "$wanted" | cut -d: -f1)
		if [ -n "$found" ]; then
			seen=$((seen + found - 1))
			return 0
		fi
		kill -0 "$console" 2>/dev/null || fail "the console has ended: $(cat "$documents.err")"
		sleep 0.1
	done
	fail "not within $seconds s: $wanted
newest document: $(newest)
$(cat "$documents.err")"
}

# A row of the sources: URL, state, and an expression for the rest of the row.
row() {
	echo "\"url\":\"$1\",\"host\":\"[^\"]*\",\"session\":\"[^\"]*\",\"state\":\"$2\",[^}]*${3:-}"
}

session_url() {
	echo "$PT_RELAY/host/$(hostname)/$1"
}

# The number of events of a source's row.
events_of() {
	newest | grep -Eo "$(row "$1" '[a-z]*' '"events":[0-9]+')" | grep -Eo '[0-9]+$'
}

# Waits until a source has brought more events than it has now.
expect_more_events() {
	local seconds=$1 url=$2 before now i
	before=$(events_of "$url")
	for ((i = 0; i < seconds * 10; i++)); do
		now=$(events_of "$url")
		if [ "${now:-0}" -gt "${before:-0}" ]; then
			return 0
		fi
		sleep 0.1
	done
	fail "no more events from $url within $seconds s: $(newest)"
}

# Stops a process, all of it: a signal takes its time to reach every thread.
stop() {
	local i
	kill -STOP "$1"
	for ((i = 0; i < 100; i++)); do
		sed 's/.*) //' "/proc/$1"/task/*/stat | grep -qv '^T' || return 0
		sleep 0.02
	done
	fail "$1 does not stop"
}

children_of() {
	ps -o pid= --ppid "$1" | tr -d ' '
}

# The children of process $1 that are called $2 (15 characters count).
children_named() {
	local pid
	for pid in $(children_of "$1"); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "${2:0:15}" ] && echo "$pid"
	done
}

# Is a process gone, or dying by a SIGKILL that nothing can take back? On a loaded machine the kernel
# takes its time to take one down that runs no instruction any more; a zombie waits for init.
is_ending() {
	local stat pending
	stat=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
	case $stat in '' | Z* | X*) return 0 ;; esac
	(($(cut -d ' ' -f 7 <<<"$stat") & 4)) && return 0 # PF_EXITING
	while read -r pending; do
		((pending & 0x100)) && return 0
	done < <(sed -n 's/^S[a-z]*Pnd:[[:space:]]*/0x/p' "/proc/$1/status" 2>/dev/null)
	[ ! -d "/proc/$1" ]
}

# The console has ended ($1: when). These are its children: readers are killed by then. Helpers that
# control hosts are not: they undo what they did, and end by themselves. All go within 10 s.
expect_ended() {
	local when=$1 child i
	shift
	for child in "$@"; do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" = pythiatop-contr ] || is_ending "$child" ||
			fail "the reader process $child is left ($when):
$(cat "/proc/$child/status" "/proc/$child/stat" 2>&1)"
	done
	for child in "$@"; do
		for ((i = 0; i < 100; i++)); do
			ps -o stat= -p "$child" | grep -qv Z || continue 2
			sleep 0.1
		done
		fail "the process $child does not go ($when): $(cat "/proc/$child/status")"
	done
}

# Asks the console to end: it must do so at once, and leave no processes.
end_console() {
	local children began took
	children=$(children_of "$console")
	began=$(date +%s%N)
	kill -TERM "$console"
	wait "$console"
	took=$((($(date +%s%N) - began) / 1000000))
	! grep -q 'Sanitizer' "$documents.err" || fail "$(cat "$documents.err")"
	# It waits half a second at most for readers that are killed.
	[ $took -lt 1000 ] || fail "the console took $took ms to end"
	# shellcheck disable=SC2086 # numbers
	expect_ended "after SIGTERM" $children
}

create_session() {
	lttng --no-sessiond create "$1" --live=200000 --ctrl-url="$PT_RELAY_CONTROL" \
		--data-url="$PT_RELAY_DATA" >/dev/null || fail "lttng create $1"
	fill_session "$1"
}

fill_session() {
	lttng --no-sessiond enable-channel -u -s "$1" --buffers-uid events >/dev/null &&
		lttng --no-sessiond add-context -u -s "$1" -c events -t vpid -t vtid >/dev/null &&
		lttng --no-sessiond enable-event -u -s "$1" -c events 'gen:*' >/dev/null &&
		lttng --no-sessiond start "$1" >/dev/null || fail "lttng start $1"
}

destroy_session() {
	lttng --no-sessiond destroy "$1" >/dev/null || fail "lttng destroy $1"
}
