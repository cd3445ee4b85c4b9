/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_LOCAL_LOCAL_H
#define PT_LOCAL_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * One command for a program as it is: a relay daemon of its own on loopback, pythiatop-probe on the
 * processes that are meant, and, where it is to be started, the command.
 *
 * A process of its own, the keeper, has them as children and ends them with us, however we end; if
 * it is killed itself, the kernel ends them. What they write lies in a directory of theirs below
 * $TMPDIR (/tmp), which goes with them; one that was left by a keeper that was killed goes with the
 * next start.
 *
 * Threads: to be started before there are others.
 */
#define LOCAL_NAME      256
#define LOCAL_PROCESSES 8u /* that may be watched at once, each with those it has started */

struct local; /* opaque */

struct local_setup {
	const char *const *processes; /* their numbers, or programs' names */
	uint32_t n_processes;         /* at most LOCAL_PROCESSES; 0: `command` is started */
	char *const *command;         /* with its arguments, as execvp() takes them */
	const char *functions; /* patterns of names, with commas between; NULL: all */
	uint32_t cost_percent; /* that watching may take of what they do; pythiatop-probe --cost */
	bool quiet; /* what the command prints goes nowhere; else to our standard error */
};

/*
 * Waits until events are recorded, 15 s at most. STATUS_INVALID: there is no such process or
 * program; STATUS_NOT_FOUND: a program that this needs is missing; STATUS_BUSY: this user may not;
 * STATUS_IO, STATUS_TIMEOUT: something else. Then `error` says what, and what to do; nothing is
 * left running.
 */
enum status local_start(
		struct local **local, const struct local_setup *setup, char *error, size_t size);

/* Ends all of it, 10 s at most. `said`: how the command or the probe went before its time, or "".
 * NULL is allowed. */
void local_end(struct local *local, char *said, size_t size);

/* What the command did has all been told: it has ended, and a moment has passed. */
bool local_is_over(struct local *local);

const char *local_source(const struct local *local);    /* where to watch, net://... */
const char *local_relay_url(const struct local *local); /* where sessions are sent to */

/* What pythiatop-control is to be started with, argv as execv() takes it: functions of these
 * processes, and nothing else. */
const char *const *local_helper(const struct local *local);

#endif
