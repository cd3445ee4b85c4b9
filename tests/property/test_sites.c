/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether all that a process does is slow at the same times: how often that is said of places that
 * vary each for itself, and of a process that is starved; and which process is named.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "groups/sites.h"
#include "requests/walked.h"
#include "stats/bootstrap.h"
#include "stats/together.h"
#include "support_request.h"

#define MS     UINT64_C(1000000)
#define S      UINT64_C(1000000000)
#define START  (1000 * S)
#define PLACES 9u
#define RUNS   200u

/* ---- places ---- */

enum world {
	INDEPENDENT, /* each place varies for itself, by 70 % */
	DRIFTING,    /* each has slow times of its own, of seconds */
	ONE_SLOW,    /* one place has, and is ten times as slow then */
	STARVED,     /* all have the same ones, and are three times as slow then */
	N_WORLDS,
};

/* Is it a slow time of a place? Stretches of half a second to three, half of all. */
static bool is_slow_time(enum world world, uint64_t seed, uint32_t place, uint64_t at_ns)
{
	uint64_t period = world == STARVED ? 1 : place + 1;
	double phase = (double)(seed * 7919 % 1000) / 1000 + 0.37 * (double)period;
	double length_s = 1 + 0.61 * (double)(world == STARVED ? seed % 5 : place);

	if (world == INDEPENDENT || (world == ONE_SLOW && place > 0)) {
		return false;
	}
	return fmod((double)at_ns * 1e-9 / length_s + phase, 1) < 0.5;
}

static int by_time(const void *left, const void *right)
{
	const struct together_item *a = left, *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* 20 s of requests, 6 of each place a second, each of a request of its own. */
static uint32_t make_items(enum world world, uint64_t seed, struct together_item *items)
{
	struct bootstrap_random random = {.state = seed};
	uint32_t n = 0;

	for (uint32_t i = 0; i < 120; i++) {
		for (uint32_t place = 0; place < PLACES; place++) {
			uint64_t at_ns = (uint64_t)(fabs(bootstrap_normal(&random)) * 1e8) +
					 i * S / 6;
			double times = !is_slow_time(world, seed, place, at_ns) ? 1
				       : world == ONE_SLOW                      ? 10
										: 3;

			items[n] = (struct together_item){.at_ns = at_ns,
					.request = n,
					.place = place,
					.series = place,
					.ns = 1e6 * (place + 1) * times *
					      exp(0.7 * bootstrap_normal(&random))};
			n++;
		}
	}
	qsort(items, n, sizeof(*items), by_time);
	return n;
}

/* In how many runs most places go along, and how many places in all. */
static uint32_t count_together(enum world world, uint32_t *n_along)
{
	static struct together_item items[120 * PLACES];
	struct together_place places[PLACES];
	uint32_t n_most = 0;

	*n_along = 0;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		uint32_t n = make_items(world, seed, items), along = 0;

		assert_true(together_judge(items, n, PLACES, places, PLACES));
		for (uint32_t i = 0; i < PLACES; i++) {
			assert_true(places[i].judged);
			along += places[i].along;
		}
		*n_along += along;
		n_most += 3 * along >= 2 * PLACES;
	}
	return n_most;
}

static void places_go_together_or_not(void **state)
{
	uint32_t most[N_WORLDS], along[N_WORLDS];

	(void)state;
	for (enum world world = INDEPENDENT; world < N_WORLDS; world++) {
		most[world] = count_together(world, &along[world]);
		print_message("world %d: most places in %u of %u runs, %.1f%% of all places\n",
				world, most[world], RUNS, 100.0 * along[world] / RUNS / PLACES);
	}
	assert_int_equal(most[INDEPENDENT], 0);
	assert_int_equal(most[DRIFTING], 0);
	assert_int_equal(most[ONE_SLOW], 0);
	assert_true(along[INDEPENDENT] <= RUNS * PLACES / 50);
	assert_true(along[DRIFTING] <= RUNS * PLACES / 10);
	assert_true(most[STARVED] >= RUNS * 95 / 100);
}

/* What a request carries along with it is no evidence: all its places are slow together. */
static void places_of_one_request_do_not_count(void **state)
{
	static struct together_item items[400];
	struct together_place places[4];
	struct bootstrap_random random = {.state = 3};
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		double size = exp(bootstrap_normal(&random));

		for (uint32_t place = 0; place < 4; place++) {
			items[n++] = (struct together_item){.at_ns = i * 50 * MS + place * MS,
					.request = i,
					.place = place,
					.series = place,
					.ns = 1e6 * size};
		}
	}
	assert_true(together_judge(items, n, 4, places, 4));
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(places[i].judged && !places[i].along);
	}
	assert_true(together_judge(items, 20, 4, places, 4)); /* five of each */
	assert_false(places[0].judged);
	assert_true(together_judge(NULL, 0, 0, NULL, 0));
}

/* ---- processes ---- */

/* Contexts: the root, work and what answers, and what waits for it, under two callers. */
#define ROOT           1u
#define WORK           2u
#define WAITS          4u
#define PID            70
#define IS_TWIN(at_ns) ((at_ns) / (10 * MS) % 2)
#define IS_BUSY(at_ns) ((at_ns) / S % 2)

/*
 * A front end, and two workers of one name in turn, each of which is waited for, parses and
 * answers. The first is starved each other second.
 */
static bool walk_workers(void *context, const struct request *request, struct walked *out)
{
	static struct walked_span spans[3];
	static struct walked_piece pieces[4];
	bool twin = IS_TWIN(request->end_ns);
	uint64_t at = request->start_ns, total = request->end_ns - at;
	const uint64_t ns[4] = {MS, total * 6 / 10, total * 3 / 10, 0};
	const uint32_t of[4] = {0, 1, 2, 2},
		       owners[4] = {ROOT, WAITS + request->type % 2, WORK, WORK + 1};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 3; i++) {
		spans[i] = (struct walked_span){.context = i ? WORK + i - 1 : ROOT,
				.parent = i ? 0 : WALKED_NONE,
				.host = 0,
				.tid = 100,
				.pid = i == 0 ? 1 : PID + twin,
				.process = i == 0 ? 1 : 2,
				.whole = true,
				.start_ns = at};
	}
	for (uint32_t i = 0; i < 4; i++) {
		pieces[i] = (struct walked_piece){.span = of[i],
				.owner = owners[i],
				.own = i != 1,
				.start_ns = at + sum,
				.ns = i < 3 ? ns[i] : total - sum};
		sum += pieces[i].ns;
	}
	*out = (struct walked){.total_ns = total,
			.n_spans = 3,
			.spans = spans,
			.n_pieces = 4,
			.pieces = pieces};
	*(struct walked *)context = *out;
	return true;
}

/* Each tells what the other tells, too, and its name. */
static uint32_t tell(void *context, uint32_t span, struct request_key *out, uint32_t max)
{
	const struct walked *walked = context;
	int32_t pid = walked->spans[span].pid;

	assert_true(max >= 2);
	out[0] = (struct request_key){.name = 5, .text = "pool", .length = 4};
	out[1] = (struct request_key){.name = 6,
			.text = pid == PID ? "blue!" : "green!",
			.length = pid == PID ? 4 : 5};
	return pid >= PID ? 2 : 1;
}

static void make_contexts(struct request_source *source, const char *wait)
{
	assert_int_equal(request_source_context(source, 0, "web", "root"), ROOT);
	assert_int_equal(request_source_context(source, ROOT, "web", "parse"), WORK);
	assert_int_equal(request_source_context(source, ROOT, "web", "answer"), WORK + 1);
	assert_int_equal(request_source_context(source, WORK, "", wait), WAITS);
	assert_int_equal(request_source_context(source, WORK + 1, "", wait), WAITS + 1);
}

/* What waits adds 0.6 of what is added: that is known if it waits in one thing. */
static void find_the_starved(const char *wait, uint32_t places, double most_low, double most_high)
{
	struct walked walked = {0};
	struct groups_config config = {.window_ns = 10 * S,
			.max_groups = 10,
			.max_kept_bytes = UINT64_C(64) << 20,
			.max_pin_bytes = UINT64_C(64) << 20,
			.walk = walk_workers,
			.told = tell,
			.measurer = &walked};
	static const char *const types[] = {"read", "write"};
	struct bootstrap_random random = {.state = 4};
	struct group_site sites[SITES_MAX];
	struct request_source source;
	struct groups *groups;
	double whole;
	uint32_t n;

	request_source_init(&source);
	make_contexts(&source, wait);
	groups = groups_create(&config, source.names, source.contexts, &source.pool);
	assert_non_null(groups);
	groups_advance(groups, START);
	assert_int_equal(groups_sites(groups, 1, 0, sites), 0);
	for (uint32_t i = 0; i < 1500; i++) {
		uint64_t end_ns = START + i * 10 * MS;
		bool starved = !IS_TWIN(end_ns) && IS_BUSY(end_ns);
		double ms = (starved ? 60 : 20) * exp(0.2 * bootstrap_normal(&random));
		struct request *request = request_source_make(&source, types[i / 2 % 2], end_ns,
				(uint64_t)(ms * (double)MS), NULL, 0);

		groups_add(groups, request);
		request_drop(&source.pool, request);
	}
	n = groups_sites(groups, 1, 0, sites);
	assert_int_equal(n, 3);
	assert_int_equal(sites[0].pid, PID);
	assert_string_equal(sites[0].tells, "blue");
	/* Above 1: those that go to the other one do not take time here, and are fast. */
	assert_true(sites[0].phi > 0.9 && sites[0].phi < 1.5);
	/* What is called from two places is one; the processor is waited for in each. */
	assert_true(sites[0].places == places && sites[0].along == places && sites[0].working == 2);
	assert_true(sites[0].of_group > 2.99);
	assert_true(sites[0].times > 2 && sites[0].times < 4);
	assert_true(sites[0].most > most_low && sites[0].most < most_high);
	for (uint32_t i = 1; i < n; i++) {
		assert_true(sites[i].along == 0 && sites[i].phi < 0.1);
		assert_string_equal(sites[i].tells, sites[i].pid > PID ? "green" : "");
	}
	/* One context alone: waiting has six tenths of it. */
	assert_int_equal(groups_sites(groups, 2, 0, sites), 3);
	whole = sites[0].phi;
	assert_true(groups_sites_weigh(
			groups, 2, 0, WAITS + names_add(source.names, "write", 5) % 2, sites, 3));
	assert_int_equal(sites[0].pid, PID);
	assert_string_equal(sites[0].tells, "blue");
	assert_true(sites[0].phi > 0.5 && sites[0].phi < 0.9);
	/* All of it, by its own requests alone, is the same as with all others. */
	assert_true(groups_sites_weigh(groups, 2, 0, 0, sites, 3));
	assert_true(fabs(sites[0].phi - whole) < 1e-12);
	/* Too few started since then, and no such group. */
	assert_int_equal(groups_sites(groups, 1, START + 14800 * MS, sites), 0);
	assert_int_equal(groups_sites(groups, 9, 0, sites), 0);
	assert_false(groups_sites_weigh(groups, 2, START + 14800 * MS, 0, sites, 3));
	assert_true(fabs(sites[0].phi - whole) < 1e-12);
	groups_destroy(groups);
	request_source_release(&source);
}

static void names_the_starved_of_two(void **state)
{
	(void)state;
	find_the_starved("(runnable)", 4, 0.25, 0.45);
	find_the_starved("(blocked: fdatasync)", 3, 0.55, 0.65);
}

/* ---- places that take next to nothing ---- */

#define LONG  4u /* places that are as long as their process gets its processor */
#define SHORT 5u /* places of some microseconds, which hardly ever lose it */

/* One process at work: its long places share the time, the short ones take theirs before. */
static bool walk_short(void *context, const struct request *request, struct walked *out)
{
	static struct walked_span span;
	static struct walked_piece pieces[LONG + SHORT];
	struct bootstrap_random *random = context;
	uint64_t at = request->start_ns, left = request->end_ns - at, all = left;

	span = (struct walked_span){.context = ROOT,
			.parent = WALKED_NONE,
			.pid = PID,
			.process = 1,
			.whole = true,
			.start_ns = at};
	for (uint32_t i = 0; i < LONG + SHORT; i++) {
		bool is_short = i < SHORT;
		double us = 20 * exp(0.5 * bootstrap_normal(random));
		uint64_t ns = is_short               ? (uint64_t)(us * 1e3)
			      : i + 1 < LONG + SHORT ? all / LONG
						     : left;

		pieces[i] = (struct walked_piece){
				.owner = ROOT + i, .own = true, .start_ns = at, .ns = ns};
		at += ns;
		left -= ns;
	}
	*out = (struct walked){.total_ns = all,
			.n_spans = 1,
			.spans = &span,
			.n_pieces = LONG + SHORT,
			.pieces = pieces};
	return true;
}

/* What takes microseconds is little evidence against a process whose long places are all slow. */
static void short_places_do_not_count(void **state)
{
	struct bootstrap_random random = {.state = 5};
	struct groups_config config = {.window_ns = 10 * S,
			.max_groups = 10,
			.max_kept_bytes = UINT64_C(64) << 20,
			.max_pin_bytes = UINT64_C(64) << 20,
			.walk = walk_short,
			.measurer = &random};
	struct group_site sites[SITES_MAX];
	struct request_source source;
	struct groups *groups;
	char name[16];

	(void)state;
	request_source_init(&source);
	for (uint32_t i = 0; i < LONG + SHORT; i++) {
		snprintf(name, sizeof(name), "place_%u", i);
		assert_int_equal(request_source_context(&source, i ? ROOT : 0, "web", name),
				ROOT + i);
	}
	groups = groups_create(&config, source.names, source.contexts, &source.pool);
	assert_non_null(groups);
	groups_advance(groups, START);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t end_ns = START + i * 20 * MS;
		double ms = (IS_BUSY(end_ns) ? 60 : 20) * exp(0.2 * bootstrap_normal(&random));
		struct request *request = request_source_make(
				&source, "read", end_ns, (uint64_t)(ms * (double)MS), NULL, 0);

		groups_add(groups, request);
		request_drop(&source.pool, request);
	}
	assert_int_equal(groups_sites(groups, 1, 0, sites), 1);
	assert_int_equal(sites[0].judged, LONG + SHORT);
	assert_int_equal(sites[0].judged_along, LONG);
	assert_int_equal(sites[0].places, LONG);
	assert_int_equal(sites[0].along, LONG);
	assert_true(sites[0].times > 2 && sites[0].times < 4);
	groups_destroy(groups);
	request_source_release(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(places_go_together_or_not),
			cmocka_unit_test(places_of_one_request_do_not_count),
			cmocka_unit_test(names_the_starved_of_two),
			cmocka_unit_test(short_places_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
