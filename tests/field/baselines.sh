# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What a profiler says of the same fault, for field.sh: the hottest place of ten seconds, and the three
# hottest, scored as a verdict of pythiatop is.
#
#   cpu-profile  perf: the function of a program or library that most samples lie in (those of the kernel
#                pile up where it lets interrupts in again, and name nothing)
#   off-cpu      strace: the system call that the most time passes in, that of idle threads with it
#   random       one of the functions that perf saw, each as likely

PROFILE_S=10

# The watched program and all that it started, with commas between. What is watched by its name is the
# postmaster.
watched_tree() {
	tree_of "$([ "$watched" = postgres ] && echo "$postgres" || echo "$watched")"
}

tree_of() {
	local pid=$1 child
	echo -n "$pid"
	for child in $(cat "/proc/$pid/task/"*/children 2>/dev/null); do
		echo -n ,
		tree_of "$child"
	done
}

# Names of functions, the hottest first.
perf_functions() {
	perf record -q -e cpu-clock -F 499 -p "$(watched_tree)" -o "$work/perf.data" -- sleep $PROFILE_S \
		2>"$work/profile.err" || return
	perf report -i "$work/perf.data" --no-children -s symbol --stdio -q 2>>"$work/profile.err" |
		sed -n 's/^ *[0-9.]*% *\[\.\] *\([^ ]*\).*/\1/p'
}

strace_calls() {
	timeout --signal=INT $PROFILE_S strace -f -c -w -o "$work/strace" \
		$(watched_tree | tr , '\n' | sed 's/^/-p /') 2>"$work/profile.err"
	sed -n 's/^ *[0-9.]* .* \([a-z_0-9]*\)$/syscall_\1/p' "$work/strace" | grep -v -E '_(total|syscall)$'
}

names_of_strategy() {
	case $strategy in
	cpu-profile) perf_functions ;;
	off-cpu) strace_calls ;;
	random) perf_functions | shuf --random-source=<(yes "$seed") ;;
	esac
}

# A place of the row, or one of its words, whole: as a verdict's place or sentence.
is_hit() {
	local name=$1 hit
	local -a all
	IFS='|' read -ra all <<<"$hits"
	for hit in "${all[@]}"; do
		[ "$name" = "${hit#*:}" ] || [ "(blocked: ${name#syscall_})" = "$hit" ] && return
	done
	IFS='|' read -ra all <<<"$says"
	for hit in "${all[@]}"; do
		[[ $hit != - && $hit != *=* && $name =~ (^|[^[:alnum:]])"$hit"([^[:alnum:]]|$) ]] && return
	done
	return 1
}

run_baseline() {
	local -a names
	local name hit1=false hit3=false line
	mapfile -t names < <(names_of_strategy)
	[ ${#names[@]} -gt 0 ] || return
	is_hit "${names[0]}" && hit1=true
	for name in "${names[@]:0:3}"; do
		is_hit "$name" && hit3=true
	done
	line=$(jq -n -c --arg scenario "$scenario" --arg strategy "$strategy" --arg set "$set_" --arg site "$words" \
		--arg seed "$seed" --arg kind "$kind" --arg where "${names[0]}" --argjson hit1 $hit1 --argjson hit3 $hit3 \
		--argjson seconds $PROFILE_S '{$scenario, $strategy, $set, $site, $seed, $kind, $hit1, $hit3,
			stopped: true, steps: 0, requests: 0, $seconds, $where}')
	echo "$line" >>"$results"
	echo "$scenario  $words  $strategy  $($hit1 && echo hit || { $hit3 && echo hit@3 || echo MISS; })  ${names[*]:0:3}"
}
