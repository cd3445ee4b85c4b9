/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_INJECTION_H
#define TESTBED_INJECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dist.h"
#include "point_ids.h"

/*
 * Where faults are injected at points: each point has at most one injection of each kind, none at
 * first. What a fault acts on takes longer within its span; nothing that is traced tells that it was
 * injected.
 *
 * Threads: everything may be used by any thread.
 * Memory: fixed, by the number of points. A point without one costs one relaxed load where one
 * could be.
 */

enum injection_kind {
	INJECTION_WAIT,    /* waits when it begins (a single point: after it) */
	INJECTION_LIBRARY, /* before it ends, calls into a library that has no points */
	INJECTION_SIZE,    /* before it ends, waits for so long per byte of the size it records */
	INJECTION_SHARE,   /* waits when it begins for a random part of a time, */
	INJECTION_REST,  /* and this one, later in the same request and thread, for what remains of
			    it */
	INJECTION_MISS,  /* a cache: few look-ups miss, and those wait; the real cache is not asked
			  */
	INJECTION_HOLD,  /* a lock: few of those who take it keep it for long before they go on */
	INJECTION_ERROR, /* ends with an error, which its request then ends with, too */
	N_INJECTIONS
};

struct injection {
	struct dist time; /* INJECTION_SIZE: of one byte; INJECTION_SHARE: of both together */
	int error;        /* INJECTION_ERROR: an errno */
	double probability;
};

void injection_set(
		enum injection_kind kind, enum point_id point, const struct injection *injection);
void injection_clear_all(void);

/* For points.h. A bit per kind: */
extern atomic_uint injection_kinds[POINT_COUNT];

void injection_begin_slow(enum point_id point, unsigned int kinds);
void injection_end_slow(enum point_id point, unsigned int kinds, uint64_t size_bytes);
void injection_hold_slow(enum point_id point);
bool injection_lookup_slow(enum point_id point);
int injection_status_slow(enum point_id point);

/* The first error of this thread since the last call; 0: none. What handles a request asks for it.
 */
int injection_take_error(void);

static inline unsigned int injection_kinds_of(enum point_id point, unsigned int wanted)
{
	return atomic_load_explicit(&injection_kinds[point], memory_order_relaxed) & wanted;
}

/* After the entry of a span was traced, or a single point. */
static inline void injection_begin(enum point_id point)
{
	unsigned int kinds = injection_kinds_of(
			point, 1U << INJECTION_WAIT | 1U << INJECTION_SHARE | 1U << INJECTION_REST);

	if (kinds != 0) {
		injection_begin_slow(point, kinds);
	}
}

/* Before the exit of a span is traced. */
static inline void injection_end(enum point_id point, uint64_t size_bytes)
{
	unsigned int kinds =
			injection_kinds_of(point, 1U << INJECTION_LIBRARY | 1U << INJECTION_SIZE);

	if (kinds != 0) {
		injection_end_slow(point, kinds, size_bytes);
	}
}

/* With which status a span ends that would end with this one. */
static inline int injection_status(enum point_id point, int status)
{
	return status == 0 && injection_kinds_of(point, 1U << INJECTION_ERROR) != 0
			       ? injection_status_slow(point)
			       : status;
}

/* With a lock just taken, still within the span of taking it. */
static inline void injection_hold(enum point_id point)
{
	if (injection_kinds_of(point, 1U << INJECTION_HOLD) != 0) {
		injection_hold_slow(point);
	}
}

/* What a look-up says that found, or not. */
static inline bool injection_lookup(enum point_id point, bool found)
{
	return injection_kinds_of(point, 1U << INJECTION_MISS) != 0 ? injection_lookup_slow(point)
								    : found;
}

#endif
