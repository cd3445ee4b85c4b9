#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The demo on a stock server: a scenario of the field, and the console on autopilot beside it, from
# nothing. All of it ends with the console: demo.sh BUILD-DIR redis|postgres [CONSOLE OPTION...]
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
which=$2
shift 2

fail() {
	echo "demo: $*" >&2
	exit 1
}

. "$here/stage.sh"
. "$here/scenarios.sh"
set_stage
seed=1
case $which in
redis)
	# A long answer would take its reader the processor: true, but another story.
	words="SORT big ALPHA LIMIT 0 1"
	redis_dear
	says="redis-server, some of whose clients have a whole list sorted now and then"
	;;
postgres)
	words="orders 1"
	pg_report
	says="PostgreSQL under pgbench, where a report keeps a table locked now and then"
	;;
esac
sleep 1
begin_fault
echo "demo: $says" >&2

# A signal ends the console before what it looks at.
end_console() {
	kill -TERM "$console" 2>/dev/null
	wait "$console"
	exit 1
}

# In the background, so that signals reach us at once; with our standard input, and without the
# SIGINT that shells ignore for such commands.
TMPDIR=$work/tmp env --default-signal=INT,QUIT \
	"$build/pythiatop" -p "$watched" --autopilot "$@" <&0 &
console=$!
trap end_console HUP INT TERM
wait "$console"
