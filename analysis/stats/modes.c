/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/modes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define NARROWEST    2.5 /* standard deviation of the kernel, in steps */
#define WIDTH_FACTOR 0.4
#define KERNEL_REACH 3.0  /* standard deviations */
#define MAX_REACH    255u /* steps: more than any width that 1024 steps can ask for */
#define MIN_Z        3.0
#define MIN_SHARE    0.02

/* A hill of the smoothed histogram, and the trough between it and the next. */
struct hill {
	uint32_t peak, trough;
};

struct smoothed {
	float height[MODES_MAX_BINS];   /* counts under the kernel */
	float variance[MODES_MAX_BINS]; /* of the height */
	struct hill hills[MODES_MAX_BINS / 2 + 1];
	uint32_t n, n_hills;
};

/* Smallest step with at least `rank` samples up to its end. */
static uint32_t step_of_rank(const uint64_t *counts, uint32_t n, uint64_t rank)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		seen += counts[i];
		if (seen >= rank) {
			return i;
		}
	}
	return n - 1;
}

static double kernel_width(const uint64_t *counts, uint32_t n, uint64_t total)
{
	double mean = 0, squares = 0, spread, quartiles;

	for (uint32_t i = 0; i < n; i++) {
		mean += (double)counts[i] * i;
		squares += (double)counts[i] * i * i;
	}
	mean /= (double)total;
	spread = sqrt(fmax(0, squares / (double)total - mean * mean));
	quartiles = (double)(step_of_rank(counts, n, total - total / 4) -
			     step_of_rank(counts, n, (total + 3) / 4));
	return fmax(NARROWEST,
			WIDTH_FACTOR * fmin(spread, quartiles / 1.349) * pow((double)total, -0.2));
}

/* Adds `count` samples of a step to all that the kernel reaches. */
static void spread_count(struct smoothed *out, const float *kernel, uint32_t reach, uint32_t step,
		float count)
{
	uint32_t from = step > reach ? step - reach : 0;
	uint32_t to = step + reach < out->n ? step + reach : out->n - 1;
	const float *weight = kernel + reach + from - step;

	for (uint32_t i = from; i <= to; i++, weight++) {
		out->height[i] += *weight * count;
		out->variance[i] += *weight * *weight * count;
	}
}

static void smooth(struct smoothed *out, const uint64_t *counts, uint32_t n, double width)
{
	uint32_t reach = (uint32_t)fmin(ceil(KERNEL_REACH * width), MAX_REACH);
	float kernel[2 * MAX_REACH + 1];
	double sum = 0;

	for (uint32_t i = 0; i <= 2 * reach; i++) {
		double at = ((double)i - reach) / width;

		kernel[i] = (float)exp(-0.5 * at * at);
		sum += kernel[i];
	}
	for (uint32_t i = 0; i <= 2 * reach; i++) {
		kernel[i] /= (float)sum;
	}
	out->n = n;
	memset(out->height, 0, n * sizeof(*out->height));
	memset(out->variance, 0, n * sizeof(*out->variance));
	for (uint32_t i = 0; i < n; i++) {
		if (counts[i]) {
			spread_count(out, kernel, reach, i, (float)counts[i]);
		}
	}
}

/* Every local maximum is a hill at first. */
static void hills_find(struct smoothed *out)
{
	const float *height = out->height;
	uint32_t lowest = 0;

	out->n_hills = 0;
	for (uint32_t i = 0; i < out->n; i++) {
		bool rises = i == 0 || height[i] > height[i - 1];
		bool falls = i + 1 == out->n || height[i] >= height[i + 1];

		if (height[i] < height[lowest]) {
			lowest = i;
		}
		if (!rises || !falls || !(height[i] > 0)) {
			continue;
		}
		if (out->n_hills) {
			out->hills[out->n_hills - 1].trough = lowest;
		}
		out->hills[out->n_hills++] = (struct hill){.peak = i, .trough = out->n};
		lowest = i;
	}
}

/* Hills i and i + 1 become one. */
static void hills_join(struct smoothed *out, uint32_t i)
{
	struct hill *hill = &out->hills[i];

	if (out->height[hill[1].peak] > out->height[hill->peak]) {
		hill->peak = hill[1].peak;
	}
	hill->trough = hill[1].trough;
	out->n_hills--;
	memmove(hill + 1, hill + 2, (out->n_hills - i - 1) * sizeof(*hill));
}

/* By how many standard errors the trough is below a peak. */
static double depth(const struct smoothed *out, uint32_t peak, uint32_t trough)
{
	double variance = (double)out->variance[peak] + (double)out->variance[trough];

	return ((double)out->height[peak] - (double)out->height[trough]) / sqrt(variance);
}

/* The valley that is the least sure, and how sure. */
static uint32_t shallowest(const struct smoothed *out, double *z)
{
	uint32_t found = 0;

	*z = INFINITY;
	for (uint32_t i = 0; i + 1 < out->n_hills; i++) {
		const struct hill *hill = &out->hills[i];
		double here = fmin(depth(out, hill[0].peak, hill->trough),
				depth(out, hill[1].peak, hill->trough));

		if (here < *z) {
			*z = here;
			found = i;
		}
	}
	return found;
}

/* A mode is what lies between its troughs. */
static struct mode mode_of(const struct smoothed *out, const uint64_t *counts, uint32_t i)
{
	struct mode mode = {.peak = out->hills[i].peak,
			.low = i ? out->hills[i - 1].trough : 0,
			.high = out->hills[i].trough};

	for (uint32_t step = mode.low; step < mode.high; step++) {
		mode.count += counts[step];
	}
	return mode;
}

/* Joins the smallest hill, if it is too small to be a mode, over its higher trough. */
static bool join_smallest(struct smoothed *out, const uint64_t *counts, uint64_t total)
{
	uint64_t least = UINT64_MAX;
	uint32_t small = 0;

	for (uint32_t i = 0; i < out->n_hills; i++) {
		struct mode mode = mode_of(out, counts, i);

		if (mode.count < least) {
			least = mode.count;
			small = i;
		}
	}
	if (out->n_hills < 2 || (double)least >= MIN_SHARE * (double)total) {
		return false;
	}
	if (small && (small + 1 == out->n_hills ||
				     out->height[out->hills[small - 1].trough] >
						     out->height[out->hills[small].trough])) {
		small--;
	}
	hills_join(out, small);
	return true;
}

uint32_t modes_find(const uint64_t *counts, uint32_t n, struct mode modes[MODES_MAX])
{
	struct smoothed out;
	uint64_t total = 0;
	double z;

	for (uint32_t i = 0; i < n; i++) {
		total += counts[i];
	}
	if (!total) {
		return 0;
	}
	smooth(&out, counts, n, kernel_width(counts, n, total));
	hills_find(&out);
	do {
		uint32_t at = shallowest(&out, &z);

		while (z < MIN_Z) {
			hills_join(&out, at);
			at = shallowest(&out, &z);
		}
	} while (join_smallest(&out, counts, total));
	while (out.n_hills > MODES_MAX) {
		hills_join(&out, shallowest(&out, &z));
	}
	for (uint32_t i = 0; i < out.n_hills; i++) {
		modes[i] = mode_of(&out, counts, i);
	}
	return out.n_hills;
}
