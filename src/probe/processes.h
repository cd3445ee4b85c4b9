/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_PROCESSES_H
#define PT_PROBE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/kernel.h"

/*
 * The processes that are recorded where not all are: each of those that a person names, and all
 * that these start, from then on or before.
 *
 * Threads: one. The kernel's side adds what is started and removes what ends; this side looks each
 * second who else is meant by a name or is in a control group.
 */
#define PROCESSES_NAMES 16u

struct processes; /* opaque */

/* Is the text a number, a program's name or path, or the directory of a control group? */
bool processes_right(const char *what);

/*
 * `names` are borrowed. A number must be that of a process: else `fault` says so. What a name or a
 * control group stands for may come later. NULL: that, or out of memory.
 */
struct processes *processes_create(struct kernel *kernel, const char *const *names, uint32_t n,
		struct kernel_fault *fault);
void processes_destroy(struct processes *processes); /* NULL is allowed */

/* `now_ns`: CLOCK_MONOTONIC. */
void processes_step(struct processes *processes, uint64_t now_ns);

/* Is it one of them? */
bool processes_has(const struct processes *processes, int pid);

#endif
