/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_COVERAGE_H
#define PT_RUN_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How much of the time since a step was made is seen. A relay daemon or a session daemon that is
 * stopped, or a network that is cut, holds events back: they come later, at once, or never. What a
 * step costs is judged by what was seen of it, not by that.
 *
 * Units: now_ns is CLOCK_MONOTONIC, time_ns is event time (the engine's; 0: no event came so far).
 */
struct coverage {
	uint32_t step, watch_s;
	uint64_t since_ns; /* when it was made */
	uint64_t time_ns;  /* event time then */
	bool silent;       /* our session: time goes on, but what the step enabled does not come */
};

/* For so long a step may go unseen after it was made; then it is to be taken back. */
#define COVERAGE_LOW_S 30u

void coverage_begin(struct coverage *coverage, uint32_t step, uint32_t watch_s, uint64_t now_ns,
		uint64_t time_ns);

/* To be told before it is asked: where no event had come before the step, the first one has now. */
void coverage_update(struct coverage *coverage, uint64_t now_ns, uint64_t time_ns, bool silent);

/*
 * The clock to judge by, on the scale of now_ns: events that were held back come faster than they
 * happened, and then it is theirs.
 */
uint64_t coverage_clock(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns);

/*
 * The step should be judged by now, and less than half of the time to watch it was seen so far, or
 * our session is silent.
 */
bool coverage_is_low(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns);

/* And it was so for COVERAGE_LOW_S. */
bool coverage_is_lost(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns);

#endif
