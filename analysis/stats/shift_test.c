/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/shift_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/kruskal.h"
#include "stats/ranks.h"

#define GOLDEN   0.6180339887498949
#define BLOCK    16u  /* neighbouring shifts at a time */
#define ROUNDING 1e-4 /* of statistics that are the same: sums are of single precision */

struct tested_key {
	const uint8_t *levels;
	uint32_t n_levels, n_used;
	float *scores; /* ranks, centred, of length 1; NULL: no order, or it does not vary */
	float counts[KRUSKAL_MAX_LEVELS];
	double seen;
	uint32_t exceeded;
};

struct shift_test {
	uint32_t n, n_keys;
	uint32_t n_shifts, n_blocks, stride;
	uint32_t done, n_done_blocks, at; /* at: the next block */
	float *series; /* ranks, centred, of length 1; twice and a block, so that no shift has to
			   wrap */
	struct tested_key *keys;
};

/*
 * What a block of neighbouring shifts comes to, side by side: compilers make vector instructions of
 * it, which they do not of a sum over rows, whose order they must keep.
 */
typedef float lanes __attribute__((
		vector_size(BLOCK * sizeof(float)), aligned(sizeof(float)), may_alias));

static void rank_products(
		const struct tested_key *key, const float *series, uint32_t n, lanes *products)
{
	lanes sums = {0};

	for (uint32_t i = 0; i < n; i++) {
		sums += key->scores[i] * *(const lanes *)(series + i);
	}
	*products = sums;
}

/* Sums of squares between the levels. */
static void level_squares(
		const struct tested_key *key, const float *series, uint32_t n, lanes *squares)
{
	lanes sums[KRUSKAL_MAX_LEVELS], all = {0};

	memset(sums, 0, key->n_levels * sizeof(*sums));
	for (uint32_t i = 0; i < n; i++) {
		sums[key->levels[i]] += *(const lanes *)(series + i);
	}
	for (uint32_t level = 0; level < key->n_levels; level++) {
		float weight = key->counts[level] > 0 ? 1 / key->counts[level] : 0;

		all += sums[level] * sums[level] * weight;
	}
	*squares = all;
}

/* The statistics of the shifts that begin with the series given; it goes on BLOCK - 1 further. */
static void statistics(const struct tested_key *key, const float *series, uint32_t n, lanes *out)
{
	lanes parts;

	for (uint32_t s = 0; s < BLOCK; s++) {
		(*out)[s] = -INFINITY;
	}
	if (key->n_used > 1) {
		level_squares(key, series, n, &parts);
		for (uint32_t s = 0; s < BLOCK; s++) {
			(*out)[s] = (float)kruskal_deviate(
					(n - 1.0) * (double)parts[s], key->n_used - 1.0);
		}
	}
	if (key->scores) {
		rank_products(key, series, n, &parts);
		for (uint32_t s = 0; s < BLOCK; s++) {
			double product = (double)parts[s];
			float deviate = (float)kruskal_deviate((n - 1.0) * product * product, 1);

			(*out)[s] = fmaxf((*out)[s], deviate);
		}
	}
}

/* Ranks, centred, of length 1, to `out`. False if out of memory; *vary: not all are 0. */
static bool make_scores(const double *values, uint32_t n, float *out, bool *vary)
{
	double *ranks = malloc((n + 1) * sizeof(*ranks));
	bool made = ranks && ranks_make(values, n, ranks);

	*vary = made && ranks_normalize(ranks, n);
	for (uint32_t i = 0; i < n && made; i++) {
		out[i] = (float)ranks[i];
	}
	free(ranks);
	return made;
}

static bool take_key(struct tested_key *tested, const struct shift_key *key, uint32_t n)
{
	bool vary;

	*tested = (struct tested_key){.levels = key->levels, .n_levels = key->n_levels};
	for (uint32_t i = 0; i < n; i++) {
		tested->n_used += tested->counts[key->levels[i]] <= 0;
		tested->counts[key->levels[i]] += 1;
	}
	if (!key->values) {
		return true;
	}
	tested->scores = malloc((n + 1) * sizeof(*tested->scores));
	if (!tested->scores || !make_scores(key->values, n, tested->scores, &vary)) {
		return false;
	}
	if (!vary) {
		free(tested->scores);
		tested->scores = NULL;
	}
	return true;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* How many shifts, and a stride through their blocks that leaves no part out for long. */
static void plan_shifts(struct shift_test *test)
{
	test->n_shifts = test->n - 1 < SHIFT_TEST_MAX ? test->n - 1 : SHIFT_TEST_MAX;
	test->n_blocks = (test->n_shifts + BLOCK - 1) / BLOCK;
	test->stride = (uint32_t)(GOLDEN * test->n_blocks);
	test->stride = test->stride ? test->stride : 1;
	while (test->n_blocks > 1 && common_divisor(test->n_blocks, test->stride) != 1) {
		test->stride++;
	}
}

struct shift_test *shift_test_create(
		const double *series, uint32_t n, const struct shift_key *keys, uint32_t n_keys)
{
	struct shift_test *test = calloc(1, sizeof(*test));
	bool taken, vary;

	if (!test) {
		return NULL;
	}
	test->n = n;
	test->series = calloc(2 * (size_t)n + BLOCK, sizeof(*test->series));
	test->keys = calloc(n_keys + 1, sizeof(*test->keys));
	taken = test->series && test->keys && make_scores(series, n, test->series, &vary);
	for (uint32_t i = 0; i < n_keys && taken; i++) {
		test->n_keys++;
		taken = take_key(&test->keys[i], &keys[i], n);
	}
	if (!taken) {
		shift_test_destroy(test);
		return NULL;
	}
	if (vary) {
		plan_shifts(test);
	}
	memcpy(test->series + n, test->series, n * sizeof(*test->series));
	for (uint32_t i = 0; i < n_keys; i++) {
		lanes seen;

		statistics(&test->keys[i], test->series, n, &seen);
		test->keys[i].seen = (double)seen[0];
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

/* The largest of all keys, by shift. */
static void largest(const struct shift_test *test, uint32_t shift, lanes *most)
{
	for (uint32_t s = 0; s < BLOCK; s++) {
		(*most)[s] = -INFINITY;
	}
	for (uint32_t i = 0; i < test->n_keys; i++) {
		lanes block;

		statistics(&test->keys[i], test->series + shift, test->n, &block);
		for (uint32_t s = 0; s < BLOCK; s++) {
			(*most)[s] = fmaxf((*most)[s], block[s]);
		}
	}
}

bool shift_test_step(struct shift_test *test)
{
	uint32_t shift, n_new = test->n_shifts - test->at * BLOCK, least = UINT32_MAX;
	lanes most;

	if (test->n_done_blocks == test->n_blocks) {
		return false;
	}
	n_new = n_new < BLOCK ? n_new : BLOCK;
	shift = 1 + test->at * BLOCK;
	if (test->n_shifts < test->n - 1 && test->n_blocks > 1) {
		/* Spread over all that there are. */
		shift += (uint32_t)((uint64_t)test->at * (test->n - 1 - test->n_shifts) /
				    (test->n_blocks - 1));
	}
	largest(test, shift, &most);
	for (uint32_t i = 0; i < test->n_keys; i++) {
		for (uint32_t s = 0; s < n_new; s++) {
			test->keys[i].exceeded += (double)most[s] >= test->keys[i].seen - ROUNDING;
		}
		least = test->keys[i].exceeded < least ? test->keys[i].exceeded : least;
	}
	test->done += n_new;
	test->n_done_blocks++;
	test->at = (test->at + test->stride) % test->n_blocks;
	if (least >= SHIFT_TEST_ENOUGH) {
		test->n_blocks = test->n_done_blocks; /* enough is known */
	}
	return test->n_done_blocks < test->n_blocks;
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
