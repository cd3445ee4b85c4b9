/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_MOMENTS_H
#define PT_STATS_MOMENTS_H

#include <stdint.h>

/*
 * Number, mean and standard deviation of durations, from exact integer sums.
 *
 * Exact sums, rather than running means (Welford 1962), because buckets are added to and taken from
 * totals all the time: the order never matters, and taking away what was added gives back precisely
 * what was there.
 *
 * Units: ns. Memory: constant. Threads: the caller's.
 * Range: a duration above MOMENTS_MAX_NS (78 hours) counts as that; the sum of squares then holds
 * 2^32 of the longest durations, and 10^24 of ten milliseconds.
 */
#define MOMENTS_MAX_NS ((UINT64_C(1) << 48) - 1)

__extension__ typedef unsigned __int128 moments_uint128;

struct moments {
	moments_uint128 sum, squares;
	uint64_t count;
};

/* Adds one duration. O(1), cannot fail. */
static inline void moments_add(struct moments *moments, uint64_t ns)
{
	ns = ns < MOMENTS_MAX_NS ? ns : MOMENTS_MAX_NS;
	moments->count++;
	moments->sum += ns;
	moments->squares += (moments_uint128)ns * ns;
}

void moments_merge(struct moments *moments, const struct moments *other);

/* Takes away what was added before; `other` must be a part of *moments. */
void moments_subtract(struct moments *moments, const struct moments *other);

/* 0 if count is 0. */
double moments_mean(const struct moments *moments);

/* Sample standard deviation, 0 if count < 2. Nothing is rounded but the result. */
double moments_sd(const struct moments *moments);

#endif
