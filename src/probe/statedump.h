/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_STATEDUMP_H
#define PT_PROBE_STATEDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/cpu_ring.h"
#include "pythiatop/status.h"

/*
 * The state when a session begins, from /proc and /sys: processes and threads, their file
 * descriptors, network interfaces, block devices; as events of statedump.def. It is taken in steps,
 * so that what happens meanwhile is read in time.
 *
 * Threads: one.
 */
struct statedump; /* opaque */

/* Of processes that `wants` says yes to; NULL: of all. NULL: out of memory, or no /proc. */
struct statedump *statedump_begin(bool (*wants)(void *context, int pid), void *context);

/* Takes a part of it, for about `for_ns`, into the ring. STATUS_END: that was the last. */
enum status statedump_step(struct statedump *dump, struct cpu_ring *ring, uint64_t for_ns);

/* NULL is allowed. */
void statedump_end(struct statedump *dump);

#endif
