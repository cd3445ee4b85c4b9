#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs a command beside LTTng daemons of its own: a session daemon, a relay daemon on free loopback
# ports, and live sessions. All of it ends with the command, on a signal, and with the parent.
# Any number can run at once, beside the system's own daemons too.
#
# As root, they live in a mount namespace with their own /run/lttng and /dev/shm (LTTng 2.13 knows no
# other way), so whatever is to be traced, and whoever talks to the session daemon, must be started
# by the command. Where root may make no namespace, as in some containers, they use the machine's own,
# if no session daemon of root's runs: then only one can. As another user, a LTTNG_HOME of their own is
# enough.
set -u

usage() {
	cat <<-'END'
		usage: daemons.sh [options] -- COMMAND [ARGUMENT...]
		  --session NAME    a live session (default: demo); may be repeated; "none": no session
		  --events WHAT     all: every user-space event (default);  none
		                    testbed: every point of the testbed, and processes' names
		                    skeleton: the testbed's request ends and calls between services,
		                    and processes' names
		                    otherwise: event names or patterns, separated by commas
		  --timer US        live timer (200000)
		  --subbuf SIZE     size of each sub-buffer (512k)
		  --subbufs N       sub-buffers per CPU (8): few and small ones lose events in bursts
		  --stall MS:EVERY  the consumer daemon stops for MS milliseconds each EVERY: what does
		                    not fit into the sub-buffers meanwhile is lost
		  --dir DIR         keep the relay's output and the daemons' messages there
		The command finds in its environment:
		  PT_RELAY          net://127.0.0.1:PORT, where live viewers connect
		  PT_RELAY_CONTROL, PT_RELAY_DATA   where session daemons send to
		  PT_RELAYD_PID, PT_SESSIOND_PID, PT_RELAYD (command line that starts the same relayd again)
		  PT_DIR            a private directory; LTTNG_HOME
	END
}

fail() {
	echo "daemons.sh: $*" >&2
	exit 1
}

# Has the process $1 a socket that listens on TCP port $2?
listens() {
	local inode
	for inode in $(awk -v port=":$(printf '%04X' "$2")" \
		'$4 == "0A" && substr($2, length($2) - 4) == port { print $10 }' /proc/net/tcp); do
		if readlink "/proc/$1/fd/"* 2>/dev/null | grep -qF "socket:[$inode]"; then
			return 0
		fi
	done
	return 1
}

# Ends the process $1: politely, after ten seconds not, and then what it has started as well. (A testbed
# has five for each of its own, and under ThreadSanitizer needs six in all; killed, it leaves files.)
end() {
	local i children
	[ -n "$1" ] || return 0
	children=$(cat "/proc/$1/task/"*/children 2>/dev/null)
	kill -TERM "$1" 2>/dev/null || return 0
	for i in $(seq 200); do
		kill -0 "$1" 2>/dev/null || break
		# shellcheck disable=SC2086
		[ "$i" -lt 200 ] || kill -KILL "$1" $children 2>/dev/null
		sleep 0.05
	done
	wait "$1" 2>/dev/null
}

finish() {
	local status=$?
	trap '' INT TERM HUP
	trap - EXIT
	end "$command_pid"
	end_stalls
	end "$sessiond_pid"
	end "$relayd_pid"
	if [ -n "$remove_dir" ]; then
		rm -rf "$remove_dir"
	fi
	if [ "$inside" = place ] && [ "$(id -u)" = 0 ]; then
		rm -f /dev/shm/lttng-ust-wait-* # LTTng leaves these; nobody else's session daemon runs
	fi
	exit "$status"
}

# Becomes a program that gets SIGTERM should its parent be killed; for use with &.
start() {
	exec setpriv --pdeathsig TERM "$@"
}

start_relayd() {
	local i base
	for ((i = 0; i < 20; i++)); do
		base=$((20000 + RANDOM % 12000)) # below what the kernel gives to others
		PT_RELAY=net://127.0.0.1:$((base + 2))
		PT_RELAY_CONTROL=tcp://127.0.0.1:$base
		PT_RELAY_DATA=tcp://127.0.0.1:$((base + 1))
		PT_RELAYD="lttng-relayd -C $PT_RELAY_CONTROL -D $PT_RELAY_DATA \
-L tcp://127.0.0.1:$((base + 2)) -o $PT_DIR/relay"
		# shellcheck disable=SC2086
		start $PT_RELAYD >"$PT_DIR/relayd.log" 2>&1 </dev/null &
		relayd_pid=$!
		for ((j = 0; j < 100; j++)); do
			if listens $relayd_pid $base && listens $relayd_pid $((base + 1)) &&
				listens $relayd_pid $((base + 2)); then
				export PT_RELAY PT_RELAY_CONTROL PT_RELAY_DATA PT_RELAYD
				export PT_RELAYD_PID=$relayd_pid
				return 0
			fi
			kill -0 $relayd_pid 2>/dev/null || break
			sleep 0.05
		done
		end "$relayd_pid"
	done
	cat "$PT_DIR/relayd.log" >&2
	fail "lttng-relayd does not start"
}

start_sessiond() {
	local i agent_port=$((20000 + RANDOM % 12000))
	start lttng-sessiond --no-kernel --agent-tcp-port=$agent_port \
		>"$PT_DIR/sessiond.log" 2>&1 </dev/null &
	sessiond_pid=$!
	export PT_SESSIOND_PID=$sessiond_pid
	for ((i = 0; i < 200; i++)); do
		if lttng --no-sessiond list >/dev/null 2>&1; then
			return 0
		fi
		kill -0 $sessiond_pid 2>/dev/null || break
		sleep 0.05
	done
	cat "$PT_DIR/sessiond.log" >&2
	fail "lttng-sessiond does not start"
}

# Stops the consumer daemon, a child of the session daemon, for $1 ms every $2 ms.
stall() {
	local pids
	# Should daemons.sh be killed, the session daemon ends with it, and so do we.
	while sleep "$(milliseconds $(($2 - $1)))" && kill -0 "$sessiond_pid" 2>/dev/null; do
		pids=$(consumers)
		# shellcheck disable=SC2086
		kill -STOP $pids 2>/dev/null
		sleep "$(milliseconds "$1")"
		# shellcheck disable=SC2086
		kill -CONT $pids 2>/dev/null
	done
}

milliseconds() {
	printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
}

# Pids of the consumer daemons of our session daemon, whichever of its threads started them.
consumers() {
	local pid
	for pid in $(cat "/proc/$sessiond_pid/task/"*/children 2>/dev/null); do
		grep -q '^lttng-consumer' "/proc/$pid/comm" 2>/dev/null && echo "$pid"
	done
}

end_stalls() {
	[ -n "$stall_pid" ] || return 0
	end "$stall_pid"
	stall_pid=''
	# shellcheck disable=SC2046
	kill -CONT $(consumers) 2>/dev/null
}

lttng_do() {
	lttng --no-sessiond "$@" >>"$PT_DIR/lttng.log" 2>&1 || {
		cat "$PT_DIR/lttng.log" >&2
		fail "failed: lttng $*"
	}
}

# Creates and starts session $1. Relay files are bounded: 4 of 16 MB per CPU.
create_session() {
	lttng_do create "$1" --live="$timer_us" \
		--ctrl-url="$PT_RELAY_CONTROL" --data-url="$PT_RELAY_DATA"
	lttng_do enable-channel -u -s "$1" --buffers-uid --subbuf-size="$subbuf" --num-subbuf="$subbufs" \
		--tracefile-size=16M --tracefile-count=4 events
	lttng_do add-context -u -s "$1" -c events -t vpid -t vtid
	case $events in
	none) ;;
	all) lttng_do enable-event -u -s "$1" -c events -a ;;
	*) lttng_do enable-event -u -s "$1" -c events "$events" ;;
	esac
	lttng_do start "$1"
}

sessions=() events=all timer_us=200000 subbuf=512k subbufs=8 stalls='' keep_dir='' inside='' original=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--session | --events | --timer | --subbuf | --subbufs | --stall | --dir)
		[ $# -ge 2 ] || { usage >&2; exit 2; } ;;&
	--inside) inside=namespace; shift ;;
	--in-place) inside=place; shift ;;
	--session) sessions+=("$2"); shift 2 ;;
	--events) events=$2; shift 2 ;;
	--timer) timer_us=$2; shift 2 ;;
	--subbuf) subbuf=$2; shift 2 ;;
	--subbufs) subbufs=$2; shift 2 ;;
	--stall) stalls=$2; shift 2 ;;
	--dir) keep_dir=$2; shift 2 ;;
	--help) usage; exit 0 ;;
	--) shift; break ;;
	*) usage >&2; exit 2 ;;
	esac
done
[ $# -gt 0 ] || { usage >&2; exit 2; }

if [ -z "$inside" ]; then
	if [ "$(id -u)" = 0 ]; then
		mkdir -p /run/lttng || fail "cannot make /run/lttng"
		if unshare --mount --propagation private true 2>/dev/null; then
			exec setpriv --pdeathsig TERM unshare --mount --propagation private -- \
				"$BASH" "$0" --inside "${original[@]}"
		fi
		! kill -0 "$(cat /run/lttng/lttng-sessiond.pid 2>/dev/null)" 2>/dev/null ||
			fail "no namespace may be made here, and root's session daemon runs already: end it, \
or run this as another user"
		echo "daemons.sh: no namespace may be made here: this machine's /run/lttng is used" >&2
		exec setpriv --pdeathsig TERM "$BASH" "$0" --in-place "${original[@]}"
	fi
	exec setpriv --pdeathsig TERM "$BASH" "$0" --inside "${original[@]}"
fi

here=$(cd "$(dirname "$0")" && pwd)
request_ends=$(sed -n 's/^PT_TYPE(\([a-z_]*\),.*/api:\1_entry,api:\1_exit/p' "$here/types.def" |
	paste -sd,)
# With the points, what processes are called: told once by each.
names=lttng_ust_statedump:procname
case $events in
testbed) events="api:*,sched:*,compute:*,net:*,vol:*,$names" ;;
skeleton) events="$request_ends,*:call_*,*:serve_*,$names" ;;
esac

command_pid='' sessiond_pid='' relayd_pid='' stall_pid='' remove_dir=''
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

if [ "$(id -u)" = 0 ] && [ "$inside" = namespace ]; then
	mount -t tmpfs -o mode=0755 tmpfs /run/lttng && mount -t tmpfs -o mode=1777 tmpfs /dev/shm ||
		fail "cannot mount a private /run/lttng and /dev/shm: not allowed here"
	PT_DIR=/run/lttng/private # goes with the namespace, even if nobody can clean up
	mkdir -m 0700 $PT_DIR
else
	PT_DIR=$(mktemp -d "${XDG_RUNTIME_DIR:-/tmp}/pt-daemons.XXXXXX") || fail "cannot make a directory"
	remove_dir=$PT_DIR
fi
if [ -n "$keep_dir" ]; then
	mkdir -p "$keep_dir" || fail "cannot make $keep_dir"
	PT_DIR=$(cd "$keep_dir" && pwd)
fi
# LTTng's own environment could send us to somebody else's daemons.
unset LTTNG_SESSIOND_PATH LTTNG_RELAYD_DISALLOW_CLEAR
export PT_DIR LTTNG_HOME=${remove_dir:-/run/lttng/private}

start_relayd
start_sessiond
for session in "${sessions[@]:-demo}"; do
	[ "$session" = none ] || create_session "$session"
done
if [ -n "$stalls" ]; then
	case $stalls in
	*[!0-9:]* | *:*:* | :* | *:) fail "--stall takes MS:EVERY, such as 300:2000, not $stalls" ;;
	*:*) [ "${stalls#*:}" -gt "${stalls%:*}" ] || fail "--stall: MS must be less than EVERY" ;;
	*) fail "--stall takes MS:EVERY, such as 300:2000, not $stalls" ;;
	esac
	stall "${stalls%:*}" "${stalls#*:}" &
	stall_pid=$!
fi

# In the background, so that signals reach us at once; with our standard input, and without the
# SIGINT that shells ignore for such commands.
env --default-signal=INT,QUIT setpriv --pdeathsig TERM "$@" <&0 &
command_pid=$!
wait "$command_pid"
status=$?
command_pid=''
exit "$status"
