#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Keeps the table of docs/architecture.md true: which folder may include what, what the top level
# holds, that every source file names its licence, and that rooms of the search keep to themselves.
# Usage: architecture.sh SOURCE_DIR
set -u
cd "$1" || exit 2
failures=0

complain() {
	echo "$*" >&2
	failures=$((failures + 1))
}

includes() { # FOLDER: lines "file:header" of all its #include lines
	grep -rHoE --include='*.c' --include='*.h' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' "$1" |
		sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]/:/'
}

# FOLDER REGEX WHY: no include of FOLDER may match REGEX.
forbid() {
	local line
	while IFS= read -r line; do
		complain "$1 must not know $3: $line"
	done < <(includes "$1" | grep -E ":($2)")
}

# FOLDER REGEX: every include of FOLDER in quotes or brackets has to match REGEX, or be a header of
# the C library.
libc='(assert|complex|ctype|errno|fcntl|float|getopt|inttypes|iso646|langinfo|limits|locale|math|regex|sched|search|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|termios|time|unistd|wchar|wctype|endian|byteswap|poll|fnmatch)\.h|sys/.*\.h'
allow() {
	local line
	while IFS= read -r line; do
		complain "$1 may include $3 only: $line"
	done < <(includes "$1" | grep -vE ":($libc|$2)$")
}

# What everybody may use knows the C library alone; the analysis reads no clock.
allow src/base 'base/.*\.h' 'the C library and its own headers'
allow src/ctf '(base|ctf)/.*\.h|jansson\.h|[a-z_]+\.h' 'src/base/, jansson and its own headers'
forbid src/ctf '(poll|unistd|fcntl|sched|signal)\.h|sys/|time\.h' 'files, sockets and clocks'
forbid analysis 'base/clock\.h' 'clocks'
allow include 'pythiatop/.*\.h' 'the C library and its own headers'
allow analysis '(pythiatop/.*|base/.*|gsl/.*|(engine|stats|state|requests|groups|pythia|explain|change|behaviour)/.*|[a-z_]+)\.h' 'include/, src/base/, GSL and its own headers'
forbid analysis '(fcntl|poll|sched|signal|termios|unistd|locale|langinfo)\.h|sys/|time\.h|pthread\.h|threads\.h' 'files, sockets, clocks and threads'
allow ui '(pythiatop/.*|base/.*|curses|(console|widgets|views)/.*|[a-z_]+)\.h' 'include/, src/base/, ncursesw and its own headers'
forbid ui '(pthread|threads)\.h|urcu|babeltrace|lttng|sys/socket\.h' 'threads, sockets, Babeltrace and LTTng'
forbid src '.*curses.*|form\.h|menu\.h|panel\.h' 'curses'
forbid src '(\.\./)?(ui|analysis)/' 'the insides of other folders'

# One file includes curses; one folder Babeltrace; one folder LTTng; one folder libbpf.
files=$(includes ui | grep -E ':curses\.h$' | cut -d: -f1 | sort -u | wc -l)
[ "$files" -le 1 ] || complain "ui: $files files include curses.h; one is enough"
while IFS= read -r line; do
	complain "only src/source may include babeltrace2: $line"
done < <(includes src | grep -E ':babeltrace2/' | grep -v '^src/source/')
while IFS= read -r line; do
	complain "only src/helper may include lttng: $line"
done < <(includes src | grep -E ':lttng/' | grep -v '^src/helper/')
while IFS= read -r line; do
	complain "only src/probe may include libbpf: $line"
done < <(includes src | grep -E ':bpf/' | grep -v '^src/probe/')

# Each room of the search writes its own state alone (analysis/pythia/state.h).
room() { # MEMBER REGEX: only files of that name may write it.
	local line
	while IFS= read -r line; do
		complain "$1 is written outside its room: $line"
	done < <(grep -HnE "pythia->$1(\.[a-z_]+|\[[^]]*\])+ *([-+*/|&^]?=[^=]|\+\+|--)" analysis/pythia/*.c |
		grep -vE "^analysis/pythia/($2)\.c:")
}
room detecting 'norms|deviation|excess|places'
room locating 'finding|readiness|search|slow|site|changed|siblings|evidence'
room planning 'planning|candidates|cost|strategy|split|propose|kernel|holding|watch'
room failing failures

# The top level.
for entry in * .[!.]*; do
	case "$entry" in
	src | ui | analysis | include | themes | tests | docs | CMakeLists.txt | README.md | LICENSE | run | \
		.ci | .git | .gitignore | .clang-format | build | build-*) ;;
	*) complain "the top level does not hold $entry" ;;
	esac
done

# Licences: the first lines of every source file.
while IFS= read -r file; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
		complain "$file: no SPDX line"
done < <(find src ui analysis include tests run .ci -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.def' -o -name CMakeLists.txt -o -path run -o -path '.ci/*' \) 2>/dev/null)

if [ "$failures" -gt 0 ]; then
	echo "$failures rules broken" >&2
	exit 1
fi
echo "folders include what they may"
