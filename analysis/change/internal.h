/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_INTERNAL_H
#define PT_CHANGE_INTERNAL_H

#include "change/change.h"

/*
 * What the files of this folder share.
 *
 *   match.c    contexts of both sides side by side; which service each is of, and what it calls
 *   test.c     differences, and whether they can be chance
 *   since.c    since when; split.c: groups that split or merge
 *   change.c   the rows: of places and rates, their order; ways.c: of ways; calls.c: of calls, and
 *              which follows from which
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
	/* Types that were cut off (changes_view): in none of the above. */
	uint32_t n_cut;
	uint64_t cut_requests;
	const char *cut;
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
/* How much more means of a side vary than those of independent requests would. */
double inflation_of_side(const struct matched_type *type, uint32_t side);
/* That chance makes such a difference, either way. */
double difference_p(const struct difference *difference);
/* That p as a distance from the mean of a normal distribution, 0 or more. */
double difference_z(const struct difference *difference);
/* Half of the interval that holds the value in 95 % of cases. */
double difference_half(double variance, double freedom);

/* --- rows, as they are found ------------------------------------------------------------------ */

#define NAMES_TOLD 6u /* at most, where a row tells several */

/*
 * Waits and ways grow where something behind them is slow: they come first only where they hold so
 * many times as much as the largest change of code or of calls.
 */
#define WAY_FACTOR 5.0

struct found {
	struct change_row row;
	double rank;
	uint32_t pair;   /* NO_PAIR: of a place as a whole */
	uint32_t place;  /* UINT32_MAX: of calls, or a rate */
	uint32_t called; /* a pair of what is called, of calls */
	uint32_t type;   /* of a rate, or of groups */
	bool follows;    /* from another row: not told */
};

/* A group of requests on both sides. */
struct matched_group {
	const struct baseline_group *sides[2]; /* one may be NULL */
	uint32_t type;
	double share[2]; /* of the type's requests */
	bool shrank, grew;
};

struct matched_groups {
	struct matched_group *items; /* those of a type follow each other */
	uint32_t n;
};

struct work {
	struct matched matched;
	struct arena *arena;
	struct found *found;
	uint32_t n, room;
	/* Differences looked at: of places as a whole, and of single contexts. Chance may make one
	 * of either kind in two hundred comparisons. */
	uint32_t tests[2];
	double *places; /* z of the difference of each in own time; NaN: none */
	struct calls *calls;
	uint32_t n_calls;
	struct matched_groups groups;
};

enum family { OF_PLACES, OF_CONTEXTS };

/* Calls of one place from another, in so many contexts. */
struct calls {
	uint32_t above, place; /* of the caller, and of what is called */
	uint32_t pair;
};

const struct baseline_node *pair_either(const struct pair *pair);
struct found *row_add(struct work *work, enum change_kind kind);
/*
 * How many such differences chance makes anywhere, at most: below 1, that it makes one.
 * (Bonferroni.) Above, it still tells which is the least likely.
 */
double found_p(const struct work *work, const struct difference *d, enum family family);
void found_put_difference(struct work *work, struct change_row *row, const struct difference *d,
		enum family family);
bool found_is_sure(const struct work *work, const struct difference *d, enum family family);
/* Worth a word where nothing is sure. */
bool found_is_likely(const struct difference *d);
/* In how many types the pairs of a place are, and that with the most requests. */
void found_tell_types(struct work *work, uint32_t place, struct change_row *row);
uint32_t found_pair_of(const struct work *work, const struct found *found);
void found_put_place(struct work *work, struct found *found);

/* ways.c: false if out of memory */
bool ways_find(struct work *work);

/* since.c */
#define SERIES_MOST 128u

/* What was counted, or summed, in so much time, or in so many spans. */
struct series {
	bool counts; /* as of a Poisson process; else means, as of a normal distribution */
	bool more;   /* than before */
	double before;
	uint32_t n, bucket[SERIES_MOST];
	double sum[SERIES_MOST], exposure[SERIES_MOST];
};

/* In buckets from the first. */
struct since {
	bool begin; /* it was so from the begin on; the rest is 0 */
	uint32_t at;
	double low, high;
};
/* Buckets in their order; what has no exposure is left out. */
void series_add(struct series *series, uint32_t bucket, double sum, double exposure);
/* False: it is not known. */
bool since_find(const struct series *series, struct since *out);
void since_tell(struct work *work, const struct baseline *after, struct found *found);

/* split.c: groups whose requests go another way; false if out of memory */
bool split_find(struct work *work, const struct baseline *before, const struct baseline *after,
		struct changes_view *out);
/* What the requests that are told of did by the bucket. */
void split_list(const struct work *work, const struct baseline *after, const struct found *found,
		struct series *out);

/* calls.c */
void calls_find(struct work *work);
bool calls_list(struct work *work);
/*
 * What fails or ends early deep inside makes those above do less, too: it begins at the deepest
 * place that does.
 */
void calls_follow(struct work *work);
/* Who sends more messages makes them wait for each other: the calls come before their way. */
void calls_follow_messages(struct work *work);

#endif
