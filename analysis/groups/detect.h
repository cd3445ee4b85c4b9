/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_DETECT_H
#define PT_GROUPS_DETECT_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/baseline.h"
#include "pythiatop/snapshot/groups.h"
#include "stats/histogram.h"
#include "stats/moments.h"

/*
 * Whether the requests of a group vary, and how. Of fewer than `enough` requests, or where more
 * than a tenth of them is tainted, nothing is said. Else any of:
 *
 *   VARIES   the lower 95 % bound of the coefficient of variation is above a limit (stats/cov.h)
 *   MODES    there are several modes (stats/modes.h)
 *   SLOW     the median is above its objective, or far above those of the other groups
 *   SHIFTED  the latencies are others than those of the baseline (stats/shift.h)
 *
 * All but SLOW follow from the group's own totals and its baseline alone, so that a verdict lasts
 * as long as these. "The median is above x" means that its lower 95 % bound is: the order statistic
 * that a sign test gives (Conover, Practical Nonparametric Statistics, 3.2).
 *
 * Far above the other groups: above the 95th percentile of all medians, and beyond the upper fence
 * of their logarithms (third quartile and 1.5 times the distance of the quartiles: Tukey 1977).
 * The percentile alone would call one group of 20 slow in any system, however it performs. Of fewer
 * than 20 groups nothing is said: the percentile is their maximum then, which no group is above.
 */
#define DETECT_COV_LIMIT  0.25
#define DETECT_MIN_GROUPS 20u

/* The median's bin, and that of its lower bound. */
struct detect_median {
	uint16_t bin, low;
};

/* Share whose quantile is the lower 95 % bound of the median of n samples; n must be above 10. */
double detect_median_low_share(uint64_t n);

/* More than a tenth of the complete requests is tainted. */
bool detect_is_lossy(uint64_t count, uint64_t tainted);

/* Sets `missing` and `lossy` from the counts, and forgets the verdict if they say so. True if a
 * verdict may be given. */
bool detect_may_speak(struct groups_row *row, uint32_t enough);

/*
 * Gives the verdict on a row that may have one, but for SLOW, from what the row shows: its moments
 * and histogram. `was` may be NULL. Returns what it cost, in bins gone through (a few ns each).
 */
uint64_t detect_row(struct groups_row *row, const struct moments *moments,
		const struct histogram *histogram, const struct baseline_group *was,
		double cov_limit);

/* The medians of groups that may be compared. All zero: none. */
struct detect_medians {
	uint32_t n, counts[HISTOGRAM_BINS];
};

static inline void detect_medians_add(struct detect_medians *medians, uint32_t bin)
{
	medians->counts[bin]++;
	medians->n++;
}

/* A median beyond this bin is far above the others; HISTOGRAM_BINS: too few groups. */
uint32_t detect_medians_limit(const struct detect_medians *medians);

/* SLOW or 0. `limit` as above. */
uint32_t detect_slow(
		const struct groups_row *row, const struct detect_median *median, uint32_t limit);

#endif
