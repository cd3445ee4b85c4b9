/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strategy hybrid on trees of candidates made at random, against its definition, taken literally:
 * the edge's time is a list of moments, two of which are in the same part if nothing that is on
 * begins or ends between them; each point chosen adds most to 1 - sum p^2 for its cost.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/hash.h"
#include "pythia/strategy.h"
#include "pythia/thresholds.h"
#include "trials.h"

#define MOST 24u
#define TOP  CANDIDATE_NONE

struct scene {
	uint64_t random;
	uint32_t n, first;
	struct candidate candidates[MOST];
	double share[MOST];
	bool on[MOST];
};

static uint32_t below(struct scene *scene, uint32_t n)
{
	scene->random = hash_u64(scene->random + 1);
	return (uint32_t)(scene->random >> 33) % n;
}

/* Parents before children; begins in any order; some are at several places. */
static void make_scene(struct scene *scene, uint64_t seed, bool ordered)
{
	*scene = (struct scene){.random = seed};
	scene->n = 1 + below(scene, MOST);
	for (uint32_t i = 0; i < scene->n; i++) {
		uint32_t above = i && below(scene, 4) ? below(scene, i) : TOP;
		double container = above == TOP ? 1 : scene->candidates[above].share;

		scene->candidates[i] = (struct candidate){.node = i,
				.point = below(scene, 8) ? i : below(scene, scene->n),
				.above = above,
				.depth = above == TOP ? 1 : scene->candidates[above].depth + 1,
				.share = container * below(scene, 100) / 300.0,
				.begin_ns = ordered ? (double)below(scene, 1000) : -1,
				.events_per_s = below(scene, 3) ? 20 : 1 + below(scene, 200)};
	}
	scene->first = candidates_order(scene->candidates, scene->n);
}

/* How many candidates lie in a container, at whatever depth. */
static uint32_t count_in(const struct scene *scene, uint32_t container)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scene->n; i++) {
		if (scene->candidates[i].above == container) {
			n += 1 + count_in(scene, i);
		}
	}
	return n;
}

static void share_out(struct scene *scene)
{
	for (uint32_t i = 0; i < scene->n; i++) {
		const struct candidate *candidate = &scene->candidates[i];
		double around = candidate->above == TOP ? 1 : scene->share[candidate->above];
		double even = around * (1 + count_in(scene, i)) /
			      (1 + count_in(scene, candidate->above));

		scene->share[i] = BY_TIME * candidate->share + (1 - BY_TIME) * even;
	}
}

/* Parts by definition: the sizes of all, in the order in which they are met. */
struct parts {
	double sizes[4 * MOST];
	uint32_t n;
};

/* Goes on in part `at`, through what lies in a container; returns the part that it ends in. */
static uint32_t walk(
		const struct scene *scene, uint32_t container, struct parts *parts, uint32_t at)
{
	uint32_t first = container == TOP ? scene->first : scene->candidates[container].first,
		 n = 0;
	double own = container == TOP ? 1 : scene->share[container];

	for (uint32_t i = first; i != TOP; i = scene->candidates[i].next) {
		own -= scene->share[i];
		n++;
	}
	own = fmax(0, own) / (n + 1);
	for (uint32_t i = first; i != TOP; i = scene->candidates[i].next) {
		parts->sizes[at] += own;
		if (!scene->on[i]) {
			at = walk(scene, i, parts, at);
			continue;
		}
		walk(scene, i, parts, parts->n++);
		if (scene->candidates[i].ordered) {
			at = parts->n++;
		}
	}
	parts->sizes[at] += own;
	return at;
}

static double value(const struct scene *scene)
{
	struct parts parts = {.n = 1};
	double all = 0, squares = 0;

	walk(scene, TOP, &parts, 0);
	for (uint32_t i = 0; i < parts.n; i++) {
		all += parts.sizes[i];
		squares += parts.sizes[i] * parts.sizes[i];
	}
	return all * all - squares;
}

/* What one more adds, for its cost. It counts where it stands alone, as the others are chosen by.
 */
static double worth(struct scene *scene, uint32_t at, double before)
{
	double after;

	scene->on[at] = true;
	after = value(scene);
	scene->on[at] = false;
	return (after - before) / (scene->candidates[at].events_per_s + COST_FLOOR);
}

static void turn_on(struct scene *scene, uint32_t point)
{
	for (uint32_t i = 0; i < scene->n; i++) {
		scene->on[i] |= scene->candidates[i].point == point;
	}
}

static void check(struct scene *scene, double events_left)
{
	struct place places[MOST];
	uint32_t chosen[MOST], n;
	double parts[2 * MOST + 1], spent = 0;
	struct choice choice = {.candidates = scene->candidates,
			.n = scene->n,
			.first = scene->first,
			.max = 6,
			.events_left = events_left,
			.chosen = chosen,
			.places = places,
			.parts = parts};

	share_out(scene);
	n = strategy_find("hybrid")->choose(&choice);
	for (uint32_t k = 0; k <= n && k < choice.max; k++) {
		double before = value(scene), best = 0, taken;

		for (uint32_t i = 0; i < scene->n; i++) {
			if (!scene->on[i] && choice_fits(&choice, i, spent)) {
				best = fmax(best, worth(scene, i, before));
			}
		}
		if (k == n) {
			assert_true(best < 1e-9); /* nothing was left that would add */
			break;
		}
		assert_false(scene->on[chosen[k]]);
		taken = worth(scene, chosen[k], before);
		assert_true(taken >= best - 1e-9);
		spent += scene->candidates[chosen[k]].events_per_s;
		turn_on(scene, scene->candidates[chosen[k]].point);
	}
	assert_true(events_left < 0 || spent <= events_left);
}

static void each_adds_most_for_its_cost(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < TRIALS(2000); seed++) {
		struct scene scene;

		make_scene(&scene, seed * 3 + 1, seed % 4 != 0);
		check(&scene, seed % 3 ? -1.0 : 10.0 * (seed % 30));
	}
}

/* One deep in the calls that takes nearly all is chosen before what is around it. */
static void goes_deep_at_once(void **state)
{
	struct scene scene = {.n = 4};
	struct place places[MOST];
	uint32_t chosen[MOST];
	double parts[2 * MOST + 1];
	struct choice choice = {.candidates = scene.candidates,
			.n = 4,
			.max = 1,
			.events_left = -1,
			.chosen = chosen,
			.places = places,
			.parts = parts};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		scene.candidates[i] = (struct candidate){.node = i,
				.point = i,
				.above = i ? i - 1 : TOP,
				.depth = i + 1,
				.share = i < 3 ? 1 : 0.5,
				.begin_ns = i,
				.events_per_s = 20};
	}
	choice.first = candidates_order(scene.candidates, 4);
	assert_int_equal(strategy_find("hybrid")->choose(&choice), 1);
	assert_true(chosen[0] >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_adds_most_for_its_cost),
			cmocka_unit_test(goes_deep_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
