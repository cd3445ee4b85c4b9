# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests that must see that nothing is left: processes are found by a mark in their environment,
# which they inherit, whoever their parents are by then.
mark=pt-test-$$-$RANDOM

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# Runs a command, $2..., with mark $1.
marked() {
	local name=$1
	shift
	exec env PT_TEST_MARK="$mark-$name" "$@"
}

# Pids of all processes with mark $1.
processes() {
	grep -lsz "^PT_TEST_MARK=$mark-$1\$" /proc/[0-9]*/environ | cut -d/ -f3 | sort -n
}

# The process with mark $1 whose command line matches $2, not a subshell of it: numbers do not tell
# which of them came first, for they begin anew.
process() {
	local pid matching=' '
	for pid in $(processes "$1"); do
		if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "$2"; then
			matching+="$pid "
		fi
	done
	for pid in $matching; do
		case $matching in
		*" $(parent_of "$pid") "*) ;;
		*)
			echo "$pid"
			return
			;;
		esac
	done
}

parent_of() {
	sed -n 's/^PPid:\t//p' "/proc/$1/status" 2>/dev/null
}

# Ends whatever still has one of the marks given: a test that failed must leave nothing either.
kill_marked() {
	local name pid
	for name in "$@"; do
		for pid in $(processes "$name"); do
			kill -KILL "$pid" 2>/dev/null || true
		done
	done
}

# Waits until a command succeeds, for at most 10 s.
within_10s() {
	local i
	for ((i = 0; i < 100; i++)); do
		if "$@"; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}
