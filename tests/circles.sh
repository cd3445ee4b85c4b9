#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No circle of folders: each can be read, and tested, with what stands below it. Within a folder files
# may use each other as they like. A file beside folders (analysis/loop.c) stands for itself. Taken
# from the object files, so it is what uses what, not what includes what.
# Usage: circles.sh SOURCE_DIR BUILD_DIR
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

# Lines "USER DEFINER", files without what the build puts around their names, of a folder its name.
pairs=$(nm -A "${objects[@]}" | awk '
	function room(file,   part) {
		return split(file, part, "/") > 2 ? part[1] "/" part[2] : file
	}
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
				if (room(user[i]) != room(definer[symbol])) {
					print room(user[i]), room(definer[symbol])
				}
			}
		}
	}' | sort -u)
[ "$(wc -l <<<"$pairs")" -gt 50 ] || {
	echo "circles.sh: hardly any folder uses another: nm told too little" >&2
	exit 2
}
if ! circle=$(tsort <<<"$pairs" 2>&1 >/dev/null); then
	echo "folders in a circle:" >&2
	sed -n 's/^tsort: \([^ ]*\/[^ ]*\)$/\1/p' <<<"$circle" | sort -u >&2
	exit 1
fi
echo "${#objects[@]} files, no circle of folders"
