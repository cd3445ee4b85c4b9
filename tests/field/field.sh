#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How often the loop is right on programs that nobody here wrote: stock servers with a fault from outside,
# each watched by `pythiatop -p` on autopilot from nothing, scored by the rules of the scoreboard.
# README.md says how. field.sh BUILD-DIR --help
set -u
usage() {
	cat <<-'END'
		usage: ./run field [--set tuning|scoring] [--runs N] [--sites FILE] [--results FILE]
		                   [--strategy hybrid|cpu-profile|off-cpu|random] [--keep]
		                   [SCENARIO...]
		       ./run field summary [FILE...]

		Runs each row of the set, N times (1); a line for each run goes to FILE
		(build/field/results.jsonl). Needs root, for the probe. summary: tables of what FILEs have.
		--strategy: not pythiatop but a profiler, ten seconds with the fault; baselines.sh says which.
	END
}

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
shift
results=$build/field/results.jsonl
sites=$here/sites.def
set_=scoring runs=1 keep="" strategy=hybrid scenarios=()
. "$here/cost.sh"
. "$here/stage.sh"
if [ "${1-}" = summary ]; then
	shift
	[ $# -gt 0 ] || set -- "$results"
	"$build/tests/diagnosis/score" table "$@" && cost_table "$@"
	exit
fi
while [ $# -gt 0 ]; do
	case $1 in
	--set) set_=$2 && shift ;;
	--runs) runs=$2 && shift ;;
	--sites) sites=$2 && shift ;;
	--results) results=$2 && shift ;;
	--strategy) strategy=$2 && shift ;;
	--keep) keep=1 ;;
	-h | --help)
		usage
		exit 0
		;;
	-*)
		usage >&2
		exit 2
		;;
	*) scenarios+=("$1") ;;
	esac
	shift
done
case $strategy in
hybrid) ;;
cpu-profile | off-cpu | random) . "$here/baselines.sh" ;;
*)
	usage >&2
	exit 2
	;;
esac
mkdir -p "$(dirname "$results")"
export LC_ALL=C
LIMIT_S=150 # what is not found by then is missed
PLAIN_S=12  # with the fault and not watched, to tell what watching takes

fail() {
	echo "field: $scenario ($words): $*" >&2
	exit 1
}

# One run, in a shell of its own: what it starts ends with it.
run() {
	local status fault_ns line document oracle TIMEFORMAT='%U %S'
	set_stage
	"$scenario"
	sleep 3
	mark before
	if [ $strategy != hybrid ]; then
		begin_fault
		sleep 1
		run_baseline || fail "$strategy: $(tail -n 3 "$work/profile.err")"
		return
	fi
	if [ "$kind" = none ] || [ -n "$learns" ]; then
		TMPDIR=$work/tmp timeout --foreground 60 "$build/pythiatop" --batch=json -p "$watched" --autopilot \
			--until=learned >/dev/null 2>"$work/learn.err" || fail "learning: $(cat "$work/learn.err")"
	fi
	begin_fault
	sleep 1
	mark plain
	sleep $PLAIN_S
	mark begin
	fault_ns=$(date +%s%N)
	{
		time TMPDIR=$work/tmp timeout --foreground "$LIMIT_S" "$build/pythiatop" --batch=json -p "$watched" --autopilot \
			--until=verdict --log="$work/log" --report="$work/report" >"$work/documents" 2>"$work/said"
	} 2>"$work/took"
	status=$?
	mark end
	for pid in "${load_pids[@]}"; do kill -TERM "$pid"; done
	sleep 0.3
	oracle=$(cat "$work"/load.[0-9] 2>/dev/null | paste -sd';')
	document=$(tail -n 1 "$work/documents")
	[ -n "$document" ] || fail "no document ($status): $(cat "$work/said")"
	line=$("$build/tests/diagnosis/score" one - "$hits" "$says" "$kind" "$fault_ns" scenario="$scenario" strategy=hybrid \
		set="$set_" site="$words" seed="$seed" clients="$oracle" $(cost plain begin end) \
		watching="$(processor_share begin end <"$work/took")" <<<"$document") || fail "score"
	echo "$line" >>"$results"
	echo "$line" | jq -r '[.scenario, .site, (if .kind == "none" then (if .false_alarm then "ALARM" else "quiet" end)
		elif .hit1 then "hit" elif .hit3 then "hit@3" else "MISS" end), .rule, "\(.seconds) s", .where, .text] | join("  ")' |
		cut -c1-220
}

failed=0
while IFS=$'\t' read -r scenario of words hits says kind programs <&4; do
	[[ $scenario != "#"* && -n $scenario && $of == "$set_" ]] || continue
	[ $strategy = hybrid ] || [ "$kind" != none ] || continue
	[ ${#scenarios[@]} = 0 ] || [[ " ${scenarios[*]} " == *" $scenario "* ]] || continue
	for program in $programs; do
		PATH=$PATH:$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | tail -n 1) command -v "$program" >/dev/null || {
			echo "field: $scenario: $program is not installed" >&2
			failed=1
			continue 2
		}
	done
	for ((seed = 1; seed <= runs; seed++)); do
		(. "$here/scenarios.sh" && run) || failed=1
	done
done 4<"$sites"
exit $failed
