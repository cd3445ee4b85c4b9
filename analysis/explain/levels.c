/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* Of sorted values: each run of equal ones is never cut. */
static uint32_t run_end(const double *sorted, uint32_t n, uint32_t from)
{
	uint32_t to = from + 1;

	while (to < n && sorted[to] <= sorted[from]) {
		to++;
	}
	return to;
}

static uint32_t count_runs(const double *sorted, uint32_t n)
{
	uint32_t runs = 0;

	for (uint32_t at = 0; at < n; at = run_end(sorted, n, at)) {
		runs++;
	}
	return runs;
}

static void cut_ranges(struct levels *levels, const double *sorted, uint32_t n, uint32_t most)
{
	bool each = count_runs(sorted, n) <= most;
	uint32_t held = 0;

	for (uint32_t at = 0, to; at < n; at = to) {
		uint32_t left = most - levels->n_own;
		double share = (double)(n - at + held) / (left ? left : 1);

		to = run_end(sorted, n, at);
		if (held && !each && to - at >= share && left > 1) {
			/* A value that fills a range itself: what came before it is one. */
			levels->high[levels->n_own++] = sorted[at - 1];
			held = 0;
		}
		held += to - at;
		if (each || to == n || (held >= share && levels->n_own + 1 < most)) {
			levels->high[levels->n_own++] = sorted[to - 1];
			held = 0;
		}
	}
}

/* A range of sorted values: where it is split best, and by how much that lowers its squares. */
struct range {
	uint32_t from, to, cut;
	double gain;
};

static struct range range_split(const double *sorted, uint32_t from, uint32_t to)
{
	struct range range = {.from = from, .to = to};
	double sum = 0, part = 0;

	for (uint32_t i = from; i < to; i++) {
		sum += sorted[i] - sorted[from];
	}
	for (uint32_t i = from + 1; i < to; i++) {
		double low = i - from, high = to - i, apart;

		part += sorted[i - 1] - sorted[from];
		apart = part / low - (sum - part) / high;
		if (sorted[i] > sorted[i - 1] &&
				apart * apart * low * high / (low + high) > range.gain) {
			range.gain = apart * apart * low * high / (low + high);
			range.cut = i;
		}
	}
	return range;
}

static void split_ranges(struct levels *levels, const double *sorted, uint32_t n, uint32_t most)
{
	struct range ranges[LEVELS_MAX];
	uint32_t n_ranges = 1;

	if (n == 0) {
		return;
	}
	ranges[0] = range_split(sorted, 0, n);
	while (n_ranges < most) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < n_ranges; i++) {
			best = ranges[i].gain > ranges[best].gain ? i : best;
		}
		if (!(ranges[best].gain > 0)) {
			break;
		}
		memmove(&ranges[best + 2], &ranges[best + 1],
				(n_ranges - best - 1) * sizeof(*ranges));
		ranges[best + 1] = range_split(sorted, ranges[best].cut, ranges[best].to);
		ranges[best] = range_split(sorted, ranges[best].from, ranges[best].cut);
		n_ranges++;
	}
	for (uint32_t i = 0; i < n_ranges; i++) {
		levels->high[levels->n_own++] = sorted[ranges[i].to - 1];
	}
}

static uint8_t range_of(const struct levels *levels, double value)
{
	uint32_t at = 0;

	while (at + 1 < levels->n_own && value > levels->high[at]) {
		at++;
	}
	return (uint8_t)at;
}

/* Room for rows, and whether some have no value. */
static bool begin(struct levels *levels, const double *values, uint32_t n, bool *missing)
{
	*levels = (struct levels){.others = UINT32_MAX, .none = UINT32_MAX};
	levels->of_row = calloc(n + 1, 1);
	*missing = false;
	for (uint32_t i = 0; i < n && !*missing; i++) {
		*missing = isnan(values[i]);
	}
	return levels->of_row != NULL;
}

bool levels_of_number(struct levels *levels, enum levels_by by, const double *values, uint32_t n,
		uint32_t n_explored, uint32_t most)
{
	double *sorted = malloc((n_explored + 1) * sizeof(*sorted));
	uint32_t m = 0;
	bool missing;

	if (!begin(levels, values, n, &missing) || !sorted) {
		free(sorted);
		levels_release(levels);
		return false;
	}
	for (uint32_t i = 0; i < n_explored; i++) {
		if (!isnan(values[i])) {
			sorted[m++] = values[i];
		}
	}
	qsort(sorted, m, sizeof(*sorted), by_value);
	if (by == LEVELS_BY_COUNT) {
		cut_ranges(levels, sorted, m, most);
	} else {
		split_ranges(levels, sorted, m, most);
	}
	free(sorted);
	if (levels->n_own == 0) {
		levels->high[levels->n_own++] = INFINITY; /* it came up later */
	}
	levels->n = levels->n_own;
	levels->none = missing ? levels->n++ : UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		levels->of_row[i] = isnan(values[i]) ? (uint8_t)levels->none
						     : range_of(levels, values[i]);
	}
	return true;
}

/* The most frequent texts, those met first before others; 0 rows: not listed. */
static void choose_texts(struct levels *levels, uint32_t *counts, uint32_t n_texts, uint32_t few)
{
	while (levels->n_own < LEVELS_CATEGORIES) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < n_texts; i++) {
			if (counts[i] >= few && (best == UINT32_MAX || counts[i] > counts[best])) {
				best = i;
			}
		}
		if (best == UINT32_MAX) {
			break;
		}
		levels->text[levels->n_own++] = best;
		counts[best] = 0;
	}
}

bool levels_of_category(struct levels *levels, const double *values, uint32_t n,
		uint32_t n_explored, uint32_t n_texts, uint32_t few)
{
	uint32_t *counts = calloc(n_texts + 1, sizeof(*counts)), *level_of = counts;
	bool missing, others = false;

	if (!begin(levels, values, n, &missing) || !counts) {
		free(counts);
		levels_release(levels);
		return false;
	}
	for (uint32_t i = 0; i < n_explored; i++) {
		if (!isnan(values[i])) {
			counts[(uint32_t)values[i]]++;
		}
	}
	choose_texts(levels, counts, n_texts, few ? few : 1);
	memset(level_of, 0xff, n_texts * sizeof(*level_of));
	for (uint32_t i = 0; i < levels->n_own; i++) {
		level_of[levels->text[i]] = i;
	}
	for (uint32_t i = 0; i < n && !others; i++) {
		others = !isnan(values[i]) && level_of[(uint32_t)values[i]] == UINT32_MAX;
	}
	levels->n = levels->n_own;
	levels->others = others ? levels->n++ : UINT32_MAX;
	levels->none = missing ? levels->n++ : UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t level = isnan(values[i]) ? levels->none : level_of[(uint32_t)values[i]];

		levels->of_row[i] = (uint8_t)(level == UINT32_MAX ? levels->others : level);
	}
	free(counts);
	return true;
}

void levels_release(struct levels *levels)
{
	free(levels->of_row);
	*levels = (struct levels){.n = 0};
}

/* Lambda: of the rows that are not of the most frequent column, those that the row tells. */
static double lambda(uint32_t counts[LEVELS_MAX][LEVELS_MAX], uint32_t n, bool columns)
{
	uint32_t told = 0, most = 0;

	for (uint32_t i = 0; i < LEVELS_MAX; i++) {
		uint32_t best = 0, sum = 0;

		for (uint32_t j = 0; j < LEVELS_MAX; j++) {
			uint32_t along = columns ? counts[i][j] : counts[j][i];

			best = along > best ? along : best;
			sum += columns ? counts[j][i] : counts[i][j];
		}
		told += best;
		most = sum > most ? sum : most;
	}
	return n > most ? (double)(told - most) / (n - most) : 0;
}

double levels_association(const struct levels *left, const struct levels *right, uint32_t n)
{
	uint32_t counts[LEVELS_MAX][LEVELS_MAX] = {{0}};

	for (uint32_t i = 0; i < n; i++) {
		counts[left->of_row[i]][right->of_row[i]]++;
	}
	return fmin(lambda(counts, n, true), lambda(counts, n, false));
}
