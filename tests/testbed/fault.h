/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_FAULT_H
#define TESTBED_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "point_ids.h"

/*
 * The fault injector's end in each service: what goes wrong now. Commands come over the service's
 * control socket (node.c) and are never traced, so that whoever diagnoses has only the effect.
 *
 * A new fault is one line of the table in fault.c, a function that reads its arguments, and the
 * place in a service where it bites.
 *
 * Threads: all functions may be called by any thread.
 */

/*
 * Applies a command such as "semaphore limit=1". Faults add up until "none". Returns 0, or -1 with
 * a sentence in error. With dry set, only checks the command.
 */
int fault_apply(const char *command, bool dry, char *error, size_t error_size);

void fault_print_usage(FILE *out);
void fault_print_points(FILE *out);

/* The limit on concurrent builds of a compute host. */
const atomic_uint *fault_build_limit(void);

extern atomic_bool fault_delay_on[POINT_COUNT];
void fault_delay_wait(enum point_id point);

/* Waits if a delay is injected at this point. */
static inline void fault_delay(enum point_id point)
{
	if (atomic_load_explicit(&fault_delay_on[point], memory_order_relaxed)) {
		fault_delay_wait(point);
	}
}

#endif
