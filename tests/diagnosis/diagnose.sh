#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The scoreboard: how often the loop is right, on faults of the testbed. See README.md.
set -u

usage() {
	cat <<-'END'
		usage: ./run diagnose long [options]       record, rehearse with each strategy, score
		       ./run diagnose record [options]     only record what "long" will rehearse then
		       ./run diagnose short [options]      live on the testbed, with real orders
		       ./run diagnose quiet [options]      rehearse windows of long runs without a fault
		       ./run diagnose overhead [options]   what tracing costs the services
		       ./run diagnose changed [options]    what has changed since a minute without a fault
		       ./run diagnose score FILE...        tables of results
		       ./run diagnose summary              write docs/results/scoreboard.md from all results
		  --set tuning|scoring     rows of sites.def (tuning)
		  --scenarios "NAME..."    only these (all)
		  --seeds N, --first N     runs of each scenario, and the first one's seed (20, from 1);
		                           each takes the next row of its scenario
		  --strategies "NAME..."   ("hybrid random flat hierarchical historic pythia")
		  --budget AMOUNT          events/s that steps may cost (5k)
		  --parallel N             so many testbeds at a time (1)
		  --learn S, --before S, --after S   of a recording (60, 15, 100); see record.sh
		  --windows N              quiet: windows of each recording (10), of 100 s, 50 s apart
		  --pairs N, --seconds S   overhead: rounds of all modes (10), each so long (60);
		                           changed: pairs of minutes without a fault of each system
		  --seed N                 changed: of the first of those pairs (100000)
		  --out FILE               append results there (build/diagnosis/VERB-SET.jsonl)
		  --work DIR               recordings are made there (build/diagnosis)
		  --keep                   do not delete recordings
		What is in the results already is not done again, so it can be interrupted and gone on with.
	END
}

say() {
	echo "diagnose: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

# --- rows of sites.def ---

# The rows of a scenario in the set, one a line.
rows_of() {
	awk -F'\t' -v scenario="$1" -v set="$set_name" \
		'!/^#/ && $1 == scenario && $2 == set' "$here/sites.def"
}

all_scenarios() {
	awk -F'\t' '!/^#/ && NF == 10 && !seen[$1]++ { print $1 }' "$here/sites.def"
}

# Splits a row into scenario site fault load daemons types hits variable kind.
split_row() {
	IFS=$'\t' read -r scenario _ site fault load daemons types hits variable kind <<<"$1"
	[ "$fault" != - ] || fault=none
	[ "$load" != - ] || load=
	[ "$daemons" != - ] || daemons=
}

# --- results ---

# Is there a result of this scenario, seed and strategy?
has_result() {
	[ -f "$out" ] && grep -qF "\"scenario\":\"$1\",\"set\":\"$set_name\",\"seed\":\"$2\",\"strategy\":\"$3\"" "$out"
}

# Whole lines, whoever else writes at the same time.
add_result() {
	{
		flock 9
		cat >>"$out"
	} 9>>"$out.lock"
}

# The score of the document $4 of a row's run, with seed $1, strategy $2 and the fault since $3.
add_score() {
	"$score" one "$types" "$hits" "$variable" "$kind" "$3" scenario="$scenario" set="$set_name" \
		seed="$1" strategy="$2" budget="$budget" site="$site" fault="$fault" load="$load" \
		daemons="$daemons" <"$4" | add_result
}

# --- recordings ---

# Makes the recording $1 with the seed $2, unless it is there, and what is learned from it.
record_row() {
	local recording=$1 seed=$2 words=()
	read -ra words <<<"$fault"
	if [ ! -s "$recording/fault" ]; then
		rm -rf "$recording"
		setpriv --pdeathsig TERM "$here/record.sh" "$build" "$recording" --seed "$seed" --learn "$learn_s" \
			--before "$before_s" --after "$after_s" --load "$load" --daemons "$daemons" -- "${words[@]}" ||
			return 1
	fi
	[ -s "$recording/profile.json" ] ||
		"$console" --batch=json "${schema[@]}" --save-profile="$recording/profile.json" \
			"$recording/learn" >/dev/null 2>"$recording/err"
}

# Plays the recording $1 with strategy $2; further options follow. The document goes to $1/$2.json.
rehearse() {
	local recording=$1 strategy=$2
	shift 2
	"$console" --batch=json --horizon=epoch "${schema[@]}" --rehearse --strategy="$strategy" \
		--learn="$recording/profile.json" --budget="$budget" --until=verdict "$@" \
		"$recording/run" >"$recording/$strategy.json" 2>"$recording/err"
}

# --- long ---

record_one() {
	split_row "$1"
	record_row "$work/$set_name-$scenario-$2" "$2" || {
		say "$scenario, seed $2: not recorded"
		return 1
	}
	say "$scenario, seed $2: recorded"
}

# One recording, and each strategy on it.
long_one() {
	local row=$1 seed=$2 strategy todo=() recording fault_ns
	split_row "$row"
	for strategy in "${strategies[@]}"; do
		has_result "$scenario" "$seed" "$strategy" || todo+=("$strategy")
	done
	[ ${#todo[@]} -gt 0 ] || return 0
	recording=$work/$set_name-$scenario-$seed
	record_row "$recording" "$seed" || {
		say "$scenario, seed $seed: not recorded: $(tail -n 1 "$recording/err" 2>/dev/null)"
		return 1
	}
	read -r fault_ns _ <"$recording/fault"
	for strategy in "${todo[@]}"; do
		if rehearse "$recording" "$strategy"; then
			add_score "$seed" "$strategy" "$fault_ns" "$recording/$strategy.json"
		else
			say "$scenario, seed $seed, $strategy: $(tail -n 1 "$recording/err")"
		fi
	done
	[ "$keep" ] || rm -rf "$recording"
	say "$scenario, seed $seed: done"
}

# With us go those that work for us; what they have recorded so far is of no use.
end_all() {
	trap - INT TERM
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	exit 143
}

# Calls $1 ROW SEED for each scenario and seed, some at a time.
for_all() {
	local each=$1 seed scenario rows running=0
	trap end_all INT TERM
	for ((seed = first; seed < first + seeds; seed++)); do
		for scenario in "${scenarios[@]}"; do
			mapfile -t rows < <(rows_of "$scenario")
			[ ${#rows[@]} -gt 0 ] || fail "no rows of $scenario in the set $set_name"
			while [ "$running" -ge "$parallel" ]; do
				wait -n
				running=$((running - 1))
			done
			"$each" "${rows[(seed - 1) % ${#rows[@]}]}" "$seed" &
			running=$((running + 1))
		done
	done
	wait
}

# --- quiet ---

# A long run of a row without a fault, and each strategy on windows of it.
quiet_one() {
	local row=$1 seed=$2 recording strategy window todo fault_ns
	split_row "$row"
	todo=''
	for ((window = 0; window < windows; window++)); do
		for strategy in "${strategies[@]}"; do
			has_result "$scenario" "$seed.$window" "$strategy" || todo=1
		done
	done
	[ "$todo" ] || return 0
	recording=$work/$set_name-quiet-$scenario-$seed
	before_s=0 after_s=$((50 * windows + 50)) record_row "$recording" "$seed" || {
		say "$scenario, seed $seed: not recorded"
		return 1
	}
	read -r fault_ns _ <"$recording/fault"
	for ((window = 0; window < windows; window++)); do
		for strategy in "${strategies[@]}"; do
			has_result "$scenario" "$seed.$window" "$strategy" && continue
			rehearse "$recording" "$strategy" --rehearse-from=$((50 * window)) \
				--rehearse-for=100 &&
				add_score "$seed.$window" "$strategy" \
					$((fault_ns + 50000000000 * window)) "$recording/$strategy.json"
		done
	done
	[ "$keep" ] || rm -rf "$recording"
	say "$scenario, seed $seed: $windows windows done"
}

# --- short ---

# Live, with the skeleton recorded by a session that is there, and orders carried out by the helper:
# beside the daemons, while the testbed runs.
live() {
	local dir=$1 strategy=$2 budget=$3 learn_s=$4 before_s=$5 limit_s=$6 fault_ns console_pid
	shift 6
	export XDG_STATE_HOME=$dir
	record_calm "$dir/learn" "$learn_s"
	"$console" --batch=json "${schema[@]}" --save-profile="$dir/profile.json" "$dir/learn" \
		>/dev/null || return 1
	timeout "$limit_s" "$console" "$PT_RELAY" "${schema[@]}" --autopilot --batch=json -d 1 \
		--horizon=epoch --strategy="$strategy" --budget="$budget" --learn="$dir/profile.json" \
		--control.relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}" \
		--until=verdict --log="$dir/log" >"$dir/documents" 2>"$dir/err" &
	console_pid=$!
	sleep "$before_s"
	fault_ns=$(date +%s%N)
	inject "$build" "$@"
	wait "$console_pid"
	tail -n 1 "$dir/documents" >"$dir/$strategy.json"
	echo "$fault_ns" >"$dir/fault"
}

short_one() {
	local row=$1 seed=$2 strategy=${strategies[0]} dir fault_ns words=() options=()
	split_row "$row"
	has_result "$scenario" "$seed" "$strategy" && return 0
	dir=$work/$set_name-live-$scenario-$seed
	read -ra words <<<"$fault"
	read -ra options <<<"$daemons"
	local load_options=()
	read -ra load_options <<<"$load"
	rm -rf "$dir"
	mkdir -p "$dir"
	ahead "$here/../testbed/daemons.sh" --session demo --events skeleton "${options[@]}" -- \
		"$build/testbed/pt-testbed" --seed "$seed" --fault none "${load_options[@]}" -- \
		bash "$here/diagnose.sh" --live "$build" "$dir" "$strategy" "$budget" "$learn_s" \
		"$before_s" $((before_s + after_s)) "${words[@]}" >"$dir/out" 2>&1
	if [ -s "$dir/fault" ] && read -r fault_ns <"$dir/fault" &&
		add_score "$seed" "$strategy" "$fault_ns" "$dir/$strategy.json"; then
		say "$scenario, seed $seed: done"
	else
		say "$scenario, seed $seed: $(tail -n 1 "$dir/out" "$dir/err" 2>/dev/null)"
	fi
	[ "$keep" ] || rm -rf "$dir"
}

# --- the rest ---

[ $# -ge 1 ] || { usage >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
schema=(--schema="$here/../testbed/schema.yaml")
# shellcheck source-path=SCRIPTDIR source=sessions.sh
. "$here/sessions.sh"
if [ "$1" = --live ]; then
	build=$2 console=$2/pythiatop
	shift 2
	live "$@"
	exit
fi
verb=$1
shift
case $verb in -h | --help | help) usage; exit 0 ;; esac
build=${PT_BUILD_DIR:-$source_dir/build}
set_name=tuning scenarios=() seeds=20 first=1 budget=5k parallel=1 learn_s=60 before_s=15 after_s=100
windows=10 pairs=10 seed='' seconds=60 out='' work='' keep='' files=()
strategies=(hybrid random flat hierarchical historic pythia)
while [ $# -gt 0 ]; do
	case $1 in
	--set | --scenarios | --seeds | --first | --strategies | --budget | --parallel | --learn | \
		--before | --after | --windows | --pairs | --seed | --seconds | --out | --work)
		[ $# -ge 2 ] || { usage >&2; exit 2; } ;;&
	--set) set_name=$2; shift 2 ;;
	--scenarios) read -ra scenarios <<<"$2"; shift 2 ;;
	--seeds) seeds=$2; shift 2 ;;
	--first) first=$2; shift 2 ;;
	--strategies) read -ra strategies <<<"$2"; shift 2 ;;
	--budget) budget=$2; shift 2 ;;
	--parallel) parallel=$2; shift 2 ;;
	--learn) learn_s=$2; shift 2 ;;
	--before) before_s=$2; shift 2 ;;
	--after) after_s=$2; shift 2 ;;
	--windows) windows=$2; shift 2 ;;
	--pairs) pairs=$2; shift 2 ;;
	--seed) seed=$2; shift 2 ;;
	--seconds) seconds=$2; shift 2 ;;
	--out) out=$2; shift 2 ;;
	--work) work=$2; shift 2 ;;
	--keep) keep=1; shift ;;
	-*) usage >&2; exit 2 ;;
	*) files+=("$1"); shift ;;
	esac
done
build=$(cd "$build" && pwd) || exit 1
console=$build/pythiatop score=$build/tests/diagnosis/score
work=${work:-$build/diagnosis}
mkdir -p "$work/config"
work=$(cd "$work" && pwd) || exit 1
# Neither what a person has set nor what was learned last is any part of this.
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/config
out=${out:-$work/$verb-$set_name.jsonl}
case $verb in
record)
	[ ${#scenarios[@]} -gt 0 ] || mapfile -t scenarios < <(all_scenarios)
	for_all record_one
	;;
long | short)
	[ ${#scenarios[@]} -gt 0 ] || mapfile -t scenarios < <(all_scenarios)
	for_all "${verb}_one"
	"$score" table "$out"
	;;
quiet)
	[ ${#scenarios[@]} -gt 0 ] || scenarios=(none load_drift off_path_alone event_loss)
	for_all quiet_one
	"$score" table "$out"
	;;
overhead)
	setpriv --pdeathsig TERM "$here/overhead.sh" "$build" "$out" "$pairs" "$seconds" "$budget" &&
		"$score" ratios off "$out"
	;;
changed)
	"$here/changed.sh" "$build" "$work/changed-$set_name" "$set_name" "$pairs" ${seed:+"$seed"}
	;;
score)
	[ ${#files[@]} -gt 0 ] || { usage >&2; exit 2; }
	exec "$score" table "${files[@]}"
	;;
summary)
	"$here/summary.sh" "$build" "$work" "$source_dir/docs/results/scoreboard.md"
	;;
*)
	usage >&2
	exit 2
	;;
esac
