#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Writes the scoreboard from all results there are: summary.sh BUILD-DIR RESULTS-DIR FILE
set -u
build=$1 results=$2 file=$3
score=$build/tests/diagnosis/score

# A section of a results file, if it is there: FILE TITLE COMMAND, and how it is made a table.
section() {
	local name=$1 title=$2 command=$3
	shift 3
	[ -s "$results/$name" ] || return 0
	printf '\n## %s\n\n    %s\n\n' "$title" "$command"
	"$score" "$@" "$results/$name"
}

{
	cat <<-'END'
		# Scoreboard

		How often the loop is right, on faults of the testbed. `./run diagnose summary` writes this page
		from the results that the commands below leave in `build/diagnosis/`; `tests/diagnosis/README.md`
		says what a hit is and how it is measured, `tests/diagnosis/sites.def` which faults there are, on
		which sites things are tuned and on which they are scored. Shares stand with Wilson's 95 % interval,
		all else is a median: of the runs that stopped by themselves (steps, requests, seconds) or of all
		(points, as a share of those beyond the skeleton that fire where everything is on). The first
		strategy is the one that has to reach the bounds; the others are baselines on the same recordings
		with the same budget.

		What is to be reached, on the scoring sites: hit@1 of at least 90 %, hit@3 of at least 97 % over all
		scenarios with a fault; hit@1 of no scenario below 75 %; false alarms in at most 2 % of the runs
		without a fault; at most 5 % of the points ever enabled (median), and a better hit@1 than every
		baseline at the same budget; live, the semaphore's verdict within 60 s of the fault; p50 of the
		services on autopilot at most 1.02 times that without tracing (upper 95 % bound).
	END
	# What a person has to say of these results.
	[ ! -s "$results/about" ] || { echo; cat "$results/about"; }
	section long-scoring.jsonl "Scoring sites, on recordings" \
		"./run diagnose long --set scoring --parallel 2" table
	section long-scoring-500.jsonl "Scoring sites, on the same recordings, a tenth of the budget" \
		"./run diagnose long --set scoring --budget 500 --out build/diagnosis/long-scoring-500.jsonl" \
		table
	section long-300-scoring.jsonl "Searches cut by the end of a recording, recorded again and longer" \
		"./run diagnose long --set scoring --after 300 --out build/diagnosis/long-300-scoring.jsonl" \
		table
	section quiet-scoring.jsonl "Without a fault, on recordings" \
		"./run diagnose quiet --set scoring --parallel 2" table
	section quiet-busy-scoring.jsonl "Without a fault, on a machine that others use" \
		"./run diagnose quiet --set scoring --out build/diagnosis/quiet-busy-scoring.jsonl" table
	section short-scoring.jsonl "Scoring sites, live" "./run diagnose short --set scoring" table
	section overhead-tuning.jsonl "What tracing costs the services" "./run diagnose overhead" ratios off
	section long-tuning.jsonl "Tuning sites, on recordings (not what is to be reached)" \
		"./run diagnose long --set tuning --seeds N --parallel 2" table
	section quiet-tuning.jsonl "Tuning sites without a fault (not what is to be reached)" \
		"./run diagnose quiet --set tuning --seeds N --parallel 2" table
	section short-tuning.jsonl "Tuning sites, live (not what is to be reached)" \
		"./run diagnose short --set tuning --seeds N" table
} >"$file.part" && mv "$file.part" "$file"
