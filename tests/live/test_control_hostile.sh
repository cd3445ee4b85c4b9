#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A console that means harm, or none at all, and a host that allows little: pythiatop-control answers
# each with a clear error, runs nothing, and changes nothing.
. "$(dirname "$0")/lib.sh"
beside_daemons --events 'gen:request_exit' -- "$@"
. "$source_dir/tests/live/control.sh"

generate 100000000 20000
sleep 0.5
before=$(others)
cd "$work" || exit 1

# What the helper answers to lines on its standard input; $status is how it ended.
ask() {
	answers=$(timeout 30 "$helper" "${options[@]}" 2>"$work/err")
	status=$?
}
options=()

# Says LINE, after a hello and a session; the answer must match, and be JSON.
refuses() {
	local wanted=$1
	shift
	ask < <(echo '{"id":1,"do":"hello","protocol":2}'
		printf '%s\n' "$@"
		echo '{"id":999,"do":"sessions"}')
	grep -Eq -- "$wanted" <<<"$answers" || fail "$* is answered, instead of $wanted: $answers"
	grep -q '"id":999,"ok":true' <<<"$answers" || fail "$*: and then no answers: $answers"
	[ $status = 0 ] || fail "$*: ends with $status"
	[ -z "$(ours)" ] || fail "$*: left $(ours)"
}

# Says LINES first, if any, and each of $lines in the same breath: that many answers must match.
refuses_each() {
	local wanted=$1 n
	shift
	refuses "$wanted" "$@" "${lines[@]}"
	n=$(grep -Ec -- "$wanted" <<<"$answers")
	[ "$n" = ${#lines[@]} ] || fail "of ${#lines[@]} $n are answered $wanted: $answers"
}

create='{"id":2,"do":"create","kind":"live","relay":"'$relay'"}'
point() { # NAME-AS-JSON [FILTER-AS-JSON]
	echo "{\"id\":3,\"do\":\"enable\",\"kind\":\"live\",\"points\":[{\"domain\":\"ust\",\"name\":$1${2:+,\"filter\":$2}}]}"
}

refuses '"id":0,"ok":false,"error":".*","help":"send' 'this is not JSON'
refuses '"id":0,"ok":false,"error":"a request is a JSON object"' '[1,2,3]'
refuses '"id":0,"ok":false,"error":"a request has a positive number' '{"do":"sessions"}' \
	'{"id":-1,"do":"undo"}' '{"id":"7","do":"sessions"}'
refuses '"id":4,"ok":false,"error":"unknown request"' '{"id":4,"do":"undo"}'
refuses '"id":4,"ok":false,"error":"unknown request"' '{"id":4,"do":"$(touch shot)"}'
refuses '"id":4,"ok":false,"error":"a request has a text' '{"id":4,"do":["sessions"]}'
refuses '"id":0,"ok":false,"error":".*depth' "$(printf '[%.0s' $(seq 5000))"
refuses '"id":0,"ok":false,"error":"a line is longer than 1 MiB"' \
	"{\"id\":4,\"do\":\"enable\",\"x\":\"$(head -c 3000000 /dev/zero | tr '\0' x)\"}"
refuses '"id":4,"ok":false,"error":"there is no such request"' '{"id":4,"do":"give_up","of":77}'
refuses 'the session.s name has a character' '{"id":4,"do":"channels","session":"../../../etc/x"}'
refuses 'the session.s name has a character' '{"id":4,"do":"channels","session":"a\nb"}'
refuses 'the session.s name is longer' \
	"{\"id\":4,\"do\":\"channels\",\"session\":\"$(head -c 100000 /dev/zero | tr '\0' x)\"}"
lines=()
for name in '"a\nb"' '"$(touch shot)"' '"`touch shot`"' '"a;touch shot"' '"gen:point\" x"' "\"it's\"" \
	'"a b"' '"\u001b[31m"' '"-x"' '"ünï"' "\"$(head -c 1000000 /dev/zero | tr '\0' x)\"" '""'; do
	lines+=("$(point "$name")")
done
refuses_each '"done":"refused","channel":"","session":"","error":"the point (has|is)' "$create"
refuses '"error":"the point is a pattern' "$create" "$(point '"gen:*"')"
refuses '"error":"the point has no name"' "$create" "$(point 7)"
lines=()
for filter in '"kind == 1\nlength"' '"length == $(touch shot)"' '"length == \"x"' '"$ctx.nosuch == 1"' \
	'"touch == 1"' '" "' '7' "\"$(head -c 5000 /dev/zero | tr '\0' '(')\""; do
	lines+=("$(point '"gen:point"' "$filter")")
done
refuses_each '"done":"refused"' "$create"
# The parser of lttng-ctl itself is given what is deep and odd.
refuses '"done":"(refused|done)"' "$create" "$(point '"gen:point"' "\"$(head -c 2000 /dev/zero | tr '\0' '(')1\"")"
lines=()
for url in file:///tmp/x 'net://$(touch shot)' 'net://a:b' 'net://host:1:2:3' tcp://x 'net://' 'net://-x' \
	"net://$(head -c 5000 /dev/zero | tr '\0' x)" 'net://h/path'; do
	lines+=("{\"id\":2,\"do\":\"create\",\"kind\":\"live\",\"relay\":\"$url\"}")
done
refuses_each '"id":2,"ok":false,"error":"the relay daemon.s URL'
refuses '"a live timer has 10 ms' \
	'{"id":2,"do":"create","kind":"live","relay":"net://h","live_timer_us":1}'
refuses 'no list of 1 to 1,000' '{"id":4,"do":"enable","kind":"live","points":[]}'
refuses 'no list of 1 to 1,000' "{\"id\":4,\"do\":\"disable\",\"points\":[$(printf '7,%.0s' $(seq 2000))7]}"
refuses 'no list of at most 256' \
	'{"id":4,"do":"enable","points":[{"domain":"ust","name":"a"}],"attached":[7]}'


# Another version, in numbers and not; what a console is called goes into a file.
refuses '"id":4,"ok":false,"error":"this pythiatop-control .*another version' \
	'{"id":4,"do":"hello","protocol":1}'
refuses '"id":4,"ok":false,"error":"this pythiatop-control .*another version' \
	'{"id":4,"do":"hello","protocol":"2"}' '{"id":5,"do":"hello"}'
for name in '"a\nb \"$(touch shot)\" `touch shot` \u001b[31m"' "\"x$(printf 'é%.0s' $(seq 400))\"" \
	"\"$(head -c 1000000 /dev/zero | tr '\0' x)\"" '7'; do
	refuses '"id":2,"ok":true' "{\"id\":5,\"do\":\"hello\",\"protocol\":2,\"console\":$name}" "$create"
done
# Providers to learn from; sessions that are attached are only compared with.
for name in '"a\nb"' '"$(touch shot)"' '"a;touch shot"' "\"it's\"" '"a b"' '"*"' '""' '7' \
	"\"$(head -c 1000000 /dev/zero | tr '\0' x)\""; do
	refuses '"id":4,"ok":false,"error":"' "$create" "{\"id\":4,\"do\":\"learn\",\"providers\":[$name]}"
done
refuses '"id":4,"ok":false,"error":"' "$create" '{"id":4,"do":"learn","providers":[]}' \
	'{"id":6,"do":"learn"}'
for name in '"a\nb"' '"$(touch shot)"' "\"$(head -c 1000000 /dev/zero | tr '\0' x)\""; do
	refuses '"name":"gen:point","done":"done","channel":"explore"' "$create" \
		"{\"id\":4,\"do\":\"enable\",\"kind\":\"live\",\"points\":[{\"domain\":\"ust\",\"name\":\"gen:point\"}],\"attached\":[$name]}"
done
# Bytes that are no text.
for line in '{"id":4,"do":"sess\0ions"}' '{"id":4,"do":"sess\xffions"}' '\xc3\x28'; do
	ask < <(echo '{"id":1,"do":"hello","protocol":2}'
		printf "$line\n"
		echo '{"id":999,"do":"sessions"}')
	grep -q '"id":0,"ok":false,"error":"' <<<"$answers" && grep -q '"id":999,"ok":true' <<<"$answers" ||
		fail "$line: $answers"
done

# Of very many at once, those that are too many are refused.
ask < <(for i in $(seq 1 500); do echo "{\"id\":$i,\"do\":\"points\"}"; done)
grep -q 'too many requests wait already' <<<"$answers" || fail "500 requests wait"
[ $status = 0 ] || fail "500 requests: ends with $status"

# One that does not read holds nothing up but itself: its lease ends like any other.
mkfifo "$work/silent"
(
	echo '{"id":1,"do":"hello","protocol":2}'
	echo "$create"
	for i in $(seq 60); do
		echo "{\"id\":$((i + 2)),\"do\":\"points\"}"
	done
	sleep 30
) | "$helper" >"$work/silent" 2>/dev/null &
started+=($!)
exec {silent_fd}<"$work/silent"
sleep 1
[ -n "$(ours)" ] || fail "the silent one has no session"
expect_none 14 "a console that neither reads nor asks"
exec {silent_fd}<&-

# What a host's own configuration says.
cat >allow.conf <<-'END'
	control.allow = gen:request_*
	control.deny = *_exit
	control.relay = net://127.0.0.1:*
	control.max_points = 1
END
options=(--config="$work/allow.conf")
refuses '"name":"gen:point","done":"refused","channel":"","session":"","error":"this host does not allow it"' \
	"$create" "$(point '"gen:point"')"
refuses '"name":"gen:request_exit","done":"refused",.*"this host does not allow it"' \
	"$create" "$(point '"gen:request_exit"')"
check() {
	point "$@" | sed 's/"do":"enable"/"do":"check"/'
}
refuses '"name":"gen:request_exit","done":"refused",.*"this host does not allow it"' \
	"$(check '"gen:request_exit"')"
refuses '"name":"gen:request_entry","done":"would"' "$(check '"gen:request_entry"')"
refuses '"id":4,"ok":false,"error":"this host lets single points be enabled only' \
	'{"id":4,"do":"check_learn","providers":["gen"]}'
refuses '"name":"gen:request_entry","done":"done"' "$create" "$(point '"gen:request_entry"')"
refuses '"error":"as many points are on as this host allows"' "$create" \
	"$(point '"gen:request_entry"')" "$(point '"gen:request_other"')"
refuses '"error":"this host may not send to net://10.0.0.1"' \
	'{"id":2,"do":"create","kind":"live","relay":"net://10.0.0.1"}'
options=(--read-only)
refuses '"id":2,"ok":false,"error":"this host is read-only"' "$create" "$(point '"gen:point"')"
refuses '"id":3,"ok":false,"error":"this host is read-only"' "$(check '"gen:point"')"
refuses '"point":{"domain":"ust","type":"tracepoint","name":"gen:point"' '{"id":5,"do":"points"}'
echo 'control.max_points = lots' >wrong.conf
! "$helper" --config="$work/wrong.conf" </dev/null 2>err || fail "a wrong configuration is taken"
grep -q 'wrong.conf:1: control.max_points = lots: expected a number' err || fail "it says $(cat err)"
! "$helper" --config="$work/nosuch.conf" </dev/null 2>err || fail "a missing configuration is taken"

[ -z "$(find . -name shot)" ] || fail "something was run"
[ "$(others)" = "$before" ] || fail "other people's sessions have changed"
kill -0 "$PT_SESSIOND_PID" || fail "the session daemon is dead"
