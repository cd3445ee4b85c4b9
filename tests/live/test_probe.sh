#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Kernel events of pythiatop-probe in a real relay daemon: babeltrace2 reads them live and from the
# relay's disk without a warning, the same ones; a program's calls are told as it made them, under a
# name and with paths that hold escape sequences; there is a dump of the state; the console shows them
# as those of an LTTng kernel session, and of the probe itself no system call.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

start_probe --session calls
expect_session 5 calls
timeout 40 babeltrace2 -i lttng-live "$PT_RELAY/host/$(hostname)/calls" \
	>"$work/live" 2>"$work/live.err" &
viewer=$!
started+=("$viewer")
for ((i = 0; i < 100; i++)); do
	[ -s "$work/live" ] && break
	sleep 0.1
done
[ -s "$work/live" ] || fail "nothing comes live: $(cat "$work/live.err" "$work/probe.err")"
mkdir "$work/files"
"$build_dir/tests/live/pt-probed" calls "$work/files" >"$work/expected" || fail "pt-probed"
sleep 0.5
probe_pid=$probe
end_probe
wait "$viewer" || fail "babeltrace2 live: $? $(head -n 5 "$work/live.err")"
[ ! -s "$work/live.err" ] || fail "babeltrace2 says live: $(head -n 5 "$work/live.err")"
read_kept calls "$work/kept"

# What was read live was kept, event by event: of each CPU, from the packet on that was its newest when
# the viewer came. Strings are compared below: of an empty one babeltrace2 2.0 shows what was there before.
events() {
	grep "{ cpu_id = $2 }" "$1" | sed -E 's/^\[([^]]*)\] \([^)]*\) [^ ]*/\1/; s/"[^"]*"/""/g'
}
for cpu in $(grep -o 'cpu_id = [0-9]*' "$work/live" | sort -u | grep -o '[0-9]*'); do
	events "$work/live" "$cpu" >"$work/live.cpu"
	first=$(head -n 1 "$work/live.cpu" | cut -d ' ' -f 1)
	events "$work/kept" "$cpu" | awk -v first="$first" '$1 == first { on = 1 } on' |
		head -n "$(wc -l <"$work/live.cpu")" | cmp - "$work/live.cpu" ||
		fail "live and kept differ on CPU $cpu"
done
n=$(wc -l <"$work/live")

# In the order of time, and each call as it was made.
sed -E 's/^\[([^]]*)\].*/\1/' "$work/kept" | sort -c || fail "not in the order of time"
sed -E 's/^\[[^]]*\] \([^)]*\) [^ ]* ([^:]*): \{ cpu_id = [0-9]+ \}, /\1|/' "$work/live" >"$work/events"
[ "$(wc -l <"$work/expected")" -ge 15 ] || fail "pt-probed says too little"
while IFS= read -r line; do
	grep -qFx -- "$line" "$work/events" || fail "not recorded: $line
there is: $(grep -F -- "${line%%|*}|" "$work/events" | head -n 5)"
done <"$work/expected"
grep -qF 'prev_comm = "\e[31mred\\", prev_tid' "$work/events" || fail "the name is not told"

# The dump: this shell, its files, the loopback interface, every disk.
grep -Eq "^[^{]* lttng_statedump_process_state: .*\{ tid = $$, vtid = [0-9]+, pid = $$, .*\"bash\"" \
	"$work/kept" || grep -q "statedump_process_state: .*{ tid = $$, " "$work/kept" ||
	fail "this shell is not in the dump"
grep -q "statedump_file_descriptor: .*{ pid = $$, fd = 255, " "$work/kept" ||
	grep -q "statedump_file_descriptor: .*{ pid = $$, fd = 1, " "$work/kept" ||
	fail "the files of this shell are not in the dump"
grep -q 'statedump_network_interface: .*{ name = "lo", address_ipv4 = 0x7F000001 }' "$work/kept" ||
	fail "lo is not in the dump"
for disk in /sys/class/block/*; do
	grep -q "statedump_block_device: .*diskname = \"${disk##*/}\" }" "$work/kept" ||
		fail "${disk##*/} is not in the dump"
done
# Once at the beginning, and once more for viewers that came later.
n_dumps=$(grep -c 'lttng_statedump_start:' "$work/kept")
[ "$n_dumps" = 1 ] || [ "$n_dumps" = 2 ] || fail "$n_dumps beginnings of the dump"
[ "$(grep -c 'lttng_statedump_end:' "$work/kept")" -ge 1 ] || fail "no end of the dump"

# Of the probe there are switches, but no calls: who runs on each CPU tells whose they are. It makes
# thousands; a switch that the kernel could not tell, as an interrupt came, makes another's look like one.
awk -v tid="$probe_pid" '
	{ cpu = $0; sub(/.*cpu_id = /, "", cpu); sub(/ .*/, "", cpu) }
	/ sched_switch: / { next_tid = $0; sub(/.*next_tid = /, "", next_tid)
		sub(/,.*/, "", next_tid); runs[cpu] = next_tid; seen += next_tid == tid }
	/ syscall_entry_/ && runs[cpu] == tid { print; bad++ }
	END { if (!seen) print "it never ran"; exit bad > 20 || !seen }' "$work/kept" >"$work/own" ||
	fail "of the probe itself: $(head -n 3 "$work/own")"

# The console reads it as an LTTng kernel session; no escape sequence comes through.
"$build_dir/pythiatop" --batch=json --window=3600 --schema=lttng-kernel "$(kept calls)" \
	>"$work/document" 2>"$work/document.err" || fail "$(cat "$work/document.err")"
grep -q '"state":{"at_ns":[1-9]' "$work/document" || fail "no state: $(head -c 500 "$work/document")"
grep -Eq '"threads":\[\{"host":"[^"]*","tid":[0-9]+,"pid":[0-9]+' "$work/document" ||
	fail "no threads: $(grep -o '"threads".*' "$work/document" | head -c 500)"
grep -q '"disks":\[{' "$work/document" || echo "no disk was used meanwhile"
! grep -q $'\e' "$work/document" || fail "an escape sequence comes through"
! grep -q '"discarded":[1-9]' "$work/document" || fail "events are lost"
echo "$(wc -l <"$work/kept") events, $n of them read live"
