/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "explain/explaining.h"

/*
 * Whether requests with the slowest value of a category are slower in many places, or in one. What
 * is slow at everything it does is no piece of code: a host, a replica, a version.
 */
#define FEW_ROWS     20u
#define LEAST_SHARE  0.002 /* of the mean duration: smaller places are not looked at */
#define SLOWER       1.3   /* times */
#define SURELY       3.3   /* standard errors of the difference (Welch 1947) */
#define MANY_PLACES  3u    /* the one that adds most included */
#define OTHERS_SHARE 0.1   /* these together, of what that one adds */

struct side {
	uint32_t n;
	double mean, squares; /* sum of squared differences (Welford 1962) */
};

static void add(struct side *side, double value)
{
	double delta = value - side->mean;

	side->mean += delta / ++side->n;
	side->squares += delta * (value - side->mean);
}

static double error_of(const struct side *side)
{
	return side->n > 1 ? side->squares / (side->n - 1) / side->n : 0;
}

static bool is_slower(const struct side *a, const struct side *b)
{
	return a->mean >= SLOWER * b->mean &&
	       a->mean - b->mean >= SURELY * sqrt(error_of(a) + error_of(b));
}

static uint32_t slowest_level(const struct explain *explain, const struct levels *levels)
{
	struct side sides[LEVELS_MAX] = {{0, 0, 0}};
	uint32_t slowest = UINT32_MAX;

	for (uint32_t i = 0; i < explain->n; i++) {
		add(&sides[levels->of_row[i]], explain->durations[i]);
	}
	for (uint32_t level = 0; level < levels->n_own; level++) {
		if (sides[level].n >= FEW_ROWS &&
				(slowest == UINT32_MAX ||
						sides[level].mean > sides[slowest].mean)) {
			slowest = level;
		}
	}
	return slowest;
}

static int by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

bool broad_find(struct explain *explain, const struct key *key)
{
	const struct levels *levels = &key->levels;
	uint32_t slowest = slowest_level(explain, levels), faster = 0, n = 0;
	double *times = malloc((explain->n_segments + 1) * sizeof(*times));
	double least_ns = 0, most_ns = 0, sum_ns = 0;

	explain->broad = (struct explain_broad){.value = NULL};
	if (!times) {
		return false;
	}
	for (uint32_t i = 0; i < explain->n; i++) {
		least_ns += LEAST_SHARE * explain->durations[i] / explain->n;
	}
	for (uint32_t s = 0; s < explain->n_segments && slowest != UINT32_MAX; s++) {
		struct side with = {0, 0, 0}, without = {0, 0, 0};

		for (uint32_t i = 0; i < explain->n; i++) {
			if (levels->of_row[i] != levels->none) {
				add(levels->of_row[i] == slowest ? &with : &without,
						explain->segments[s][i]);
			}
		}
		if (without.n < FEW_ROWS || fmax(with.mean, without.mean) < least_ns) {
			continue;
		}
		explain->broad.places++;
		faster += is_slower(&without, &with);
		if (is_slower(&with, &without)) {
			/* A place that is not there otherwise is slower beyond measure. */
			times[n++] = with.mean / fmax(without.mean, 1);
			sum_ns += with.mean - without.mean;
			most_ns = fmax(most_ns, with.mean - without.mean);
		}
	}
	qsort(times, n, sizeof(*times), by_size);
	/* Another way through the code makes many places slow by itself. */
	if (!key->done && n >= MANY_PLACES && n > 2 * faster &&
			sum_ns - most_ns >= OTHERS_SHARE * most_ns) {
		explain->broad.value = key->texts[levels->text[slowest]];
		explain->broad.slower = n;
		explain->broad.times = times[n / 2];
	}
	free(times);
	return true;
}

bool explain_is_broad(const struct explain *explain, struct explain_broad *out)
{
	*out = explain->broad;
	return explain->phase == PHASE_DONE && !explain->failed && out->value;
}
