/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_ROWS_H
#define PT_CHANGE_ROWS_H

#include "change/change.h"
#include "change/difference.h"

/*
 * The rows of what has changed, as they are found. change.c has those of places and rates, and
 * their order; ways.c those of ways; split.c of groups that split or merge; calls.c of calls, and
 * which row follows from which.
 */
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

/* split.c: groups whose requests go another way; false if out of memory */
bool split_find(struct work *work, const struct baseline *before, const struct baseline *after,
		struct changes_view *out);

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
