/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ENDS_H
#define PT_REQUESTS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number_map.h"
#include "requests/ended.h"
#include "stats/handover.h"

/*
 * The spans of the log (ended.h) by process, then by the time they ended, as holders of waits are
 * looked for: of all groups that are judged at the same instant, for the log must not change.
 *
 * Units: ns. Memory: 36 bytes a span. Cost: O(spans) to make; sorting only where the log is not in
 * the order of ends, as clocks of hosts differ. Threads: the caller's.
 */
#define ENDS_PROCESSES 4096u /* spans of further ones are left out */

struct ends_kind {
	uint32_t name, provider;
};

struct ends {
	struct handover_end *items; /* .number: in the log */
	uint32_t n;
	struct number_map processes, kind_numbers;
	struct ends_kind kinds[HANDOVER_KINDS];
};

/* NULL if out of memory. */
struct ends *ends_make(const struct ended *log);
void ends_destroy(struct ends *ends);
/* An instant of a process, as in the items: far from those of all others. */
uint64_t ends_time(const struct ends *ends, uint32_t host, int32_t pid, uint64_t ns);
/* A thread, as in the items. */
static inline uint64_t ends_thread(uint32_t host, int32_t tid)
{
	return (uint64_t)host << 32 | (uint32_t)tid;
}

#endif
