/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_UNMATCHED_H
#define PT_REQUESTS_UNMATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "pythiatop/event.h"
#include "pythiatop/status.h"

/*
 * Per event type: how many events there were, how many belong to no request, and why.
 *
 * Memory: constant per event type.
 */
enum unmatched_why {
	WHY_NOTHING_OPEN = 0, /* no request is open on its thread */
	WHY_NO_THREAD,        /* its thread is not known yet */
	WHY_NO_VTID,          /* of user space, whose thread only a context tells */
	WHY_NO_SWITCH,        /* of a kernel that does not tell whom its CPUs run */
	WHY_NO_BINDING,       /* nothing in it says what it belongs to */
	WHY_EXPIRED,          /* joined others, but no request among them */
	WHY_AMBIGUOUS,        /* its thread works on several requests at once */
	WHY_TRACER,           /* the tracer about itself */
	WHY_COUNT
};

#define UNMATCHED_SECONDS 64 /* of history, hence the longest window with a rate */

struct type_stats {
	uint64_t total, unmatched;
	uint64_t why[WHY_COUNT];
	uint64_t paired;      /* entries with their exit, and exits with their entry */
	uint64_t unopened;    /* exits without entry */
	uint64_t unclosed;    /* entries without exit */
	uint64_t failed;      /* that told of a failure, and whether it is usual or not */
	uint64_t interleaved; /* spans that overlap on a thread without nesting */
	uint64_t nested_seed; /* outermost spans that begin within one of their own kind */
	uint32_t seconds[UNMATCHED_SECONDS];
	uint64_t second_at[UNMATCHED_SECONDS]; /* which second of event time a cell is of */
};

void type_stats_unmatched(struct type_stats *stats, uint64_t ts_ns, enum unmatched_why why);

#endif
