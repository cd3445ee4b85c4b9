/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_USAGE_H
#define PT_PROBE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What recording takes of the processors outside of the kernel, and how idle they are. Threads: the
 * caller's. Costs some 10 us for each process.
 */

/* CPU time in ns of a process and of all that it started, but of those that `leaves_out` names. */
uint64_t usage_tree_ns(pid_t root, bool (*leaves_out)(void *context, int pid), void *context);

/* Of all processors since the machine started, in clock ticks. False: not known. */
struct usage_idle {
	uint64_t idle, all;
};
bool usage_read_idle(struct usage_idle *out);
/* The share that was idle between the two; 1: nothing has passed. */
double usage_idle_share(const struct usage_idle *before, const struct usage_idle *now);

#endif
