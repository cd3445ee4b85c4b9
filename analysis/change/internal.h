/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_INTERNAL_H
#define PT_CHANGE_INTERNAL_H

#include "change/change.h"

/*
 * What the files of this folder share.
 *
 *   match.c    contexts of both sides side by side; which service each is of, and what it calls
 *   test.c     differences, and whether they can be chance
 *   change.c   the rows: of places, ways and calls; which follows from which
 */
#define NO_PAIR     UINT32_MAX
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
	double seconds[2];
};

/* All texts are those of the baselines. False if out of memory. */
bool match_baselines(struct matched *out, const struct baseline *before,
		const struct baseline *after, struct arena *arena);

/* A difference of means. */
struct difference {
	double value, variance; /* after less before, of one span or call */
	double before, after;
	double freedom;               /* degrees of it */
	double added, added_variance; /* ns of all requests, a second */
	uint64_t n[2];                /* requests */
};

/* OWN_TIME of a pair that calls another service is its part of the path: the rest is the wait. */
enum measure { OWN_TIME, ON_PATH };

/* Of a pair alone, or of all pairs of a place. False: there is nothing to compare. */
bool difference_of_pair(const struct matched *matched, uint32_t pair, enum measure measure,
		struct difference *out);
bool difference_of_place(const struct matched *matched, uint32_t place, enum measure measure,
		struct difference *out);
/* Spans of n pairs for one of their parents, which are on both sides; the first pair's index, and
 * bytes from one to the next. */
bool difference_of_calls(const struct matched *matched, const uint32_t *first, size_t stride,
		uint32_t n, struct difference *out);
/* That chance makes such a difference, either way. */
double difference_p(const struct difference *difference);
/* That p as a distance from the mean of a normal distribution, 0 or more. */
double difference_z(const struct difference *difference);
/* Half of the interval that holds the value in 95 % of cases. */
double difference_half(double variance, double freedom);

#endif
