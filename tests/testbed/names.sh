#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A console that attaches to a live session sees what comes from then on, and processes tell their
# names when tracing of them begins. So they are asked once more as soon as somebody watches:
# names.sh PYTHIATOP SESSION, beside the daemons (daemons.sh).
set -u

watched() {
	"$1" --list "$PT_RELAY" 2>/dev/null |
		awk -v name="$2" '$2 == name && $(NF - 1) > 0 { found = 1 } END { exit !found }'
}

for _ in $(seq 60); do
	if watched "$1" "$2"; then
		sleep 1 # it has attached; now it asks for the streams
		exec lttng --no-sessiond regenerate statedump -s "$2"
	fi
	sleep 0.5
done
