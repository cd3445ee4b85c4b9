#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The workload of a recording, replayed: the types and shapes of the replay are those of the original,
# within their intervals, and so is how often they come.
# test_workload.sh SOURCE-DIR BUILD-DIR
set -eu
source_dir=$1 build=$2
. "$source_dir/tests/testbed/marked.sh"

# Runs the testbed and writes the document of its recording, and its workload.
record() { # NAME OPTION...
	local name=$1
	shift
	"$source_dir/tests/testbed/daemons.sh" --session "$name" --events testbed -- "$0" "$source_dir" "$build" \
		--inside "$name" "$dir" "$@"
}

if [ "${3:-}" = --inside ]; then
	name=$4 dir=$5
	shift 5
	"$build/testbed/pt-testbed" --duration 10 --rate 400 "$@" >"$dir/$name.out"
	lttng --no-sessiond destroy "$name" >/dev/null
	"$build/pythiatop" --batch=json --schema "$source_dir/tests/testbed/schema.yaml" \
		--workload "$dir/$name.workload" "$PT_DIR/relay" >"$dir/$name.json"
	exit
fi

dir=$(mktemp -d /tmp/pt-workload-XXXXXX)
trap 'rm -rf "$dir"' EXIT
# Without bursts within a tenth of a second, which a workload does not have.
record original --seed 5 --burst-ms 0
record replayed --seed 6 --workload "$dir/original.workload"

# A line a type, and one a shape: type, shape, count, of.
lines() {
	tr '{' '\n' <"$1" | sed -n \
		-e 's/^"type":"\([^"]*\)","shape":[0-9]*,"differs":"\([^"]*\)","count":\([0-9]*\),"of":\([0-9]*\),.*/\1;\2;\3;\4/p' | sort
}
lines "$dir/original.json" >"$dir/original.lines"
lines "$dir/replayed.json" >"$dir/replayed.lines"
[ "$(cut -d';' -f1 "$dir/original.lines" | sort -u | wc -l)" -eq 9 ] || fail "not all types have shapes"

# Of two shares the difference in standard errors: of some 50 of these 4 is beyond all chance, and two
# are beyond 2.6 in one of ten. Types come as Poisson's numbers or burstier, so their variance is more.
awk -F';' '
	{ key = $1 ";" $2; n[FILENAME, key] = $3; of[FILENAME, $1] = $4; keys[key] = $1 }
	END {
		a = ARGV[1]; b = ARGV[2]
		for (key in keys) {
			type = keys[key]; x = n[a, key] + 0; y = n[b, key] + 0; m = of[a, type]; k = of[b, type]
			if (x + y < 24) { continue }
			if (x * y == 0) { x += x ? 0 : 7; y += y ? 0 : 7 } # less than eight are told with their like
			p = (x + y) / (m + k); se = sqrt(p * (1 - p) * (1 / m + 1 / k))
			z = se > 0 ? (x / m - y / k) / se : 0
			printf "%-50s %4d of %4d, %4d of %4d: %5.2f\n", key, x, m, y, k, z
			compared++; far += z > 2.6 || z < -2.6; beyond += z > 4 || z < -4
		}
		for (i in of) { split(i, part, SUBSEP); total[part[1]] += of[i] }
		printf "%d compared, %d far, %d beyond; requests: %d and %d\n", compared, far, beyond, total[a], total[b]
		exit !(compared >= 9 && far <= 2 + compared / 20 && beyond == 0 && total[b] > 0.85 * total[a] && total[b] < 1.15 * total[a])
	}' "$dir/original.lines" "$dir/replayed.lines" || fail "the replay is not like the original"
