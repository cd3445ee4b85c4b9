/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What has changed since a baseline, by the engine, from events: planted shifts are found, at their
 * place and with their size, beside ordinary variation; where nothing changed, nothing is said, of
 * independent requests and of such that follow from each other; names and matching do not depend on
 * the order in which requests, or their parts, came. With PT_CURVES=1 in the environment the tables
 * of docs/changes.md are printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "feed.h"
#include "trials.h"

#define MS       1000000.0
#define MEAN_MS  10.0 /* of a request: 6 ms in `big`, 3 ms in `small`, 1 ms its own */
#define REQUESTS 200u
#define T0       (UINT64_C(1700000000) * UINT64_C(1000000000))

static uint64_t random_state;

static double uniform(void) /* splitmix64 */
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double log_normal(double mean, double cov, double z)
{
	double variance = log(1 + cov * cov);

	return mean * exp(sqrt(variance) * z - variance / 2);
}

enum what { ROOT, BIG, SMALL, N_WHAT };

struct types {
	uint32_t entry[N_WHAT], exit[N_WHAT], paused, resumed;
};

static void start(struct feed *feed, struct types *types)
{
	static const char *const names[N_WHAT] = {"root", "big", "small"};
	char name[64];

	feed_start(feed, &(struct engine_config){.window_ns = 0});
	for (uint32_t i = 0; i < N_WHAT; i++) {
		snprintf(name, sizeof(name), "app:%s_entry", names[i]);
		types->entry[i] = feed_type(feed, name, "vpid:c vtid:c");
		snprintf(name, sizeof(name), "app:%s_exit", names[i]);
		types->exit[i] = feed_type(feed, name, "vpid:c vtid:c");
	}
	types->paused = feed_type(feed, "pythiatop_paused", "");
	types->resumed = feed_type(feed, "pythiatop_resumed", "paused_ns:u");
}

static uint64_t span(struct feed *feed, const struct types *types, enum what what, uint64_t at,
		double ns)
{
	const union feed_value ids[] = {{.u = 10}, {.u = 11}};

	feed_event(feed, types->entry[what], at, 0, ids);
	at += (uint64_t)ns;
	feed_event(feed, types->exit[what], at, 0, ids);
	return at;
}

struct world {
	double cov;        /* of `big` and `small` */
	double big, small; /* ns more, always */
	double alike;      /* of each request with the one before; 0: they are independent */
	uint32_t n;
	uint32_t one_in; /* spans of 20 s are recorded, one in so many; 0, 1: all of the time */
	bool silent;     /* and the pauses between them are not told */
};

#define SPAN_REQUESTS 80u /* in 20 s */

static bool is_recorded(const struct world *world, uint32_t i)
{
	return world->one_in < 2 || i / SPAN_REQUESTS % world->one_in == 0;
}

static void tell_pause(struct feed *feed, const struct types *types, const struct world *world,
		uint32_t i, uint64_t at)
{
	bool was = i == 0 || is_recorded(world, i - 1), is = is_recorded(world, i);

	if (was != is && !world->silent) {
		feed_event(feed, is ? types->resumed : types->paused, at, 0,
				(union feed_value[]){{.u = 0}});
	}
}

/* A minute or so of it, one request after the other. */
static void play(struct feed *feed, const struct types *types, const struct world *world)
{
	const union feed_value ids[] = {{.u = 10}, {.u = 11}};
	double z = normal(), rest = sqrt(1 - world->alike * world->alike);
	uint64_t at = T0;

	for (uint32_t i = 0; i < world->n; i++) {
		z = world->alike * z + rest * normal();
		tell_pause(feed, types, world, i, at);
		if (!is_recorded(world, i)) {
			at += (uint64_t)(MEAN_MS * MS) + 250000000;
			continue;
		}
		feed_event(feed, types->entry[ROOT], at, 0, ids);
		at = span(feed, types, BIG, at + 500000,
				log_normal(6 * MS, world->cov, z) + world->big);
		at = span(feed, types, SMALL, at + 1000,
				log_normal(3 * MS, world->cov, normal()) + world->small);
		feed_event(feed, types->exit[ROOT], at + 500000, 0, ids);
		at += 250000000;
	}
	engine_finish(feed->engine);
}

/* The changes from one world to the other; to be destroyed. */
static struct snapshot *compare(const struct world *before, const struct world *after)
{
	const struct focus focus = {
			.serial = 1, .parts = FOCUS_GROUPS | FOCUS_CHANGES, .horizon = HORIZON_ALL};
	struct snapshot *snapshot = snapshot_create();
	struct feed feeds[2];
	struct types types;

	for (uint32_t i = 0; i < 2; i++) {
		start(&feeds[i], &types);
		play(&feeds[i], &types, i ? after : before);
	}
	assert_int_equal(engine_set_baseline(feeds[1].engine,
					 engine_baseline(feeds[0].engine, HORIZON_ALL)),
			STATUS_OK);
	assert_int_equal(engine_fill(feeds[1].engine, &focus, snapshot), STATUS_OK);
	feed_stop(&feeds[0]);
	feed_stop(&feeds[1]);
	return snapshot;
}

/* In how many of the trials a shift is surely found first, at its place; its interval holds it. */
static uint32_t power(const struct world *before, const struct world *after, uint32_t trials,
		uint32_t *held)
{
	double shift = after->big > 0 ? after->big : after->small;
	const char *place = after->big > 0 ? "big" : "small";
	uint32_t found = 0;

	*held = 0;
	for (uint32_t i = 0; i < trials; i++) {
		struct snapshot *snapshot = compare(before, after);
		const struct change_row *row = snapshot->changes.rows;

		assert_true(snapshot->changes.compared);
		if (snapshot->changes.n && row->sure && row->kind == CHANGE_SLOWER &&
				strcmp(row->name, place) == 0) {
			found++;
			*held += row->difference_low <= shift && shift <= row->difference_high;
		}
		snapshot_destroy(snapshot);
	}
	return found;
}

static void curves(const char *title, bool big, uint32_t trials)
{
	static const double covs[] = {0.1, 0.25, 0.5, 1, 2}, shifts[] = {2, 5, 10, 20, 50};
	uint32_t held;

	printf("\n| %s | 2 %% | 5 %% | 10 %% | 20 %% | 50 %% |\n|---|---|---|---|---|---|\n",
			title);
	for (uint32_t c = 0; c < 5; c++) {
		printf("| %.2g |", covs[c]);
		for (uint32_t s = 0; s < 5; s++) {
			struct world before = {.cov = covs[c], .n = REQUESTS}, after = before;

			*(big ? &after.big : &after.small) = shifts[s] / 100 * MEAN_MS * MS;
			printf(" %.0f |", 100.0 * power(&before, &after, trials, &held) / trials);
		}
		printf("\n");
	}
}

static void shifts_are_found(void **state)
{
	static const struct {
		struct world after;
		double least; /* share of the trials */
	} cases[] = {
			{{.cov = 0.1, .small = 0.02 * MEAN_MS * MS}, 0.9},
			{{.cov = 0.5, .small = 0.1 * MEAN_MS * MS}, 0.9},
			{{.cov = 0.5, .big = 0.2 * MEAN_MS * MS}, 0.9},
			{{.cov = 1, .small = 0.2 * MEAN_MS * MS}, 0.9},
			{{.cov = 2, .small = 0.5 * MEAN_MS * MS}, 0.8},
	};
	uint32_t trials = TRIALS(40);

	(void)state;
	random_state = 1;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world after = cases[i].after, before = {.cov = after.cov, .n = REQUESTS};
		uint32_t held, found;

		after.n = REQUESTS;
		found = power(&before, &after, trials, &held);
		if (found + 1 < cases[i].least * trials || held + 1 < 0.8 * found) {
			fail_msg("case %u: found in %u of %u, the interval held it in %u", i, found,
					trials, held);
		}
	}
	if (getenv("PT_CURVES")) {
		curves("in the smaller of two places; CoV of both", false, trials);
		curves("in the larger of two places; CoV of both", true, trials);
	}
}

static uint32_t false_findings(const struct world *world, uint32_t trials)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trials; i++) {
		struct snapshot *snapshot = compare(world, world);

		n += snapshot->changes.n && snapshot->changes.rows[0].sure;
		snapshot_destroy(snapshot);
	}
	return n;
}

static void nothing_is_found_where_nothing_changed(void **state)
{
	static const double covs[] = {0.3, 2}, alike[] = {0, 0.5, 0.8, 0.9};
	uint32_t trials = TRIALS(200);

	(void)state;
	random_state = 2;
	for (uint32_t c = 0; c < 2; c++) {
		for (uint32_t i = 0; i < 4; i++) {
			const struct world world = {
					.cov = covs[c], .alike = alike[i], .n = REQUESTS};
			uint32_t n = false_findings(&world, trials);

			if (getenv("PT_CURVES")) {
				printf("CoV %g, autocorrelation %g: %.1f %%\n", covs[c], alike[i],
						100.0 * n / trials);
			}
			if (n > 0.03 * trials + 1) {
				fail_msg("CoV %g, autocorrelation %g: %u of %u", covs[c], alike[i],
						n, trials);
			}
		}
	}
}

/*
 * What was recorded a tenth of the time has a tenth of the requests, at the same rate: nothing has
 * changed. Where nobody tells of the pauses, it has.
 */
static void rates_are_of_the_time_recorded(void **state)
{
	struct world before = {.cov = 0.3, .n = 10 * SPAN_REQUESTS}, after = before;
	struct snapshot *snapshot;

	(void)state;
	random_state = 7;
	after.n = 41 * SPAN_REQUESTS;
	after.one_in = 10;
	snapshot = compare(&before, &after);
	assert_int_equal(snapshot->changes.n, 0);
	snapshot_destroy(snapshot);
	after.silent = true;
	snapshot = compare(&before, &after);
	assert_true(snapshot->changes.n > 0);
	snapshot_destroy(snapshot);
}

/* --- order ----------------------------------------------------------------------------------- */

#define CALLEES 5u
#define KINDS   4u

/* A request of a kind asks the services of the kind at the same time; they begin in any order. */
static void ask(struct feed *feed, const uint32_t *types, uint32_t kind, uint64_t id, uint64_t at)
{
	uint32_t order[CALLEES];

	feed_event(feed, types[0], at, 0, (union feed_value[]){{.u = 1}, {.u = 1}, {.u = id}});
	for (uint32_t i = 0; i < CALLEES; i++) {
		uint32_t k = (uint32_t)(uniform() * (i + 1));

		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; i < CALLEES; i++) {
		uint32_t who = order[i];
		const union feed_value ids[] = {{.u = 10 + who}, {.u = 10 + who}, {.u = id}};

		if (who <= kind) {
			feed_event(feed, types[2 + 2 * who], at + 1000 * (i + 1), 0, ids);
			feed_event(feed, types[3 + 2 * who], at + 1000 * (i + 1) + 500, 0, ids);
		}
	}
	feed_event(feed, types[1], at + 100000, 0,
			(union feed_value[]){{.u = 1}, {.u = 1}, {.u = id}});
}

static struct snapshot *ask_in_order(const uint32_t *kinds, uint32_t n)
{
	const struct focus focus = {.serial = 1, .parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};
	struct snapshot *snapshot = snapshot_create();
	uint32_t types[2 + 2 * CALLEES];
	struct feed feed;
	char name[64];

	feed_start(&feed, &(struct engine_config){.window_ns = 0});
	types[0] = feed_type(&feed, "front:work_entry", "vpid:c vtid:c request_id:u");
	types[1] = feed_type(&feed, "front:work_exit", "vpid:c vtid:c request_id:u");
	for (uint32_t i = 0; i < 2 * CALLEES; i++) {
		snprintf(name, sizeof(name), "part%u:serve_%s", i / 2, i % 2 ? "exit" : "entry");
		types[2 + i] = feed_type(&feed, name, "vpid:c vtid:c request_id:u");
	}
	for (uint32_t i = 0; i < n; i++) {
		ask(&feed, types, kinds[i], i + 1, T0 + UINT64_C(10000000) * i);
	}
	engine_finish(feed.engine);
	assert_int_equal(engine_fill(feed.engine, &focus, snapshot), STATUS_OK);
	feed_stop(&feed);
	return snapshot;
}

static void names_do_not_depend_on_order(void **state)
{
	uint32_t kinds[KINDS * 20];
	struct snapshot *first = NULL;

	(void)state;
	random_state = 3;
	for (uint32_t i = 0; i < KINDS * 20; i++) {
		kinds[i] = 1 + i % KINDS;
	}
	for (uint32_t round = 0; round < 10; round++) {
		struct snapshot *snapshot;

		for (uint32_t i = KINDS * 20; i-- > 1;) { /* Fisher & Yates */
			uint32_t k = (uint32_t)(uniform() * (i + 1)), kind = kinds[i];

			kinds[i] = kinds[k];
			kinds[k] = kind;
		}
		snapshot = ask_in_order(kinds, KINDS * 20);
		assert_int_equal(snapshot->groups.n, KINDS);
		for (uint32_t i = 0; first && i < KINDS; i++) {
			bool there = false;

			for (uint32_t k = 0; k < KINDS; k++) {
				there = there || strcmp(snapshot->groups.rows[i].path,
								 first->groups.rows[k].path) == 0;
			}
			if (!there) {
				fail_msg("round %u: no \"%s\" in the first", round,
						snapshot->groups.rows[i].path);
			}
		}
		if (first) {
			snapshot_destroy(snapshot);
		} else {
			first = snapshot;
		}
	}
	snapshot_destroy(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(shifts_are_found),
			cmocka_unit_test(nothing_is_found_where_nothing_changed),
			cmocka_unit_test(rates_are_of_the_time_recorded),
			cmocka_unit_test(names_do_not_depend_on_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
