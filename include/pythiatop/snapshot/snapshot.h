/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_H
#define PYTHIATOP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/focus.h"
#include "pythiatop/snapshot/changes.h"
#include "pythiatop/snapshot/compare.h"
#include "pythiatop/snapshot/group.h"
#include "pythiatop/snapshot/groups.h"
#include "pythiatop/snapshot/request.h"
#include "pythiatop/snapshot/shapes.h"
#include "pythiatop/snapshot/sources.h"
#include "pythiatop/snapshot/state.h"
#include "pythiatop/snapshot/steps.h"
#include "pythiatop/snapshot/tree.h"
#include "pythiatop/snapshot/unmatched.h"

/*
 * Where every event went. in = pending + in_request + state_only + unmatched + late + dropped,
 * always; pending is 0 at the end of a recording.
 */
struct accounting {
	uint64_t in;
	uint64_t pending;    /* in a fragment that is still open */
	uint64_t in_request; /* in a request that was emitted, complete or not */
	uint64_t state_only; /* used by the state of the system alone */
	uint64_t unmatched;  /* never joined anything, or its fragment expired */
	uint64_t late;       /* came after its time was closed */
	uint64_t dropped;    /* a bound, or a copy of an event seen in another session */
};

/*
 * What the screen, or batch, shows: immutable once published. The parts that the focus did not ask
 * for are zero. Everything it points to lives in one arena and goes with it.
 */
#define SNAPSHOT_WARNINGS 4u

struct snapshot {
	struct focus focus;          /* that it answers, with ids of "the worst" filled in */
	uint64_t time_ns;            /* event time it speaks of; 0: no event so far */
	uint64_t first_ns;           /* of the first event */
	uint64_t window_ns;          /* length of the window */
	uint64_t horizon_ns;         /* length of the horizon so far */
	uint64_t horizon_longest_ns; /* of the group with the oldest epoch; else the same */
	bool pinned;                 /* frozen, and the pin holds */
	bool pin_trimmed; /* the pin's memory bound was reached: oldest detail has gone */
	struct accounting accounting;
	double events_per_s;
	uint32_t hosts, sessions;
	uint64_t discarded; /* events lost by the tracers, of all sources */
	uint64_t late;
	double unrecorded; /* share of the window that a host was not recorded in, on purpose */
	uint64_t lag_ns;    /* the largest of any attached live source */
	double progress;    /* of recorded sources, 0..1; < 0: nothing recorded */
	bool ended;         /* all sources are at their end: nothing more will come */
	const char *notice; /* answer to the last command or what a new user must know; "" if none
			     */
	uint64_t notice_serial; /* counts up with every new notice */
	/* What is wrong, in sentences, the worst first: with how events are understood, or with what
	 * should be kept. At most SNAPSHOT_WARNINGS. */
	uint32_t n_warnings;
	const char *const *warnings;
	struct groups_view groups;
	struct group_view group;
	struct request_view request;
	struct sources_view sources;
	struct unmatched_view unmatched;
	struct state_view state;
	struct tree_view tree;
	struct steps_view steps;
	struct compare_view compare;
	struct changes_view changes;
	struct shapes_view shapes;
	struct arena *arena; /* owned; see below */
};

/*
 * Zeroed memory that lives as long as the snapshot. NULL if out of memory. Aligned for any type.
 * snapshot_text copies a string; never NULL ("" if out of memory).
 */
void *snapshot_alloc(struct snapshot *snapshot, size_t size);
const char *snapshot_text(struct snapshot *snapshot, const char *text);
const char *snapshot_printf(struct snapshot *snapshot, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* One more warning, where there is room; the first: before all others, in the place of the last. The
 * text is copied. */
void snapshot_warn(struct snapshot *snapshot, const char *text);
void snapshot_warn_first(struct snapshot *snapshot, const char *text);

/* A new, zeroed snapshot, or NULL. Free with snapshot_destroy(). */
struct snapshot *snapshot_create(void);
void snapshot_destroy(struct snapshot *snapshot);

#endif
