#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `pythiatop -p` costs the program that it watches, before any step: requests/s of a redis-server
# at a rate that leaves processors idle and as fast as it goes, of nginx with two workers under wrk and
# of PostgreSQL under pgbench where these are installed; watched and not, in turns, as the median of the
# ratios (1: it costs nothing). The console is on a terminal of 80x24, as somebody uses it; with "json"
# it writes all that it knows each second instead.
#
# usage: process.sh [ROUNDS [SECONDS [json]]]    (6 rounds of 5 s each way)
set -u
rounds=${1:-6} seconds=${2:-5} json=${3:-}
build=$(cd "$(dirname "$0")/../../build" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/pt-bench.XXXXXX") || exit 1
pids=()
export XDG_STATE_HOME=$work/state
tmux=(tmux -L "pt-bench-$$" -f /dev/null)
finish() {
	"${tmux[@]}" kill-server 2>/dev/null
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Begins to watch $1, until something of it is told and starting is over (functions are listed, what is
# there is dumped); $watcher is the console.
watch() { # PROGRAM
	if [ "$json" ]; then
		: >"$work/documents"
		"$build/pythiatop" -p "$1" --batch=json >"$work/documents" 2>&1 &
		watcher=$!
		while [ ! -s "$work/documents" ] && kill -0 $watcher 2>/dev/null; do sleep 0.1; done
	else
		"${tmux[@]}" new-session -d -x 80 -y 24 "exec '$build/pythiatop' -p '$1' 2>'$work/err'"
		watcher=$("${tmux[@]}" list-panes -F '#{pane_pid}')
		while kill -0 "$watcher" 2>/dev/null && ! "${tmux[@]}" capture-pane -p | grep -q '^>'; do
			sleep 0.1
		done
	fi
	sleep 3
}
# Ends that, and prints how many events a second there were last.
unwatch() {
	if [ "$json" ]; then
		kill -INT "$watcher"
		wait "$watcher"
		tail -n 1 "$work/documents" | jq .events_per_s
	else
		"${tmux[@]}" capture-pane -p | sed -n '1s/.* \([0-9.]*\)\(k\{0,1\}\) ev.s.*/\1 \2/p' |
			awk '{ print $1 * ($2 == "k" ? 1000 : 1) }'
		kill -TERM "$watcher"
		while kill -0 "$watcher" 2>/dev/null; do sleep 0.1; done
	fi
}

# Runs "$@", which prints a rate, with and without the console on $program in turns.
compare() { # NAME PROGRAM COMMAND...
	local name=$1 program=$2 round plain watched
	shift 2
	for ((round = 0; round < rounds; round++)); do
		plain=$("$@")
		watch "$program"
		watched=$("$@")
		unwatch >>"$work/events.$name"
		awk -v a="$watched" -v b="$plain" 'BEGIN { print a / b }' >>"$work/ratios.$name"
		printf '.' >&2
	done
	printf '\n%-28s %.3f at %.0f events/s\n' "$name" "$(median <"$work/ratios.$name")" \
		"$(median <"$work/events.$name")"
}

redis-server --port 0 --unixsocket "$work/redis" --save '' --dir "$work" >/dev/null 2>&1 </dev/null &
pids+=($!)
redis_pid=$!
sleep 0.5
gets() { # CLIENTS
	timeout "$seconds" redis-benchmark -s "$work/redis" -t get -c "$1" -n 100000000 --csv >/dev/null 2>&1 &
	local before after begin
	before=$(redis-cli -s "$work/redis" INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
	begin=$(date +%s.%N)
	wait $!
	after=$(redis-cli -s "$work/redis" INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
	awk -v n=$((after - before)) -v s="$(awk -v a="$(date +%s.%N)" -v b="$begin" 'BEGIN { print a - b }')" \
		'BEGIN { print n / s }'
}
compare redis-1-client $redis_pid gets 1
compare redis-20-clients $redis_pid gets 20

if command -v nginx >/dev/null && command -v wrk >/dev/null; then
	cat >"$work/nginx.conf" <<-END
		worker_processes 2;
		daemon off;
		pid $work/nginx.pid;
		error_log $work/nginx.log;
		events { }
		http {
			access_log off;
			server { listen 127.0.0.1:$((20000 + RANDOM % 12000)); root $work/www; }
		}
	END
	mkdir "$work/www"
	head -c 4096 /dev/zero >"$work/www/page"
	chmod -R a+rX "$work"
	nginx -c "$work/nginx.conf" -p "$work" >/dev/null 2>&1 </dev/null &
	pids+=($!)
	nginx_pid=$!
	sleep 0.5
	pages() {
		wrk -t1 -c8 -d"$seconds" "http://$(sed -n 's/.*listen \([0-9.:]*\);.*/\1/p' "$work/nginx.conf")/page" |
			sed -n 's/^Requests.sec: *//p'
	}
	compare nginx-8-connections $nginx_pid pages
fi

bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | tail -n 1)
if [ -n "$bin" ] && [ "$(id -u)" = 0 ]; then
	chmod 755 "$work"
	mkdir "$work/pg"
	chown postgres "$work/pg"
	as=(setpriv --reuid postgres --regid postgres --clear-groups)
	"${as[@]}" "$bin/initdb" -D "$work/pg/data" -A trust >/dev/null
	printf "listen_addresses = ''\nunix_socket_directories = '%s'\n" "$work/pg" >>"$work/pg/data/postgresql.conf"
	"${as[@]}" "$bin/postgres" -D "$work/pg/data" >"$work/pg.log" 2>&1 </dev/null &
	pids+=($!)
	sleep 2
	"${as[@]}" "$bin/pgbench" -h "$work/pg" -i -s 1 -q postgres >/dev/null 2>&1
	transactions() { # OPTIONS
		"${as[@]}" "$bin/pgbench" -h "$work/pg" -n -T "$seconds" "$@" postgres 2>/dev/null |
			sed -n 's/^tps = \([0-9.]*\).*/\1/p'
	}
	# Its mean latency at a rate that leaves processors idle: as a rate, so that less is worse.
	latency() { # RATE
		"${as[@]}" "$bin/pgbench" -h "$work/pg" -n -T "$seconds" -c 8 -R "$1" postgres 2>/dev/null |
			awk '/^latency average/ { l = $4 } /schedule lag: avg/ { lag = $4 } END { print 1 / (l - lag) }'
	}
	compare pgbench-tpcb-500-a-second postgres latency 500
	compare pgbench-tpcb-8-clients postgres transactions -c 8
	compare pgbench-select-8-clients postgres transactions -c 8 -S
fi
