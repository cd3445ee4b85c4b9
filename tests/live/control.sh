# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of pythiatop-control: sourced after lib.sh, and after beside_daemons. Consoles without a
# screen (control_driver.c) are told what to do line by line.

helper=$build_dir/pythiatop-control
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
relay=net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}
records=$XDG_STATE_HOME/pythiatop/control/$(hostname)

# Starts a console that controls the hosts given (default: this one); it is told things from now on.
start_driver() {
	local n=${#started[@]}
	mkfifo "$work/in.$n"
	exec {driver_fd}<>"$work/in.$n"
	driver_out=$work/out.$n
	PATH=${driver_path:-$PATH} "$build_dir/tests/live/pt-control" "$helper" "${ssh_program:-ssh}" \
		"${@:-$(hostname)=local}" <"$work/in.$n" >"$driver_out" 2>"$driver_out.err" &
	driver=$!
	started+=("$driver")
	told=0
}

# What it is told comes from elsewhere no more: its input ends.
end_driver() {
	kill -TERM "$driver" 2>/dev/null
	wait "$driver" 2>/dev/null
	exec {driver_fd}>&-
}

# Tells it a line and waits, at most $patience seconds, until it has done it; $said is what it said.
patience=40
tell() {
	local i
	echo "$*" >&"$driver_fd"
	for ((i = 0; i < patience * 20; i++)); do
		said=$(tail -n "+$((told + 1))" "$driver_out" 2>/dev/null)
		if grep -q '^ok ' <<<"$said"; then
			told=$(wc -l <"$driver_out")
			return 0
		fi
		kill -0 "$driver" 2>/dev/null || fail "the driver ended: $(cat "$driver_out.err")"
		sleep 0.05
	done
	fail "not done within $patience s: $*
$said"
}

# The same, and what it said must match.
tells() {
	local wanted=$1
	shift
	tell "$@"
	grep -Eq -- "$wanted" <<<"$said" || fail "$* said, instead of $wanted:
$said"
}

# Our sessions, whoever's of the consoles; "?" if the session daemon does not say.
ours() {
	timeout 2 lttng --no-sessiond list >"$work/list" 2>/dev/null || echo "?"
	grep -Eo 'pythiatop-[^ ]*' "$work/list"
}

# Everybody else's, with all that is in them. Saving is how they can be looked at safely.
others() {
	rm -rf "$work/saved"
	lttng --no-sessiond save -o "$work/saved" >/dev/null || fail "lttng save"
	rm -f "$work/saved"/pythiatop-*
	lttng --no-sessiond list | sed -E 's/^ *[0-9]+\) //; /^$/d' | awk '/^[^ ]/ { ours = /^pythiatop-/ } !ours'
	cat "$work/saved"/*
}

# Waits at most SECONDS until no session of ours is left. $took is how long it was, in ms.
expect_none() {
	local i began
	began=$(date +%s%N)
	for ((i = 0; i < $1 * 20; i++)); do
		if [ -z "$(ours)" ]; then
			took=$((($(date +%s%N) - began) / 1000000))
			echo "$2: gone after $took ms"
			return 0
		fi
		sleep 0.05
	done
	fail "$2: left after $1 s: $(ours)"
}

expect_no_record() {
	local i
	for ((i = 0; i < 40; i++)); do
		ls "$records"/*.json >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	fail "left in the records: $(ls "$records")"
}

# A console with a session and a rule that is on.
start_acting() {
	start_driver
	tells ' ready ' ready
	tells '^answer 0 ' "create $relay"
	tells '^change gen:point done' 'enable gen:point'
	guardian=$(children_of "$driver")
	worker=$(children_named "$guardian" pythiatop-control)
	[ -n "$(ours)" ] || fail "no session was made"
}
