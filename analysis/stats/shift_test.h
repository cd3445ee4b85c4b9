/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_SHIFT_TEST_H
#define PT_STATS_SHIFT_TEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether keys go with a series (durations), where both may resemble what came before them.
 *
 * To exchange rows at random would tear apart what follows each other, and call 40 % of irrelevant
 * queue lengths relevant. So the series is shifted in a circle against all keys at once, which
 * keeps the order within either, and ties between keys; and of each shift the largest statistic of
 * all keys is compared with what was seen: p <= (1 + exceeding) / (1 + shifts), adjusted for the
 * number of keys (Westfall & Young 1993, single step; Lancaster et al. 2018 for shifts).
 *
 * A key's statistic is the larger deviate (kruskal.h) of (n - 1) rho^2, Spearman's, if its values
 * have an order, and of Kruskal & Wallis' H over its levels.
 *
 * Shifts: all of 1..n-1, or SHIFT_TEST_MAX spread evenly over them. Short ones, too: where series
 * resemble themselves, so do their statistics at neighbouring shifts, and to leave those next to
 * none out would make the one that was seen look rarer than it is (with autocorrelation 0.95 and
 * 250 rows, "p <= 0.01" would be said of 5 % of irrelevant keys, rather than of 1 %:
 * tests/property/test_explain.c). They come in an order that is spread evenly however early it
 * ends; it ends when all keys have been exceeded SHIFT_TEST_ENOUGH times, since no p can become
 * small then (Besag & Clifford 1991).
 *
 * Deterministic, pure. Memory: O(n x keys with an order). Threads: the caller's.
 */
#define SHIFT_TEST_MAX    999u
#define SHIFT_TEST_ENOUGH 20u

struct shift_key {
	const double *values;  /* by row, NAN: none; NULL: they have no order */
	const uint8_t *levels; /* by row; borrowed as long as the test lives */
	uint32_t n_levels;     /* at most KRUSKAL_MAX_LEVELS */
};

struct shift_test; /* opaque */

/* NULL if out of memory. Free with shift_test_destroy(). O(n log n x keys). */
struct shift_test *shift_test_create(
		const double *series, uint32_t n, const struct shift_key *keys, uint32_t n_keys);
void shift_test_destroy(struct shift_test *test);

/* Sixteen more shifts: O(n x keys). False: it is over. */
bool shift_test_step(struct shift_test *test);

uint32_t shift_test_shifts(const struct shift_test *test); /* so far */
uint32_t shift_test_most(const struct shift_test *test);   /* there may be at most */

/* Of a key, adjusted for all: at least 1 / (shifts + 1). */
double shift_test_p(const struct shift_test *test, uint32_t key);

#endif
