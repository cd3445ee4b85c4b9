# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of the loop: sourced after marked.sh, with $source_dir and $build set. The demo runs with
# the console on autopilot; what others' sessions were, and what is left, is asked of its daemons from
# outside, in their namespace.
work=$(mktemp -d)
check_loop=$build/tests/testbed/check_loop

# What $1 seconds are enough for; three times as many where more than four processes a CPU are busy:
# what is then learned as normal varies so much that a fault stands out late.
patient() {
	awk -v seconds="$1" -v cpus="$(nproc)" '{ print ($1 > 4 * cpus ? 3 : 1) * seconds }' /proc/loadavg
}

finish_loop() {
	kill_marked "${runs[@]}"
	rm -rf "$work"
}
runs=()
trap finish_loop EXIT

# Starts the demo with mark $1; its documents go to the pipe or file $2; options follow.
start_loop() {
	local name=$1 out=$2
	shift 2
	runs+=("$name")
	(marked "$name" "$source_dir/tests/testbed/demo.sh" "$build" "$@" --batch=json \
		--log="$work/log-$name" >"$out" 2>"$work/err-$name" </dev/null) &
	loop_job=$!
}

is_gone() {
	[ -z "$(processes "$1")" ]
}

# Runs a command beside the daemons of the run with mark $1, with their environment.
beside() {
	local pid variable environment=()
	pid=$(process "$1" '^lttng-sessiond ')
	shift
	[ -n "$pid" ] || return 1
	while IFS= read -r -d '' variable; do
		case $variable in LTTNG_HOME=* | PT_*=*) environment+=("$variable") ;; esac
	done <"/proc/$pid/environ"
	nsenter --mount="/proc/$pid/ns/mnt" env "${environment[@]}" "$@"
}

# Everybody else's sessions of a run, with all that is in them (saving is how that is seen safely),
# and the demo's own as it is listed.
others_of() {
	beside "$1" sh -c 'rm -rf "$1" && lttng --no-sessiond save -o "$1" >/dev/null &&
		rm -f "$1"/pythiatop-* && cat "$1"/*' sh "$work/saved-$1"
	beside "$1" lttng --no-sessiond list demo
}

# Our sessions of a run; "?" if the session daemon does not say.
ours_of() {
	beside "$1" timeout 2 lttng --no-sessiond list >"$work/list-$1" 2>/dev/null || echo '?'
	grep -Eo 'pythiatop-[^ ]*' "$work/list-$1"
}

none_of_ours() {
	[ -z "$(ours_of "$1")" ]
}

# Waits until a command succeeds, for at most $1 seconds; $took_ms is how long it was.
within() {
	local until began
	began=$(date +%s%N)
	until=$((began + $1 * 1000000000))
	shift
	while ! "$@"; do
		[ "$(date +%s%N)" -lt $until ] || return 1
		sleep 0.1
	done
	took_ms=$((($(date +%s%N) - began) / 1000000))
}
