/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_STATE_H
#define PT_PYTHIA_STATE_H

#include <string.h>

#include "pythia/detection.h"
#include "pythia/explaining.h"
#include "pythia/failing.h"
#include "pythia/location.h"
#include "pythia/planning.h"
#include "pythia/points.h"
#include "pythia/pythia.h"
#include "pythia/space.h"
#include "pythia/steps.h"
#include "pythia/thresholds.h"

/*
 * What the search stands on, and its rooms. Each room has a header and a state of its own, that it
 * alone writes: detection.h (when to search), location.h (where), planning.h (what next), failing.h
 * (what began to fail), explaining.h (key-values). thresholds.h has all that they decide by.
 *
 *   round.c, readiness.c  what is done once a second, and for which groups
 *   points.c              what can be recorded, and is
 *   space.c               where it stands in requests; profile.c: from and to files' values
 *   steps.c               the list of steps
 *   pythia.c              what is set, offered, decided; what orders touched
 *   steps_snapshot.c      all of it, as a part of a snapshot
 */
struct pythia {
	struct names *names;
	struct points points;
	struct space space;
	struct steps steps;
	enum step_mode mode;
	struct detecting detecting;
	struct locating locating;
	struct planning planning;
	struct failing failing;
	struct explaining explaining;
	uint64_t first_ns, now_ns;
	uint32_t epoch;
	uint32_t n_flagged; /* groups, at the last round */
	uint32_t offers;    /* lists of them that came */
	struct {
		uint64_t hosts; /* by the order that was done last, a bit each */
		bool *points;   /* likewise, of the first n; the others may be */
		uint32_t n;
	} touched;
	uint64_t silent, silent_ns; /* hosts whose events of our session are not seen now; since */
	/* Hosts without control now; event time at which the last was lost. */
	uint64_t gone, gone_ns;
	/* Hosts under control that have not told so far what they offer; since which round, 0: it
	 * is to come. */
	uint64_t awaited, awaited_ns;
	char lacks[256]; /* what the search lacks, in words; "": nothing */
};

/* The row of a group; NULL: it is not among them (NULL: there are none). */
static inline const struct groups_row *row_of(const struct groups_view *groups, uint32_t group_id)
{
	for (uint32_t i = 0; groups && i < groups->n; i++) {
		if (groups->rows[i].id == group_id) {
			return &groups->rows[i];
		}
	}
	return NULL;
}

/* Its path; "": as above. */
static inline const char *path_of(const struct groups_view *groups, uint32_t group_id)
{
	const struct groups_row *row = row_of(groups, group_id);

	return row ? row->path : "";
}

/* The last name of a chain of calling contexts, "a > b". */
static inline const char *last_context(const char *where)
{
	const char *at;

	for (const char *next = where; (at = strstr(next, " > ")); where = next) {
		next = at + 3;
	}
	return where;
}

/* Who was waited for in a row of the group's tree; NULL: not known. To ask costs time. */
static inline const struct group_wait *pythia_wait_of(const struct pythia_round *round,
		const struct pythia_detail *detail, const struct tree_row *row)
{
	return round->waits ? round->waits(round->callback_context, detail->row->id, row->context)
			    : NULL;
}

/* On the run queue, that is. */
static inline bool pythia_waits_for_processor(const struct tree_row *row)
{
	return row->mark == TREE_NO_POINT && strcmp(row->name, "(runnable)") == 0;
}

/* profile.c: what was saved counts as learned once it is of the requests that there are. */
void profile_meet(struct pythia *pythia, const struct groups_view *groups);

static inline uint32_t pythia_intern(struct pythia *pythia, const char *text)
{
	return names_add(pythia->names, text, strlen(text));
}

/* For one that nobody had: it sleeps, and takes its time to wake up. */
static inline bool pythia_waits_for_nobody(const struct tree_row *row)
{
	return row->mark == TREE_NO_POINT && strcmp(row->name, "(waking up)") == 0;
}

/* One function, in whatever contexts. */
static inline bool pythia_is_same_code(const struct tree_row *a, const struct tree_row *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->provider, b->provider) == 0;
}

/* The same text, for as long as there are names; of names and places alone, as these are few. */
static inline const char *pythia_keep(struct pythia *pythia, const char *text)
{
	return names_own_text(pythia->names, pythia_intern(pythia, text));
}

#endif
