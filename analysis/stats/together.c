/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/ranks.h"

#define LEAST_NEAR 2u /* items of others, for their mean to be one */

struct work {
	const struct together_item *items;
	uint32_t n;
	double *scores;  /* of each item within its series: 0..1 */
	double *near;    /* of each item, mean score of others near it; NAN: too few */
	uint32_t *order; /* items by series, then by place, in time */
	uint32_t *first; /* of each of these, into order; one more */
	double *values, *own, *others, *ranks; /* of the series or place at hand */
};

static void release(struct work *work)
{
	free(work->scores);
	free(work->near);
	free(work->order);
	free(work->first);
	free(work->values);
	free(work->own);
	free(work->others);
	free(work->ranks);
}

static bool prepare(struct work *work, uint32_t most)
{
	size_t n = (size_t)work->n + 1;

	work->scores = malloc(n * sizeof(double));
	work->near = malloc(n * sizeof(double));
	work->order = malloc(n * sizeof(*work->order));
	work->first = calloc((size_t)most + 2, sizeof(*work->first));
	work->values = malloc(n * sizeof(double));
	work->own = malloc(n * sizeof(double));
	work->others = malloc(n * sizeof(double));
	work->ranks = malloc(n * sizeof(double));
	return work->scores && work->near && work->order && work->first && work->values &&
	       work->own && work->others && work->ranks;
}

static uint32_t series_of(const struct together_item *item)
{
	return item->series;
}

static uint32_t place_of(const struct together_item *item)
{
	return item->place;
}

/* Counting sort by what is 0..n_of-1: first[i] becomes where that begins, first[n_of] is n. */
static void sort_by(
		struct work *work, uint32_t (*of)(const struct together_item *item), uint32_t n_of)
{
	uint32_t *end = work->first + 1; /* of each, while it is filled its next */
	uint32_t at = 0;

	memset(work->first, 0, ((size_t)n_of + 1) * sizeof(*work->first));
	for (uint32_t i = 0; i < work->n; i++) {
		end[of(&work->items[i])]++;
	}
	for (uint32_t p = 0; p < n_of; p++) {
		uint32_t count = end[p];

		end[p] = at;
		at += count;
	}
	for (uint32_t i = 0; i < work->n; i++) {
		work->order[end[of(&work->items[i])]++] = i;
	}
}

static bool rank_series(struct work *work, uint32_t series)
{
	uint32_t from = work->first[series], n = work->first[series + 1] - from;

	for (uint32_t i = 0; i < n; i++) {
		work->values[i] = work->items[work->order[from + i]].ns;
	}
	if (!ranks_make(work->values, n, work->ranks)) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		work->scores[work->order[from + i]] = (work->ranks[i] - 0.5) / n;
	}
	return true;
}

struct sum {
	double score;
	uint32_t n;
};

static bool add_near(struct sum *sum, const struct work *work, uint32_t at, uint32_t other)
{
	const struct together_item *a = &work->items[at], *b = &work->items[other];
	uint64_t apart_ns = a->at_ns > b->at_ns ? a->at_ns - b->at_ns : b->at_ns - a->at_ns;

	if (apart_ns > TOGETHER_NEAR_NS) {
		return false;
	}
	if (a->place != b->place && a->request != b->request) {
		sum->score += work->scores[other];
		sum->n++;
	}
	return true;
}

static double near_of(const struct work *work, uint32_t at)
{
	struct sum sum = {0, 0};

	for (uint32_t i = 1; i <= at && i <= TOGETHER_MOST_NEAR; i++) {
		if (!add_near(&sum, work, at, at - i)) {
			break;
		}
	}
	for (uint32_t i = at + 1; i < work->n && i <= at + TOGETHER_MOST_NEAR; i++) {
		if (!add_near(&sum, work, at, i)) {
			break;
		}
	}
	return sum.n >= LEAST_NEAR ? sum.score / sum.n : NAN;
}

/* Means of the values where the others have the least and the largest ranks, a third each. */
static bool compare_thirds(struct work *work, struct together_place *place)
{
	uint32_t n_calm = 0, n_busy = 0;
	double calm = 0, busy = 0;

	if (!ranks_make(work->others, place->n, work->ranks)) {
		return false;
	}
	for (uint32_t i = 0; i < place->n; i++) {
		double at = (work->ranks[i] - 0.5) / place->n;

		if (at < 1.0 / 3) {
			calm += work->values[i];
			n_calm++;
		} else if (at > 2.0 / 3) {
			busy += work->values[i];
			n_busy++;
		}
	}
	place->calm_ns = n_calm ? calm / n_calm : 0;
	place->busy_ns = n_busy ? busy / n_busy : 0;
	return true;
}

static bool judge_place(struct work *work, uint32_t at, struct together_place *place)
{
	*place = (struct together_place){.n = 0};
	for (uint32_t i = work->first[at]; i < work->first[at + 1]; i++) {
		uint32_t item = work->order[i];

		place->sum_ns += work->items[item].ns;
		if (!isnan(work->near[item])) {
			work->values[place->n] = work->items[item].ns;
			work->own[place->n] = work->scores[item];
			work->others[place->n++] = work->near[item];
		}
	}
	place->judged = place->n >= TOGETHER_FEW;
	if (!place->judged) {
		return true;
	}
	if (!ranks_spearman(work->own, work->others, place->n, &place->rho) ||
			!compare_thirds(work, place)) {
		return false;
	}
	place->along = place->rho >= TOGETHER_RHO &&
		       place->busy_ns >= TOGETHER_TIMES * place->calm_ns;
	return true;
}

bool together_judge(const struct together_item *items, uint32_t n, uint32_t n_series,
		struct together_place *places, uint32_t n_places)
{
	struct work work = {.items = items, .n = n};
	bool done = prepare(&work, n_series > n_places ? n_series : n_places);

	if (done) {
		sort_by(&work, series_of, n_series);
	}
	for (uint32_t i = 0; i < n_series && done; i++) {
		done = rank_series(&work, i);
	}
	for (uint32_t i = 0; i < n && done; i++) {
		work.near[i] = near_of(&work, i);
	}
	if (done) {
		sort_by(&work, place_of, n_places);
	}
	for (uint32_t p = 0; p < n_places && done; p++) {
		done = judge_place(&work, p, &places[p]);
	}
	release(&work);
	return done;
}
