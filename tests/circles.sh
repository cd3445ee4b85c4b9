#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No circle of files: each can be read, and tested, with what stands below it. Taken from the object
# files, so it is what uses what, not what includes what. Usage: circles.sh SOURCE_DIR BUILD_DIR
set -u
source=$1
cd "$2" || exit 2

# An object may be of a file that is no more: the build leaves it.
objects=()
while IFS= read -r object; do
	file=$(sed -E 's|CMakeFiles/[^/]*\.dir/||; s|\.o$||' <<<"$object")
	[ -f "$source/$file" ] && objects+=("$object")
done < <(find analysis src ui -name '*.c.o' | sort)
[ ${#objects[@]} -gt 100 ] || {
	echo "circles.sh: no object files in $2: build first" >&2
	exit 2
}

# Lines "USER DEFINER", files without what the build puts around their names.
pairs=$(nm -A "${objects[@]}" | awk '
	{
		file = $1
		sub(/\.o:.*/, "", file)
		sub(/CMakeFiles\/[^\/]*\.dir\//, "", file)
		symbol = $NF
		kind = $(NF - 1)
	}
	kind ~ /^[TDBRVW]$/ { definer[symbol] = file }
	kind == "U" { users[symbol] = users[symbol] " " file }
	END {
		for (symbol in users) {
			n = split(users[symbol], user, " ")
			for (i = 1; i <= n && symbol in definer; i++) {
				if (user[i] != definer[symbol]) print user[i], definer[symbol]
			}
		}
	}' | sort -u)
[ "$(wc -l <<<"$pairs")" -gt 500 ] || {
	echo "circles.sh: hardly any file uses another: nm told too little" >&2
	exit 2
}
if ! circle=$(tsort <<<"$pairs" 2>&1 >/dev/null); then
	echo "files in a circle, one of:" >&2
	sed -n 's/^tsort: \(.*\.c\)$/\1/p' <<<"$circle" | sort -u >&2
	exit 1
fi
echo "${#objects[@]} files, no circle"
