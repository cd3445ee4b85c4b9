# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of pythiatop-probe beside a real relay daemon: after lib.sh and beside_daemons.

# May BPF programs be loaded here, and does the kernel have what they need?
needs_probe() {
	probe_url=net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}
	if [ "$(id -u)" != 0 ]; then
		echo "skipped: BPF needs root"
		exit 77
	fi
	if [ ! -e /sys/kernel/btf/vmlinux ]; then
		echo "skipped: this kernel has no BTF"
		exit 77
	fi
	start_probe --session trial
	sleep 0.3
	if ! kill -0 "$probe" 2>/dev/null; then
		echo "skipped: $(cat "$work/probe.err")"
		exit 77
	fi
	end_probe
}

# Its number is $probe; what it says goes to $work/probe.err.
start_probe() {
	"$build_dir/pythiatop-probe" --relay "$probe_url" --kernel --buffer 32768 "$@" 2>"$work/probe.err" &
	probe=$!
	started+=("$probe")
}

# Numbers of the BPF programs and maps that the probe has.
programs_of_probe() {
	sed -n 's/^prog_id:[[:space:]]*//p' "/proc/$probe"/fdinfo/* 2>/dev/null | sort -u
}

# None of these programs is in the kernel any more, $1 says when.
expect_no_programs() {
	local id i
	for id in $2; do
		for ((i = 0; i < 100; i++)); do
			bpftool prog show id "$id" >/dev/null 2>&1 || continue 2
			sleep 0.1
		done
		fail "the BPF program $id is left ($1)"
	done
}

# Waits at most $1 s for the session $2 in the relay daemon.
expect_session() {
	local i
	for ((i = 0; i < $1 * 10; i++)); do
		"$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null | grep -q "/$2\b" && return 0
		sleep 0.1
	done
	fail "no session $2 within $1 s: $(cat "$work/probe.err")"
}

end_probe() {
	local programs
	programs=$(programs_of_probe)
	kill -TERM "$probe"
	wait "$probe" || fail "the probe ended with $?: $(cat "$work/probe.err")"
	expect_no_programs "after SIGTERM" "$programs"
}

# Where the relay daemon keeps the newest session $1.
kept() {
	find "$PT_DIR/relay" -type d -path "*/$1-*/kernel" | sort | tail -n 1
}

# Reads the session $1 from the relay daemon's disk as text into the file $2: without a warning.
read_kept() {
	local dir
	dir=$(kept "$1")
	[ -n "$dir" ] || fail "the relay daemon kept nothing of $1"
	babeltrace2 "$dir" >"$2" 2>"$2.err" || fail "babeltrace2: $(head -n 5 "$2.err")"
	[ ! -s "$2.err" ] || fail "babeltrace2 says: $(head -n 5 "$2.err")"
	[ -s "$2" ] || fail "no events in $dir"
}

# As start_probe, but nothing is recorded unless it is said.
start_probe_with() {
	"$build_dir/pythiatop-probe" --relay "$probe_url" --buffer 16384 "$@" 2>"$work/probe.err" &
	probe=$!
	started+=("$probe")
}

# The trace of functions of the newest session $1.
kept_functions() {
	find "$PT_DIR/relay" -type d -path "*/$1-*/ust/*-bit" | sort | tail -n 1
}

# Reads it as text into the file $2: without a warning; $3 lossy: events may be lost.
read_kept_functions() {
	local dir
	dir=$(kept_functions "$1")
	[ -n "$dir" ] || fail "the relay daemon kept nothing of $1"
	babeltrace2 "$dir" >"$2" 2>"$2.err" || fail "babeltrace2: $(head -n 5 "$2.err")"
	[ "${3-}" ] || [ ! -s "$2.err" ] || fail "babeltrace2 says: $(head -n 5 "$2.err")"
}
