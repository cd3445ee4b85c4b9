/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_WATCH_H
#define PT_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/step.h"

/*
 * What a step that was done turns out to cost: the events that come because of steps, counted while
 * it is watched, or while it learns. A step that takes the whole over the budget for two seconds in
 * a row is not watched to the end; learning has a budget of its own.
 *
 * Units: ns of whatever clock the caller tells, and what came since the begin of all.
 */
struct watch_counts {
	uint64_t events, bytes; /* because of steps; bytes 0: not known */
};

struct watch {
	bool learning;
	uint32_t step;
	uint64_t begin_ns, end_ns;       /* the end may come earlier than it was to */
	struct watch_counts counts;      /* at the begin */
	uint64_t check_ns, check_events; /* of the last check in between */
	uint32_t over;                   /* checks in a row over the budget */
	double rate;                     /* events/s at the last check; 0: none so far */
};

/*
 * What all kept steps bring, between watches: the load may grow. Where a source held events back
 * they come faster than they happened, so the longer of both clocks counts.
 */
struct load {
	uint64_t check_ns, time_ns, events; /* at the last check; time_ns is event time */
	uint32_t over;                      /* checks in a row over the budget */
	double rate;                        /* events/s at the last check */
};

void watch_begin(struct watch *watch, uint32_t step, bool learning, uint32_t seconds,
		uint64_t now_ns, struct watch_counts counts);
/* When to check, or to end. */
uint64_t watch_due_ns(const struct watch *watch);
/* A check in between: afterwards end_ns may be now_ns. */
void watch_check(struct watch *watch, uint64_t now_ns, uint64_t events,
		const struct step_budget *budget);
/* What was seen; to be called when end_ns has come. `discarded`: events lost since the begin. */
struct step_watch watch_end(const struct watch *watch, uint64_t now_ns, struct watch_counts counts,
		uint64_t discarded);

void load_begin(struct load *load, uint64_t now_ns, uint64_t time_ns, uint64_t events);
/* To be called often. True: it was over the budget for three seconds in a row; it begins anew. */
bool load_check(struct load *load, uint64_t now_ns, uint64_t time_ns, uint64_t events,
		const struct step_budget *budget);

#endif
