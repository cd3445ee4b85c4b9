# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# The scenarios of sites.def, for field.sh and demo.sh, on the stage of stage.sh: each function prepares
# a stock server with load on it, sets `watched` (the process for `pythiatop -p`), `learns` if what is
# normal is learned before the fault, and defines begin_fault. `words` is the row's, `seed` of the run;
# `load_pids` are of load.py, which tell what clients saw.

# Clients in the background: clients KIND WHERE RATE NUMBER COMMAND WEIGHT...
clients() {
	local kind=$1 where=$2 rate=$3 n=$4
	shift 4
	"$python" "$here/load.py" "$kind" "$where" "$rate" "$n" "$((seed * 10 + ${#load_pids[@]}))" "$@" \
		>"$work/load.${#load_pids[@]}" 2>>"$work/load.err" &
	load_pids+=($!)
	started+=($!)
}

# A process of ours, which ends with the run.
beside() {
	"$@" &
	started+=($!)
}

# --- redis-server -----------------------------------------------------------------------------------

# Ordinary keys, and some large ones: redis_with [OPTION...]
redis_with() {
	start_redis "$@"
	watched=$redis
	"$python" - <<-'END' | redis-cli -p "$redis_port" --pipe >/dev/null || fail "redis-cli"
		for i in range(20000):
		    print("RPUSH big item-%d" % i)
		    print("SADD bigset m%d" % i)
		    print("SADD bigset2 m%d" % (i + 1))
		    print("HSET bighash f%d v%d" % (i, i))
		    print("ZADD bigz %d m%d" % (i, i))
		    print("ZADD bigz2 %d m%d" % (i, i))
		print("SETBIT bigbits 80000000 1")
		for i in range(1000):
		    print("SET key%d value" % i)
	END
}

ordinary_redis() { # RATE
	clients redis "$redis_port" "$1" 4 "GET key#" 8 "SET key# value" 2
}

# One request in fifty asks for something expensive.
redis_dear() {
	redis_with
	ordinary_redis 800
	begin_fault() {
		clients redis "$redis_port" 16 1 "$words" 1
	}
}

# Each write is synced at once, and the disk is slow at it: WORDS as slowfs takes them.
redis_sync() {
	slow_directory
	redis_with --appendonly yes --appendfsync always --dir "$slow"
	clients redis "$redis_port" 200 4 "GET key#" 5 "SET key# value" 5
	begin_fault() {
		echo "$words" >"$work/order"
	}
}

# A snapshot of a large process is begun again and again: KEYS SECONDS
redis_fork() {
	local keys every
	read -r keys every <<<"$words"
	redis_with
	redis-cli -p "$redis_port" DEBUG populate "$keys" filled 1000 >/dev/null
	ordinary_redis 800
	begin_fault() {
		read -r keys every <<<"$words"
		clients redis "$redis_port" "$(awk -v s="$every" 'BEGIN { print 1 / s }')" 1 BGSAVE 1
	}
}

# Somebody else works on the server's processor, in bursts: ON-SECONDS OFF-SECONDS
cpu_taken() {
	redis_with
	taskset -a -p -c 1 "$redis" >/dev/null
	ordinary_redis 400
	begin_fault() {
		local on off
		read -r on off <<<"$words"
		beside taskset -c 1 "$python" -c "
import time
while True:
    end = time.monotonic() + $on
    while time.monotonic() < end:
        pass
    time.sleep($off)"
	}
}

quiet_redis() {
	redis_with
	ordinary_redis "$words"
	begin_fault() { :; }
}

# --- PostgreSQL -------------------------------------------------------------------------------------

postgres_with() {
	start_postgres
	watched=postgres
	psql=("${as_postgres[@]}" psql -h 127.0.0.1 -p "$pg_port" -U postgres -q -d postgres)
	"${psql[@]}" -c "
		CREATE TABLE orders (id int, customer int, note text);
		CREATE TABLE invoices (id int, customer int, note text);
		CREATE TABLE stock (id int PRIMARY KEY, amount int);
		INSERT INTO orders SELECT i, i % 20000, repeat('x', 100) FROM generate_series(1, 200000) i;
		INSERT INTO invoices SELECT i, i % 20000, repeat('x', 100) FROM generate_series(1, 200000) i;
		INSERT INTO stock SELECT i, 0 FROM generate_series(1, 2000) i;
		CREATE INDEX orders_customer ON orders (customer);
		CREATE INDEX invoices_customer ON invoices (customer);
		ANALYZE" || fail "psql"
	cat >"$work/one.sql" <<-'END'
		\set customer random(1, 19999)
		SELECT count(note) FROM orders WHERE customer = :customer;
	END
	cat >"$work/two.sql" <<-'END'
		\set customer random(1, 19999)
		SELECT count(note) FROM invoices WHERE customer = :customer;
	END
	cat >"$work/three.sql" <<-'END'
		\set id random(1, 2000)
		UPDATE stock SET amount = amount + 1 WHERE id = :id;
	END
	(cd "$work" && exec "${as_postgres[@]}" pgbench -h 127.0.0.1 -p "$pg_port" -U postgres -n -P 1 -c 6 -j 1 \
		-T 100000 -R "${1:-200}" --random-seed="$seed" -f one.sql@5 -f two.sql@5 -f three.sql@5 postgres) \
		>"$work/pgbench" 2>&1 &
	started+=($!)
}

# One of many tables has lost its index: TABLE
pg_index() {
	postgres_with
	begin_fault() {
		"${psql[@]}" -c "DROP INDEX ${words}_customer"
	}
}

# Another session holds a lock in bursts: row|table HELD-SECONDS BETWEEN-SECONDS
pg_lock() {
	postgres_with
	begin_fault() {
		local what held between statement
		read -r what held between <<<"$words"
		statement="LOCK TABLE stock IN EXCLUSIVE MODE"
		[ "$what" = table ] || statement="SELECT id FROM stock WHERE id < 1900 FOR UPDATE"
		(while :; do
			echo "BEGIN; $statement; SELECT pg_sleep($held); COMMIT; SELECT pg_sleep($between);"
		done | "${psql[@]}" -t >/dev/null 2>&1) &
		started+=($!)
	}
}

# A report over one table keeps another one locked for as long as it takes: TABLE BETWEEN-SECONDS
pg_report() {
	postgres_with 100
	begin_fault() {
		local of between
		read -r of between <<<"$words"
		(while :; do
			echo "BEGIN; LOCK TABLE stock IN EXCLUSIVE MODE;"
			echo "SELECT count(DISTINCT md5(note || id)) FROM $of; COMMIT;"
			sleep "$between"
		done | "${psql[@]}" -t >/dev/null 2>&1) &
		started+=($!)
	}
}

quiet_postgres() {
	postgres_with "$words"
	begin_fault() { :; }
}

# --- web servers before an application --------------------------------------------------------------

# A Python service with eight threads, and a delay that is read before each request: application NAME
# That one called "far" is reached over a network that is told in $work/order what to do to packets.
application() {
	local try i number through=() address=127.0.0.1
	: >"$work/$1.delay"
	for ((try = 0; try < 20; try++)); do
		if [ "$1" = far ]; then
			number=$((RANDOM % 255 + 1)) # another run may have that one
			through=("$build/tests/slownet" "$work/order" "$number")
			address=10.99.$number.2
		fi
		app_port=$(some_port)
		"${through[@]}" "$python" "$here/app.py" "$address:$app_port" "$work/$1.delay" 8 >"$work/$1.out" \
			2>"$work/$1.err" &
		started+=($!)
		for ((i = 0; i < 50; i++)); do
			grep -q ready "$work/$1.out" && app=$address:$app_port && return
			kill -0 $! 2>/dev/null || break
			sleep 0.1
		done
	done
	fail "the application: $(tail -n 3 "$work/$1.err")"
}

# nginx_before LOG ADDRESS:PORT...
nginx_before() {
	local log=$1 app try i servers=""
	shift
	for app in "$@"; do
		servers+="server $app;"
	done
	mkdir -p "$work/nginx"
	for ((try = 0; try < 20; try++)); do
		web_port=$(some_port)
		cat >"$work/nginx.conf" <<-END
			daemon off; user root; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.err;
			events { }
			http {
				access_log $log;
				client_body_temp_path $work/nginx; proxy_temp_path $work/nginx;
				fastcgi_temp_path $work/nginx; uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
				upstream application { $servers }
				server {
					listen 127.0.0.1:$web_port;
					location / { proxy_pass http://application; }
				}
			}
		END
		nginx -e "$work/nginx.err" -c "$work/nginx.conf" 2>>"$work/nginx.err" &
		nginx=$!
		started+=("$nginx")
		for ((i = 0; i < 50; i++)); do
			(exec 3<>"/dev/tcp/127.0.0.1/$web_port") 2>/dev/null && kill -0 "$nginx" 2>/dev/null && break 2
			kill -0 "$nginx" 2>/dev/null || break
			sleep 0.1
		done
	done
	kill -0 "$nginx" 2>/dev/null || fail "nginx: $(tail -n 3 "$work/nginx.err")"
	watched=$nginx
}

# One of two upstream servers is slow: MIN-SECONDS MAX-SECONDS. Its port is what is to be said. Requests that
# ask another server are another group, and nothing tells that both should be as fast: what is normal is
# learned before.
upstream() {
	local first
	learns=1
	application first
	first=$app
	application second
	says=${says//second/${app#*:}}
	nginx_before off "$first" "$app"
	clients http "$web_port" 100 4 "/page#" 1
	begin_fault() {
		echo "$words" >"$work/second.delay"
	}
}

# The access log is on a disk that is slow at times: WORDS as slowfs takes them.
slow_log() {
	slow_directory
	application first
	nginx_before "$slow/access.log" "$app"
	clients http "$web_port" 100 4 "/page#" 1
	begin_fault() {
		echo "$words" >"$work/order"
	}
}

# The application is on another host, and packets on the way are late, or lost: WORDS as slownet takes them.
slow_net() {
	: >"$work/order"
	application far
	nginx_before off "$app"
	clients http "$web_port" 50 8 "/page#" 1
	begin_fault() {
		echo "$words" >"$work/order"
	}
}

quiet_nginx() {
	application first
	nginx_before "$work/access.log" "$app"
	clients http "$web_port" "$words" 4 "/page#" 1
	begin_fault() { :; }
}

# A web application with WORKERS processes that serve one request each: pool_of WORKERS
pool_of() {
	local try
	for ((try = 0; try < 20; try++)); do
		web_port=$(some_port)
		gunicorn --chdir "$here" --workers "$1" --bind "127.0.0.1:$web_port" wsgi:application \
			>"$work/gunicorn.log" 2>&1 &
		watched=$!
		started+=("$watched")
		is_ready 50 "$watched" grep -q "Booting worker" "$work/gunicorn.log" &&
			is_ready 50 "$watched" curl -sf -o "$work/got" "http://127.0.0.1:$web_port/" && return
	done
	fail "gunicorn: $(tail -n 3 "$work/gunicorn.log")"
}

# More ask at once, now and then, than there are processes that serve: WORKERS CLIENTS EVERY-SECONDS
pool_burst() {
	local workers
	read -r workers _ <<<"$words"
	pool_of "$workers"
	clients http "$web_port" 20 4 "/page#" 1
	begin_fault() {
		local n every
		read -r _ n every <<<"$words"
		clients http "$web_port" "every $every" "$n" "/page#" 1
	}
}

quiet_pool() {
	pool_of 2
	clients http "$web_port" "$words" 4 "/page#" 1
	begin_fault() { :; }
}

# Others hold all of them, now and then, for what they wait for elsewhere: WORKERS EVERY-SECONDS PATH
pool_held() {
	local workers
	read -r workers _ <<<"$words"
	pool_of "$workers"
	clients http "$web_port" 20 4 "/page#" 1
	begin_fault() {
		local workers every path
		read -r workers every path <<<"$words"
		clients http "$web_port" "every $every" "$workers" "$path" 1
	}
}

# --- disks ------------------------------------------------------------------------------------------

# A directory on a file system that is told in $work/order what to be slow at: $slow
slow_directory() {
	local i
	mkdir "$work/disk" "$work/slow"
	: >"$work/order"
	"$build/tests/slowfs" "$work/disk" "$work/order" "$work/slow" -f 2>"$work/slowfs.err" &
	started+=($!)
	mounted+=("$work/slow")
	slow=$work/slow
	for ((i = 0; i < 50; i++)); do
		mountpoint -q "$slow" && return
		sleep 0.1
	done
	fail "slowfs: $(tail -n 1 "$work/slowfs.err")"
}
