#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds and runs the listings of docs/instrument.md, as they stand there, under private daemons, and
# looks for the events and the group they promise: test_instrument.sh SOURCE-DIR BUILD-DIR
set -eu
source_dir=$1 build=$2

# Writes each listing whose fence names a file (```c shop.c) to that file in the current directory.
extract() {
	awk '/^```/ { file = (file == "" && NF == 2) ? $2 : ""; next } file { print > file }' "$1"
}

fail() {
	echo "test_instrument: $*" >&2
	exit 1
}

# Runs listing $1 as a reader would. Two things differ here: the relay is not at its usual ports, and
# nothing may start a session daemon behind our back.
run() {
	# shellcheck disable=SC2016
	sed -e 's/^lttng create .*/& --ctrl-url=$PT_RELAY_CONTROL --data-url=$PT_RELAY_DATA/' \
		-e 's/^lttng /lttng --no-sessiond /' "$1" | bash -eux
}

count() {
	grep -c " $1: " "$PT_DIR/events" || true
}

if [ "${3:-}" != --inside ]; then
	exec "$source_dir/tests/testbed/daemons.sh" --session none -- \
		"$0" "$source_dir" "$build" --inside
fi

mkdir "$PT_DIR/doc"
cd "$PT_DIR/doc"
extract "$source_dir/docs/instrument.md"
lines=$(wc -l <shop-tp.h)
[ "$lines" -le 20 ] || fail "the page promises a pair in 20 lines; shop-tp.h has $lines"
run build.sh
run record.sh
run run.sh
run build-functions.sh
run record-functions.sh
run run-functions.sh
lttng --no-sessiond destroy shop
babeltrace2 "$PT_DIR/relay" >"$PT_DIR/events"

# 4 threads x (1000 + 250) orders.
for event in order_entry order_exit pay_entry pay_exit; do
	[ "$(count shop:$event)" = 5000 ] || fail "expected 5000 of shop:$event, got $(count shop:$event)"
done
# clerk, serve, pay: 4 + 2 x 1000 calls, and main().
for event in func_entry func_exit; do
	n=$(count "lttng_ust_cyg_profile:$event")
	[ "$n" -ge 2005 ] || fail "expected at least 2005 of lttng_ust_cyg_profile:$event, got $n"
done
[ "$(count lttng_ust_statedump:bin_info)" -gt 0 ] || fail "no statedump"

# Every order: one pay, within it and in its thread.
awk '
	{ match($0, /vtid = [0-9]+/); thread = substr($0, RSTART, RLENGTH)
	  match($0, /request_id = [0-9]+/); order = substr($0, RSTART, RLENGTH) }
	/ shop:order_entry: / { at[thread] = order; seen[order]++ }
	/ shop:pay_entry: / && at[thread] == order { paid[order]++ }
	/ shop:order_exit: / { if (at[thread] != order || paid[order] != 1) bad++; delete paid[order] }
	END { exit bad > 0 }' "$PT_DIR/events" || fail "orders and payments do not nest"

# What the page says the console shows: one group, order; also with the schema.
for schema in "" "--schema=shop.yaml"; do
	"$build/pythiatop" ${schema:+"$schema"} --batch=csv "$PT_DIR/relay" >"$PT_DIR/groups"
	n=$(grep -c '\border\b' "$PT_DIR/groups" || true)
	[ "$n" = 1 ] && [ "$(wc -l <"$PT_DIR/groups")" = 2 ] && grep -q '\b5000\b' "$PT_DIR/groups" ||
		fail "not one group of 5000 orders ($schema): $(cat "$PT_DIR/groups")"
done

# Functions go by their names, from the binary that the statedump tells of.
"$build/pythiatop" --batch=folded "$PT_DIR/relay" >"$PT_DIR/folded"
grep -q '^order_shop;order;shop-functions:pay;pay [0-9]*$' "$PT_DIR/folded" ||
	fail "no function pay within order: $(cat "$PT_DIR/folded")"
echo "all listings of docs/instrument.md work"
