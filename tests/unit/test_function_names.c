/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What spans of functions and callbacks are called, and that they pair whatever is known when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"

#define T0     UINT64_C(1700000000000000000)
#define V(...) ((union feed_value[]){__VA_ARGS__})

static const char mapped[] = "baddr:x memsz:u path:s has_build_id:u vtid:c vpid:c";

static struct snapshot *look(struct feed *feed)
{
	const struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_TREE,
			.horizon = HORIZON_ALL,
			.tree_of_all = true};
	struct snapshot *snapshot = snapshot_create();

	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* A row of the tree: its name, spans, and time of its own. */
static void assert_row(const struct snapshot *snapshot, uint32_t i, const char *name,
		uint32_t depth, uint64_t count, uint64_t self_ns)
{
	const struct tree_row *row = &snapshot->tree.rows[i];

	assert_true(i < snapshot->tree.n);
	assert_string_equal(row->name, name);
	assert_int_equal(row->depth, depth);
	assert_int_equal(row->count, count);
	assert_true(row->self_ns == (double)self_ns);
}

static void map(struct feed *feed, uint64_t ts_ns, uint64_t pid, uint64_t base)
{
	uint32_t type = feed_type(feed, "lttng_ust_statedump:bin_info", mapped);

	feed_event(feed, type, ts_ns, 0,
			V({.u = base}, {.u = 0x1000}, {.s = "/bin/app"}, {.u = 0}, {.u = pid + 1},
					{.u = pid}));
}

/* The same function in two processes is one, wherever the binary was mapped. */
static void across_processes(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit;
	uint64_t pid;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "lttng_ust_cyg_profile:func_entry", "addr:x vtid:c vpid:c");
	exit = feed_type(&feed, "lttng_ust_cyg_profile:func_exit", "addr:x vtid:c vpid:c");
	for (pid = 10; pid <= 20; pid += 10) {
		uint64_t base = pid * 0x10000, at = T0 + pid;

		map(&feed, at, pid, base);
		feed_event(&feed, entry, at, 0, V({.u = base + 0x10}, {.u = pid}, {.u = pid}));
		feed_event(&feed, entry, at + 2, 0, V({.u = base + 0x20}, {.u = pid}, {.u = pid}));
		feed_event(&feed, exit, at + 5, 0, V({.u = base + 0x20}, {.u = pid}, {.u = pid}));
		feed_event(&feed, exit, at + 6, 0, V({.u = base + 0x10}, {.u = pid}, {.u = pid}));
	}
	snapshot = look(&feed);
	assert_int_equal(snapshot->groups.n, 1);
	assert_string_equal(snapshot->groups.rows[0].type, "app+0x10");
	assert_int_equal(snapshot->groups.rows[0].count, 2);
	assert_int_equal(snapshot->tree.n, 2);
	assert_row(snapshot, 0, "app+0x10", 0, 2, 6);
	assert_row(snapshot, 1, "app+0x20", 1, 2, 6);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* A statedump comes while functions run: those end that began as numbers. */
static void entered_before(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "lttng_ust_cyg_profile:func_entry", "addr:x vtid:c vpid:c");
	exit = feed_type(&feed, "lttng_ust_cyg_profile:func_exit", "addr:x vtid:c vpid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 0x1010}, {.u = 7}, {.u = 7}));
	map(&feed, T0 + 1, 7, 0x1000);
	feed_event(&feed, entry, T0 + 2, 0, V({.u = 0x1010}, {.u = 7}, {.u = 7}));
	feed_event(&feed, exit, T0 + 3, 0, V({.u = 0x1010}, {.u = 7}, {.u = 7}));
	feed_event(&feed, exit, T0 + 9, 0, V({.u = 0x1010}, {.u = 7}, {.u = 7}));
	snapshot = look(&feed);
	assert_int_equal(snapshot->groups.rows[0].count, 1);
	assert_int_equal(snapshot->tree.n, 2);
	assert_row(snapshot, 0, "0x1010", 0, 1, 8);
	assert_row(snapshot, 1, "app+0x10", 1, 1, 1);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* The fast events' exits name nothing; they end functions, and nothing else. */
static void fast(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit, begin, end;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "lttng_ust_cyg_profile_fast:func_entry", "addr:x vtid:c vpid:c");
	exit = feed_type(&feed, "lttng_ust_cyg_profile_fast:func_exit", "vtid:c vpid:c");
	begin = feed_type(&feed, "app:work_begin", "vtid:c vpid:c");
	end = feed_type(&feed, "app:work_end", "vtid:c vpid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 0x10}, {.u = 7}, {.u = 7}));
	feed_event(&feed, entry, T0 + 1, 0, V({.u = 0x20}, {.u = 7}, {.u = 7}));
	feed_event(&feed, begin, T0 + 2, 0, V({.u = 7}, {.u = 7}));
	feed_event(&feed, exit, T0 + 4, 0, V({.u = 7}, {.u = 7})); /* of 0x20 */
	feed_event(&feed, end, T0 + 5, 0, V({.u = 7}, {.u = 7}));
	feed_event(&feed, exit, T0 + 9, 0, V({.u = 7}, {.u = 7}));
	snapshot = look(&feed);
	assert_int_equal(snapshot->groups.n, 1);
	assert_string_equal(snapshot->groups.rows[0].type, "0x10");
	assert_int_equal(snapshot->groups.rows[0].count, 1);
	assert_row(snapshot, 0, "0x10", 0, 1, 6);
	assert_string_equal(snapshot->tree.rows[1].name, "0x20");
	assert_true(snapshot->tree.rows[1].total_ns == 3);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static void callbacks(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t start, end, registered;

	(void)state;
	feed_start(&feed, NULL);
	registered = feed_type(&feed, "ros2:rclcpp_callback_register",
			"callback:x symbol:s vtid:c vpid:c");
	start = feed_type(&feed, "ros2:callback_start", "callback:x vtid:c vpid:c procname:p");
	end = feed_type(&feed, "ros2:callback_end", "callback:x vtid:c vpid:c procname:p");
	feed_event(&feed, registered, T0, 0,
			V({.u = 0x55}, {.s = "Node::tick()"}, {.u = 7}, {.u = 7}));
	feed_event(&feed, start, T0 + 1, 0, V({.u = 0x55}, {.u = 7}, {.u = 7}, {.s = "node"}));
	feed_event(&feed, end, T0 + 2, 0, V({.u = 0x55}, {.u = 7}, {.u = 7}, {.s = "node"}));
	feed_event(&feed, start, T0 + 3, 0, V({.u = 0x66}, {.u = 7}, {.u = 7}, {.s = "node"}));
	feed_event(&feed, end, T0 + 4, 0, V({.u = 0x66}, {.u = 7}, {.u = 7}, {.s = "node"}));
	snapshot = look(&feed);
	assert_int_equal(snapshot->groups.n, 2);
	assert_string_equal(snapshot->groups.rows[0].type, "callback node Node::tick()");
	assert_string_equal(snapshot->groups.rows[1].type, "callback node 0x66");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* More calls than a request may keep: what is kept is right, the rest is its caller's own time. */
static void beyond_the_bound(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit;
	uint64_t i, kept;

	(void)state;
	feed_start(&feed, &(struct engine_config){.max_request_events = 20});
	entry = feed_type(&feed, "lttng_ust_cyg_profile:func_entry", "addr:x vtid:c vpid:c");
	exit = feed_type(&feed, "lttng_ust_cyg_profile:func_exit", "addr:x vtid:c vpid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 0x10}, {.u = 7}, {.u = 7}));
	for (i = 0; i < 100; i++) {
		feed_event(&feed, entry, T0 + 10 * i, 0, V({.u = 0x20}, {.u = 7}, {.u = 7}));
		feed_event(&feed, entry, T0 + 10 * i + 1, 0, V({.u = 0x30}, {.u = 7}, {.u = 7}));
		feed_event(&feed, exit, T0 + 10 * i + 4, 0, V({.u = 0x30}, {.u = 7}, {.u = 7}));
		feed_event(&feed, exit, T0 + 10 * i + 9, 0, V({.u = 0x20}, {.u = 7}, {.u = 7}));
	}
	feed_event(&feed, exit, T0 + 1000, 0, V({.u = 0x10}, {.u = 7}, {.u = 7}));
	snapshot = look(&feed);
	assert_int_equal(snapshot->groups.rows[0].partial, 1);
	assert_int_equal(snapshot->tree.n, 3);
	kept = snapshot->tree.rows[1].count;
	assert_int_equal(kept, 5); /* the last one's entries are the 18th and 19th event of 20 */
	assert_row(snapshot, 0, "0x10", 0, 1, 1000 - 9 * kept);
	assert_row(snapshot, 1, "0x20", 1, kept, 6 * kept);
	assert_row(snapshot, 2, "0x30", 2, kept, 3 * kept);
	assert_int_equal(snapshot->tree.folded_spans, 2 * (100 - kept));
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(across_processes),
			cmocka_unit_test(entered_before),
			cmocka_unit_test(fast),
			cmocka_unit_test(callbacks),
			cmocka_unit_test(beyond_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
