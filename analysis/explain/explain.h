/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_EXPLAIN_EXPLAIN_H
#define PT_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/explanation.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

/*
 * Which key-values go with the durations of requests, and whether that can be chance.
 *
 * Each key alone: Spearman's rho for numbers, Kruskal & Wallis' H over levels (levels.h); the size
 * of the effect is omega^2 (Hays 1963), the share of Var(T) between its levels. All keys jointly:
 * with one Y, the duration, multiple correlation; with Y = the segments canonical correlation,
 * Wilks' lambda and Bartlett's chi^2 (stats/canonical.h).
 *
 * Chance: requests that follow each other are alike, so the durations are shifted against all keys
 * at once, in a circle, and the largest statistic of all keys is compared (stats/shift_test.h):
 * p <= (1 + exceeding) / (1 + shifts), of all requests. Levels, and which key comes first, are
 * chosen by the first half; omega^2 of the second half is what can be believed, and a key is
 * confirmed where the same test of it alone gives p <= 0.05 there.
 *
 * Left out, each with its reason: keys that do not vary, say which request it is, grow with time,
 * or are derived from time or duration by name or value (derived.c); collinear ones are named
 * together with the one that stands for them (order.c).
 *
 * Work is done in slices: explain_work() does about `units` microseconds of it, and at most one
 * piece more: of 1,024 requests and 64 keys no piece takes more than some two milliseconds. Pure:
 * the same table gives the same explanation, however it was sliced. Memory: O(rows x (keys +
 * segments)) until it is done; then what is told. Threads: one.
 */
#define EXPLAIN_ENOUGH   50u  /* requests; below, nothing is said */
#define EXPLAIN_BELIEVE  250u /* of either half, before rule 2 (steps.h) may fire */
#define EXPLAIN_MAX_KEYS 64u

struct explain_key {
	const char *name, *where;
	enum explanation_source source;
	bool numeric;
	/*
	 * It is of what was done for the request, not of what it brought: a number that one of its
	 * system calls tells, or how often the kernel was asked for something, or did it.
	 */
	bool done;
	double told;          /* the share of Var(T) in the time until its value is told */
	const double *values; /* by row; NAN: the request lacks it; categories: index of texts */
	uint32_t n_texts;
	const char *const *texts;
};

/* Requests in the order of their completion. Borrowed by explain_start() for the call alone. */
struct explain_table {
	uint32_t n_rows;
	const double *duration_ns;
	const double *start_ns; /* since the first */
	uint32_t n_keys;
	const struct explain_key *keys;
	uint32_t n_segments;
	const double *const *segments_ns; /* by segment, by row */
};

struct explain; /* opaque */

/* NULL if out of memory. Free with explain_destroy(). */
struct explain *explain_start(const struct explain_table *table);
void explain_destroy(struct explain *explain);

/* True: it is done (or says why nothing can be said). */
bool explain_work(struct explain *explain, uint64_t units);

/* As it is so far, into a snapshot's memory. */
enum status explain_fill(
		const struct explain *explain, struct snapshot *snapshot, struct explanation *out);

/*
 * Rule 2: the first key, if it surely explains the variation; NULL: none does. What was done for a
 * request goes with the way that it took, and is told by its places: no such key is one. Borrowed.
 */
struct explain_verdict {
	const char *name, *where;
	double omega2_held, p;
	uint32_t n, n_held;
};
bool explain_is_sure(const struct explain *explain, struct explain_verdict *out);

/*
 * Where the first key is a category: with its slowest value many places are slower, by 1.3 times or
 * more and surely, not one alone. Then that value, a host or a version, is the cause, and no code.
 */
struct explain_broad {
	const char *value;       /* NULL: it is not so; borrowed */
	uint32_t slower, places; /* segments: that are; that were looked at */
	double times;            /* the one in the middle of these */
};
bool explain_is_broad(const struct explain *explain, struct explain_broad *out);

#endif
