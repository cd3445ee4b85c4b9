/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_COV_H
#define PT_STATS_COV_H

#include <stdint.h>

#include "stats/histogram.h"

/*
 * How sure a coefficient of variation (sd / mean) is: what it is at least, with 95 % confidence.
 *
 * Samples are taken as independent of each other. Where latencies follow those before, the bound is
 * surer of itself than it should be.
 */

struct cov_estimate {
	double cov;   /* 0 if count < 2 or all are 0 */
	double error; /* standard error: infinitesimal jackknife (Efron 1982, ch. 6) */
	double low;   /* cov - 1.645 error, at least 0: what the bootstrap tends to */
};

/* O(bins). */
struct cov_estimate cov_estimate(const struct histogram *histogram);

#define COV_RESAMPLES 199u

/*
 * The lower bound for telling whether the CoV is above `limit`: the bootstrap's where the estimate
 * is one to five standard errors above the limit. With less or more there is no doubt what it would
 * say, and `low` of the estimate serves. *work: bins gone through, some 5 ns each.
 *
 * The bootstrap: lower 95 % bound by percentiles. Instead of drawing samples, each bin's count is
 * drawn from a Poisson distribution with that mean, which is the same for large samples (Hanley &
 * MacGibbon 2006; Chamandy et al. 2012); of bins with more than eight together the sums are drawn,
 * which are as good as normal. The same seed and histogram give the same bound.
 * O(COV_RESAMPLES x bins with at most eight).
 */
double cov_low(const struct histogram *histogram, double limit, uint64_t seed, uint64_t *work);

#endif
