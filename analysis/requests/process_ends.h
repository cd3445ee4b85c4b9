/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PROCESS_ENDS_H
#define PT_REQUESTS_PROCESS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number_map.h"
#include "requests/ended.h"
#include "stats/handover.h"

/*
 * The last spans that ended (ended.h), by process and then by time, so that what ended in a process
 * near an instant is found by bisection. Made once for all whose holders are judged at the same
 * instant; valid until the next span ends.
 *
 * Units: ns. Memory: 36 bytes a span. Cost: O(spans) to make; sorting only where the log is not in
 * the order of ends, as clocks of hosts differ. Threads: the caller's.
 */
#define PROCESS_ENDS_MAX 4096u /* spans of further ones are left out */

struct process_ends_kind {
	uint32_t name, provider;
};

struct process_ends {
	struct handover_end *items; /* .number: in the log */
	uint32_t n;
	struct number_map processes, kind_numbers;
	struct process_ends_kind kinds[HANDOVER_KINDS];
};

/* NULL if out of memory. */
struct process_ends *process_ends_make(const struct ended *log);
void process_ends_destroy(struct process_ends *ends);
/* An instant of a process, as in the items: far from those of all others. */
uint64_t process_ends_time(
		const struct process_ends *ends, uint32_t host, int32_t pid, uint64_t ns);
/* A thread, as in the items. */
static inline uint64_t process_ends_thread(uint32_t host, int32_t tid)
{
	return (uint64_t)host << 32 | (uint32_t)tid;
}

#endif
