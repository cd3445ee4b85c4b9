/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/metric.h"

#include <math.h>

static double variance_value(const struct groups_row *row)
{
	return (double)row->count * row->sd_ns;
}

static double cov_value(const struct groups_row *row)
{
	return row->cov_low;
}

static double modes_value(const struct groups_row *row)
{
	double mean = 0, squares = 0;

	for (uint32_t i = 0; row->n_modes > 1 && i < row->n_modes; i++) {
		double octaves = log2((double)row->modes[i].peak_ns);

		mean += row->modes[i].share * octaves;
		squares += row->modes[i].share * octaves * octaves;
	}
	return sqrt(fmax(0, squares - mean * mean));
}

static double (*const values[METRIC_COUNT])(const struct groups_row *row) = {
		[METRIC_VARIANCE] = variance_value,
		[METRIC_COV] = cov_value,
		[METRIC_MODES] = modes_value,
};

double metric_value(enum metric metric, const struct groups_row *row)
{
	return metric < METRIC_COUNT ? values[metric](row) : 0;
}
