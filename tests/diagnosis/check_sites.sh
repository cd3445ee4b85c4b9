#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Checks the table of fault sites: every row has its ten fields, every fault is one, every point
# exists, and, given a file of the points that fire (one a line), fires; request types exist; no site
# and no hit of the tuning rows is one of the scoring rows; there are rows enough. What is wrong goes
# to standard error: check_sites.sh SOURCE-DIR PROGRAM-DIR [FIRED]
set -eu
source_dir=$1 programs=$2 fired=${3:-}
table=$source_dir/tests/diagnosis/sites.def
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "check_sites: $*" >&2
	exit 1
}

"$programs/pt-fault" --list >"$work/points"
cp "${fired:-$work/points}" "$work/fired"
sed -n 's/^PT_TYPE(\([a-z_]*\),.*/\1/p' "$source_dir/tests/testbed/types.def" >"$work/types"
sed -n 's/^PT_SERVICE("[^"]*", "\([^"]*\)").*/\1/p' "$source_dir/tests/testbed/services.def" \
	>"$work/services"

# Its fields, one by one, and what they mean together.
awk -F '\t' -v work="$work" '
	function wrong(what) { print table ":" FNR ": " what > "/dev/stderr"; failed++ }
	function is_place(place, known) {
		sub(/@compute-[12]$/, "", place)
		return place in known || place in services
	}
	BEGIN {
		while ((getline line < (work "/points")) > 0) points[line]
		while ((getline line < (work "/fired")) > 0) fires[line]
		while ((getline line < (work "/types")) > 0) types[line]
		while ((getline line < (work "/services")) > 0) services[line]
		table = ARGV[1]
	}
	/^#/ { next }
	NF != 10 { wrong(NF " fields, not 10"); next }
	{
		for (i = 1; i <= 10; i++) if ($i == "") wrong("field " i " is empty, not -")
		if ($2 != "tuning" && $2 != "scoring") wrong("no such set: " $2)
		if ($10 !~ /^(code|variable|holder|host|resource|none)$/) wrong("no such kind: " $10)
		if (seen[$3, $4, $5, $6]++) wrong("a row twice")
		n = $3 == "-" ? 0 : split($3, part, "|")
		for (i = 1; i <= n; i++) {
			if (!is_place(part[i], points)) wrong("no such site: " part[i])
			if (part[i] ~ /:/ && !is_place(part[i], fires)) wrong("does not fire: " part[i])
			place[$2, part[i]] = FNR
		}
		n = $8 == "-" ? 0 : split($8, part, "|")
		for (i = 1; i <= n; i++) {
			if (!(part[i] in fires)) wrong("does not exist or not fire: " part[i])
			if (index($4, "point=" part[i] " ") + index($4 " ", "with=" part[i] " ") == 0 &&
					$1 != "semaphore" && $1 != "lock_convoy" && $10 != "holder")
				wrong("a hit that the fault does not name: " part[i])
			if ($1 != "semaphore") place[$2, part[i]] = FNR
		}
		n = $7 == "-" ? 0 : split($7, part, "|")
		for (i = 1; i <= n; i++) if (!(part[i] in types)) wrong("no such type: " part[i])
		if (($7 == "-") != ($10 == "none")) wrong("a fault, but in no type, or the other way round")
		if (($8 == "-") != ($10 ~ /^(host|resource|none)$/)) wrong("hits do not fit the kind")
		if (($9 == "-") != ($10 ~ /^(code|none)$/)) wrong("the variable does not fit the kind")
		n = $10 == "holder" ? split($9, part, "|") : 0
		for (i = 1; i <= n; i++) {
			if (!(part[i] in fires)) wrong("does not exist or not fire: " part[i])
			if (index($4, "point=" part[i] " ") == 0) wrong("holds what the fault does not name: " part[i])
			place[$2, part[i]] = FNR
		}
		if ($9 != "-" && $10 != "holder" && $9 !~ /^(queue_len|size_bytes|cache_hit|host=compute-[12]|cpu@[a-z0-9-]+)$/)
			wrong("no such variable: " $9)
		rows[$1, $2]++
		scenario[$1]
		print $4 > (work "/faults")
		print $5 > (work "/loads")
	}
	END {
		for (key in place) {
			split(key, part, SUBSEP)
			if (part[1] == "tuning" && ("scoring", part[2]) in place) {
				print table ": in both sets: " part[2] > "/dev/stderr"
				failed++
			}
		}
		for (name in scenario) {
			if (rows[name, "tuning"] < 4 || rows[name, "scoring"] < 20) {
				print table ": too few rows: " name > "/dev/stderr"
				failed++
			}
			n_scenarios++
		}
		print FNR " lines, " n_scenarios " scenarios"
		exit failed > 0
	}' "$table" || fail "the table is wrong"

sort -u "$work/faults" >"$work/commands"
while read -r fault; do
	# A fault is several words.
	# shellcheck disable=SC2086
	"$programs/pt-fault" --check $fault >"$work/out" 2>&1 ||
		fail "no fault: $fault: $(head -1 "$work/out")"
done <"$work/commands"
echo "$(wc -l <"$work/commands") faults are faults"
