/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/share_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"

#define RESAMPLES  199u /* 5 % and 95 % are exact ranks */
#define LEADERS    3u   /* columns that the length of blocks is asked of */
#define LONGER     2u   /* than estimates of a variance want: t needs its error as well */
#define MAX_BLOCKS 64u
#define MIN_BLOCKS 5u
#define LARGEST_T  6.0  /* resamples that lack what matters say no more than that */
#define SMALLEST   1e-9 /* errors of shares below that are those of rounding */

/*
 * All circular blocks of `length`: one row of `stride` values for each sample it may begin at. With
 * s and d the distances of S and T from their means: per column the sums of s, then of s d; then
 * the sums of d and of d^2, and the weight; all by weight.
 */
struct series {
	uint32_t n, width, length, n_blocks, stride;
	const double *weights;
	double weight; /* of all samples */
	double *rows, *distances;
	double *means;          /* of the columns */
	double *phi, *error;    /* by column */
	double *sums, *squares; /* of a resample */
	double *resampled;      /* RESAMPLES values of t by column */
	double variance;        /* times the weight */
};

static bool series_allocate(struct series *series, uint32_t n, uint32_t width)
{
	size_t stride = 2 * (size_t)width + 3;
	size_t small = (size_t)n + 4 * width + stride + RESAMPLES * (size_t)width;
	double *at = calloc(small + n * stride, sizeof(*at));

	series->n = n;
	series->width = width;
	series->stride = (uint32_t)stride;
	series->distances = at;
	if (!at) {
		return false;
	}
	series->means = at += n;
	series->phi = at += width;
	series->error = at += width;
	series->squares = at += width;
	series->sums = at += width;
	series->resampled = at += stride;
	series->rows = at + RESAMPLES * (size_t)width;
	return true;
}

static void series_release(struct series *series)
{
	free(series->distances); /* all is one piece */
}

static void find_shares(struct series *series, const double *durations, const double *parts)
{
	uint32_t n = series->n, width = series->width;
	double mean = 0;

	for (uint32_t i = 0; i < n; i++) {
		series->weight += series->weights[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		double weight = series->weights[i];

		mean += weight * durations[i] / series->weight;
		for (uint32_t a = 0; a < width; a++) {
			series->means[a] += weight * parts[i * width + a] / series->weight;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		double distance = durations[i] - mean, weight = series->weights[i];

		series->distances[i] = distance;
		series->variance += weight * distance * distance;
		for (uint32_t a = 0; a < width; a++) {
			series->phi[a] += weight * (parts[i * width + a] - series->means[a]) *
					  distance;
		}
	}
	for (uint32_t a = 0; a < width; a++) {
		series->phi[a] /= series->variance;
	}
}

/* How long samples depend on each other, by the influence of each on the largest shares. */
static bool choose_length(struct series *series, const double *parts)
{
	double *influence = malloc(series->n * sizeof(*influence));
	uint32_t n = series->n, length = (n + MAX_BLOCKS - 1) / MAX_BLOCKS;
	double last = INFINITY;

	if (!influence) {
		return false;
	}
	for (uint32_t k = 0; k < LEADERS && k < series->width; k++) {
		uint32_t leader = UINT32_MAX, own;

		for (uint32_t a = 0; a < series->width; a++) {
			if (fabs(series->phi[a]) < last &&
					(leader == UINT32_MAX ||
							fabs(series->phi[a]) >
									fabs(series->phi[leader]))) {
				leader = a;
			}
		}
		if (leader == UINT32_MAX) {
			break;
		}
		last = fabs(series->phi[leader]);
		for (uint32_t i = 0; i < n; i++) {
			double d = series->distances[i];
			double s = parts[i * series->width + leader] - series->means[leader];

			influence[i] = series->weights[i] * (s * d - series->phi[leader] * d * d);
		}
		own = LONGER * bootstrap_block_length(influence, n);
		length = own > length ? own : length;
	}
	free(influence);
	series->length = length < n / MIN_BLOCKS ? length : n / MIN_BLOCKS;
	series->length += series->length == 0;
	series->n_blocks = (n + series->length - 1) / series->length;
	return true;
}

/* Adds sample i to a row, or takes it away. */
static void row_add(const struct series *series, const double *parts, double *row, uint32_t i,
		double sign)
{
	uint32_t width = series->width;
	double weight = sign * series->weights[i], d = weight * series->distances[i];

	for (uint32_t a = 0; a < width; a++) {
		double s = parts[i * width + a] - series->means[a];

		row[a] += weight * s;
		row[width + a] += d * s;
	}
	row[2 * width] += d;
	row[2 * width + 1] += d * series->distances[i];
	row[2 * width + 2] += weight;
}

static void make_rows(struct series *series, const double *parts)
{
	uint32_t n = series->n;

	for (uint32_t i = 0; i < series->length; i++) {
		row_add(series, parts, series->rows, i, 1);
	}
	for (uint32_t begin = 1; begin < n; begin++) {
		double *row = &series->rows[(size_t)begin * series->stride];

		memcpy(row, row - series->stride, series->stride * sizeof(*row));
		row_add(series, parts, row, begin - 1, -1);
		row_add(series, parts, row, (begin + series->length - 1) % n, 1);
	}
}

/*
 * Standard errors by the delta method, over all blocks there are. False: none is above 0, as where
 * all of T is of one column, and the intervals are points.
 */
static bool find_errors(struct series *series)
{
	uint32_t width = series->width;
	double scale = (double)series->n_blocks / (series->n_blocks - 1) / series->length;
	bool any = false;

	for (uint32_t begin = 0; begin < series->n; begin++) {
		const double *row = &series->rows[(size_t)begin * series->stride];

		for (uint32_t a = 0; a < width; a++) {
			double u = row[width + a] - series->phi[a] * row[2 * width + 1];

			series->error[a] += u * u;
		}
	}
	for (uint32_t a = 0; a < width; a++) {
		series->error[a] = sqrt(series->error[a] * scale) / series->variance;
		any = any || series->error[a] > SMALLEST;
	}
	return any;
}

/* One value of t = (phi' - phi) / error' for each column. False: T does not vary in this one. */
static bool resample(struct series *series, struct bootstrap_random *random, uint32_t *begins,
		double *phi, double *t, uint32_t t_stride)
{
	uint32_t width = series->width;
	double m, mean, variance;

	memset(series->sums, 0, series->stride * sizeof(*series->sums));
	memset(series->squares, 0, width * sizeof(*series->squares));
	for (uint32_t k = 0; k < series->n_blocks; k++) {
		const double *row;

		begins[k] = bootstrap_below(random, series->n);
		row = &series->rows[(size_t)begins[k] * series->stride];
		for (uint32_t a = 0; a < series->stride; a++) {
			series->sums[a] += row[a];
		}
	}
	m = series->sums[2 * width + 2];
	mean = series->sums[2 * width] / m;
	variance = series->sums[2 * width + 1] - mean * mean * m;
	if (variance <= SMALLEST * series->variance) {
		return false;
	}
	for (uint32_t a = 0; a < width; a++) {
		series->sums[a] /= m;
		phi[a] = (series->sums[width + a] - series->sums[a] * mean * m) / variance;
	}
	for (uint32_t k = 0; k < series->n_blocks; k++) {
		const double *row = &series->rows[(size_t)begins[k] * series->stride];
		double d = row[2 * width] - row[2 * width + 2] * mean;
		double v = row[2 * width + 1] - mean * (row[2 * width] + d);

		for (uint32_t a = 0; a < width; a++) {
			double u = row[width + a] - mean * row[a] - series->sums[a] * d -
				   phi[a] * v;

			series->squares[a] += u * u;
		}
	}
	for (uint32_t a = 0; a < width; a++) {
		double error = sqrt(series->squares[a]) / variance;
		double off = phi[a] - series->phi[a];

		t[(size_t)a * t_stride] = error > fabs(off) / LARGEST_T ? off / error
					  : off > 0                     ? LARGEST_T
					  : off < 0                     ? -LARGEST_T
									: 0;
	}
	return true;
}

static void read_intervals(
		struct series *series, uint32_t n_resamples, double *below, double *above)
{
	for (uint32_t a = 0; a < series->width; a++) {
		double *t = &series->resampled[(size_t)a * RESAMPLES];

		below[a] = above[a] = 0;
		if (series->error[a] > SMALLEST && n_resamples) {
			double high = bootstrap_quantile(t, n_resamples, 0.95);
			double low = bootstrap_quantile(t, n_resamples, 0.05);

			below[a] = fmax(high, 0) * series->error[a];
			above[a] = fmax(-low, 0) * series->error[a];
		}
	}
}

bool share_intervals(const double *durations, const double *weights, const double *parts,
		uint32_t n, uint32_t width, uint64_t seed, double *below, double *above,
		uint32_t *length)
{
	struct bootstrap_random random = {.state = seed};
	struct series series = {.weights = weights};
	uint32_t *begins = malloc(n * sizeof(*begins)), done = 0, tries = RESAMPLES;
	double *phi = malloc(width * sizeof(*phi));
	bool ok = begins && phi && series_allocate(&series, n, width);

	if (ok) {
		find_shares(&series, durations, parts);
		ok = choose_length(&series, parts);
	}
	if (ok) {
		make_rows(&series, parts);
		tries = find_errors(&series) ? RESAMPLES : 0;
		for (uint32_t i = 0; i < tries; i++) {
			done += resample(&series, &random, begins, phi, &series.resampled[done],
					RESAMPLES);
		}
		read_intervals(&series, done, below, above);
		*length = series.length;
	}
	series_release(&series);
	free(begins);
	free(phi);
	return ok;
}

bool share_totals_init(struct share_totals *totals, const double *durations, const double *weights,
		uint32_t n, uint32_t length)
{
	double mean = 0;

	memset(totals, 0, sizeof(*totals));
	totals->n = n;
	totals->weights = weights;
	totals->length = length;
	totals->n_blocks = (n + length - 1) / length;
	totals->distances = calloc(n + 2 * (size_t)totals->n_blocks, sizeof(double));
	if (!totals->distances) {
		return false;
	}
	totals->a = totals->distances + n;
	totals->v = totals->a + totals->n_blocks;
	for (uint32_t i = 0; i < n; i++) {
		totals->weight += weights[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		mean += weights[i] * durations[i] / totals->weight;
	}
	for (uint32_t i = 0; i < n; i++) {
		double d = totals->distances[i] = durations[i] - mean;

		totals->a[i / length] += weights[i] * d;
		totals->v[i / length] += weights[i] * d * d;
	}
	for (uint32_t k = 0; k < totals->n_blocks; k++) {
		totals->sum_aa += totals->a[k] * totals->a[k];
		totals->sum_av += totals->a[k] * totals->v[k];
		totals->sum_vv += totals->v[k] * totals->v[k];
		totals->sum_v += totals->v[k];
	}
	return true;
}

void share_totals_release(struct share_totals *totals)
{
	free(totals->distances);
}

static void blocks_flush(struct share_blocks *blocks, const struct share_totals *totals)
{
	blocks->sum_c += blocks->c;
	blocks->sum_cc += blocks->c * blocks->c;
	blocks->sum_ca += blocks->c * totals->a[blocks->block];
	blocks->sum_cv += blocks->c * totals->v[blocks->block];
	blocks->c = 0;
}

void share_blocks_add(struct share_blocks *blocks, const struct share_totals *totals, uint32_t i,
		double part)
{
	if (blocks->block != i / totals->length) {
		blocks_flush(blocks, totals);
		blocks->block = i / totals->length;
	}
	part *= totals->weights[i];
	blocks->c += part * totals->distances[i];
	blocks->sum_s += part;
}

double share_blocks_error(struct share_blocks *blocks, const struct share_totals *totals)
{
	double m = blocks->sum_s / totals->weight, phi, squares;

	blocks_flush(blocks, totals);
	phi = blocks->sum_c / totals->sum_v;
	squares = blocks->sum_cc - 2 * m * blocks->sum_ca - 2 * phi * blocks->sum_cv +
		  m * m * totals->sum_aa + 2 * m * phi * totals->sum_av +
		  phi * phi * totals->sum_vv;
	return sqrt(fmax(squares, 0) * totals->n_blocks / (totals->n_blocks - 1)) / totals->sum_v;
}
