# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What watching takes of a program, for field.sh: the requests that it serves and what it has of the
# processors, watched and not, with the same load. A mark is a moment of a run ($work/marks/NAME): when,
# how many requests were served so far, and what each thread had of the processors.

# The program with all that it has started: a process, or the server that has that name here.
pids_of_watched() {
	local top=$watched
	[[ $top =~ ^[0-9]+$ ]] || top=${postgres:?}
	ps -eo pid=,ppid= | awk -v top="$top" '
		{ parent[$1] = $2 }
		END { for (pid in parent) for (at = pid; at > 1; at = parent[at]) if (at == top) { print pid; break } }'
}

# Clients say how many on SIGUSR1. pgbench says each second what it did in that, so its lines are waited for.
served() {
	local pid lines i
	if [ -e "$work/pgbench" ]; then
		lines=$(wc -l <"$work/pgbench")
		for ((i = 0; i < 100; i++)); do
			[ "$(wc -l <"$work/pgbench")" = "$lines" ] || break
			sleep 0.02
		done
		awk '/^progress/ { n += $4 } END { printf "%d\n", n }' "$work/pgbench"
		return
	fi
	for pid in "${load_pids[@]}"; do kill -USR1 "$pid"; done
	sleep 0.1
	cat "$work"/load.[0-9] | awk '{ n += $1 } END { print n + 0 }'
}

mark() { # NAME
	local pid task
	mkdir -p "$work/marks"
	{
		echo "served $(served)"
		echo "at $(date +%s%N)"
		for pid in $(pids_of_watched); do
			for task in "/proc/$pid/task"/*; do
				echo "${task##*/} $(cut -d' ' -f1 "$task/schedstat")"
			done
		done
	} >"$work/marks/$1" 2>/dev/null
}

# From PLAIN to BEGIN, and from there to END: requests a second, and what threads had that were there all the
# time, in percent of a processor. As fields of a line of results: cost PLAIN BEGIN END
cost() {
	(cd "$work/marks" && awk '
		FNR == 1 { file++ }
		{ value[file, $1] = $2; n[$1]++ }
		function change(key, to) { return value[to, key] - value[to - 1, key] }
		END {
			for (key in n)
				if (n[key] == 3 && key ~ /^[0-9]/)
					for (to = 2; to <= 3; to++) cpu[to] += change(key, to)
			for (to = 2; to <= 3; to++) {
				name = to == 2 ? "plain" : "watched"
				printf "%s_per_s=%.1f %s_cpu=%.2f ", name, change("served", to) * 1e9 / change("at", to),
					name, 100 * cpu[to] / change("at", to)
			}
		}' "$1" "$2" "$3")
}

# "USER SYSTEM", seconds of CPU time, as percent of one processor: processor_share BEGIN END
processor_share() {
	local ns=$(($(awk '/^at/ { print $2 }' "$work/marks/$2") - $(awk '/^at/ { print $2 }' "$work/marks/$1")))
	awk -v ns="$ns" 'END { printf "%.1f", 100 * ($1 + $2) * 1e9 / ns }'
}

# What watching took, of each scenario and of all: medians, and the least that was served. Where the load itself
# changes (300,600,900) a time before tells nothing of one after. cost_table FILE...
cost_table() {
	jq -rs '
		def tenth: . * 10 | round / 10;
		def middle: sort | (.[length / 2 | floor] + .[(length - 1) / 2 | floor]) / 2 | tenth;
		def served: map(100 * .watched_per_s / .plain_per_s);
		def figures: "\(length) | \(served | middle) | \(served | min | tenth) | \(map(.plain_cpu) | middle) | " +
			"\(map(.watched_cpu) | middle) | \(map(.watching) | middle) |";
		map(select(.watched_cpu and (.site | contains(",") | not)) | {scenario} + (to_entries | map(select(.key | IN("plain_per_s", "watched_per_s",
			"plain_cpu", "watched_cpu", "watching")) | .value |= tonumber) | from_entries)) | if length == 0 then empty else
			"\n| what watching takes | runs | requests/s of those not watched, %: median | least | " +
			"the program, % of a processor, not watched | watched | who watches, % of a processor |",
			"|---|--:|--:|--:|--:|--:|--:|",
			(group_by(.scenario)[] | "| \(.[0].scenario) | \(figures)"),
			"| **all** | \(figures)"
		end' "$@"
}
