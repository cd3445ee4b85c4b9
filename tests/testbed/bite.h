/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_BITE_H
#define TESTBED_BITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dist.h"
#include "point_ids.h"

/*
 * Where faults bite at points: each point has at most one bite of each kind, none at first. What is
 * bitten takes longer within its span; nothing that is traced tells that it was injected.
 *
 * Threads: everything may be used by any thread.
 * Memory: fixed, by the number of points. A point without a bite costs one relaxed load where one
 * could be.
 */

enum bite_kind {
	BITE_WAIT,    /* waits when it begins (a single point: after it) */
	BITE_LIBRARY, /* before it ends, calls into a library that has no points */
	BITE_SIZE,    /* before it ends, waits for so long per byte of the size it records */
	BITE_SHARE,   /* waits when it begins for a random part of a time, */
	BITE_REST, /* and this one, later in the same request and thread, for what remains of it */
	BITE_MISS, /* a cache: few look-ups miss, and those wait; the real cache is not asked */
	BITE_HOLD, /* a lock: few of those who take it keep it for long before they go on */
	BITE_ERROR, /* ends with an error, which its request then ends with, too */
	N_BITES
};

struct bite {
	struct dist time; /* BITE_SIZE: of one byte; BITE_SHARE: of both together */
	int error;        /* BITE_ERROR: an errno */
	double probability;
};

void bite_set(enum bite_kind kind, enum point_id point, const struct bite *bite);
void bite_clear_all(void);

/* For points.h. A bit per kind: */
extern atomic_uint bite_kinds[POINT_COUNT];

void bite_begin_slow(enum point_id point, unsigned int kinds);
void bite_end_slow(enum point_id point, unsigned int kinds, uint64_t size_bytes);
void bite_hold_slow(enum point_id point);
bool bite_lookup_slow(enum point_id point);
int bite_status_slow(enum point_id point);

/* The first error of this thread since the last call; 0: none. What handles a request asks for it. */
int bite_take_error(void);

static inline unsigned int bite_kinds_of(enum point_id point, unsigned int wanted)
{
	return atomic_load_explicit(&bite_kinds[point], memory_order_relaxed) & wanted;
}

/* After the entry of a span was traced, or a single point. */
static inline void bite_begin(enum point_id point)
{
	unsigned int kinds =
			bite_kinds_of(point, 1U << BITE_WAIT | 1U << BITE_SHARE | 1U << BITE_REST);

	if (kinds != 0) {
		bite_begin_slow(point, kinds);
	}
}

/* Before the exit of a span is traced. */
static inline void bite_end(enum point_id point, uint64_t size_bytes)
{
	unsigned int kinds = bite_kinds_of(point, 1U << BITE_LIBRARY | 1U << BITE_SIZE);

	if (kinds != 0) {
		bite_end_slow(point, kinds, size_bytes);
	}
}

/* With which status a span ends that would end with this one. */
static inline int bite_status(enum point_id point, int status)
{
	return status == 0 && bite_kinds_of(point, 1U << BITE_ERROR) != 0 ? bite_status_slow(point)
									  : status;
}

/* With a lock just taken, still within the span of taking it. */
static inline void bite_hold(enum point_id point)
{
	if (bite_kinds_of(point, 1U << BITE_HOLD) != 0) {
		bite_hold_slow(point);
	}
}

/* What a look-up says that found, or not. */
static inline bool bite_lookup(enum point_id point, bool found)
{
	return bite_kinds_of(point, 1U << BITE_MISS) != 0 ? bite_lookup_slow(point) : found;
}

#endif
