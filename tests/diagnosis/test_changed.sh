#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What has changed, from traces to what is said: test_changed.sh BUILD-DIR
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
topology=$build/tests/diagnosis/topology console=$build/pythiatop
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work

fail() {
	echo "test_changed: $*" >&2
	exit 1
}

"$topology" chain 1 none "$work/before" || fail "cannot make a trace"
"$topology" chain 2 none "$work/again" || fail "cannot make a trace"
"$topology" chain 3 slowdown:link11/do_checkout/parse:8 "$work/after" || fail "cannot make a trace"

# The page names the place and how much longer it takes, and lists what was compared.
"$console" compare "$work/before" "$work/after" >"$work/page" || fail "compare: $?"
grep -q '^  1 .*link11  link11:parse takes longer itself: .* (+7\.[0-9]*ms to +8\.[0-9]*ms), in checkout' \
	"$work/page" || fail "not the place: $(cat "$work/page")"
grep -q '^checkout  *[0-9]* ' "$work/page" || fail "types are not side by side"
grep -q 'contexts compared: [1-9][0-9]*, no longer there: 0, not there before: 0' "$work/page" ||
	fail "what was compared is not told"
"$console" compare "$work/before" "$work/again" | grep -q 'nothing that chance would not make' ||
	fail "a change without one"

# A file says the same as the recording it was made of; so does a document.
"$console" --batch=text --save-baseline="$work/file" "$work/before" >"$work/text" || fail "save: $?"
grep -q CHANGED "$work/text" && fail "changes without a baseline"
"$console" compare "$work/file" "$work/after" >"$work/page2" || fail "compare with a file: $?"
cmp -s <(sed "s|$work/before|$work/file|" "$work/page") "$work/page2" || fail "the file says else"
"$console" --batch=json compare "$work/file" "$work/after" | grep -q \
	'"rows": *\[{"kind": *"slower", *"service": *"link11", *"provider": *"link11", *"name": *"parse"' ||
	fail "the document says else"
# So does the screen, which leads to the calling context.
"$console" --batch=json compare "$work/file" "$work/after" | python3 -c '
import json, sys
d = json.load(sys.stdin)
row = d["changes"]["rows"][0]
rows = [t for t in d["contexts"] if t["group"] == row["group"]][0]["rows"]
sys.exit(0 if any(r["context"] == "parse" and r["provider"] == "link11" for r in rows) else 1)
' || fail "the group of a change has no such place"
if command -v script >/dev/null; then
	(sleep 4 && printf '\r' && sleep 1 && printf q) | TERM=vt100 timeout 60 script -qec \
		"stty rows 24 cols 80; $console -m compare $work/file $work/after" /dev/null \
		>"$work/screen" || fail "the screen: $?"
	grep -q 'changes since' "$work/screen" && grep -q 'link11:parse' "$work/screen" &&
		grep -q 'calling contexts' "$work/screen" || fail "compare opens no screen of changes"
fi
"$console" --batch=json "$work/after" | grep -q '"changes": *null' || fail "changes since nothing"

# The loop's verdict is what has changed, not what varies; without a baseline there is none of it.
"$console" --batch=json compare "$work/file" "$work/after" | python3 -c '
import json, sys
v = json.load(sys.stdin)["verdict"]
sys.exit(0 if v["rule"] == "changed" and v["process"] == "link11" and v["where"].endswith("> parse")
         and "parse in link11 takes longer, by 7." in v["text"] and v["phi"] is None else 1)
' || fail "the verdict is not the change"
"$console" --batch=json "$work/after" | grep -q '"rule": *"changed"' && fail "changed since nothing"
"$console" --batch=json compare "$work/file" "$work/again" | grep -q '"rule": *"changed"' &&
	fail "a verdict on a change without one"

# Without one, what varies is told with that nothing says what is normal.
"$topology" noisy 5 none "$work/noisy" || fail "cannot make a trace"
"$console" --batch=json "$work/noisy" >"$work/varies" || fail "noisy: $?"
grep -q '"normal_known": *false' "$work/varies" || fail "a norm from nowhere"
"$console" --batch=json compare "$work/noisy" "$work/noisy" >"$work/varies" || fail "noisy: $?"
grep -q '"normal_known": *true' "$work/varies" || fail "nothing varies any more"
grep -q '"normal_known": *false' "$work/varies" && fail "the baseline is no norm"

# One shard of forty that is slow to reach is not the own time of who gathers their answers.
"$topology" fan 5 none "$work/fan" && "$topology" fan 6 transit:shard23:4 "$work/far" ||
	fail "cannot make a trace"
"$console" compare "$work/fan" "$work/far" >"$work/page3" || fail "compare: $?"
grep -q '^  1  *- .* shard23  (transit) to or from front takes longer: .*(+3\.[0-9]*ms to +4\.[0-9]*ms)' \
	"$work/page3" && grep -q 'front:gather takes longer itself.*no more than messages to shard23 do' \
	"$work/page3" || fail "not the way: $(cat "$work/page3")"
grep -q 'not there before: 0' "$work/page3" || fail "lags are contexts"

# Messages that wait since there are more of them follow from that.
"$topology" fan 6 more:front/suggest/lookup:3 "$work/more" || fail "cannot make a trace"
"$console" compare "$work/fan" "$work/more" >"$work/page4" || fail "compare: $?"
grep -q '^  1  *- .* front  front:suggest calls send_shard[0-9, a-z]* more often: 1.00 -> 3.00' \
	"$work/page4" || fail "not the calls: $(cat "$work/page4")"

# What cannot be compared with is told.
"$console" compare "$work/before" 2>"$work/said" && fail "compare with one side"
grep -q 'expected BEFORE AFTER' "$work/said" || fail "one side: $(cat "$work/said")"
mkdir "$work/empty"
"$console" compare "$work/empty" "$work/after" 2>"$work/said" && fail "compare with nothing"
grep -q "$work/empty" "$work/said" || fail "nothing: $(cat "$work/said")"
"$console" --batch=text --save-baseline="$work/no/file" "$work/before" >"$work/text" 2>"$work/said" &&
	fail "saved nowhere"
grep -q "Cannot write $work/no/file" "$work/said" || fail "nowhere: $(cat "$work/said")"

# Of the tuning sites.
"$here/changed.sh" "$build" "$work/sites" tuning 2 >"$work/table" 2>"$work/misses" || {
	cat "$work/table" "$work/misses" >&2
	fail "scoring"
}
awk -F'|' '/\*\*all\*\*/ { exit !($4 >= 85 && $5 >= 85 && $6 >= 75 && $7 >= 80 && $8 < $4) }' "$work/table" &&
	grep -Eq 'a finding in [01] of 12 ' "$work/table" || {
	cat "$work/table" "$work/misses" >&2
	fail "the tuning sites are no longer found"
}
