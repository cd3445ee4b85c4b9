/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_DETECTION_H
#define PT_PYTHIA_DETECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/snapshot.h"

/*
 * When to search: which groups exceed what is normal of them, for long enough and more than the
 * machine is busy. norms.c: what is normal; deviation.c: against it; excess.c: how much of what
 * varies is more; places.c: where a group takes more.
 *
 * The room's own state is struct detecting: only these four files write it.
 */
struct pythia;
struct pythia_round;
struct pythia_detail;

#define NORM_PLACES 4u /* rounds that are remembered, half a window apart */

/* How a group performed when points were learned. */
struct norm {
	uint32_t type, path; /* interned */
	uint64_t count;
	double p50_ns, cov, middle_ns; /* the last: between the quartiles; < 0: not known */
	uint32_t n_modes;
	bool stands_in;     /* for one that is not known: never saved */
	bool applies;       /* it was learned before this run, so what varies now is not in it */
	bool fresh;         /* learned in this run while little was recorded */
	uint32_t exceeding; /* windows in a row that were beyond it */
	double alone;       /* the sum over them of one by how many types were, if not most */
	uint32_t wide;      /* half windows in a row in which the middle half alone was */
	double excess; /* shares of all variation that its type held beyond it, in sum: excess.c */
	uint32_t excess_rounds; /* that these are of */
	/* Nodes that took more in the last rounds, the newest first; SPACE_NONE: no single one. */
	uint32_t places[NORM_PLACES];
	bool placed; /* the same one did in so many that it is worth a search */
};

struct detecting {
	struct norm *norms;
	uint32_t n_norms, norms_room;
	uint64_t norms_ns;  /* event time at which the last window was judged */
	uint64_t wide_ns;   /* and the last half window */
	uint64_t places_ns; /* and at which the places of groups were examined */
	/* What the window of a usual group is against its norm, at least 1: a busy machine. */
	double usual_cov, usual_middle;
	bool meets_norms; /* a group has come that a profile knows: it is of these programs */
	uint64_t excess_ns; /* event time of the last round about what exceeds norms */
	double machine_ns;  /* variance that the machine added then for each ns of a request */
};

void detecting_init(struct detecting *detecting);
void detecting_release(struct detecting *detecting);

/* norms.c */
/*
 * How a group performs is taken from the time before learning, when little was recorded, where that
 * was enough; `tracing`: all is on, and that costs time, so that it only stands where nothing does.
 */
void norms_learn(struct pythia *pythia, const struct groups_row *row, bool tracing);
void norms_set(struct pythia *pythia, const struct norm *norm);
/* It was found what makes the group vary: that is not normal, whenever it was learned. */
void norms_drop(struct pythia *pythia, const struct groups_row *row);
/* The norm of a group; NULL: there is none that applies. */
struct norm *norm_of(const struct pythia *pythia, const struct groups_row *row);

/* deviation.c: against the norms */
/* A group performs as it did when it was learned, whatever that is. */
bool norms_hold(const struct pythia *pythia, const struct groups_row *row);
/* It surely does so again; where there is no norm, nothing is said of it. */
bool norms_calm(const struct pythia *pythia, const struct groups_row *row);
bool norms_slowed(const struct pythia *pythia, const struct groups_row *row);
/* And by much more than its requests differ from each other. */
bool norms_shifted(const struct pythia *pythia, const struct groups_row *row);
/* Takes up the groups of the window, once for each. */
void norms_judge(struct pythia *pythia, const struct groups_view *recent);
/* It holds, or what goes beyond it has not lasted, or is everywhere: no reason to search. */
bool norms_excuse(const struct pythia *pythia, const struct groups_row *row);
/* It varies or is slower in this window, and enough to matter. */
bool norms_suspect(const struct pythia *pythia, const struct groups_row *row);
/* Not a few odd requests: the median, or the middle half, surely goes beyond the norm's. */
bool norms_bulk(const struct pythia *pythia, const struct groups_row *row);
/* It goes beyond its norm now, and what it varies by matters. */
bool norms_exceeded(const struct pythia *pythia, const struct groups_row *row);
/* Known to last, and no machine's doing: no excuse until the next window. */
void norms_let_through(struct pythia *pythia, const struct groups_row *row);

/* excess.c */
/* What varies beyond the norm and what the machine makes of all, of its own where it has none:
 * requests/s x sd, in ns/s. */
double excess_of(const struct pythia *pythia, const struct groups_row *row);
/* Takes up the groups of the window, twice for each. */
void excess_judge(struct pythia *pythia, const struct groups_view *recent);
/* Its type held so much of it, for so long, that this is reason enough to search. */
bool excess_is_large(const struct norm *norm);
/* It may come to that, and has not yet. */
bool excess_may_grow_large(const struct pythia *pythia, const struct groups_row *row);

#endif
