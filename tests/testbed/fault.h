/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_FAULT_H
#define TESTBED_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The fault injector's end in each service: what goes wrong now. Commands come over the service's
 * control socket (node.c) and are never traced, so that whoever diagnoses has only the effect.
 *
 * A new fault is one line of the table in fault.c, a function that reads its arguments, and the
 * place where it acts: a point (injection.h), what all work is made of (work.h), a service, a
 * process beside it (hog.h).
 *
 * Threads: all functions may be called by any thread.
 */

#define FAULT_COMMAND_BYTES 512

/*
 * Applies a command such as "semaphore limit=1", or several with "+" between them, of which none is
 * applied if one is wrong. Faults add up until "none". Returns 0, or -1 with a sentence in error.
 * With dry set, only checks the command.
 */
int fault_apply(const char *command, bool dry, char *error, size_t error_size);

void fault_print_usage(FILE *out);
void fault_print_points(FILE *out);

/* The limit on concurrent builds of this compute host. */
const atomic_uint *fault_build_limit(void);

/* Of FAULT_LOST_ALL answers so many are not sent: their connections are closed. */
#define FAULT_LOST_ALL 1000000
const atomic_uint *fault_lost_answers(void);

#endif
