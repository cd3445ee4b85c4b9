/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/ranks.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
	double value;
	uint32_t row;
};

static int by_value(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

bool ranks_make(const double *values, uint32_t n, double *ranks)
{
	struct ranked *sorted = malloc((n + 1) * sizeof(*sorted));
	uint32_t m = 0;

	if (!sorted) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		ranks[i] = NAN;
		if (!isnan(values[i])) {
			sorted[m++] = (struct ranked){.value = values[i], .row = i};
		}
	}
	qsort(sorted, m, sizeof(*sorted), by_value);
	for (uint32_t from = 0, to; from < m; from = to) {
		to = from + 1;
		while (to < m && sorted[to].value <= sorted[from].value) {
			to++;
		}
		for (uint32_t i = from; i < to; i++) {
			ranks[sorted[i].row] = (from + to + 1) * 0.5;
		}
	}
	free(sorted);
	return true;
}

bool ranks_normalize(double *values, uint32_t n)
{
	double sum = 0, squares = 0;
	uint32_t m = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!isnan(values[i])) {
			sum += values[i];
			m++;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		values[i] = isnan(values[i]) ? 0 : values[i] - sum / m;
		squares += values[i] * values[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		values[i] = squares > 0 ? values[i] / sqrt(squares) : 0;
	}
	return squares > 0;
}

bool ranks_spearman(const double *left, const double *right, uint32_t n, double *rho)
{
	double *both = malloc((4 * (size_t)n + 1) * sizeof(*both));
	double *a = both, *b = both + n, *of_a = both + 2 * (size_t)n, *of_b = both + 3 * (size_t)n;
	uint32_t m = 0;
	bool done;

	*rho = 0;
	if (!both) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!isnan(left[i]) && !isnan(right[i])) {
			a[m] = left[i];
			b[m++] = right[i];
		}
	}
	done = ranks_make(a, m, of_a) && ranks_make(b, m, of_b);
	if (done && ranks_normalize(of_a, m) && ranks_normalize(of_b, m)) {
		for (uint32_t i = 0; i < m; i++) {
			*rho += of_a[i] * of_b[i];
		}
		*rho = fmax(-1, fmin(1, *rho));
	}
	free(both);
	return done;
}
