/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_THREAD_SPANS_H
#define PT_REQUESTS_THREAD_SPANS_H

#include "requests/engine.h"

/*
 * What one thread did in a stretch of time, by its spans: the innermost one at each instant,
 * walked back from the end.
 *
 * Bounds: THREAD_SPANS_MOST spans, and THREAD_SPANS_BACK steps back in the log of those that ended
 * (ended.h). Cost: O(spans of the stretch) for each span's begin or end that is passed. Units: ns
 * of event time.
 */
#define THREAD_SPANS_MOST 256u
#define THREAD_SPANS_BACK 16384u

/* One span of the thread, open or ended. */
struct thread_span {
	uint64_t start_ns, end_ns; /* UINT64_MAX: open */
	uint32_t name, provider, type;
};

struct thread_spans {
	uint64_t from_ns;
	struct thread_span items[THREAD_SPANS_MOST];
	uint32_t n;
	/* What was found last, for instants in (since_ns, found_ns]. */
	const struct thread_span *innermost;
	uint64_t since_ns, found_ns;
};

/*
 * Takes the spans of a thread in [from_ns, to_ns): those that ended, around the number of one in
 * the log, or (0) back from the thread's last, by an index of those; and open ones. `thread`: NULL
 * if it has been let go.
 */
void thread_spans_begin(struct thread_spans *spans, const struct requests *r,
		struct ended_index *index, const struct thread *thread, uint32_t number,
		uint64_t from_ns, uint64_t to_ns);
/* The innermost one just before an instant, and since when it is, from_ns at the earliest; NULL:
 * none. */
const struct thread_span *thread_spans_innermost(
		struct thread_spans *spans, uint64_t before_ns, uint64_t *since_ns);

#endif
