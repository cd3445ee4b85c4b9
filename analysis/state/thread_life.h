/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_THREAD_LIFE_H
#define PT_STATE_THREAD_LIFE_H

#include "state/thread_state.h"

/*
 * What a thread did within a stretch of time, summed: for the list of threads, which shows the
 * window of all of them every second. What was in a tenth of the window that is over does not change
 * any more, so its sums are kept, and of a second look only the ends of the window, and what is new,
 * are walked. The answer is that of a walk over all of it.
 */
#define LIFE_STATUSES (THREAD_DEAD + 1)

struct thread_life {
	uint64_t ns[LIFE_STATUSES]; /* by status; an unknown one, too */
	uint64_t switches, wakeups;
	uint64_t max_runqueue_ns;
	/* From a wake-up until it ran; valid if latencies > 0. */
	uint64_t latencies, latency_ns, latency_min_ns, latency_max_ns;
};

/* Of [from_ns, to_ns). Without memory it takes longer. */
void thread_life(struct state_cx *cx, struct thread_state *thread, uint64_t from_ns, uint64_t to_ns,
		struct thread_life *out);
/* Sums that are kept go: its past has changed, or the thread goes. */
void thread_life_forget(struct state_cx *cx, struct thread_state *thread);

#endif
