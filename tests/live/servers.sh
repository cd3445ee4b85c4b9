# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For tests of requests of stock servers: these, with private data, on free ports of the loopback
# interface. After lib.sh, beside_daemons and probe.sh.

# That of the system is the one that packages are for.
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)

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

# Does COMMAND succeed within so many tenths of a second, while the process runs?
# is_ready TENTHS PID COMMAND...
is_ready() {
	local i tenths=$1 pid=$2
	shift 2
	for ((i = 0; i < tenths; i++)); do
		"$@" && return
		kill -0 "$pid" 2>/dev/null || return
		sleep 0.1
	done
	return 1
}

# Runs a server of its own at $redis_port, whose number is $redis: it says itself whether it got the port.
# start_redis [OPTION...]
start_redis() {
	local try
	for ((try = 0; try < 20; try++)); do
		redis_port=$(some_port)
		redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" \
			"$@" >"$work/redis.log" 2>&1 &
		redis=$!
		started+=("$redis")
		is_ready 50 "$redis" grep -qs "Ready to accept" "$work/redis.log" && return
	done
	fail "redis-server: $(tail -n 3 "$work/redis.log")"
}

# Runs a server of its own at $pg_port, as another user than root; it logs each statement to $work/pg.log.
# start_postgres [OPTION...]
start_postgres() {
	local bin try
	bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -n 1)
	as_postgres=()
	[ "$(id -u)" != 0 ] || as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
	if [ -z "$bin" ] || ! id postgres >/dev/null 2>&1; then
		echo "skipped: PostgreSQL is not installed"
		exit 77
	fi
	PATH=$bin:$PATH
	export PGSSLMODE=disable PGGSSENCMODE=disable
	mkdir "$work/pg"
	: >"$work/pg.log"
	[ ${#as_postgres[@]} = 0 ] || chown postgres "$work/pg" "$work/pg.log"
	chmod 755 "$work"
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
		is_ready 100 "$postgres" grep -q "ready to accept connections" "$work/pg.log" && return
	done
	fail "postgres: $(tail -n 3 "$work/pg.log")"
}

# Killed, it would leave its shared memory on the machine. Clients need not have gone.
end_postgres() {
	local i
	[ -n "${postgres:-}" ] && kill -INT "$postgres" 2>/dev/null || return 0
	for ((i = 0; i < 100; i++)); do
		kill -0 "$postgres" 2>/dev/null || return 0
		sleep 0.05
	done
}

# Are nginx and the Python of the system there, with its client of PostgreSQL?
needs_chain() {
	needs_programs nginx python3
	if ! "$python" -c 'import psycopg2' 2>/dev/null; then
		echo "skipped: python3-psycopg2 is not installed"
		exit 77
	fi
}

# An application at $app_port that asks the database at $pg_port.
start_application() {
	local try app
	for ((try = 0; try < 20; try++)); do
		app_port=$(some_port)
		"$python" "$source_dir/tests/live/servers_app.py" serve "$app_port" "$pg_port" \
			>"$work/app" 2>"$work/app.err" &
		app=$!
		started+=("$app")
		is_ready 100 "$app" grep -qs ready "$work/app" && return
	done
	fail "the application: $(tail -n 3 "$work/app.err")"
}

# nginx at $web_port, before the application. It has answered one request.
start_nginx() {
	start_nginx_before "http://127.0.0.1:$app_port" "access_log off;"
}

# Before another server, with a line for its log: start_nginx_before URL LINE
start_nginx_before() {
	local try nginx
	for ((try = 0; try < 20; try++)); do
		web_port=$(some_port)
		mkdir -p "$work/nginx"
		cat >"$work/nginx.conf" <<-END
			daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx.err;
			events { }
			http {
				$2
				client_body_temp_path $work/nginx; proxy_temp_path $work/nginx;
				fastcgi_temp_path $work/nginx; uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
				server {
					listen 127.0.0.1:$web_port;
					location / { proxy_pass $1; }
				}
			}
		END
		nginx -e "$work/nginx.err" -c "$work/nginx.conf" 2>>"$work/nginx.err" &
		nginx=$!
		started+=("$nginx")
		is_ready 50 "$nginx" "$python" "$source_dir/tests/live/servers_app.py" load "$web_port" 1 2>/dev/null && return
	done
	fail "nginx: $(tail -n 3 "$work/nginx.err")"
}

# Its clients ask $1 times.
load_chain() {
	"$python" "$source_dir/tests/live/servers_app.py" load "$web_port" "$1" 2>"$work/load.err" ||
		fail "the clients: $(cat "$work/load.err")"
}

# The recording $1 as LTTng's kernel tracer would have made it, in the directory $2: see as_lttng.c, which
# has options.  as_lttng FROM TO [OPTION]
as_lttng() {
	babeltrace2 -o ctf-metadata "$1" >"$work/metadata.text" 2>"$work/metadata.err" ||
		fail "babeltrace2: $(head -n 3 "$work/metadata.err")"
	"$build_dir/tests/live/pt-as-lttng" "${@:3}" "$work/metadata.text" "$1" "$2" || fail "no conversion of $1"
	babeltrace2 -o dummy "$2" 2>"$work/converted.err" && [ ! -s "$work/converted.err" ] ||
		fail "babeltrace2 on what was converted: $(head -n 3 "$work/converted.err")"
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
