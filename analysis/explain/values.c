/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explaining.h"

/*
 * How long requests with each value of the first key took, all of them: its values, or ranges of
 * equal counts, or the categories that matter most, the others together.
 */
static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static const char *number_text(struct arena *arena, double value)
{
	if (value >= -1e15 && value <= 1e15 && nearbyint(value) == value) {
		return arena_printf(arena, "%.0f", value);
	}
	return arena_printf(arena, "%.4g", value);
}

static const char *range_text(struct explain *explain, const struct key *key, uint32_t level)
{
	double low = INFINITY, high = -INFINITY;
	const char *from, *to;

	for (uint32_t i = 0; i < explain->n; i++) {
		if (key->levels.of_row[i] == level) {
			low = fmin(low, key->values[i]);
			high = fmax(high, key->values[i]);
		}
	}
	from = number_text(&explain->arena, low);
	to = low < high ? number_text(&explain->arena, high) : NULL;
	return from && to ? arena_printf(&explain->arena, "%s to %s", from, to) : from;
}

static void count_bins(const struct explain *explain, struct value *value, double duration)
{
	double octaves = log(explain->high_ns / explain->low_ns);
	double at = octaves > 0 ? EXPLANATION_BINS *
						    log(fmax(duration, explain->low_ns) /
								    explain->low_ns) /
						    octaves
				: 0;

	value->bins[at < EXPLANATION_BINS - 1 ? (uint32_t)at : EXPLANATION_BINS - 1]++;
}

/* All but the text. */
static bool measure(const struct explain *explain, const struct levels *levels, uint32_t level,
		struct value *value)
{
	double *durations = malloc((explain->n + 1) * sizeof(*durations));
	uint32_t n = 0;

	if (!durations) {
		return false;
	}
	*value = (struct value){.count = 0};
	for (uint32_t i = 0; i < explain->n; i++) {
		if (levels->of_row[i] == level) {
			durations[n++] = explain->durations[i];
			value->mean_ns += explain->durations[i];
			count_bins(explain, value, explain->durations[i]);
		}
	}
	value->count = n;
	if (n) {
		qsort(durations, n, sizeof(*durations), by_value);
		value->mean_ns /= n;
		value->p50_ns = (uint64_t)durations[(n - 1) / 2];
	}
	free(durations);
	return true;
}

static int by_mean(const void *left, const void *right)
{
	const struct value *a = left, *b = right;

	return a->mean_ns < b->mean_ns ? -1 : a->mean_ns > b->mean_ns;
}

/* The levels beyond those that there is room for become others: those that add least to what is
 * between levels. */
static void merge_levels(struct explain *explain, struct levels *levels)
{
	double sums[LEVELS_MAX] = {0}, mean = 0;
	uint32_t counts[LEVELS_MAX] = {0}, left = levels->n;

	for (uint32_t i = 0; i < explain->n; i++) {
		mean += explain->durations[i] / explain->n;
	}
	for (uint32_t i = 0; i < explain->n; i++) {
		sums[levels->of_row[i]] += explain->durations[i] - mean;
		counts[levels->of_row[i]]++;
	}
	if (left > EXPLANATION_VALUES && levels->others == UINT32_MAX) {
		levels->others = levels->n++;
		left++;
	}
	while (left > EXPLANATION_VALUES) {
		uint32_t least = UINT32_MAX;

		for (uint32_t level = 0; level < levels->n_own; level++) {
			double adds = counts[level] ? sums[level] * sums[level] / counts[level] : 0;

			if (counts[level] &&
					(least == UINT32_MAX ||
							adds < sums[least] * sums[least] /
											counts[least])) {
				least = level;
			}
		}
		if (least == UINT32_MAX) {
			break;
		}
		for (uint32_t i = 0; i < explain->n; i++) {
			levels->of_row[i] = levels->of_row[i] == least ? (uint8_t)levels->others
								       : levels->of_row[i];
		}
		counts[least] = 0;
		left--;
	}
}

static const char *text_of(struct explain *explain, const struct key *key, uint32_t level)
{
	if (level == key->levels.none) {
		return "(none)";
	}
	if (level == key->levels.others) {
		return "(others)";
	}
	return key->numeric ? range_text(explain, key, level) : key->texts[key->levels.text[level]];
}

/* Each level that has rows, in the order of levels: (none) last. */
static bool take_values(struct explain *explain, const struct key *key)
{
	for (uint32_t level = 0; level < key->levels.n; level++) {
		struct value value;

		if (!measure(explain, &key->levels, level, &value)) {
			return false;
		}
		if (value.count == 0 || explain->n_values == EXPLANATION_VALUES) {
			continue;
		}
		value.text = text_of(explain, key, level);
		if (!value.text) {
			return false;
		}
		explain->values[explain->n_values++] = value;
	}
	if (!key->numeric) {
		qsort(explain->values, explain->n_values, sizeof(*explain->values), by_mean);
	}
	return true;
}

bool values_make(struct explain *explain)
{
	struct key key;
	bool cut, taken, missing = false;

	explain->low_ns = INFINITY;
	for (uint32_t i = 0; i < explain->n; i++) {
		double duration = fmax(1, explain->durations[i]);

		explain->low_ns = fmin(explain->low_ns, duration);
		explain->high_ns = fmax(explain->high_ns, duration);
	}
	key = explain->keys[explain->ordered[0]];
	key.levels = (struct levels){.n = 0}; /* those of the test stay its */
	for (uint32_t i = 0; i < explain->n; i++) {
		missing |= isnan(key.values[i]);
	}
	cut = key.numeric ? levels_of_number(&key.levels, key.by, key.values, explain->n,
					    explain->n, EXPLANATION_VALUES - missing)
			  : levels_of_category(&key.levels, key.values, explain->n, explain->n,
					    key.n_texts, 1);
	if (!cut) {
		return false;
	}
	if (!key.numeric) {
		merge_levels(explain, &key.levels);
	}
	taken = take_values(explain, &key) && (key.numeric || broad_find(explain, &key));
	levels_release(&key.levels);
	return taken;
}
