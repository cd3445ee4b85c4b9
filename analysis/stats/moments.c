/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/moments.h"

#include <math.h>

void moments_merge(struct moments *moments, const struct moments *other)
{
	moments->count += other->count;
	moments->sum += other->sum;
	moments->squares += other->squares;
}

void moments_subtract(struct moments *moments, const struct moments *other)
{
	moments->count -= other->count;
	moments->sum -= other->sum;
	moments->squares -= other->squares;
}

double moments_mean(const struct moments *moments)
{
	if (!moments->count) {
		return 0;
	}
	return (double)((long double)moments->sum / (long double)moments->count);
}

/*
 * With m = floor(sum / n) and r = sum - n m, the squared distances from m add up to
 *   D = squares - 2 m sum + n m^2 = squares - m (sum + r),
 * which is below 2^128, so that arithmetic modulo 2^128 gives it exactly even where the products
 * wrap; the distances from the mean itself (m + r / n) add up to D - r^2 / n.
 */
double moments_sd(const struct moments *moments)
{
	moments_uint128 n = moments->count, middle, rest, distances;
	long double variance;

	if (n < 2) {
		return 0;
	}
	middle = moments->sum / n;
	rest = moments->sum - n * middle;
	distances = moments->squares - middle * (moments->sum + rest);
	variance = (long double)distances - (long double)rest * (long double)rest / (long double)n;
	return variance > 0 ? (double)sqrtl(variance / (long double)(n - 1)) : 0;
}
