/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_SEEN_H
#define PT_PROBE_SEEN_H

#include <stdint.h>

#include <linux/types.h>

#include "probe/record.h"
#include "pythiatop/status.h"

/*
 * Which functions of a program its threads are in, by looks at their stacks. All that may be an
 * address to return to counts, so a function that was left a moment ago may be among them; one that
 * threads are in for a share s of their time is missed by n looks with a probability of (1 - s)^n.
 *
 * Threads: one. Memory: what binary.h needs, and 8 bytes a function.
 */
struct seen; /* opaque */

/* As binary_open(). */
enum status seen_open(struct seen **seen, const char *path);
void seen_close(struct seen *seen); /* NULL is allowed */

/* A stack of a thread of this program, or of another, which is told by how much code it has. */
void seen_add(struct seen *seen, const struct probe_stack *stack);

uint32_t seen_stacks(const struct seen *seen);    /* of the program that had functions on them */
uint32_t seen_functions(const struct seen *seen); /* how many functions were on any */
/* On how many stacks functions must have been, so that about `most` of them were; at least 1. */
uint32_t seen_least(const struct seen *seen, uint32_t most);
/* On how many the function was that begins there in the file (binary_function.offset). */
uint32_t seen_times(const struct seen *seen, uint64_t offset);

#endif
