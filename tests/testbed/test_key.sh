#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# From a key to the begin of the call of lttng-ctl: at most 20 ms (the median: others may keep the
# machine busy). What the console and its helper say to each other is kept by two tees in between.
# test_key.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$(cd "$2" && pwd)
. "$source_dir/tests/testbed/marked.sh"
work=$(mktemp -d)
finish() {
	kill_marked key
	rm -rf "$work"
}
trap finish EXIT

# The console takes the helper that lies beside it.
cp "$build/pythiatop" "$build/pythiatop-source" "$work"
cat >"$work/pythiatop-control" <<-END
	#!/bin/sh
	tee '$work/asked' | '$build/pythiatop-control' "\$@" | tee '$work/answered'
END
chmod +x "$work/pythiatop-control"

# Where one point stands, so that there is nothing to learn first, and little to choose from.
node() { # PARENT NAME PROVIDER
	echo "{\"parent\":$1,\"name\":\"$2\",\"provider\":\"$3\",\"entry\":\"$3:$2_entry\",\"exit\":\"$3:$2_exit\",
		\"kernel\":false,\"count\":1.0,\"total_ns\":5e7,\"explained\":0}"
}
echo "{\"format\":\"pythiatop-profile\",\"version\":1,\"types\":[{\"type\":\"server create\",\"requests\":1000,
	\"norms\":[],\"nodes\":[$(node -1 server_create api),$(node 0 call_api_notify api),
	$(node 1 call_compute_build api),$(node 2 serve_build compute),$(node 3 build compute)]}]}" >"$work/profile"

export LC_ALL=C.UTF-8 XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
unset NO_COLOR
# The relay's address is known inside alone.
# shellcheck disable=SC2016
(marked key "$source_dir/tests/testbed/daemons.sh" --session demo --events skeleton -- \
	"$build/testbed/pt-testbed" --fault semaphore -- \
	sh -c 'probe=$1 work=$2 schema=$3
		exec "$probe" "$work/asked" "$work/answered" 20 20 "$work/pythiatop" "$PT_RELAY" \
			--schema="$schema" --learn="$work/profile" --mode=approve --control.relay_url="net://127.0.0.1:${PT_RELAY_CONTROL##*:}:${PT_RELAY_DATA##*:}"' \
	sh "$build/tests/testbed/key_to_call" "$work" "$source_dir/tests/testbed/schema.yaml" 2>"$work/err" </dev/null) ||
	fail "$(cat "$work/err")"
is_gone() {
	[ -z "$(processes key)" ]
}
within_10s is_gone || fail "left: $(processes key)"
