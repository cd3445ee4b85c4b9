/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/shift.h"

#include <math.h>

#define TOLERANCE  2         /* steps */
#define LEAST      0.1       /* share of samples */
#define LEVEL_0001 1.9494746 /* sqrt(-ln(0.001 / 2) / 2) */

static uint64_t total_of(const struct shift_histogram *histogram)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < histogram->n; i++) {
		sum += histogram->counts[i];
	}
	return sum;
}

static double count_at(const struct shift_histogram *histogram, int32_t step)
{
	int32_t at = step - histogram->low;

	return at >= 0 && (uint32_t)at < histogram->n ? (double)histogram->counts[at] : 0;
}

/* Largest F_from(x) - F_to(x + TOLERANCE) over the ends x of steps. */
static double moved_up(const struct shift_histogram *from, double n_from,
		const struct shift_histogram *to, double n_to)
{
	double below_from = 0, below_to = 0, most = 0;
	int32_t step = to->low - TOLERANCE < from->low ? to->low - TOLERANCE : from->low;
	int32_t end = from->low + (int32_t)from->n;

	for (; step < end; step++) {
		below_from += count_at(from, step);
		below_to += count_at(to, step + TOLERANCE);
		most = fmax(most, below_from / n_from - below_to / n_to);
	}
	return most;
}

struct shift shift_between(const struct shift_histogram *before, const struct shift_histogram *now)
{
	double n_before = (double)total_of(before), n_now = (double)total_of(now), most;
	struct shift shift = {.told = false};

	if (!(n_before > 0 && n_now > 0)) {
		return shift;
	}
	shift.slower = moved_up(before, n_before, now, n_now);
	shift.faster = moved_up(now, n_now, before, n_before);
	most = fmax(shift.slower, shift.faster);
	shift.told = most >= LEAST && most > LEVEL_0001 * sqrt(1 / n_before + 1 / n_now);
	return shift;
}

double shift_median_ns(const struct shift_histogram *histogram)
{
	double half = (double)total_of(histogram) / 2, seen = 0;

	for (uint32_t i = 0; i < histogram->n; i++) {
		double count = (double)histogram->counts[i];

		if (count > 0 && seen + count >= half) {
			return exp2((histogram->low + (int32_t)i + (half - seen) / count) / 16);
		}
		seen += count;
	}
	return 0;
}
