#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A Python service that logs, whose loggers are points: they are listed, enabled whole or from a level
# on, and disabled, in a session of ours that goes without a trace; a schema makes requests of the
# messages, as many as the service counts and as long, from the recording and live, where the loop
# enables the loggers by itself.
. "$(dirname "$0")/lib.sh"
if ! /usr/bin/python3 -c 'import lttngust' 2>/dev/null; then
	echo "skipped: python3-lttngust is not installed"
	exit 77
fi
beside_daemons --session other --events 'gen:*' -- "$@"
. "$source_dir/tests/live/control.sh"
schema=$source_dir/tests/live/logging_service.yaml
before=$(others)

# Starts the service in a directory of its own.
start_service() {
	service_dir=$work/$1
	mkdir "$service_dir"
	background /usr/bin/python3 "$source_dir/tests/live/logging_service.py" "$service_dir" "$2"
	service=$pid
}

# Waits at most 30 s until a file is there.
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ -e "$1" ] && return 0
		kill -0 "$service" 2>/dev/null || fail "the service has ended"
		sleep 0.05
	done
	fail "there is no $1"
}

end_service() {
	touch "$service_dir/end"
	wait "$service" || fail "the service failed"
}

start_service first 400
start_driver
tells ' ready ' ready
for ((i = 0; i < 100; i++)); do
	tell points
	grep -q '^point lttng_python:shop.web ' <<<"$said" && break
	sleep 0.1
done
grep -Eq '^point lttng_python:shop.web processes=1 fields=8$' <<<"$said" &&
	grep -Eq '^point lttng_python:shop.db ' <<<"$said" || fail "points: $said"
! grep -q 'lttng_python:event' <<<"$said" || fail "the agent's own event is listed: $said"
tells '^answer 0 ' "create $relay"
session=$(ours)
traces=$PT_DIR/relay/$(hostname)/$session-2*

tells '^change lttng_python:shop.web would lttng_python_channel$' 'check lttng_python:shop.web'
tells '^change lttng_python:shop.web done lttng_python_channel$' 'enable lttng_python:shop.web'
tells '^change lttng_python:shop.web was_so lttng_python_channel$' 'enable lttng_python:shop.web'
tells '^change lttng_python:shop.db done lttng_python_channel$' \
	'enable lttng_python:shop.db int_loglevel >= 30'
tells 'refused it is on with another filter: disable it first: a logger takes one' \
	'enable lttng_python:shop.db int_loglevel >= 10'
tells 'refused its filter speaks of what the point does not have: level' \
	'check lttng_python:shop.web level >= 10'
tells "^rule $session/lttng_python_channel lttng_python:shop.db enabled int_loglevel >= 30\$" channels
grep -Eq "^rule $session/lttng_python_channel lttng_python:shop.web enabled \$" <<<"$said" &&
	grep -Eq "^channel $session/lttng_python_channel discarded=0 tracefiles=4x16777216\$" \
		<<<"$said" || fail "$said"
tells "^point lttng_python:shop.web .* on=$session\$" points

touch "$service_dir/go"
wait_for "$service_dir/done"
tells '^change lttng_python:shop.db done lttng_python_channel$' 'disable lttng_python:shop.db'
tells '^change lttng_python:shop.web done lttng_python_channel$' 'disable lttng_python:shop.web'
tells '^change lttng_python:shop.web was_so $' 'disable lttng_python:shop.web'
tell channels
! grep -Eq '^rule .* enabled' <<<"$said" || fail "left: $said"
sleep 1 # what is on its way arrives
tells '^answer 0 ' destroy
[ -z "$(ours)" ] || fail "left: $(ours)"
[ "$(others)" = "$before" ] || fail "others' sessions have changed: $(diff <(echo "$before") <(others))"
end_service
end_driver

# shellcheck disable=SC2086
babeltrace2 $traces >"$work/text" || fail "babeltrace2"
[ "$(grep -c 'logger_name = "shop.web"' "$work/text")" = 800 ] || fail "messages of shop.web"
buys=$(grep -c ' buy ' "$service_dir/access.log")
[ "$(grep -c 'logger_name = "shop.db"' "$work/text")" = "$buys" ] || fail "messages of shop.db"
! grep 'logger_name = "shop.db"' "$work/text" | grep -qv 'int_loglevel = 30' ||
	fail "messages below the level"

# As many of a kind as the service says, and as long, but for its two messages themselves.
# shellcheck disable=SC2086
"$build_dir/pythiatop" --batch=json --schema="$schema" $traces >"$work/document" || fail "batch"
# shellcheck disable=SC2016
/usr/bin/python3 - "$work/document" "$service_dir/access.log" <<'END' || fail "other requests than the service's"
import json, statistics, sys
groups = {g["type"]: g for g in json.loads(open(sys.argv[1]).read().splitlines()[-1])["groups"]}
told = {}
for line in open(sys.argv[2]):
    told.setdefault(line.split()[1], []).append(float(line.split()[3]))
for kind, times in told.items():
    ours, theirs = groups[kind]["p50_ns"] / 1e6, statistics.median(times)
    print("%s: %d requests, p50 %.3f ms; the service: %d, %.3f ms" %
          (kind, groups[kind]["count"], ours, len(times), theirs))
    if groups[kind]["count"] != len(times) or abs(ours - theirs) > max(0.05 * theirs, 0.05):
        sys.exit(1)
sys.exit(0 if sorted(groups) == sorted(told) else "groups: %s" % sorted(groups))
END

# The same of Java's, where its agent is installed.
jars=$(printf '%s:' /usr/share/java/lttng-ust-agent-{common,jul,log4j}.jar /usr/share/java/log4j-1.2.jar)
if javac -cp "$jars" -d "$work" "$source_dir/tests/live/LoggingService.java" 2>/dev/null; then
	background java -Djava.library.path="$(dirname "$(find /usr/lib -name 'liblttng-ust-jul-jni.so' | head -n 1)")" \
		-cp "$jars:$work" LoggingService
	service=$pid
	start_driver
	tells ' ready ' ready
	for ((i = 0; i < 200; i++)); do
		tell points
		grep -q '^point lttng_jul:shop.jul ' <<<"$said" && grep -q '^point lttng_log4j:shop.log4j ' <<<"$said" && break
		sleep 0.1
	done
	tells '^answer 0 ' "create $relay"
	session=$(ours)
	traces=$PT_DIR/relay/$(hostname)/$session-2*
	tells '^change lttng_jul:shop.jul done lttng_jul_channel$' 'enable lttng_jul:shop.jul int_loglevel >= 900'
	tells '^change lttng_log4j:shop.log4j done lttng_log4j_channel$' 'enable lttng_log4j:shop.log4j'
	sleep 2
	tells '^change lttng_jul:shop.jul done lttng_jul_channel$' 'disable lttng_jul:shop.jul'
	tells '^answer 0 ' destroy
	end_driver
	kill -KILL "$service" && wait "$service" 2>/dev/null
	# shellcheck disable=SC2086
	babeltrace2 $traces >"$work/java" || fail "babeltrace2"
	n=$(grep -c 'lttng_jul:event.*took.*logger_name = "shop.jul"' "$work/java")
	all=$(grep -c 'lttng_log4j:event.*logger_name = "shop.log4j"' "$work/java")
	[ "$n" -gt 50 ] && [ "$all" -gt 100 ] && ! grep -q 'lttng_jul:event.*begins' "$work/java" ||
		fail "of Java came $n and $all messages"
	echo "Java: $n messages of java.util.logging at WARNING, $all of log4j"
else
	echo "Java's agents were not tried: no javac, liblttng-ust-agent-java or liblog4j1.2-java"
fi

# Live: the loop enables what requests are known by, and takes it back in the end.
start_service second 0
start_console --autopilot --schema="$schema" --control="$(hostname)=local" --control.relay_url="$relay" "$PT_RELAY"
expect 60 '"type":"buy"'
expect 20 '"type":"look"'
grep -q 'shop.web' <<<"$(lttng --no-sessiond list "$(ours)")" || fail "no logger is on"
end_console
expect_none 10 "at its end"
end_service
[ "$(others)" = "$before" ] || fail "others' sessions have changed: $(diff <(echo "$before") <(others))"
expect_no_record
