/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/kruskal.h"

#include <math.h>

/* Sums of squares of values around their mean: of all, and between the levels. */
struct squares {
	double total, between;
	uint32_t n_levels;
};

static struct squares squares_of(
		const double *values, const uint8_t *levels, uint32_t n, uint32_t n_levels)
{
	double sums[KRUSKAL_MAX_LEVELS] = {0}, mean = 0;
	uint32_t counts[KRUSKAL_MAX_LEVELS] = {0};
	struct squares squares = {.total = 0};

	for (uint32_t i = 0; i < n; i++) {
		mean += values[i];
	}
	mean /= n ? n : 1;
	for (uint32_t i = 0; i < n; i++) {
		double off = values[i] - mean;

		squares.total += off * off;
		sums[levels[i]] += off;
		counts[levels[i]]++;
	}
	for (uint32_t level = 0; level < n_levels; level++) {
		if (counts[level]) {
			squares.between += sums[level] * sums[level] / counts[level];
			squares.n_levels++;
		}
	}
	return squares;
}

double kruskal_omega2(const double *values, const uint8_t *levels, uint32_t n, uint32_t n_levels)
{
	struct squares squares = squares_of(values, levels, n, n_levels);
	double within, df = squares.n_levels - 1.0;

	if (squares.n_levels < 2 || squares.n_levels >= n || squares.total <= 0) {
		return 0;
	}
	within = fmax(0, squares.total - squares.between) / (n - squares.n_levels);
	return fmax(0, fmin(1, (squares.between - df * within) / (squares.total + within)));
}

double kruskal_deviate(double chi2, double df)
{
	double spread = 2 / (9 * df);

	return (cbrt(chi2 / df) - (1 - spread)) / sqrt(spread);
}
