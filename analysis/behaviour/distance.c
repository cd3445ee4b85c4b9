/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/distance.h"

#include <math.h>
#include <stdlib.h>

#define ON_STACK 512u

static const double least[RESOURCE_COUNT] = {100e3, 100e3, 4096};

static uint32_t least_of(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Row by row; row[j] is the distance of the first i of a from the first j of b, above `most`
 * outside of the band, where no path of at most so many edits leads.
 */
static uint32_t edits(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b,
		uint32_t most, uint32_t *row)
{
	const uint32_t far = most + 1;

	for (uint32_t j = 0; j <= n_b; j++) {
		row[j] = j <= most ? j : far;
	}
	for (uint32_t i = 1; i <= n_a; i++) {
		uint32_t from = i > most ? i - most : 1, to = i + most < n_b ? i + most : n_b;
		uint32_t diagonal = row[from - 1], best = far;

		row[from - 1] = from == 1 && i <= most ? i : far;
		for (uint32_t j = from; j <= to; j++) {
			uint32_t above = j == i + most ? far : row[j];
			uint32_t cell = diagonal + (a[i - 1] != b[j - 1]);

			cell = least_of(cell, above + 1, row[j - 1] + 1);
			diagonal = row[j];
			row[j] = cell < far ? cell : far;
			best = row[j] < best ? row[j] : best;
		}
		if (best == far && row[from - 1] == far) {
			return far;
		}
	}
	return row[n_b] < far ? row[n_b] : far;
}

uint32_t distance_edits(
		const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t most)
{
	uint32_t few[ON_STACK + 1], *row = few, result, longest = n_a > n_b ? n_a : n_b;

	while (n_a > 0 && n_b > 0 && *a == *b) {
		a++;
		b++;
		n_a--;
		n_b--;
	}
	while (n_a > 0 && n_b > 0 && a[n_a - 1] == b[n_b - 1]) {
		n_a--;
		n_b--;
	}
	most = most < longest ? most : longest;
	if ((n_a > n_b ? n_a - n_b : n_b - n_a) > most) {
		return most + 1;
	}
	if (n_b > ON_STACK) {
		row = malloc(((size_t)n_b + 1) * sizeof(*row));
		if (!row) {
			return UINT32_MAX;
		}
	}
	result = edits(a, n_a, b, n_b, most, row);
	if (row != few) {
		free(row);
	}
	return result;
}

double distance_ratio(const struct resources *a, const struct resources *b, enum resource which)
{
	return fmax(b->amount[which], least[which]) / fmax(a->amount[which], least[which]);
}

double distance_resources(const struct resources *a, const struct resources *b)
{
	double most = 0;

	for (int i = 0; a->known && b->known && i < RESOURCE_COUNT; i++) {
		double powers = fabs(log(distance_ratio(a, b, (enum resource)i))) /
				log(RESOURCE_ALIKE);

		most = fmax(most, powers - 1);
	}
	return fmin(most, 1);
}

uint32_t distance_level(const struct resources *of)
{
	uint32_t level = 0;

	for (int i = 0; of->known && i < RESOURCE_COUNT; i++) {
		double powers = log(fmax(of->amount[i], least[i]) / least[i]) / log(RESOURCE_ALIKE);

		level = level << 6 | (uint32_t)fmin(powers + 1, 63);
	}
	return level;
}
