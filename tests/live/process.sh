# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of `pythiatop -p` and `pythiatop -- COMMAND`, without any daemon of LTTng. A test begins with
#   . "$(dirname "$0")/process.sh"; begin "$2" TOOL...
# and has its own directories: $work, $TMPDIR, and those of settings. What `started` lists ends with it.
set -u

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

begin() { # BUILD-DIR TOOL...
	local tool
	build_dir=$1
	shift
	for tool in lttng-relayd jq "$@"; do
		command -v "$tool" >/dev/null || {
			echo "skipped: $tool is not installed"
			exit 77
		}
	done
	work=$(mktemp -d "${TMPDIR:-/tmp}/pt-process.XXXXXX")
	started=()
	trap finish EXIT
	trap 'exit 1' INT TERM
	export TMPDIR=$work/tmp XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
	mkdir "$TMPDIR"
}

finish() {
	local pid
	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
}

# Where a program cannot be watched at all the test is skipped. FILE: what was said.
skip_unable() {
	if grep -q 'may not\|CONFIG_DEBUG_INFO_BTF\|is not installed beside' "$1"; then
		echo "skipped: $(cat "$1")"
		exit 77
	fi
}

# A redis-server of its own at $socket, whose number is $server.
start_redis() {
	local i
	socket=$work/redis.sock
	redis-server --port 0 --unixsocket "$socket" --save '' --dir "$work" >"$work/redis.log" 2>&1 </dev/null &
	server=$!
	started+=("$server")
	for ((i = 0; i < 50; i++)); do
		redis-cli -s "$socket" PING >/dev/null 2>&1 && return
		sleep 0.1
	done
	fail "redis-server: $(tail -n 1 "$work/redis.log")"
}
