#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Decisions taken again: the loop on autopilot on live sessions, until it has learned and then until
# its verdict, and each again from the decision log and what the relay daemon recorded: the same
# steps with the same events, and the same verdict. Bounds of intervals are not compared: a viewer
# that attaches sees less of the first moment than the recording has.
# test_replay.sh SOURCE-DIR BUILD-DIR
set -u
here=$(cd "$1" && pwd)/tests/testbed

# Inside, with the testbed running: NAME UNTIL SECONDS, then options. Learned on a loaded machine, where
# everything varies, a fault stands out late.
live() {
	local name=$1 until=$2 seconds=$3
	shift 3
	setpriv --pdeathsig TERM timeout "$seconds" \
		"$build/pythiatop" "$PT_RELAY" --schema="$here/schema.yaml" --autopilot \
		--control.relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}" \
		--batch=json --until="$until" --log="$work/$name.log" "$@" >"$work/$name.json" ||
		fail "the live run of $name, within $seconds s: $? $(tail -n 1 "$work/$name.json" |
			grep -o '"findings":.*' | head -c 2000)"
}

fail() {
	echo "test_replay: $*" >&2
	exit 1
}

if [ "${3-}" = --inside ]; then
	build=$2 work=$4
	export XDG_STATE_HOME=$work/state
	live learned learned 150
	cp "$XDG_STATE_HOME/pythiatop/profile.json" "$work/profile.json" || fail "nothing learned"
	# What is known is not waited for.
	live known learned 30 2>"$work/err"
	grep -q 'nothing to learn' "$work/err" || fail "learned twice: $(cat "$work/err")"
	"$build/testbed/pt-fault" --dir "$PT_TESTBED_DIR" semaphore || fail "no fault"
	live verdict verdict 300
	exit 0
fi

build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

replay() {
	local name=$1
	shift
	"$build/pythiatop" --batch=json --schema="$here/schema.yaml" \
		--replay-log="$work/$name.log" "$@" >"$work/$name.again"
}

# What was done, and what came out, of the last document of a run. Explanations have figures of all
# requests, those of the first moment too.
told() {
	tail -n 1 "$1" | sed 's/.*,"steps":\[//; s/,"budget":{.*//' |
		perl -pe 's/"explanation":\{.*?\},"ruled_out"/"ruled_out"/g; s/\(-?[0-9.]+ to [0-9.]+\)//g' |
		grep -Eo '"(title|why|kind|state|by|event|stopped_by|where)": ?"[^"]*"|"[a-z_]*_ns":[0-9]+'
}

# Of the last document of a run: what came in, and what came too late.
counts() {
	tail -n 1 "$1" | grep -Eo '"accounting":\{[^}]*\}' || echo "no document"
}

same() {
	told "$work/$1.json" >"$work/then"
	told "$work/$1.again" >"$work/now"
	grep -q '"title"' "$work/then" || fail "$1: no steps to compare"
	cmp -s "$work/then" "$work/now" || fail "$1: $(diff "$work/then" "$work/now")
then $(counts "$work/$1.json"), now $(counts "$work/$1.again")
$(grep -Eo '"event_ns":[0-9]+,"do":"[a-z_]*"' "$work/$1.log" | uniq -c)"
	echo "$1: $(grep -c '"title"' "$work/now") steps, as then"
}

"$here/daemons.sh" --dir "$work/kept" --session demo --events skeleton -- \
	"$build/testbed/pt-testbed" --fault none -- \
	bash "$here/test_replay.sh" "$1" "$build" --inside "$work" >"$work/out" 2>&1 ||
	fail "$(grep '^test_replay: ' "$work/out" || tail -n 5 "$work/out")"
replay learned "$work/kept/relay" || fail "learning went another way"
same learned
replay verdict --learn="$work/profile.json" "$work/kept/relay" || fail "another way"
same verdict
grep -q sem_acquire "$work/now" || fail "the verdict is another: $(cat "$work/now")"

# What cannot be the same is told.
replay verdict "$work/kept/relay" 2>"$work/err" && fail "without the profile: not told"
grep -q -e --learn "$work/err" || fail "without the profile: $(cat "$work/err")"
replay verdict --autopilot "$work/kept/relay" 2>"$work/err" && fail "--autopilot was taken"
grep -q 'leave out' "$work/err" || fail "--autopilot: $(cat "$work/err")"
replay verdict net://127.0.0.1:1 2>"$work/err" && fail "a live source was taken"
grep -q 'recordings alone' "$work/err" || fail "a live source: $(cat "$work/err")"
