/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of events that nobody wrote a schema for, from their names alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"

#define MS     UINT64_C(1000000)
#define T0     UINT64_C(1700000000000000000)
#define V(...) ((union feed_value[]){__VA_ARGS__})

/* The group of a type; its count is 0 if there is none. */
static struct groups_row group_of(struct feed *feed, const char *type)
{
	const struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};
	struct snapshot *snapshot = snapshot_create();
	struct groups_row row = {.count = 0};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		if (strcmp(snapshot->groups.rows[i].type, type) == 0) {
			row = snapshot->groups.rows[i];
		}
	}
	snapshot_destroy(snapshot);
	return row;
}

static bool has_note(struct feed *feed, const char *part)
{
	const struct schema *schema = engine_schema(feed->engine, true);

	for (uint32_t i = 0; i < schema->n_notes; i++) {
		if (strstr(schema->notes[i], part)) {
			return true;
		}
	}
	return false;
}

/* Without a thread a field of both ends serves, where jobs overlap on one CPU and move between two.
 */
static void pairs_by_a_common_field(void **state)
{
	struct feed feed;
	uint32_t begin, end;

	(void)state;
	feed_start(&feed, NULL);
	begin = feed_type(&feed, "jobs:JobBegin", "size:u job_id:u");
	end = feed_type(&feed, "jobs:JobEnd", "result:i job_id:u");
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t t = T0 + i * 10 * MS;

		feed_event(&feed, begin, t, 0, V({.u = 5}, {.u = 2 * i}));
		feed_event(&feed, begin, t + MS, 0, V({.u = 5}, {.u = 2 * i + 1}));
		feed_event(&feed, end, t + 3 * MS, 1, V({.i = 0}, {.u = 2 * i}));
		feed_event(&feed, end, t + 4 * MS, 0, V({.i = 0}, {.u = 2 * i + 1}));
	}
	engine_finish(feed.engine);
	assert_int_equal(group_of(&feed, "Job").count, 8);
	assert_int_equal((uint64_t)group_of(&feed, "Job").mean_ns, 3 * MS);
	assert_true(has_note(&feed,
			"JobBegin: its thread is not known: paired by job_id; record the "
			"context vtid"));
	feed_stop(&feed);
}

/* Both ends come again and again, and never pair: it is said, not only that all is zero. */
static void pairs_that_cannot_pair_are_told(void **state)
{
	struct feed feed;
	uint32_t begin, end;

	(void)state;
	for (uint32_t wrong = 0; wrong < 2; wrong++) {
		struct snapshot *snapshot = snapshot_create();
		const struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};

		feed_start(&feed, NULL);
		begin = feed_type(&feed, "jobs:JobBegin", "size:u job_id:u");
		end = feed_type(&feed, "jobs:JobEnd", "result:i job_id:u");
		for (uint32_t i = 0; i < 20; i++) {
			feed_event(&feed, begin, T0 + i * 10 * MS, 0, V({.u = 5}, {.u = i}));
			feed_event(&feed, end, T0 + i * 10 * MS + MS, 0,
					V({.i = 0}, {.u = i + wrong * 1000}));
		}
		assert_non_null(snapshot);
		assert_int_equal(engine_fill(feed.engine, &focus, snapshot), STATUS_OK);
		assert_int_equal(snapshot->n_warnings, wrong);
		if (wrong) {
			assert_non_null(strstr(snapshot->warnings[0],
					"jobs:JobBegin and jobs:JobEnd never pair (20 and 20"));
		}
		snapshot_destroy(snapshot);
		feed_stop(&feed);
	}
}

/* What never occurred is listed only where it is asked for. */
static void what_never_occurred_is_not_listed(void **state)
{
	struct feed feed;
	uint32_t begin, end;

	(void)state;
	feed_start(&feed, NULL);
	begin = feed_type(&feed, "app:a_entry", "vtid:c");
	end = feed_type(&feed, "app:a_exit", "vtid:c");
	feed_type(&feed, "app:never_entry", "vtid:c");
	feed_event(&feed, begin, T0, 0, V({.u = 1}));
	feed_event(&feed, end, T0 + MS, 0, V({.u = 1}));
	assert_int_equal(engine_schema(feed.engine, false)->n_events, 2);
	assert_true(!has_note(&feed, "1 kind of events never occurred"));
	assert_int_equal(engine_schema(feed.engine, true)->n_events, 3);
	assert_true(has_note(&feed, "never_exit is known"));
	feed_stop(&feed);
}

static void pairs_by_the_cpu(void **state)
{
	struct feed feed;
	uint32_t begin, end, inner_begin, inner_end;

	(void)state;
	feed_start(&feed, NULL);
	begin = feed_type(&feed, "app:frame.begin", "size:u");
	end = feed_type(&feed, "app:frame.end", "size:u");
	inner_begin = feed_type(&feed, "app:draw.begin", "size:u");
	inner_end = feed_type(&feed, "app:draw.end", "size:u");
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			feed_event(&feed, begin, T0 + i * 10 * MS + cpu, cpu, V({.u = 1}));
		}
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			feed_event(&feed, inner_begin, T0 + i * 10 * MS + MS + cpu, cpu,
					V({.u = 1}));
		}
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			feed_event(&feed, inner_end, T0 + i * 10 * MS + 2 * MS + cpu, cpu,
					V({.u = 1}));
		}
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			feed_event(&feed, end, T0 + i * 10 * MS + 4 * MS + cpu, cpu, V({.u = 1}));
		}
	}
	engine_finish(feed.engine);
	assert_int_equal(group_of(&feed, "frame").count, 10);
	assert_int_equal((uint64_t)group_of(&feed, "frame").mean_ns, 4 * MS);
	/* What is within a span is no request of its own. */
	assert_int_equal(group_of(&feed, "draw").count, 0);
	assert_true(has_note(&feed, "paired by its CPU"));
	feed_stop(&feed);
}

/* Two services serve: whose it was stays in the name. What one alone does goes by its name alone.
 */
static void services_that_share_an_operation(void **state)
{
	static const char *const names[] = {"cart:serve", "pay:serve", "pay:charge"};
	struct feed feed;
	uint32_t entries[3], exits[3];

	(void)state;
	feed_start(&feed, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s_entry", names[i]);
		entries[i] = feed_type(&feed, name, "vtid:c");
		snprintf(name, sizeof(name), "%s_exit", names[i]);
		exits[i] = feed_type(&feed, name, "vtid:c");
	}
	for (uint32_t i = 0; i < 3; i++) {
		feed_event(&feed, entries[i], T0 + i * 10 * MS, 0, V({.u = 1}));
		feed_event(&feed, exits[i], T0 + i * 10 * MS + MS, 0, V({.u = 1}));
	}
	engine_finish(feed.engine);
	assert_int_equal(group_of(&feed, "cart:serve").count, 1);
	assert_int_equal(group_of(&feed, "pay:serve").count, 1);
	assert_int_equal(group_of(&feed, "charge").count, 1);
	feed_stop(&feed);
}

/* Braces of an event's name are text, not a field. */
static void braces_are_text(void **state)
{
	struct feed feed;
	uint32_t entry, exit;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "web:GET /{user}/x_entry", "user:u vtid:c");
	exit = feed_type(&feed, "web:GET /{user}/x_exit", "user:u vtid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 17}, {.u = 1}));
	feed_event(&feed, exit, T0 + MS, 0, V({.u = 17}, {.u = 1}));
	engine_finish(feed.engine);
	assert_int_equal(group_of(&feed, "GET /{user}/x").count, 1);
	feed_stop(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(pairs_by_a_common_field),
			cmocka_unit_test(pairs_by_the_cpu),
			cmocka_unit_test(pairs_that_cannot_pair_are_told),
			cmocka_unit_test(what_never_occurred_is_not_listed),
			cmocka_unit_test(services_that_share_an_operation),
			cmocka_unit_test(braces_are_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
