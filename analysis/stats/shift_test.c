/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/shift_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/kruskal.h"
#include "stats/ranks.h"

#define GOLDEN 0.6180339887498949
#define ROUNDING      1e-9 /* of statistics that are the same */

struct tested_key {
	const uint8_t *levels;
	uint32_t n_levels, n_used;
	double *scores; /* ranks, centred, of length 1; NULL: no order, or it does not vary */
	double counts[KRUSKAL_MAX_LEVELS];
	double seen;
	uint32_t exceeded;
};

struct shift_test {
	uint32_t n, n_keys;
	uint32_t n_shifts, stride;
	uint32_t done, at;
	double *series; /* ranks, centred, of length 1; twice, so that no shift has to wrap */
	struct tested_key *keys;
};

static double rank_statistic(const struct tested_key *key, const double *series, uint32_t n)
{
	double product = 0;

	for (uint32_t i = 0; i < n; i++) {
		product += key->scores[i] * series[i];
	}
	return kruskal_deviate((n - 1.0) * product * product, 1);
}

static double level_statistic(const struct tested_key *key, const double *series, uint32_t n)
{
	/* Two rows in a row are mostly of one level: two sums, so that they need not wait. */
	double even[KRUSKAL_MAX_LEVELS], odd[KRUSKAL_MAX_LEVELS], between = 0;
	uint32_t i;

	memset(even, 0, key->n_levels * sizeof(*even));
	memset(odd, 0, key->n_levels * sizeof(*odd));
	for (i = 0; i + 1 < n; i += 2) {
		even[key->levels[i]] += series[i];
		odd[key->levels[i + 1]] += series[i + 1];
	}
	if (i < n) {
		even[key->levels[i]] += series[i];
	}
	for (uint32_t level = 0; level < key->n_levels; level++) {
		double sum = even[level] + odd[level];

		between += key->counts[level] > 0 ? sum * sum / key->counts[level] : 0;
	}
	return kruskal_deviate((n - 1.0) * between, key->n_used - 1.0);
}

static double statistic(const struct tested_key *key, const double *series, uint32_t n)
{
	double most = -INFINITY;

	if (key->n_used > 1) {
		most = level_statistic(key, series, n);
	}
	return key->scores ? fmax(most, rank_statistic(key, series, n)) : most;
}

static bool take_key(struct tested_key *tested, const struct shift_key *key, uint32_t n)
{
	*tested = (struct tested_key){.levels = key->levels, .n_levels = key->n_levels};
	for (uint32_t i = 0; i < n; i++) {
		tested->n_used += tested->counts[key->levels[i]] <= 0;
		tested->counts[key->levels[i]]++;
	}
	if (!key->values) {
		return true;
	}
	tested->scores = malloc((n + 1) * sizeof(*tested->scores));
	if (!tested->scores || !ranks_make(key->values, n, tested->scores)) {
		return false;
	}
	if (!ranks_normalize(tested->scores, n)) {
		free(tested->scores);
		tested->scores = NULL;
	}
	return true;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* How many shifts, and a stride through them that leaves no part out for long. */
static void plan_shifts(struct shift_test *test)
{
	test->n_shifts = test->n - 1 < SHIFT_TEST_MAX ? test->n - 1 : SHIFT_TEST_MAX;
	test->stride = (uint32_t)(GOLDEN * test->n_shifts);
	test->stride = test->stride ? test->stride : 1;
	while (test->n_shifts > 1 && common_divisor(test->n_shifts, test->stride) != 1) {
		test->stride++;
	}
}

struct shift_test *shift_test_create(
		const double *series, uint32_t n, const struct shift_key *keys, uint32_t n_keys)
{
	struct shift_test *test = calloc(1, sizeof(*test));
	bool taken = test != NULL;

	if (!test) {
		return NULL;
	}
	test->n = n;
	test->series = malloc((2 * (size_t)n + 1) * sizeof(*test->series));
	test->keys = calloc(n_keys + 1, sizeof(*test->keys));
	taken = test->series && test->keys && ranks_make(series, n, test->series);
	for (uint32_t i = 0; i < n_keys && taken; i++) {
		test->n_keys++;
		taken = take_key(&test->keys[i], &keys[i], n);
	}
	if (!taken) {
		shift_test_destroy(test);
		return NULL;
	}
	if (ranks_normalize(test->series, n)) {
		plan_shifts(test);
	}
	memcpy(test->series + n, test->series, n * sizeof(*test->series));
	for (uint32_t i = 0; i < n_keys; i++) {
		test->keys[i].seen = statistic(&test->keys[i], test->series, n);
	}
	return test;
}

void shift_test_destroy(struct shift_test *test)
{
	if (!test) {
		return;
	}
	for (uint32_t i = 0; i < test->n_keys; i++) {
		free(test->keys[i].scores);
	}
	free(test->keys);
	free(test->series);
	free(test);
}

bool shift_test_step(struct shift_test *test)
{
	double most = -INFINITY;
	uint32_t shift, least = UINT32_MAX;

	if (test->done == test->n_shifts) {
		return false;
	}
	shift = 1 + (uint32_t)((uint64_t)test->at * (test->n - 1) / test->n_shifts);
	for (uint32_t i = 0; i < test->n_keys; i++) {
		most = fmax(most, statistic(&test->keys[i], test->series + shift, test->n));
	}
	for (uint32_t i = 0; i < test->n_keys; i++) {
		test->keys[i].exceeded += most >= test->keys[i].seen - ROUNDING;
		least = test->keys[i].exceeded < least ? test->keys[i].exceeded : least;
	}
	test->at = (test->at + test->stride) % test->n_shifts;
	test->done++;
	if (least >= SHIFT_TEST_ENOUGH) {
		test->n_shifts = test->done; /* enough is known */
	}
	return test->done < test->n_shifts;
}

uint32_t shift_test_shifts(const struct shift_test *test)
{
	return test->done;
}

uint32_t shift_test_most(const struct shift_test *test)
{
	return test->n_shifts;
}

double shift_test_p(const struct shift_test *test, uint32_t key)
{
	return (1.0 + test->keys[key].exceeded) / (1.0 + test->done);
}
