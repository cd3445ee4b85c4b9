/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ENDED_H
#define PT_REQUESTS_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number_map.h"

/*
 * The last spans that ended, of all threads, of whatever request or none: what others did while
 * somebody waited. A request that is not kept has no copies, but here its spans are for a while.
 *
 * Memory: 96 bytes a span, at most ENDED_SPANS of them (12 MiB); a new one takes the place of the
 * oldest. Cost: O(1) a span. Threads: one at a time. Units: ns of event time.
 */
#define ENDED_SPANS  (1u << 17) /* a power of two */
#define ENDED_STRIDE 16u        /* spans of a thread */

struct ended_span {
	uint64_t start_ns, end_ns;
	uint64_t key;     /* of its thread, see threads.h */
	uint64_t request; /* serial of what it was a part of while that was open; 0: of no request
			   */
	uint32_t host;
	int32_t tid, pid; /* -1: not known */
	uint32_t name, provider;
	uint32_t type;         /* of its request, interned; 0: none, or not known yet */
	uint32_t older, newer; /* numbers of those of its thread that ended before, after; 0: none
				*/
	/*
	 * The way back in strides: the number of an older one of its thread (0: none), how many
	 * there are from it to this one, and when the first of these, without it, started.
	 */
	uint32_t far, apart;
	uint64_t first_start_ns;
};

struct ended {
	struct ended_span *items; /* by number & (room - 1) */
	uint32_t room;
	uint32_t last; /* number of the newest, from 1; wraps */
	uint32_t n;    /* that are there */
	bool full;     /* it does not grow any more */
};

void ended_release(struct ended *ended);
/* Takes a span; *of_thread is the number of the last of its thread, 0 at first, and is set. Out of
 * memory: it is left out. */
void ended_add(struct ended *ended, const struct ended_span *span, uint32_t *of_thread);
/* By its number; NULL: it is not there any more. */
const struct ended_span *ended_get(const struct ended *ended, uint32_t number);
/*
 * The next one back in its thread that may have been open before to_ns: those in between started
 * then or later. NULL: there is none.
 */
const struct ended_span *ended_before(
		const struct ended *ended, const struct ended_span *span, uint64_t to_ns);

/*
 * The strides of threads, for many questions about the past while no span ends: each thread's are
 * listed when it is first asked about. Memory: 16 bytes a stride. Zeroed at first.
 */
struct ended_index {
	struct number_map threads; /* by the number of a thread's last span: its slice */
	struct ended_slice *slices;
	uint32_t n_slices, slice_room;
	struct ended_stride *strides;
	uint32_t n_strides, stride_room;
};

void ended_index_release(struct ended_index *index);
/*
 * Of a thread whose last span has that number, the newest one from which ended_before() goes on to
 * those that may have been open before to_ns: O(log strides). NULL: it has none.
 */
const struct ended_span *ended_index_before(struct ended_index *index, const struct ended *ended,
		uint32_t last, uint64_t to_ns);

#endif
