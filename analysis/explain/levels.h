/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_EXPLAIN_LEVELS_H
#define PT_EXPLAIN_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The values of a key as few levels: a number's values, or ranges of them, a category's values.
 * They are chosen by the first rows alone (the explored half), and from their number, never by
 * durations; all rows then get one.
 *
 * Numbers of at most `most` values: one level each. Of more, ranges: of about equal counts, where a
 * value that fills a range by itself has its own, so that a queue that is mostly empty still shows
 * what happens when it is not; or of values that are near to each other (the range of the largest
 * sum of squares is split where that helps most, as often as there is room), which is the better
 * picture where few are very large and durations follow them: equal counts put all of these in one.
 Categories: the most frequent values; the others share one level.
 * Rows without a value have a level of their own.
 */
#define LEVELS_RANGES     12u /* of a number */
#define LEVELS_CATEGORIES 30u
#define LEVELS_MAX        32u /* with the others, and none */
#define LEVELS_FEW        3u  /* rows that a category's value needs, to have its own */

struct levels {
	uint32_t n;                /* with `others` and `none`; 0: not made */
	uint32_t n_own;            /* ranges, or values that have their own */
	uint32_t others, none;     /* UINT32_MAX: there is no such level */
	double high[LEVELS_MAX];   /* of a number: the largest value that the range was made of */
	uint32_t text[LEVELS_MAX]; /* of a category */
	uint8_t *of_row;
};

enum levels_by {
	LEVELS_BY_COUNT,
	LEVELS_BY_VALUE,
};

/* False if out of memory. values: NAN is none. O(n log n). Free with levels_release(). */
bool levels_of_number(struct levels *levels, enum levels_by by, const double *values, uint32_t n,
		uint32_t n_explored, uint32_t most);
/* values: indices below n_texts. */
bool levels_of_category(struct levels *levels, const double *values, uint32_t n,
		uint32_t n_explored, uint32_t n_texts, uint32_t few);
void levels_release(struct levels *levels);

/*
 * How much better one tells the other's level than its most frequent one does, the lesser of both
 * directions: 1 if each follows from the other (Goodman & Kruskal 1954, lambda). O(n).
 */
double levels_association(const struct levels *left, const struct levels *right, uint32_t n);

#endif
