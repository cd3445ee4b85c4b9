#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two hosts, alpha and beta: mount, UTS and network namespaces of their own, each with a session
# daemon, a traced process and a real sshd (one reached by its PATH, one by a forced command); the
# relay daemon and the console are on a third. Nothing of it can be reached from outside. Each sshd
# listens on its host's loopback address, too, and is reached there; where the network is cut, by its
# link, for loopback cannot be.
set -u

source_dir=$1 build_dir=$2 work=${PT_HOSTS_WORK:-}
relay=net://10.99.0.1 # how the hosts see the relay daemon; the console sees it as localhost

# What a host does, in its namespaces: NAME NUMBER.
be_host() {
	local name=$1 n=$2 i
	hostname "$name" && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev/shm &&
		mkdir /run/lttng /run/sshd || exit 1
	ip link set lo up
	for ((i = 0; i < 100; i++)); do
		ip link show "in$n" >/dev/null 2>&1 && break
		sleep 0.05
	done
	ip address add "10.99.$n.2/24" dev "in$n" && ip link set "in$n" up &&
		ip route add default via "10.99.$n.1" || exit 1
	# Without this a relay daemon behind a cut network holds every command of a session daemon up,
	# until the network is back or TCP gives up: such a host is beta.
	[ "$name" = beta ] || export LTTNG_NETWORK_SOCKET_TIMEOUT=2000
	lttng-sessiond --no-kernel >"$work/$name/sessiond.log" 2>&1 &
	for ((i = 0; i < 100; i++)); do
		lttng --no-sessiond list >/dev/null 2>&1 && break
		sleep 0.05
	done
	# Numbers of requests differ from host to host, as those of one system do.
	"$build_dir/tests/live/pt-generate" 100000000 1 3000 "${n}000000000" &
	/usr/sbin/sshd -D -e -f "$work/$name/sshd_config" 2>"$work/$name/sshd.log" &
	: >"$work/$name/ready"
	wait
}

if [ "${3:-}" = --host ]; then
	be_host "$4" "$5"
	exit
fi

if [ -z "$work" ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "skipped: namespaces of hosts need root"
		exit 77
	fi
	for tool in lttng-relayd lttng-sessiond ip nsenter ssh ssh-keygen /usr/sbin/sshd; do
		if ! command -v "$tool" >/dev/null; then
			echo "skipped: $tool is not installed"
			exit 77
		fi
	done
	if ! unshare --net ip link add veth0 type veth peer name veth1 2>/dev/null; then
		echo "skipped: this kernel has no pairs of virtual network interfaces"
		exit 77
	fi
	PT_HOSTS_WORK=$(mktemp -d "${TMPDIR:-/tmp}/pt-hosts.XXXXXX")
	export PT_HOSTS_WORK
	# With the first process of this pid namespace all others end.
	setpriv --pdeathsig TERM unshare --mount --net --pid --fork --kill-child --mount-proc \
		--propagation private "$BASH" "$0" "$source_dir" "$build_dir"
	status=$?
	rm -rf "$PT_HOSTS_WORK"
	exit $status
fi

# --- the third host ---
PT_RELAY=net://localhost PT_RELAY_CONTROL=tcp://10.99.0.1:5342 PT_RELAY_DATA=tcp://10.99.0.1:5343
. "$source_dir/tests/live/lib.sh"
started=()
ssh_program=$work/ssh
. "$source_dir/tests/live/control.sh"
relay=net://10.99.0.1
mkdir "$work/alpha" "$work/beta" "$work/relay"

ssh-keygen -q -t ed25519 -N '' -f "$work/key" && ssh-keygen -q -t ed25519 -N '' -f "$work/host_key" &&
	ssh-keygen -q -t ed25519 -N '' -f "$work/wrong_key" || fail "ssh-keygen"
for name in alpha beta; do
	n=$([ $name = alpha ] && echo 1 || echo 2)
	cat >"$work/$name/sshd_config" <<-END
		ListenAddress 10.99.$n.2
		ListenAddress 127.0.0.1
		HostKey $work/host_key
		AuthorizedKeysFile $work/$name/keys
		StrictModes no
		UsePAM no
		PidFile none
		PermitRootLogin yes
		PasswordAuthentication no
		SetEnv PATH=$build_dir:/usr/bin:/bin XDG_STATE_HOME=$work/$name/state XDG_CONFIG_HOME=$work/$name/config
	END
	echo "10.99.$n.2,127.0.0.1 $(cut -d' ' -f1-2 "$work/host_key.pub")" >>"$work/known_hosts"
done
cp "$work/key.pub" "$work/alpha/keys"
echo "command=\"$helper --config=$work/beta/control.conf\",restrict $(cat "$work/key.pub")" \
	>"$work/beta/keys"
echo 'control.deny = gen:request_exit' >"$work/beta/control.conf"
cat >"$work/ssh_config" <<-END
	IdentitiesOnly yes
	Host alpha
		HostName 10.99.1.2
	Host beta
		HostName 10.99.2.2
	Host gamma
		HostName 10.99.1.2
		IdentityFile $work/wrong_key
	Host delta
		HostName 10.99.2.2
		UserKnownHostsFile /dev/null
	Host alpha beta delta
		IdentityFile $work/key
	Host *
		UserKnownHostsFile $work/known_hosts
END
printf '#!/bin/sh\nexec ssh -F %s "$@"\n' "$work/ssh_config" >"$work/ssh"
chmod 0700 "$work/ssh" "$work/key"

ip link set lo up && ip address add 10.99.0.1/32 dev lo && mount -t tmpfs tmpfs /run &&
	mount -t tmpfs tmpfs /dev/shm && mkdir /run/lttng || fail "cannot make a network"
background lttng-relayd -C tcp://0.0.0.0:5342 -D tcp://0.0.0.0:5343 -L tcp://127.0.0.1:5344 \
	-o "$work/relay" >"$work/relayd.log" 2>&1
declare -A host_pid
for name in alpha beta; do
	n=$([ $name = alpha ] && echo 1 || echo 2)
	background unshare --mount --uts --net --propagation private "$BASH" "$0" "$source_dir" \
		"$build_dir" --host $name "$n" >"$work/$name.log" 2>&1
	host_pid[$name]=$pid
	sleep 0.3
	ip link add "out$n" type veth peer name "in$n" && ip link set "in$n" netns "$pid" &&
		ip address add "10.99.$n.1/24" dev "out$n" && ip link set "out$n" up ||
		fail "cannot make the network of $name"
done
for name in alpha beta; do
	for _ in $(seq 100); do
		[ -e "$work/$name/ready" ] && break
		sleep 0.1
	done
	[ -e "$work/$name/ready" ] || fail "$name is not there: $(cat "$work/$name.log")"
done

for name in alpha beta; do
	cat >>"$work/ssh_config" <<-END
		Host $name-loopback
			HostName 127.0.0.1
			IdentityFile $work/key
			ProxyCommand nsenter --target ${host_pid[$name]} --net bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3'
	END
done

on() { # HOST COMMAND...
	local name=$1
	shift
	nsenter --target "${host_pid[$name]}" --mount --uts --net "$@"
}

# "?" if the session daemon does not say.
ours_on() {
	on "$1" timeout 2 lttng --no-sessiond list >"$work/list" || echo "?"
	grep -Eo 'pythiatop-[^ ]*' "$work/list"
}

expect_none_on() { # HOST SECONDS WHAT
	local i began
	began=$(date +%s%N)
	for ((i = 0; i < $2 * 10; i++)); do
		if [ -z "$(ours_on "$1")" ]; then
			echo "$3: gone from $1 after $((($(date +%s%N) - began) / 1000000)) ms"
			return 0
		fi
		sleep 0.1
	done
	fail "$3: left on $1 after $2 s: $(ours_on "$1")"
}

# Somebody else's session on alpha is to stay as it is.
on alpha lttng --no-sessiond create theirs --snapshot >/dev/null &&
	on alpha lttng --no-sessiond enable-event -u -s theirs gen:request_exit >/dev/null &&
	on alpha lttng --no-sessiond start theirs >/dev/null || fail "cannot make theirs"
theirs() {
	on alpha lttng --no-sessiond list theirs
}
before=$(theirs)

act_on() { # HOST
	tell host "$1"
	tells ' ready ' ready
	tells '^answer 0 ' "create $relay"
	tells '^change gen:point done explore$' 'enable gen:point'
}

start_driver alpha=ssh://alpha beta=ssh://root@beta:22 gamma=ssh://gamma delta=ssh://delta
act_on alpha
act_on beta
tells '^change gen:request_exit refused .*this host does not allow it' 'enable gen:request_exit'
tell host gamma
tells 'gamma failed .*No control of gamma: ssh: .*Permission denied' state
tell host delta
tells 'delta failed .*No control of delta: .*Host key verification failed' state

# Documents are long; the begin is what failures are to show.
short() {
	newest | cut -c1-4000
}

# What was enabled there arrives here.
start_console net://localhost
for name in alpha beta; do
	url=net://localhost/host/$name/$(ours_on $name)
	expect 10 "$(row "net://localhost[^\"]*/host/$name/$(ours_on $name)" active)"
	for _ in $(seq 100); do
		[ "$(events_of "net://localhost[^\"]*/host/$name/$(ours_on $name)")" -gt 1000 ] 2>/dev/null && break
		sleep 0.1
	done
	[ "$(events_of "net://localhost[^\"]*/host/$name/$(ours_on $name)")" -gt 1000 ] ||
		fail "no events from $url: $(newest)"
done
end_console

"$build_dir/pythiatop" --points --control=alpha=ssh://alpha --control=beta=ssh://beta \
	--control.ssh="$work/ssh" >"$work/points" || fail "--points: $(cat "$work/points")"
grep -q '^host beta$' "$work/points" &&
	[ "$(grep -c '^gen:point .*\[on in pythiatop-' "$work/points")" = 2 ] ||
	fail "--points: $(cat "$work/points")"

# A network that is cut: the lease ends there, and the other host does not notice.
ip link set out1 down
expect_none_on alpha 13 "network cut"
[ -n "$(ours_on beta)" ] || fail "beta lost its session with alpha's network"
tell host alpha
tells 'alpha failed .*(said nothing for 8 s|ssh: .*(unreachable|timed out))' state
ip link set out1 up
tells 'alpha ready generation=2 ' ready
act_on alpha
ip link set out2 down
sleep 14
ip link set out2 up
expect_none_on beta 30 "network cut for 14 s"
act_on beta

# A console that is killed, and one that ends.
kill -KILL "$driver"
exec {driver_fd}>&-
expect_none_on alpha 3 "console killed"
expect_none_on beta 3 "console killed"
start_driver alpha=ssh://alpha beta=ssh://beta
act_on alpha
act_on beta
end_driver
expect_none_on alpha 3 "console ended"
expect_none_on beta 3 "console ended"

# The helper there is killed with all that belongs to it; --undo there.
start_driver alpha=ssh://alpha
act_on alpha
kill -STOP "$driver"
for child in $(ps -eo pid=,comm= | awk '$2 == "pythiatop-contr" { print $1 }'); do
	kill -STOP "$child"
	killed+=" $child"
done
kill -KILL $killed "$driver"
exec {driver_fd}>&-
sleep 0.5
[ -n "$(ours_on alpha)" ] || fail "who has undone it?"
XDG_STATE_HOME=$work/alpha/state on alpha "$helper" --undo | grep '^undid pythiatop-' ||
	fail "--undo says nothing"
expect_none_on alpha 1 "all killed, --undo"

# Through each sshd on loopback.
start_driver alpha=ssh://alpha-loopback beta=ssh://beta-loopback
act_on alpha
act_on beta
end_driver
expect_none_on alpha 3 "console on loopback ended"
expect_none_on beta 3 "console on loopback ended"

for name in alpha beta; do
	on $name lttng --no-sessiond create demo --live=200000 --set-url="$relay" >/dev/null &&
		on $name lttng --no-sessiond enable-event -u -s demo \
			gen:request_entry,gen:request_exit >/dev/null &&
		on $name lttng --no-sessiond start demo >/dev/null || fail "cannot make demo on $name"
done
demo=$(on alpha lttng --no-sessiond list demo; on beta lttng --no-sessiond list demo)

start_autopilot() {
	rm -f "$work/log"
	start_console net://localhost/host/alpha/demo net://localhost/host/beta/demo -d 0.5 \
		--control=alpha=ssh://alpha --control=beta=ssh://beta --control.ssh="$work/ssh" \
		--control.relay_url="$relay" --autopilot --until=300 --log="$work/log"
}

end_autopilot() {
	kill -TERM "$console"
	wait "$console"
	expect_none_on alpha 3 "$1"
	expect_none_on beta 3 "$1"
	[ "$demo" = "$(on alpha lttng --no-sessiond list demo; on beta lttng --no-sessiond list demo)" ] ||
		fail "$1: the demo sessions have changed"
}

control_of() { # HOST READY TEXT
	echo "\"host\":\"$1\",\"ready\":$2,\"session\":[^,]*,\"text\":$3"
}

# What a host's configuration forbids the console itself says on autopilot, and does not try again:
# alpha is read-only, beta lets single points be enabled only.
mkdir -p "$work/alpha/config/pythiatop"
echo 'control.read_only = yes' >"$work/alpha/config/pythiatop/control.conf"
start_autopilot
expect 30 "$(control_of alpha false '"this host is read-only: control.read_only in its control.conf')"
expect 40 '"kind":"learn","state":"failed",.*"effect":"failed: (alpha: this host is read-only|beta: this host lets single)'
sleep 3
# (To go on by names is something else, and is refused as well.)
learned=$(tail -n 2 "$documents" | head -n 1 | grep -o '"kind":"learn"' | wc -l)
[ "$learned" = 1 ] || fail "it is tried again, $learned times: $(tail -n 5 "$work/log")"
[ -z "$(ours_on alpha)" ] || fail "a session on a read-only host: $(ours_on alpha)"
! on beta lttng --no-sessiond list "$(ours_on beta)" | grep '\[enabled\]$' | grep 'gen:' ||
	fail "beta forbids it, and it is enabled"
end_autopilot "what is forbidden"
rm "$work/alpha/config/pythiatop/control.conf"
: >"$work/beta/control.conf"

# In the middle of a step on both hosts what is done on alpha ends with its network, the console says
# so and goes on with beta; then alpha is there again.
start_autopilot
expect 60 '"kind":"learn","state":"watched"'
own=$(ours_on alpha)
[ -n "$own" ] && [ -n "$(ours_on beta)" ] ||
	fail "a step without sessions of ours, alpha \"$own\", beta \"$(ours_on beta)\": $(short)"
ip link set out1 down
expect 25 "$(control_of alpha false '"No control of alpha: (it said nothing for 8 s|ssh: )')"
newest | grep -Eq "$(control_of beta true null)" || fail "beta is lost with alpha: $(short)"
expect_none_on alpha 13 "network cut in the middle of a step"
[ -n "$(ours_on beta)" ] || fail "beta lost its session with alpha's network"
ip link set out1 up
expect 60 "$(control_of alpha true null).*$(control_of beta true null)"
for _ in $(seq 100); do
	[ -n "$(ours_on alpha)" ] && break
	sleep 0.1
done
[ -n "$(ours_on alpha)" ] || fail "no session was made again on alpha"
end_autopilot "autopilot ended"

[ "$(theirs)" = "$before" ] || fail "other people's sessions have changed: $(theirs)"
