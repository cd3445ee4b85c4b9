#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The console's groups against the truth: every request that the testbed's clients got an answer to is
# counted once, under its type, with its duration; and the schema says the same as inference does,
# and so does what inference writes down.
# test_groups.sh SOURCE-DIR BUILD-DIR
set -eu
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"

if [ "${3:-}" != --inside ]; then
	exec "$source_dir/tests/testbed/daemons.sh" --session truth --events testbed -- \
		"$0" "$source_dir" "$build" --inside
fi

# Per type of the clients' log: type, requests, their mean in ns. Names as the console shows them.
truth() {
	awk '{ n[$2]++; sum[$2] += $4; failed += $5 != 0 }
		END { for (t in n) { name = t; gsub("_", " ", name); printf "%s;%d;%.0f\n", name, n[t], sum[t] / n[t] }
			exit failed > 0 }' "$1" | sort
}

# The same from the console's final document: sums over the groups of a type.
shown() {
	tr '{' '\n' <"$1" | sed -n 's/^"id":.*"type":"\([^"]*\)",.*"count":\([0-9]*\),.*"mean_ns":\([0-9.e+]*\),.*/\1;\2;\3/p' |
		awk -F';' '{ n[$1] += $2; sum[$1] += $2 * $3 }
			END { for (t in n) printf "%s;%d;%.0f\n", t, n[t], sum[t] / n[t] }' | sort
}

"$build/testbed/pt-testbed" --duration 8 --seed 3 --fault semaphore --log "$PT_DIR/log" >"$PT_DIR/out"
lttng --no-sessiond destroy truth >/dev/null
"$build/pythiatop" --batch=json "$PT_DIR/relay" >"$PT_DIR/inferred"
"$build/pythiatop" --batch=json --schema "$source_dir/tests/testbed/schema.yaml" "$PT_DIR/relay" \
	>"$PT_DIR/by-schema"
"$build/pythiatop" --show-schema "$PT_DIR/relay" >"$PT_DIR/saved.yaml"
"$build/pythiatop" --batch=json --schema "$PT_DIR/saved.yaml" "$PT_DIR/relay" >"$PT_DIR/by-saved"
truth "$PT_DIR/log" >"$PT_DIR/truth" || fail "requests failed"
shown "$PT_DIR/inferred" >"$PT_DIR/inferred-types"
shown "$PT_DIR/by-schema" >"$PT_DIR/by-schema-types"
shown "$PT_DIR/by-saved" >"$PT_DIR/by-saved-types"
[ "$(wc -l <"$PT_DIR/truth")" -eq 9 ] || fail "not all types were asked for"

# What 20 clients had under way at the end is in the trace, but they did not wait for it. They measure
# more than the api does: their own connection, and on a busy machine their own wait for a CPU.
join -t';' "$PT_DIR/truth" "$PT_DIR/inferred-types" | awk -F';' '
	{ printf "%-20s clients %4d, mean %8.3f ms; console %4d, mean %8.3f ms\n", $1, $2, $3 / 1e6, $4, $5 / 1e6
	  more += $4 - $2
	  if ($4 < $2 || $5 > $3 * (1.02 + 2 * ($4 - $2) / $2) + 1e5 || $5 < $3 * 0.7 - 2e6) { print "  wrong"; wrong = 1 } }
	END { exit wrong || NR != 9 || more > 20 }' || fail "the console's groups are not the clients' requests"
[ "$(wc -l <"$PT_DIR/inferred-types")" -eq 9 ] || fail "types that nobody asked for:" \
	"$(cut -d';' -f1 "$PT_DIR/inferred-types" | paste -sd,)"
for other in schema saved; do
	cmp "$PT_DIR/inferred-types" "$PT_DIR/by-$other-types" ||
		fail "inference and $other differ: $(diff "$PT_DIR/inferred-types" "$PT_DIR/by-$other-types")"
done
