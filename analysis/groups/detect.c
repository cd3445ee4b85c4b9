/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/detect.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "stats/cov.h"
#include "stats/modes.h"
#include "stats/shift.h"

#define LOSSY_SHARE  0.1
#define HALF_Z_95    0.8224268134757361 /* of sqrt(n) ranks below the middle: z sqrt(n / 4) */
#define KERNEL_STEPS 16u                /* about what smoothing a step costs */
#define MIN_BASELINE 50u                /* requests of a baseline that a verdict needs */

double detect_median_low_share(uint64_t n)
{
	double rank = floor((double)n / 2 - HALF_Z_95 * sqrt((double)n));

	/* Half a rank less, so that rounding cannot lead to the next one. */
	return (fmax(rank, 1) - 0.5) / (double)n;
}

/* There is no verdict, or not yet: clears what detect_row() fills. */
static void detect_forget(struct groups_row *row)
{
	row->detection &= DETECTION_SLOW;
	row->cov_low = 0;
	row->n_modes = 0;
	row->shift = 0;
	memset(row->modes, 0, sizeof(row->modes));
}

bool detect_is_lossy(uint64_t count, uint64_t tainted)
{
	return (double)tainted > LOSSY_SHARE * (double)(count + tainted);
}

bool detect_may_speak(struct groups_row *row, uint32_t enough)
{
	row->missing = row->count < enough ? enough - (uint32_t)row->count : 0;
	row->lossy = detect_is_lossy(row->count, row->tainted);
	if (!row->missing && !row->lossy) {
		return true;
	}
	detect_forget(row);
	row->detection = 0;
	return false;
}

/* Of the totals alone: the same requests have the same bound. */
static uint64_t seed_of(const struct moments *moments)
{
	uint64_t sum = hash_pair((uint64_t)moments->sum, moments->count);

	return hash_pair(sum, (uint64_t)moments->squares);
}

/* 16 steps to the octave, from the lowest to the highest in use. */
struct steps {
	uint64_t counts[MODES_MAX_BINS];
	uint32_t low, n;
};

static void steps_fill(struct steps *steps, const struct histogram *histogram)
{
	uint32_t begin = 0, n = histogram->pages * HISTOGRAM_PAGE_BINS >> HISTOGRAM_SHIFT_PER_16TH;

	steps->low = histogram->first_page * HISTOGRAM_PAGE_BINS >> HISTOGRAM_SHIFT_PER_16TH;
	memset(steps->counts, 0, n * sizeof(*steps->counts));
	histogram_coarsen(histogram, HISTOGRAM_SHIFT_PER_16TH, steps->low, n, steps->counts);
	while (n && !steps->counts[n - 1]) {
		n--;
	}
	while (begin < n && !steps->counts[begin]) {
		begin++;
	}
	memmove(steps->counts, steps->counts + begin, (n - begin) * sizeof(*steps->counts));
	steps->low += begin;
	steps->n = n - begin;
}

/* The smallest ns of the step after `quarters` quarters of it. */
static uint64_t step_ns(const struct steps *steps, uint32_t step, uint32_t quarters)
{
	return histogram_bin_low(((steps->low + step) << HISTOGRAM_SHIFT_PER_16TH) + quarters);
}

static void row_set_modes(struct groups_row *row, const struct steps *steps)
{
	struct mode modes[MODES_MAX];

	row->n_modes = modes_find(steps->counts, steps->n, modes);
	memset(row->modes, 0, sizeof(row->modes));
	for (uint32_t i = 0; i < row->n_modes; i++) {
		row->modes[i].peak_ns = step_ns(steps, modes[i].peak, 2);
		row->modes[i].low_ns = step_ns(steps, modes[i].low, 0);
		row->modes[i].high_ns = step_ns(steps, modes[i].high, 0);
		row->modes[i].share = (double)modes[i].count / (double)row->count;
	}
	if (row->n_modes > 1) {
		row->detection |= DETECTION_MODES;
	}
}

static void row_set_shift(
		struct groups_row *row, const struct steps *steps, const struct baseline_group *was)
{
	const struct shift_histogram now = {
			.low = (int32_t)steps->low, .n = steps->n, .counts = steps->counts};
	const struct shift_histogram before = {.low = was->histogram_low,
			.n = was->histogram_bins,
			.counts = was->histogram};
	double median_ns = shift_median_ns(&before);

	row->shift = median_ns > 0 ? shift_median_ns(&now) / median_ns : 0;
	if (was->count >= MIN_BASELINE && shift_between(&before, &now).told) {
		row->detection |= DETECTION_SHIFTED;
	}
}

uint64_t detect_row(struct groups_row *row, const struct moments *moments,
		const struct histogram *histogram, const struct baseline_group *was,
		double cov_limit)
{
	struct steps steps;
	uint64_t work;

	detect_forget(row);
	if (!histogram->count) {
		return 0;
	}
	steps_fill(&steps, histogram);
	row->cov_low = fmin(row->cov, cov_low(histogram, cov_limit, seed_of(moments), &work));
	if (row->cov_low > cov_limit) {
		row->detection |= DETECTION_VARIES;
	}
	row_set_modes(row, &steps);
	if (was) {
		row_set_shift(row, &steps, was);
	}
	return work + (uint64_t)KERNEL_STEPS * steps.n;
}

static uint32_t quantile_bin(const struct detect_medians *medians, double share)
{
	uint32_t rank = (uint32_t)ceil(share * medians->n - 1e-9), seen = 0, bin = 0;

	while (bin + 1 < HISTOGRAM_BINS && seen + medians->counts[bin] < rank) {
		seen += medians->counts[bin++];
	}
	return bin;
}

uint32_t detect_medians_limit(const struct detect_medians *medians)
{
	uint32_t first, third, fence, percentile;

	if (medians->n < DETECT_MIN_GROUPS) {
		return HISTOGRAM_BINS;
	}
	first = quantile_bin(medians, 0.25);
	third = quantile_bin(medians, 0.75);
	percentile = quantile_bin(medians, 0.95);
	fence = third + (third - first) * 3 / 2; /* bins are even steps of the logarithm */
	return fence > percentile ? fence : percentile;
}

uint32_t detect_slow(
		const struct groups_row *row, const struct detect_median *median, uint32_t limit)
{
	if (row->objective_ns && histogram_bin_low(median->low) > row->objective_ns) {
		return DETECTION_SLOW;
	}
	return median->low > limit ? DETECTION_SLOW : 0;
}
