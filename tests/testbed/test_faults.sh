#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every fault does what it says, as the clients' log and the trace have it, and "none" heals it; what
# is not a fault of a service (a load that drifts, a tracer that loses events) does, too; wrong
# commands are refused; nothing is left: test_faults.sh SOURCE-DIR PROGRAM-DIR
set -eu
source_dir=$1 programs=$2
. "$source_dir/tests/testbed/marked.sh"

# What is looked at in the trace, and no more: reading all points would take too long.
watched=compute:build,compute:sem_acquire,compute:image_clone,compute:disk_format,compute:spawn
watched+=,compute:kvm_create,compute:boot_wait,compute:vif_up,api:image_lookup,api:quota_lock
watched+=,api:notify_wait,net:serve_notify,net:rules_commit
if [ "${3:-}" != --inside ]; then
	events=$(tr , '\n' <<<"$watched" | sed 's/.*/&_entry,&_exit/' | paste -sd,)
	exec "$source_dir/tests/testbed/daemons.sh" --session faults --events "$events" -- \
		"$0" "$source_dir" "$programs" --inside
fi
work=$PT_DIR/faults
mkdir "$work"
trap 'kill_marked run loss none semaphore drift' EXIT

# A testbed with mark $1 and the log of that name; options follow.
testbed() {
	local name=$1
	shift
	(marked "$name" "$programs/pt-testbed" --dir "$work/run-$name" --log "$work/log-$name" "$@" \
		>"$work/out-$name" 2>&1)
}

is_gone() {
	[ -z "$(processes "$1")" ] && [ ! -e "$work/run-$1" ]
}

# Modes of server_create in log $1: peaks of a 10 ms histogram with at least 3 % of the requests, and
# between two of them a trough of less than half of either.
modes() {
	awk '
		$2 == "server_create" { bin = int($4 / 1e7); h[bin]++; n++; if (bin > last) last = bin }
		END {
			modes = 0; low = 0
			for (i = 0; i <= last + 1; i++) {
				if (h[i] > h[top]) top = i
				if (modes > 0 && h[i] < low) { low = h[i]; }
				if (rising && h[i] < h[i - 1] / 2) { modes++; rising = 0; peak = h[i - 1]; low = h[i] }
				else if (h[i] >= 0.03 * n && (modes == 0 || h[i] > 2 * low)) { rising = 1 }
			}
			print modes
		}' "$1"
}

# One mode of server_create without a fault, several with the semaphore, though it is not asked for
# more than ten a second need; and a load whose rate sinks: half of a slow swing up, half of it down.
# A machine busy with other things smears modes, so that one may look like two, or three like two:
# then once more.
for ((attempt = 1; attempt <= 3; attempt++)); do
	jobs=()
	testbed none --duration 7 &
	jobs+=($!)
	testbed semaphore --duration 7 --fault "semaphore limit=1" &
	jobs+=($!)
	[ $attempt -gt 1 ] || { testbed drift --duration 7 --drift 0.8:7 & jobs+=($!); }
	for job in "${jobs[@]}"; do
		wait "$job" || fail "a testbed failed: $(cat "$work"/out-*)"
	done
	none=$(modes "$work/log-none") semaphore=$(modes "$work/log-semaphore")
	creates=$(awk '$2 == "server_create" { n++ } END { print n / 7 }' "$work/log-semaphore")
	echo "modes of server_create: $none without a fault, $semaphore with the semaphore at $creates/s"
	[ "$none" -gt 2 ] || [ "$none" -ge "$semaphore" ] || [ "$semaphore" -lt 3 ] || break
done
[ "$none" -le 2 ] && [ "$none" -lt "$semaphore" ] || fail "several modes without a fault"
[ "$semaphore" -ge 3 ] || fail "fewer than three modes with the semaphore"
awk -v n="$creates" 'BEGIN { exit !(n >= 10) }' || fail "fewer than 10 creates/s with the semaphore"
awk 'NR == 1 { start = $1 } { $1 - start < 3.5 ? up++ : down++ }
	END { printf "requests while the rate is up %d, while it is down %d\n", up, down
		exit !(up > 1.5 * down) }' "$work/log-drift" || fail "the load does not drift"

# Loses events: three seconds beside the rest, with daemons of its own.
(
	# Daemons in daemons need their own idea of where things are.
	marked loss "$source_dir/tests/testbed/daemons.sh" --session loss --events skeleton --subbuf 4k \
		--subbufs 2 --stall 300:800 -- sh -c '"$1"/pt-testbed --duration 4 >/dev/null &&
			lttng --no-sessiond list loss' sh "$programs" >"$work/loss" 2>&1
) &
loss=$!

# The faults, one after the other, in one testbed whose load is higher so that it takes less time.
(testbed run --rate 200 --clients 40) &
testbed=$!
within_10s grep -qs ready "$work/out-run" || fail "no testbed: $(cat "$work/out-run")"
fault() {
	"$programs/pt-fault" --dir "$work/run-run" "$@"
}
# The window $1: $3 seconds with a fault, $4..., and then without; with $2 running in the middle.
window() {
	local name=$1 meanwhile=$2 seconds=$3 from
	shift 3
	fault "$@" || fail "was refused: $*"
	sleep 0.4 # what is under way began without it
	from=$(date +%s.%N)
	sleep "$seconds"
	$meanwhile
	echo "$name $from $(date +%s.%N)" >>"$work/windows"
	fault none || fail "none was refused"
	sleep 0.2
}
# CPUs and scheduling policy of all threads of the network service.
network_threads() {
	local pid
	pid=$(process run 'name network')
	sed -n 's/^Cpus_allowed_list://p' "/proc/$pid/task/"*/status | sort -u
	sed 's/.*) //' "/proc/$pid/task/"*/stat | cut -d' ' -f39 | sort -u
}
is_hogged() {
	[ -n "$(process run '^pt-hog ')" ] || fail "no hog runs"
	[ "$(network_threads)" != "$threads" ] || fail "the network service is not bound to a CPU"
}

sleep 1 # caches are empty, threads not yet started
threads=$(network_threads)
window before : 2.5 none
window delay : 2.5 delay point=net:arp_announce dist=const:50ms p=0.5
window slowdown : 2 slowdown
window semaphore : 2 semaphore
window slow_replica : 2.5 slow_replica
window size_cost : 2 size_cost
window cache_miss : 2.5 cache_miss p=0.2 cost=300ms + cache_miss point=api:parse_headers cost=200ms
window cpu_hog is_hogged 2.5 cpu_hog service=network off=100ms
[ -z "$(process run '^pt-hog ')" ] || fail "the hog goes on"
[ "$(network_threads)" = "$threads" ] || fail "the network service has not got its CPUs back"
window lock_convoy : 3 lock_convoy p=0.05
# In each, not in half of them: those are some twenty, whose upper quarter is anything by chance alone.
window library : 2 library p=1
window noise : 2 noise
window off_path : 2 off_path
window two : 2.5 two p=1
sleep 0.5
window after : 2.5 none
fault cpu_hog service=volume # to end with the testbed

# No service is told anything.
while read -r wrong; do
	# shellcheck disable=SC2086
	if fault $wrong 2>"$work/error"; then
		fail "accepted: $wrong"
	fi
	grep -q '^pt-fault: ' "$work/error" || fail "no message for: $wrong"
done <<-'END'
	delay point=net:no_such dist=const:1ms
	delay point=net:arp_announce dist=gauss:1ms
	delay point=net:arp_announce dist=const:1parsec
	delay dist=const:1ms
	delay point=net:arp_announce dist=const:1ms p=2
	no_such_fault
	semaphore limit=0
	semaphore width=1
	semaphore host=network
	slow_replica host=compute-3
	slow_replica factor=0.5
	size_cost point=compute:spawn
	lock_convoy point=compute:sem_acquire
	cpu_hog service=nobody
	library point=api:host_chosen
	off_path point=net:arp_announce
	two +
	slowdown + no_such_fault
END
kill -TERM "$(process run '^[^ ]*/pt-testbed --dir')"
wait $testbed || fail "the launcher failed: $(cat "$work/out-run")"
within_10s is_gone run || fail "left by the testbed: $(processes run)"
wait $loss || fail "daemons that lose events failed: $(cat "$work/loss")"
awk '/Discarded events: / { lost = $NF } END { print lost + 0, "events lost"; exit !(lost > 0) }' \
	"$work/loss" || fail "no event was lost: $(cat "$work/loss")"
lttng --no-sessiond destroy faults >/dev/null

# A line a span: seconds, window, point, ms, host, thread, size in MiB, hit, queue length at entry.
babeltrace2 --clock-seconds "$PT_DIR/relay" | awk -v windows="$work/windows" '
	BEGIN {
		while ((getline line < windows) > 0) {
			split(line, part, " ")
			name[++n] = part[1]; from[n] = part[2]; to[n] = part[3]
		}
		i = 1
	}
	function field(key) {
		if (!match($0, "[ {]" key " = [^, }]+")) return "-"
		return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)
	}
	{
		event = $4
		sub(/:$/, "", event)
		at = substr($1, 2) + 0
		thread = field("vtid") + 0
	}
	event ~ /_entry$/ {
		sub(/_entry$/, "", event)
		began[event, thread] = at
		queue[event, thread] = field("queue_len")
	}
	event ~ /_exit$/ {
		sub(/_exit$/, "", event)
		if (!((event, thread) in began)) next
		start = began[event, thread]
		while (i <= n && start > to[i]) i++
		if (i <= n && start >= from[i])
			print at, name[i], event, (at - start) * 1000, field("host"), thread,
				field("size_bytes") / 1048576, field("cache_hit"), queue[event, thread]
		delete began[event, thread]
	}' >"$work/spans"

# A line a request: seconds, window, type, ms.
awk -v windows="$work/windows" '
	BEGIN {
		while ((getline line < windows) > 0) {
			split(line, part, " ")
			name[++n] = part[1]; from[n] = part[2]; to[n] = part[3]
		}
	}
	{ for (i = 1; i <= n; i++) if ($1 - $4 / 1e9 >= from[i] && $1 <= to[i]) print $1, name[i], $2, $4 / 1e6 }
' "$work/log-run" >"$work/requests"

# The quantile $1 of column 4 where columns 2 and 3 are $2 and $3, in file $4 (requests); -1: nothing.
quantile() {
	awk -v w="$2" -v t="$3" '$2 == w && $3 == t { print $4 }' "$work/${4:-requests}" | sort -n |
		awk -v q="$1" '{ v[NR] = $1 } END { print NR ? v[int(q * (NR - 1)) + 1] : -1 }'
}

# Share, in percent, of type $2 (a pattern) over $3 ms in the window $1.
slow() {
	awk -v w="$1" -v t="$2" -v ms="$3" '$2 == w && $3 ~ t { n++; slow += $4 > ms }
		END { print n ? 100 * slow / n : -1 }' "$work/requests"
}

# Says what was found, and fails unless the condition of awk ($1) holds; then name=value... of it.
expect() {
	local condition=$1 argument arguments=()
	shift
	echo "$*"
	for argument; do
		arguments+=(-v "$argument")
	done
	awk "${arguments[@]}" "BEGIN { exit !($condition) }" </dev/null || fail "not so: $condition"
}

expect 'before <= 10 && after <= 10 && delay >= 25 && delay <= 75' \
	before="$(slow before floating_ip_create 40)" delay="$(slow delay floating_ip_create 40)" \
	after="$(slow after floating_ip_create 40)"
expect 'slowdown > before + 50 && other < before_other + 20' \
	before="$(quantile 0.5 before server_create)" \
	slowdown="$(quantile 0.5 slowdown server_create)" \
	before_other="$(quantile 0.5 before server_delete)" \
	other="$(quantile 0.5 slowdown server_delete)"
# A build waits for those before it, and their number is recorded.
read -r none some < <(awk '$2 == "semaphore" && $3 == "compute:sem_acquire" {
		ms[$9 > 1] += $4; n[$9 > 1]++ }
	END { print n[0] ? ms[0] / n[0] : -1, n[1] ? ms[1] / n[1] : -1 }' "$work/spans")
expect 'none >= 0 && some > none + 30' none="$none" some="$some"
read -r slow_host other_host < <(awk '$2 == "slow_replica" && $3 == "compute:build" { ms[$5] += $4; n[$5]++ }
	END { print ms["\"compute-1\""] / n["\"compute-1\""], ms["\"compute-2\""] / n["\"compute-2\""] }' \
	"$work/spans")
expect 'slow_host > 1.8 * other_host' slow_host="$slow_host" other_host="$other_host"
# 200 ms a MiB, whatever else it takes.
read -r sizes n wrong < <(awk '$2 == "size_cost" && $3 == "compute:image_clone" {
		n++; sizes += !seen[$7]++; wrong += $4 < 200 * $7 || $4 > 200 * $7 + 25 }
	END { print sizes, n, wrong }' "$work/spans")
expect 'sizes >= 3 && wrong <= 0.1 * n' sizes="$sizes" n="$n" wrong="$wrong"
read -r hits misses slow_hits quick_misses < <(awk '$2 == "cache_miss" && $3 == "api:image_lookup" {
		if ($8 == 1) { hits++; slow_hits += $4 > 100 } else { misses++; quick_misses += $4 < 300 } }
	END { print hits + 0, misses + 0, slow_hits + 0, quick_misses + 0 }' "$work/spans")
expect 'misses > 0 && misses < hits && slow_hits <= 1 && quick_misses == 0' hits="$hits" \
	misses="$misses" slow_hits="$slow_hits" quick_misses="$quick_misses"
expect 'missed >= 1 && missed <= 7' missed="$(slow cache_miss '^(floating|volume)' 200)"
expect 'hog > 1.5 * before' before="$(quantile 0.75 before floating_ip_create)" \
	hog="$(quantile 0.75 cpu_hog floating_ip_create)"
read -r n wait queue < <(awk '$2 == "lock_convoy" && $3 == "api:quota_lock" {
		n++; wait += $4 > 10; if ($9 > queue) queue = $9 }
	END { print n, wait, queue }' "$work/spans")
# One in twenty holds it, as chance has it; more than that wait, several at once.
expect 'wait > 0.05 * n && queue >= 3' n="$n" wait="$wait" queue="$queue"
# The time of a span of compute:spawn that is not in the longest of its children.
awk '$3 == "compute:boot_wait" { child[$6] = $4 }
	$3 == "compute:spawn" && $6 in child { print $1, $2, "spawn", $4 - child[$6]; delete child[$6] }
	' "$work/spans" >"$work/selves"
expect 'before >= 0 && with > before + 8' before="$(quantile 0.75 before spawn selves)" \
	with="$(quantile 0.75 library spawn selves)"
# Two spans of one thread, and their sum: how far apart the middle halves of each are.
awk '$2 == "noise" && $3 == "compute:kvm_create" { kvm[$6] = $4 }
	$2 == "noise" && $3 == "compute:vif_up" && $6 in kvm {
		print $1, "noise first", kvm[$6]
		print $1, "noise second", $4
		print $1, "noise both", kvm[$6] + $4
		delete kvm[$6]
	}' "$work/spans" >"$work/pairs"
spread() {
	echo "$(quantile 0.25 noise "$1" pairs) $(quantile 0.75 noise "$1" pairs)" | awk '{ print $2 - $1 }'
}
expect 'first > 10 && second > 10 && both < first / 2' first="$(spread first)" \
	second="$(spread second)" both="$(spread both)"
expect 'branch > 10 && whole < 1.3 * before && waited < 2' \
	branch="$(quantile 0.5 off_path net:serve_notify spans)" \
	before="$(quantile 0.5 before server_create)" whole="$(quantile 0.5 off_path server_create)" \
	waited="$(quantile 0.9 off_path api:notify_wait spans)"
expect 'first > 15 && second > 15 && before < 15' before="$(quantile 0.8 before compute:disk_format spans)" \
	first="$(quantile 0.8 two compute:disk_format spans)" \
	second="$(quantile 0.8 two net:rules_commit spans)"
for type in server_create server_delete floating_ip_create volume_create; do
	expect 'after < 1.5 * before + 2' before="$(quantile 0.5 before $type)" \
		after="$(quantile 0.5 after $type)"
done
