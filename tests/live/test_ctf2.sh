#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A session in CTF 2 through a real relay daemon: live there are the same events, with the same values,
# as in its files, which unit/test_ctf2 knows one by one; and the console shows them.
. "$(dirname "$0")/lib.sh"
beside_daemons --session none -- "$@"

send() { # SESSION
	mkdir "$work/$1"
	background "$build_dir/tests/live/pt-send-ctf2" "$PT_RELAY" "${PT_RELAY_CONTROL##*:}" \
		"${PT_RELAY_DATA##*:}" "$1" "$work/$1"
	sender=$pid
}

send raw
# The relay daemon tells of it once it was sent.
for ((i = 0; i < 100; i++)); do
	"$build_dir/pythiatop" --list "$PT_RELAY" 2>/dev/null | grep -q "/raw\b" && break
	sleep 0.1
done
background "$build_dir/tests/live/pt-records" --live "$PT_RELAY/host/h2/raw" own >"$work/live"
reader=$pid
wait "$sender" || fail "the session could not be sent"
wait "$reader" || fail "the session could not be read"
# Its folder is named as the sender says when it began.
ls -d "$PT_DIR"/relay/h2/raw-"$(date +%Y)"* >/dev/null || fail "folders: $(ls "$PT_DIR"/relay/h2)"
"$build_dir/tests/live/pt-records" --trace "$work/raw" own >"$work/recorded" || fail "no recording"
[ "$(wc -l <"$work/recorded")" -eq 4 ] || fail "recorded: $(cat "$work/recorded")"
cmp "$work/live" "$work/recorded" || fail "live (<): $(diff "$work/live" "$work/recorded")"

send shown
url=$PT_RELAY/host/h2/shown
start_console "$url"
expect 20 "$(row "$url" '[a-z]*' '"events":4[,}]')"
wait "$sender" || fail "the session could not be sent"
end_console
