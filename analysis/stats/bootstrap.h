/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_BOOTSTRAP_H
#define PT_STATS_BOOTSTRAP_H

#include <stdint.h>

/*
 * Resampling: what another sample like this one might have said.
 * (Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 1979.)
 *
 * Random numbers are a function of the seed alone, which the caller takes from its data, so that
 * the same data give the same intervals, live or recorded. Pure; memory is the caller's.
 */

/* SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). Any seed is a good one. */
struct bootstrap_random {
	uint64_t state;
};

static inline uint64_t bootstrap_next(struct bootstrap_random *random)
{
	uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* In 0..n-1; n must be above 0. Uneven by less than n / 2^32, which no resampling can notice. */
static inline uint32_t bootstrap_below(struct bootstrap_random *random, uint32_t n)
{
	return (uint32_t)(((bootstrap_next(random) >> 32) * n) >> 32);
}

/* In [0, 1). */
static inline double bootstrap_uniform(struct bootstrap_random *random)
{
	return (double)(bootstrap_next(random) >> 11) * 0x1p-53;
}

/* Standard normal. */
double bootstrap_normal(struct bootstrap_random *random);

/*
 * How long blocks of a series must be for what follows each other to stay together: 1 where
 * nothing depends on what came before. At most min(3 sqrt(n), n / 3), and at least 1.
 * (Politis & White, "Automatic block-length selection for the dependent bootstrap", Econometric
 * Reviews 2004, with the correction of Patton, Politis & White 2009; circular blocks.)
 * O(n sqrt(n)).
 */
uint32_t bootstrap_block_length(const double *series, uint32_t n);

/*
 * The quantile of n resampled values, which it sorts: the one of rank share * (n + 1), rounded down
 * below the middle and up above it, so that an interval is never narrower than asked for. With
 * n = 399, the 5 % and 95 % quantiles are exact ranks. n must be above 0.
 */
double bootstrap_quantile(double *values, uint32_t n, double share);

#endif
