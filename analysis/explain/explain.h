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
 * Each key alone: Spearman's rho for numbers, Kruskal & Wallis' H for categories; the size of the
 * effect is omega^2 (Hays 1963), the share of Var(T) between its values (numbers of more than
 * EXPLANATION_VALUES values are cut into as many ranges of equal counts). All keys jointly: with
 * one Y, the duration, multiple correlation, F = (R^2 / m) / ((1 - R^2) / (n - m - 1)); with Y =
 * the segments canonical correlation (Hotelling 1936, by GSL's SVD of Qx' Qy), Wilks' lambda,
 * chi^2 = -(n - (p + q + 3) / 2) ln lambda, df = p q (Bartlett 1941).
 *
 * Chance: requests that follow each other are alike, so the durations are shifted against all keys
 * at once, in a circle, and the largest statistic of all keys is compared (Westfall & Young 1993):
 * p <= (1 + exceeding) / (1 + shifts), B = min(999, admissible shifts). What was found in the first
 * half is confirmed, or not, in the second, which nothing was chosen by.
 *
 * Left out, each with its reason: keys that do not vary, say which request it is (as many values as
 * requests), grow with time, or are derived from time or duration by name or value; collinear ones
 * are named together with the one that stands for them.
 *
 * Work is done in slices: explain_work() does at most `units` (about a microsecond each), so that
 * who calls it once in a while is never held up. Pure: the same table gives the same explanation,
 * however it was sliced. Memory: O(rows x (keys + segments)). Threads: one.
 */
#define EXPLAIN_ENOUGH   50u  /* requests; below, nothing is said */
#define EXPLAIN_BELIEVE  250u /* of either half, before rule 2 (steps.h) may fire */
#define EXPLAIN_MAX_KEYS 64u

struct explain_key {
	const char *name, *where;
	enum explanation_source source;
	bool numeric;
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

/* Rule 2: the first key, if it surely explains the variation; NULL: none does. Borrowed. */
struct explain_verdict {
	const char *name, *where;
	double omega2_held, p;
	uint32_t n, n_held;
};
bool explain_is_sure(const struct explain *explain, struct explain_verdict *out);

#endif
