/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that were not recorded on purpose: requests across them, rates, and what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "feed.h"
#include "requests/pauses.h"

#define T0 UINT64_C(1700000000000000000)
#define MS UINT64_C(1000000)

/* --- How much of a time was not recorded, against counting each step of it --- */

enum { STEPS = 400, HOSTS = 3, PAUSED = 0, RESUMED };

static void see(struct pauses *pauses, uint32_t type, uint32_t host, uint64_t at, uint64_t paused)
{
	uint64_t slots[1] = {paused}, begin_ns;
	const struct event event = {.type = type, .ts_ns = at, .bytes = 8, .slots = slots};
	const struct stream stream = {.host = host, .desc = {.domain = DOMAIN_KERNEL}};

	assert_true(pauses_see(pauses, &event, &stream, &begin_ns));
	assert_int_equal(begin_ns, type == PAUSED ? at : at - paused);
}

static uint64_t count(bool off[HOSTS][STEPS], uint64_t hosts, uint32_t from, uint32_t to)
{
	uint64_t n = 0;

	for (uint32_t step = from; step < to; step++) {
		bool any = false;

		for (uint32_t host = 0; host < HOSTS; host++) {
			any |= (hosts & REQUEST_HOST(host)) && off[host][step];
		}
		n += any;
	}
	return n;
}

static void times_of_hosts_are_united(void **state)
{
	(void)state;
	srand(1);
	for (int trial = 0; trial < 200; trial++) {
		bool off[HOSTS][STEPS] = {{false}};
		uint32_t since[HOSTS] = {0};
		struct pauses pauses = {.kinds = NULL};

		assert_true(pauses_add_type(&pauses, "pythiatop_paused"));
		assert_true(pauses_add_type(&pauses, "pythiatop_resumed"));
		for (uint32_t step = 1; step < STEPS; step++) {
			for (uint32_t host = 0; host < HOSTS; host++) {
				if (rand() % 20 == 0) {
					see(&pauses, since[host] ? RESUMED : PAUSED, host, step,
							since[host] ? step - since[host] : 0);
					since[host] = since[host] ? 0 : step;
				}
				off[host][step] = since[host] != 0;
			}
		}
		for (int i = 0; i < 50; i++) {
			uint32_t from = (uint32_t)rand() % STEPS, to = (uint32_t)rand() % STEPS;
			uint64_t hosts = (uint64_t)rand() % (1 << HOSTS);

			assert_int_equal(pauses_within(&pauses, hosts, from, to),
					count(off, hosts, from, to));
		}
		pauses_release(&pauses);
	}
}

/* Who paused was killed, and another session records: not before its first kernel event. */
static void another_session_ends_a_pause(void **state)
{
	struct pauses pauses = {.kinds = NULL};
	const struct stream functions = {.desc = {.session = 2, .domain = DOMAIN_UST}};
	const struct stream same = {.desc = {.session = 0, .domain = DOMAIN_KERNEL}};
	const struct stream other = {.desc = {.session = 2, .domain = DOMAIN_KERNEL}};
	struct event event = {.type = 2, .ts_ns = 200};
	uint64_t begin_ns;

	(void)state;
	assert_true(pauses_add_type(&pauses, "pythiatop_paused"));
	assert_true(pauses_add_type(&pauses, "pythiatop_resumed"));
	assert_true(pauses_add_type(&pauses, "sched_switch"));
	see(&pauses, PAUSED, 0, 100, 0);
	assert_false(pauses_see(&pauses, &event, &functions, &begin_ns));
	assert_false(pauses_see(&pauses, &event, &same, &begin_ns));
	assert_int_equal(pauses_within(&pauses, REQUEST_HOST(0), 0, 1000), 900);
	event.ts_ns = 300;
	assert_true(pauses_see(&pauses, &event, &other, &begin_ns));
	assert_int_equal(begin_ns, 100);
	assert_int_equal(pauses_within(&pauses, REQUEST_HOST(0), 0, 1000), 200);
	assert_false(pauses_see(&pauses, &event, &other, &begin_ns));
	pauses_release(&pauses);
}

/* --- In the engine --- */

struct scene {
	struct feed feed;
	uint32_t begin, end, paused, resumed;
};

static void start(struct scene *scene)
{
	feed_start(&scene->feed, NULL);
	scene->begin = feed_type(&scene->feed, "app:serve_entry", "request_id:u vtid:c vpid:c");
	scene->end = feed_type(&scene->feed, "app:serve_exit", "request_id:u vtid:c vpid:c");
	scene->paused = feed_type(&scene->feed, "pythiatop_paused", "");
	scene->resumed = feed_type(&scene->feed, "pythiatop_resumed", "paused_ns:u");
}

#define V(...) ((union feed_value[]){__VA_ARGS__})

static void serve(struct scene *scene, uint64_t id, uint64_t from_ns, uint64_t to_ns)
{
	feed_event(&scene->feed, scene->begin, T0 + from_ns, 0, V({.u = id}, {.u = 10}, {.u = 1}));
	feed_event(&scene->feed, scene->end, T0 + to_ns, 0, V({.u = id}, {.u = 10}, {.u = 1}));
}

static void requests_across_a_pause_do_not_count(void **state)
{
	const struct focus focus = {.horizon = HORIZON_ALL, .parts = FOCUS_GROUPS};
	struct scene scene;
	struct snapshot *snapshot = snapshot_create();
	uint64_t id = 1;

	(void)state;
	start(&scene);
	/* For a second in two, 100 requests a second; one that lasts over each pause. */
	for (uint64_t second = 0; second < 8; second += 2) {
		for (uint64_t i = 0; i < 99; i++) {
			uint64_t at = second * 1000 * MS + i * 10 * MS;

			serve(&scene, id++, at, at + 5 * MS);
		}
		feed_event(&scene.feed, scene.begin, T0 + (second * 1000 + 995) * MS, 0,
				V({.u = id}, {.u = 10}, {.u = 1}));
		feed_event(&scene.feed, scene.paused, T0 + (second + 1) * 1000 * MS, 0,
				V({.u = 0}));
		feed_event(&scene.feed, scene.resumed, T0 + (second + 2) * 1000 * MS - MS, 0,
				V({.u = 999 * MS}));
		feed_event(&scene.feed, scene.end, T0 + (second + 2) * 1000 * MS - MS / 2, 0,
				V({.u = id++}, {.u = 10}, {.u = 1}));
	}
	engine_advance(scene.feed.engine, T0 + 9000 * MS);
	engine_finish(scene.feed.engine);
	assert_int_equal(engine_fill(scene.feed.engine, &focus, snapshot), STATUS_OK);
	assert_int_equal(snapshot->groups.n, 1);
	assert_int_equal(snapshot->groups.rows[0].count, 4 * 99);
	assert_int_equal(snapshot->groups.rows[0].tainted, 4);
	assert_int_equal(snapshot->discarded, 0);
	/* Of the time that was recorded: 4 s, and what came after the last pause. */
	assert_true(snapshot->groups.rows[0].rate_per_s > 75);
	assert_true(snapshot->groups.rows[0].rate_per_s < 101);
	assert_true(snapshot->unrecorded > 0.4 && snapshot->unrecorded < 0.55);
	assert_int_equal(snapshot->n_warnings, 1);
	assert_non_null(strstr(snapshot->warnings[0], "alpha was recorded"));
	assert_non_null(strstr(snapshot->warnings[0], ", 1.0 s at a time: "));
	snapshot_destroy(snapshot);
	feed_stop(&scene.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(times_of_hosts_are_united),
			cmocka_unit_test(another_session_ends_a_pause),
			cmocka_unit_test(requests_across_a_pause_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
