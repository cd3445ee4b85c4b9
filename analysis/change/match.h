/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_MATCH_H
#define PT_CHANGE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "pythiatop/baseline.h"

/*
 * Both sides of a comparison side by side: calling contexts in pairs, which place each is, and
 * which service it is of and calls. Pure. Memory: as large as the baselines; texts point into them.
 */
#define NO_PAIR     UINT32_MAX
#define NAMES_TOLD  6u /* at most, where several are told in one text */
#define MAX_CALLEES 4u /* of one calling context; more are not told apart */

/* A calling context of a type, on both sides. */
struct pair {
	const struct baseline_node *sides[2]; /* before, after; one may be NULL */
	uint32_t type;
	uint32_t parent; /* index of a pair before it; NO_PAIR: the root */
	uint32_t place;
	const char *service; /* that it ran in */
	const char *caller;  /* it is on the way from there to `callees`; else NULL */
	const char *callees[MAX_CALLEES];
	uint32_t n_callees;
	bool part;    /* no span: (wait) and the like */
	bool lag;     /* such a part: from sending to the begin, on the path or not */
	bool calls;   /* a span of it has a child in another service */
	double below; /* ns on the path of a request, with all below it: per span, of `before` */
};

/* A type of requests on both sides. */
struct matched_type {
	const struct baseline_type *sides[2]; /* one may be NULL */
};

/* Pairs that are one place: a span by provider and name, or a way between two services. */
struct place {
	const char *service, *provider, *name; /* of a way: name "(transit)" */
	const char *caller;                    /* of a way; else NULL */
	const char *callees[MAX_CALLEES], *name_of_callees;
	uint32_t n_callees;
	bool lag;       /* a way that is off the path, or may be */
	uint32_t first; /* of its pairs */
};

struct matched {
	uint32_t n_types, n, n_places;
	struct matched_type *types;
	struct pair *pairs;
	uint32_t *next; /* the next pair of the place; NO_PAIR: none */
	struct place *places;
	double seconds[2]; /* how long the baselines are */
	/* Types that were cut off (changes_view): in none of the above. */
	uint32_t n_cut;
	uint64_t cut_requests;
	const char *cut;
};

/* How long a type was recorded on that side, in s: rates are of that time. */
double matched_seconds(const struct matched *matched, uint32_t type, uint32_t side);

/* Of after, or of before where it is gone. */
const struct baseline_node *pair_either(const struct pair *pair);

/* All texts are those of the baselines. False if out of memory. */
bool match_baselines(struct matched *out, const struct baseline *before,
		const struct baseline *after, struct arena *arena);

#endif
