# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of requests of stock servers: these, with private data, on free ports of the loopback
# interface. After lib.sh, beside_daemons and probe.sh.

needs_programs() {
	local program
	for program in "$@"; do
		if ! command -v "$program" >/dev/null; then
			echo "skipped: $program is not installed"
			exit 77
		fi
	done
}

# A port that nobody listens on now; whoever takes it says whether it got it.
some_port() {
	echo $((20000 + RANDOM % 12000))
}

# Runs a server of its own at $redis_port, whose number is $redis: it says itself whether it got the port.
# start_redis [OPTION...]
start_redis() {
	local try i
	for ((try = 0; try < 20; try++)); do
		redis_port=$(some_port)
		redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" \
			"$@" >"$work/redis.log" 2>&1 &
		redis=$!
		started+=("$redis")
		for ((i = 0; i < 50; i++)); do
			grep -q "Ready to accept" "$work/redis.log" && return
			kill -0 "$redis" 2>/dev/null || break
			sleep 0.1
		done
	done
	fail "redis-server: $(tail -n 3 "$work/redis.log")"
}

# Runs a server of its own at $pg_port, which logs each statement to $work/pg.log.
# start_postgres [OPTION...]
start_postgres() {
	local bin try i
	bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -n 1)
	if [ -z "$bin" ] || ! id postgres >/dev/null 2>&1; then
		echo "skipped: PostgreSQL is not installed"
		exit 77
	fi
	PATH=$bin:$PATH
	export PGSSLMODE=disable PGGSSENCMODE=disable
	mkdir "$work/pg"
	: >"$work/pg.log"
	chown postgres "$work/pg" "$work/pg.log"
	chmod 755 "$work"
	as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
	(cd "$work/pg" && "${as_postgres[@]}" "$bin/initdb" -A trust -D "$work/pg/data" -U postgres \
		--no-sync) >"$work/initdb" 2>&1 || fail "initdb: $(tail -n 3 "$work/initdb")"
	for ((try = 0; try < 20; try++)); do
		pg_port=$(some_port)
		(cd "$work/pg" && exec "${as_postgres[@]}" "$bin/postgres" -D "$work/pg/data" \
			-p "$pg_port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
			-c log_min_duration_statement=0 -c log_connections=on -c fsync=off "$@") \
			>>"$work/pg.log" 2>&1 &
		postgres=$!
		started+=("$postgres")
		for ((i = 0; i < 100; i++)); do
			grep -q "ready to accept connections" "$work/pg.log" && return
			kill -0 "$postgres" 2>/dev/null || break
			sleep 0.1
		done
	done
	fail "postgres: $(tail -n 3 "$work/pg.log")"
}

# Is the median of an oracle ours, but for what lies between where they are measured: 5 % or 50 us? On a
# machine with other work clients wait for a processor before they look at an answer, which is no part of
# the request: then theirs is up to three times ours, and never less.
near() {
	local difference=$(($1 > $2 ? $1 - $2 : $2 - $1))
	[ $difference -le 50000 ] || [ $((difference * 20)) -le "$1" ] ||
		{ [ "$2" -le "$1" ] && [ $(($2 * 3)) -ge "$1" ]; } ||
		fail "the oracle tells $1 ns, the console $2 ns"
	echo "the oracle tells $1 ns, the console $2 ns"
}
