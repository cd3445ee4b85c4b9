/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SLICES_H
#define PT_GROUPS_SLICES_H

#include "groups/totals.h"

/*
 * Time is cut in quarter-seconds, four to the one-second bucket: a quarter is a column of the heat
 * map and the step of a frozen screen, so that neither needs a store of its own. A slice is what
 * one group did in one quarter.
 */
#define QUARTER_NS         UINT64_C(250000000)
#define MAX_QUARTERS       4096                  /* of a window: 17 minutes */
#define MAX_BUCKET_BYTES   (UINT64_C(256) << 20) /* unless configured */
#define FAILED_PER_QUARTER 4u                    /* requests that failed kept of a group */
#define HEAT_CELL_BINS     (HISTOGRAM_OCTAVE_BINS / 8)

/* A kept request, by how slow it is. */
struct slow {
	uint64_t ns, id;
	uint32_t record; /* 0: none */
};

struct slice {
	struct totals totals;
	uint64_t quarter;
	struct slice *older, *newer; /* of its group: by quarter, sealed ones first */
	struct slice *next;          /* of the same quarter, or in the pin's queue */
	uint32_t group;
	uint32_t epoch; /* its requests started in this epoch, or before it: epoch - 1 */
	uint32_t seal;
	bool in_window;
	uint32_t kept; /* first request of each heat cell, and some that failed: chain of records */
	uint8_t kept_failed; /* how many of the latter */
	struct slow slowest;
};

struct group;

/* The slice of a quarter that takes requests now, made if need be; NULL if too old, or no memory.
 */
struct slice *slice_of(
		struct groups *groups, struct group *group, uint64_t quarter, uint32_t epoch);
/* Sealed slices are those the pin shows. */
bool slice_is_shown(const struct groups *groups, const struct slice *slice);
void slices_advance(struct groups *groups, uint64_t quarter);
/* Drops oldest slices while the bound on detail is passed. */
void slices_bound(struct groups *groups);
/* Drops the pin's own slices, or the oldest of them only. False if there is none. */
bool slices_trim_pin(struct groups *groups);

#endif
