#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of a program that nobody prepared, through pythiatop-probe and a real relay daemon: entries
# and exits with arguments by DWARF and without; by place in the file; of a stripped, a deleted, a later
# and a replaced program; within requests only, and of one in ten; let go of where one is called too
# often. babeltrace2 reads all of it without a warning, and the console makes requests of it.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"
. "$source_dir/tests/live/probe.sh"
needs_probe

called=$build_dir/tests/live/pt-called
cp "$called" "$work/one"

# Waits until the probe has told of function $2 in the session $1: it is attached then.
start_functions() {
	local session=$1
	shift
	start_probe_with --session "$session" "$@"
	expect_session 5 "$session"
	sleep 0.5
}

# Ends it, and reads what the relay daemon kept.
end_functions() {
	end_probe
	read_kept_functions "$1" "$work/kept"
	sed -E 's/^\[([^]]*)\] \([^)]*\) [^ ]* [^:]*:([^:]*): \{ cpu_id = [0-9]+ \}, \{ ([^}]*) \}, /\2|/' \
		"$work/kept" >"$work/events"
}

count() {
	grep -c "^$1|" "$work/events"
}

# --- arguments, escape sequences, the order of time
start_functions values --function "$work/one:called_*"
"$work/one" values >"$work/expected" || fail "pt-called"
end_functions values
grep -q 'on this machine a call takes' "$work/probe.err" || fail "no cost: $(cat "$work/probe.err")"
[ "$(wc -l <"$work/expected")" = 14 ] || fail "pt-called says too little"
while IFS= read -r line; do
	grep -qF -- "$line" "$work/events" || fail "not recorded: $line
there is: $(grep -F -- "${line%%|*}|" "$work/events" | head -n 5)"
done <"$work/expected"
[ "$(wc -l <"$work/events")" = 14 ] || fail "more than was called: $(cat "$work/events")"
sed -E 's/^\[([^]]*)\].*/\1/' "$work/kept" | sort -c || fail "not in the order of time"
grep -q 'procname = "\\e\[31mred\\\\"' "$work/kept" || fail "the name is not told: $(head -n 1 "$work/kept")"

# --- what can be recorded; by place; stripped; a list says so
"$build_dir/pythiatop-probe" --list "$work/one:called_text" >"$work/list" || fail "no list"
grep -q 'called_text  (string text, string other) -> unsigned$' "$work/list" || fail "$(cat "$work/list")"
strip -o "$work/bare" "$work/one"
"$build_dir/pythiatop-probe" --list "$work/bare:called_*" >/dev/null 2>"$work/list.err" &&
	fail "a stripped program has names"
grep -q 'function' "$work/list.err" || fail "$(cat "$work/list.err")"
offset=$(sed 's/ .*//' "$work/list")
start_functions place --function "$work/bare:$offset"
"$work/bare" values >/dev/null
end_functions place
[ "$(count "${offset}_entry")" = 1 ] && [ "$(count "${offset}_exit")" = 1 ] || fail "$(cat "$work/events")"

# --- a program that is not there so far, and one that is replaced; one by one, as older kernels do
start_functions late --function "$work/later:called_request" --one-by-one
grep -q "later is not there so far; it is waited for" "$work/probe.err" || fail "$(cat "$work/probe.err")"
cp "$called" "$work/later"
sleep 1.5
"$work/later" requests 3
cp "$called" "$work/next"
mv "$work/next" "$work/later"
sleep 1.5
"$work/later" requests 4
end_functions late
[ "$(count called_request_entry)" = 7 ] && [ "$(count called_request_exit)" = 7 ] ||
	fail "late: $(cut -d'|' -f1 "$work/events" | sort | uniq -c)"

# --- a program whose file is gone, by its name, and of this process only
cp "$called" "$work/pt-gone"
mkfifo "$work/lines"
"$work/pt-gone" wait <"$work/lines" >"$work/says" &
started+=("$!")
pid=$!
exec 7>"$work/lines"
for ((i = 0; i < 50; i++)); do
	grep -q runs "$work/says" && break
	sleep 0.1
done
grep -q runs "$work/says" || fail "it does not run"
rm "$work/pt-gone"
cp "$called" "$work/pt-gone"
start_functions gone --function "pt-gone:called_request" --pid "$pid"
echo >&7
"$work/pt-gone" requests 5
sleep 0.3
end_functions gone
exec 7>&-
[ "$(count called_request_entry)" = 1 ] || fail "gone: $(cut -d'|' -f1 "$work/events" | sort | uniq -c)"

# --- a program that starts while all of its functions are on: where it is entered there is no return
# address; and one whose exceptions would not survive: nothing of it is recorded, and it goes on
start_functions all --function "$work/one:*"
"$work/one" values >"$work/started" || fail "it does not start while all of its functions are on"
[ "$(wc -l <"$work/started")" = "$(wc -l <"$work/expected")" ] || fail "it says otherwise: $(head -n 3 "$work/started")"
end_functions all
[ "$(count main_entry)" = 1 ] || fail "not recorded: $(cut -d'|' -f1 "$work/events" | sort | uniq -c | head)"
objcopy --add-symbol __gxx_personality_v0=.text:0,function "$called" "$work/throws"
start_functions throws --function "$work/throws:*"
grep -q 'is written in C++, Rust or Go' "$work/probe.err" || fail "not refused: $(cat "$work/probe.err")"
"$work/throws" values >/dev/null || fail "it was ended"
end_probe

# --- within requests, one in ten: whole ones
start_functions within --within "$work/one:called_request" --function "$work/one:called_step" --one-in 10 \
	--limit 100
"$work/one" requests 2000
end_functions within
n=$(count called_request_entry)
[ "$n" -ge 100 ] && [ "$n" -le 320 ] || fail "one in ten of 2000: $n"
! grep -q "let go" "$work/probe.err" || fail "$(cat "$work/probe.err")"
[ "$(count called_request_exit)" = "$n" ] && [ "$(count called_step_entry)" = $((2 * n)) ] &&
	[ "$(count called_step_exit)" = $((2 * n)) ] || fail "not whole requests of $n: $(cut -d'|' -f1 "$work/events" | sort | uniq -c)"
! grep -q 'called_step_entry|{ n = -1 }' "$work/events" || fail "a step outside of any request"
# The console reads it as requests.
"$build_dir/pythiatop" --batch=text --window=3600 "$(kept_functions within)" >"$work/table" ||
	fail "the console cannot read it"
grep -Eq "called.request +one +$n " "$work/table" || fail "not $n requests: $(sed -n 6,9p "$work/table")"

# --- sums instead of events: as many calls, by who called
start_functions sums --summary --function "$work/one:called_*" --limit 100
"$work/one" requests 1000
sleep 1.2
end_probe
read_kept_functions sums "$work/kept"
# Adds up what is told of a function and its caller.
calls() {
	grep -F "function = \"one:$1\", caller = \"${2:+one:$2}\"," "$work/kept" |
		sed -E 's/.* count = ([0-9]+), sum_ns = ([0-9]+), min_ns = ([0-9]+), max_ns = ([0-9]+),.*/\1 \2 \3 \4/' |
		awk '{ n += $1; if ($2 < $1 * $3 || $2 > $1 * $4) bad = 1 } END { print bad ? "wrong" : n + 0 }'
}
[ "$(calls called_request '')" = 1000 ] && [ "$(calls called_step called_request)" = 2000 ] &&
	[ "$(calls called_step '')" = 1000 ] || fail "not the sums: $(cut -c1-300 "$work/kept")"
[ "$(grep -o 'buckets = .*' "$work/kept" | grep -o '\] = [0-9]*' | awk '{ n += $3 } END { print n }')" = 4000 ] ||
	fail "the buckets do not hold all calls"
! grep -q _entry: "$work/kept" || fail "events besides the sums"

# --- by looks at stacks: what its threads are in, and nothing else
"$work/one" hot 4 >/dev/null &
busy=$!
started+=("$busy")
for ((i = 0; i < 100; i++)); do
	[ "/proc/$busy/exe" -ef "$work/one" ] && break # until then it is the shell that starts it
	sleep 0.01
done
"$build_dir/pythiatop-probe" --list "$work/one" --seen 2 --pid "$busy" >"$work/seen" 2>"$work/seen.err" ||
	fail "$(cat "$work/seen.err")"
seen() { awk -v name="$1" '$2 == name { n = $NF } END { print n + 0 }' "$work/seen"; }
stacks=$(sed -nE 's/.*: ([0-9]+) stacks of .*/\1/p' "$work/seen.err")
[ "${stacks:-0}" -ge 500 ] || fail "of a thread that works for 2 s: $(cat "$work/seen.err")"
[ "$(seen main)" -ge $((stacks * 9 / 10)) ] && [ "$(seen called_hot)" -gt 0 ] ||
	fail "not where it works: $(cat "$work/seen")"
[ "$(seen called_request)" = 0 ] && [ "$(seen called_text)" = 0 ] || fail "where it never was: $(cat "$work/seen")"
"$build_dir/pythiatop-probe" --list "$work/one:called_text" --seen 1 >/dev/null 2>"$work/seen.err" &&
	fail "a function that never runs is seen"
grep -q 'give it more time, or more to do' "$work/seen.err" || fail "$(cat "$work/seen.err")"

# --- called too often: let go of, and the program goes on
start_functions hot --function "$work/one:called_hot"
"$work/one" hot 3 >"$work/hot"
[ "$(cat "$work/hot")" -gt 10000000 ] || fail "it was held up: $(cat "$work/hot") calls in 3 s"
grep -Eq 'one:called_hot is let go of: it was called [0-9]+ times a second' "$work/probe.err" ||
	fail "not let go of: $(cat "$work/probe.err")"
end_probe
read_kept_functions hot "$work/kept" lossy
echo "$(wc -l <"$work/kept") events before it was let go of, $(cat "$work/hot") calls"
