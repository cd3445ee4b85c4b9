# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Where a scenario of scenarios.sh runs: directories of its own, and an end of all that it started.
# After `here`, and a function `fail`.

# set_stage: $work and the lists below are there, and the settings and files of pythiatop are in $work.
set_stage() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/pt-field.XXXXXX")
	started=() mounted=() load_pids=() learns=
	trap clear_stage EXIT
	trap 'exit 1' HUP INT TERM
	. "$here/../live/servers.sh"
	chmod 755 "$work"
	mkdir -m 755 "$work/tmp" "$work/config"
	export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
}

# The directory stays where `keep` is set.
clear_stage() {
	local i
	end_postgres
	for ((i = ${#started[@]} - 1; i >= 0; i--)); do
		kill "${started[i]}" 2>/dev/null
	done
	sleep 0.3
	for ((i = ${#started[@]} - 1; i >= 0; i--)); do
		kill -KILL "${started[i]}" 2>/dev/null
		wait "${started[i]}" 2>/dev/null
	done
	for i in "${mounted[@]}"; do
		mountpoint -q "$i" && umount -l "$i"
	done
	[ -n "${keep:-}" ] && echo "field: kept $work" >&2 || rm -rf "$work"
}
