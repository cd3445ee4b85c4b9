#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds the project another way, and runs the tests that this way is for:
# matrix.sh clang|asan|tsan|fuzz SOURCE-DIR BUILD-DIR
set -eu
kind=$1 source=$2 build=$3

configure() {
	cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPT_WERROR=ON \
		"$@" >"$build.log" || { cat "$build.log"; exit 1; }
	ninja -C "$build" -j2
}

run() {
	ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"
}

mkdir -p "$(dirname "$build")"
case $kind in
clang) # warnings of another compiler
	configure -DCMAKE_C_COMPILER=clang
	;;
asan) # memory and undefined behaviour
	configure -DPT_SANITIZE=address,undefined
	run -R '^(unit|property|golden)/' -j2
	run -R '^testbed/(groups|demo)$'
	;;
tsan) # races between threads, of parts and of the whole console
	configure -DPT_SANITIZE=thread
	run -R '^(unit|property)/' -j2
	run -R '^testbed/(groups|demo)$'
	;;
fuzz)
	configure -DCMAKE_C_COMPILER=clang -DPT_FUZZ=ON -DPT_SANITIZE=address,undefined
	run -L fuzz
	;;
*)
	echo "matrix.sh: no such kind: $kind" >&2
	exit 2
	;;
esac
