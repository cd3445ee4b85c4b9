/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"
#include "requests/fails.h"
#include "stats/share.h"

/*
 * Which requests failed, and where that began: what exits tell, by name of their fields and by the
 * conditions of a schema; errors of system calls; missing ends.
 */
#define MS     UINT64_C(1000000)
#define S      UINT64_C(1000000000)
#define T0     (UINT64_C(1700000000) * S)
#define V(...) ((union feed_value[]){__VA_ARGS__})

static struct snapshot *look(struct feed *feed, uint64_t request)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = request};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static const struct request_span *span_of(const struct snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->request.n_spans; i++) {
		if (strcmp(snapshot->request.spans[i].name, name) == 0) {
			return &snapshot->request.spans[i];
		}
	}
	fail_msg("the request has no span %s", name);
	return NULL;
}

/* A calling context of the group. */
static const struct tree_row *row_of(const struct snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->tree.n; i++) {
		if (strcmp(snapshot->tree.rows[i].name, name) == 0) {
			return &snapshot->tree.rows[i];
		}
	}
	fail_msg("the tree has no %s", name);
	return NULL;
}

/* A shop: an order calls pay, which calls bank. The exits tell a status. */
struct shop {
	struct feed feed;
	uint32_t entry[3], exit[3];
	uint64_t ns;
};

static const char *const places[3] = {"order", "pay", "bank"};

static void shop_open(struct shop *shop, const char *exit_fields)
{
	memset(shop, 0, sizeof(*shop));
	feed_start(&shop->feed, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		char name[64], fields[128];

		snprintf(name, sizeof(name), "shop:%s_entry", places[i]);
		shop->entry[i] = feed_type(&shop->feed, name, "request_id:u vtid:c");
		snprintf(name, sizeof(name), "shop:%s_exit", places[i]);
		snprintf(fields, sizeof(fields), "request_id:u vtid:c %s", exit_fields);
		shop->exit[i] = feed_type(&shop->feed, name, fields);
	}
	shop->ns = T0;
}

/* One request; the value that each of its exits tells. */
static void shop_order(struct shop *shop, uint64_t id, const int64_t told[3])
{
	for (uint32_t i = 0; i < 3; i++) {
		feed_event(&shop->feed, shop->entry[i], shop->ns += MS, 0, V({id}, {7}));
	}
	for (uint32_t i = 3; i > 0; i--) {
		feed_event(&shop->feed, shop->exit[i - 1], shop->ns += MS, 0,
				V({id}, {7}, {.i = told[i - 1]}));
	}
}

static struct groups_row only_row(const struct snapshot *snapshot)
{
	assert_int_equal(snapshot->groups.n, 1);
	return snapshot->groups.rows[0];
}

/* --- what tells it --- */

static void a_negative_status_is_a_failure_and_begins_deepest(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;
	struct groups_row row;

	(void)state;
	shop_open(&shop, "status:i");
	for (uint64_t id = 1; id <= 9; id++) {
		shop_order(&shop, id, (int64_t[3]){0, 200, 0});
	}
	shop_order(&shop, 10, (int64_t[3]){-1, -5, -111});
	snapshot = look(&shop.feed, 10);
	row = only_row(snapshot);
	assert_int_equal(row.count, 10);
	assert_int_equal(row.failed, 1);
	assert_int_equal(row.ended, 10);
	assert_true(row.failed_low > 0 && row.failed_low < 0.1 && row.failed_high > 0.1);
	assert_string_equal(snapshot->request.failure, "error");
	assert_string_equal(span_of(snapshot, "bank")->failure, "status = -111");
	assert_true(span_of(snapshot, "bank")->flags & REQUEST_SPAN_FIRST);
	assert_int_equal(row_of(snapshot, "bank")->failed, 1);
	assert_int_equal(row_of(snapshot, "bank")->count, 10);
	assert_true(row_of(snapshot, "bank")->failed_low > 0.01 &&
			row_of(snapshot, "bank")->failed_high < 0.41);
	assert_true(span_of(snapshot, "pay")->flags & REQUEST_SPAN_FAILED);
	assert_false(span_of(snapshot, "pay")->flags & REQUEST_SPAN_FIRST);
	snapshot_destroy(snapshot);
	snapshot = look(&shop.feed, 9);
	assert_string_equal(snapshot->request.failure, "");
	assert_int_equal(span_of(snapshot, "pay")->flags & REQUEST_SPAN_FAILED, 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* An unsigned status may be any number: only a schema can say that it is an error. */
static void a_schema_says_what_fails(void **state)
{
	static const char *const key[] = {"request_id"}, *const tid[] = {"$tid"};
	static const char *const fails[] = {"status >= 500", "status == 404"};
	static const struct schema_namespace namespaces[] = {
			{.name = "req", .scope = SCHEMA_GLOBAL, .ttl_ns = 30 * S, .join = true},
			{.name = "thr", .scope = SCHEMA_HOST, .ttl_ns = 600 * S, .join = true}};
	static const struct schema_bind enter[] = {
			{"req", BIND_ENTER, 1, key}, {"thr", BIND_ENTER, 1, tid}};
	static const struct schema_bind leave[] = {
			{"req", BIND_LEAVE, 1, key}, {"thr", BIND_LEAVE, 1, tid}};
	static const struct schema_event events[] = {{.match = "*_entry",
								     .role = SPAN_ENTRY,
								     .seed = true,
								     .n_bind = 2,
								     .bind = enter},
			{.match = "*_exit",
					.role = SPAN_EXIT,
					.n_fails = 2,
					.fails = fails,
					.n_bind = 2,
					.bind = leave}};
	const struct schema schema = {.origin = "test",
			.n_namespaces = 2,
			.namespaces = namespaces,
			.n_events = 2,
			.events = events};
	static const struct {
		int64_t status;
		bool failed;
	} cases[] = {{200, false}, {404, true}, {403, false}, {499, false}, {500, true},
			{503, true}};
	struct shop shop;
	struct snapshot *snapshot;
	char error[256];

	(void)state;
	shop_open(&shop, "status:u");
	assert_int_equal(engine_add_schema(shop.feed.engine, &schema, error, sizeof(error)),
			STATUS_OK);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		shop_order(&shop, i + 1, (int64_t[3]){200, cases[i].status, 200});
		snapshot = look(&shop.feed, i + 1);
		assert_string_equal(snapshot->request.failure, cases[i].failed ? "error" : "");
		snapshot_destroy(snapshot);
	}
	snapshot = look(&shop.feed, 2);
	assert_int_equal(only_row(snapshot).failed, 3);
	assert_string_equal(span_of(snapshot, "pay")->failure, "status = 404");
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

static void conditions_are_read(void **state)
{
	static const struct {
		const char *text, *field, *value;
		enum fail_op op;
	} good[] = {{"error", "error", "", FAIL_SET}, {" a.b  <= -5 ", "a.b", "-5", FAIL_AT_MOST},
			{"s!=ok", "s", "ok", FAIL_OTHER},
			{"s == not ok", "s", "not ok", FAIL_EQUAL}, {"x>1", "x", "1", FAIL_ABOVE},
			{"never", "", "", FAIL_NEVER}};
	static const char *const bad[] = {"", "  ", "< 0", "a b", "a =", "a = 1", "a <", "a ! b"};
	struct fail_rule rule;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(fail_rule_parse(good[i].text, &rule));
		assert_string_equal(rule.field, good[i].field);
		assert_string_equal(rule.value, good[i].value);
		assert_int_equal(rule.op, good[i].op);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(fail_rule_parse(bad[i], &rule));
	}
}

static void texts_can_tell_it(void **state)
{
	struct feed feed;
	uint32_t entry, exit;
	struct snapshot *snapshot;
	static const char *const fails[] = {"error"};
	static const char *const tid[] = {"$tid"};
	static const struct schema_namespace thr = {
			.name = "thr", .scope = SCHEMA_HOST, .ttl_ns = 600 * S, .join = true};
	static const struct schema_bind enter = {"thr", BIND_ENTER, 1, tid},
					leave = {"thr", BIND_LEAVE, 1, tid};
	static const struct schema_event events[] = {{.match = "app:work_entry",
								     .role = SPAN_ENTRY,
								     .seed = true,
								     .n_bind = 1,
								     .bind = &enter},
			{.match = "app:work_exit",
					.role = SPAN_EXIT,
					.n_fails = 1,
					.fails = fails,
					.n_bind = 1,
					.bind = &leave}};
	const struct schema schema = {.origin = "test",
			.n_namespaces = 1,
			.namespaces = &thr,
			.n_events = 2,
			.events = events};
	char error[256];

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "app:work_entry", "vtid:c");
	exit = feed_type(&feed, "app:work_exit", "vtid:c error:s");
	assert_int_equal(engine_add_schema(feed.engine, &schema, error, sizeof(error)), STATUS_OK);
	feed_event(&feed, entry, T0, 0, V({7}));
	feed_event(&feed, exit, T0 + MS, 0, V({7}, {.s = ""}));
	feed_event(&feed, entry, T0 + 2 * MS, 0, V({7}));
	feed_event(&feed, exit, T0 + 3 * MS, 0, V({7}, {.s = "no such host"}));
	snapshot = look(&feed, 2);
	assert_int_equal(only_row(snapshot).failed, 1);
	assert_string_equal(span_of(snapshot, "work")->failure, "error = no such host");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* What returns a negative number as often as not, as a comparison does, tells no failure by it. */
static void a_usual_return_value_is_no_failure(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;
	uint64_t failed;

	(void)state;
	shop_open(&shop, "ret:i");
	for (uint64_t id = 1; id <= 100; id++) {
		shop_order(&shop, id, (int64_t[3]){0, id % 3 ? -1 : 1, 0});
	}
	snapshot = look(&shop.feed, 0);
	failed = only_row(snapshot).failed;
	snapshot_destroy(snapshot);
	for (uint64_t id = 101; id <= 200; id++) {
		shop_order(&shop, id, (int64_t[3]){0, id % 3 ? -1 : 1, 0});
	}
	snapshot = look(&shop.feed, 0);
	assert_in_range(failed, 0, 32); /* until it was known to be usual */
	assert_int_equal(only_row(snapshot).failed, failed);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* What a function without debugging information returns is a register: a hash is no failure. */
static void a_whole_register_is_no_status(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;

	(void)state;
	shop_open(&shop, "ret:r");
	for (uint64_t id = 1; id <= 100; id++) {
		shop_order(&shop, id, (int64_t[3]){0, 5, id % 50 ? 7 : -2390207620133413453});
	}
	snapshot = look(&shop.feed, 0);
	assert_int_equal(only_row(snapshot).failed, 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* --- system calls --- */

static void errors_of_calls_are_told_but_fail_no_request(void **state)
{
	struct feed feed;
	uint32_t entry, exit, call, returned;
	struct snapshot *snapshot;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "app:work_entry", "request_id:u vtid:c");
	exit = feed_type(&feed, "app:work_exit", "request_id:u vtid:c status:i");
	call = feed_type(&feed, "syscall_entry_connect", "tid:c fd:i");
	returned = feed_type(&feed, "syscall_exit_connect", "tid:c ret:i");
	feed_event(&feed, entry, T0, 0, V({1}, {7}));
	feed_event(&feed, call, T0 + MS, 0, V({7}, {.i = 3}));
	feed_event(&feed, returned, T0 + 2 * MS, 0, V({7}, {.i = -111}));
	feed_event(&feed, exit, T0 + 3 * MS, 0, V({1}, {7}, {.i = 0}));
	feed_event(&feed, entry, T0 + 4 * MS, 0, V({2}, {7}));
	feed_event(&feed, call, T0 + 5 * MS, 0, V({7}, {.i = 3}));
	feed_event(&feed, returned, T0 + 6 * MS, 0, V({7}, {.i = -11}));
	feed_event(&feed, exit, T0 + 7 * MS, 0, V({2}, {7}, {.i = 0}));
	feed_event(&feed, entry, T0 + 8 * MS, 0, V({3}, {7}));
	feed_event(&feed, call, T0 + 9 * MS, 0, V({7}, {.i = 3}));
	feed_event(&feed, returned, T0 + 10 * MS, 0, V({7}, {.i = -111}));
	feed_event(&feed, exit, T0 + 11 * MS, 0, V({3}, {7}, {.i = -5}));

	snapshot = look(&feed, 1);
	assert_int_equal(only_row(snapshot).failed, 1);
	assert_string_equal(snapshot->request.failure, "system call");
	assert_string_equal(span_of(snapshot, "syscall_connect")->failure, "ECONNREFUSED");
	snapshot_destroy(snapshot);
	snapshot = look(&feed, 2);
	assert_string_equal(snapshot->request.failure, ""); /* EAGAIN */
	snapshot_destroy(snapshot);
	snapshot = look(&feed, 3);
	assert_string_equal(snapshot->request.failure, "error");
	assert_true(span_of(snapshot, "syscall_connect")->flags & REQUEST_SPAN_FIRST);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* --- missing ends --- */

static void a_request_that_falls_silent_has_failed(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;

	(void)state;
	shop_open(&shop, "status:i");
	for (uint64_t id = 1; id <= 4; id++) {
		shop_order(&shop, id, (int64_t[3]){0, 0, 0});
	}
	for (uint32_t i = 0; i < 3; i++) { /* its thread is another: it hangs in bank */
		feed_event(&shop.feed, shop.entry[i], shop.ns += MS, 0, V({5}, {8}));
	}
	shop.ns += 40 * S;
	shop_order(&shop, 6, (int64_t[3]){0, 0, 0});
	snapshot = look(&shop.feed, 5);
	assert_int_equal(only_row(snapshot).count, 5);
	assert_int_equal(only_row(snapshot).failed, 1);
	assert_int_equal(only_row(snapshot).ended, 6);
	assert_string_equal(snapshot->request.failure, "no end");
	assert_true(span_of(snapshot, "bank")->flags & REQUEST_SPAN_FIRST);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* The kernel tells that its thread has ended, in the middle of a span. */
static void a_thread_that_ends_takes_its_request_along(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;
	uint32_t ended, switched, freed;

	(void)state;
	shop_open(&shop, "status:i");
	for (uint64_t id = 1; id <= 4; id++) {
		shop_order(&shop, id, (int64_t[3]){0, 0, 0});
	}
	for (uint32_t i = 0; i < 3; i++) {
		feed_event(&shop.feed, shop.entry[i], shop.ns += MS, 0, V({5}, {8}));
	}
	feed_as_kernel(&shop.feed);
	ended = feed_type(&shop.feed, "sched_process_exit", "comm:s tid:i prio:i");
	switched = feed_type(&shop.feed, "sched_switch",
			"prev_comm:s prev_tid:i prev_prio:i prev_state:i next_comm:s next_tid:i "
			"next_prio:i");
	feed_event(&shop.feed, ended, shop.ns += MS, 0, V({.s = "shop"}, {.i = 8}, {.i = 20}));
	feed_event(&shop.feed, switched, shop.ns += MS, 0,
			V({.s = "shop"}, {.i = 8}, {.i = 20}, {.i = 64}, {.s = "shop"}, {.i = 7},
					{.i = 20}));
	freed = feed_type(&shop.feed, "sched_process_free", "comm:s tid:i prio:i");
	feed_event(&shop.feed, freed, shop.ns += MS, 0, V({.s = "shop"}, {.i = 8}, {.i = 20}));
	snapshot = look(&shop.feed, 5);
	assert_int_equal(only_row(snapshot).failed, 1);
	assert_int_equal(only_row(snapshot).ended, 5);
	assert_string_equal(snapshot->request.failure, "died");
	assert_true(span_of(snapshot, "bank")->flags & REQUEST_SPAN_FIRST);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* What the end of the trace cuts off may well have ended. */
static void the_end_of_a_trace_is_no_failure(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;

	(void)state;
	shop_open(&shop, "status:i");
	shop_order(&shop, 1, (int64_t[3]){0, 0, 0});
	feed_event(&shop.feed, shop.entry[0], shop.ns += MS, 0, V({2}, {7}));
	feed_event(&shop.feed, shop.entry[1], shop.ns += MS, 0, V({2}, {7}));
	engine_finish(shop.feed.engine);
	snapshot = look(&shop.feed, 0);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		assert_int_equal(snapshot->groups.rows[i].failed, 0);
	}
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* --- rates --- */

/* Against Wilson's own equation: the ends are where the score is that many errors. */
static void bounds_of_shares_solve_their_equation(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 2000; n = n * 3 + 1) {
		for (uint64_t hits = 0; hits <= n; hits += n / 7 + 1) {
			double share = (double)hits / (double)n, low, high, at[2];

			share_bounds(hits, n, SHARE_95, &low, &high);
			at[0] = low;
			at[1] = high;
			assert_true(low <= share && share <= high && low >= 0 && high <= 1);
			for (int i = 0; i < 2; i++) {
				double p = at[i], sd = sqrt(p * (1 - p) / (double)n);

				if (p > 0 && p < 1) {
					assert_true(fabs(fabs(share - p) - SHARE_95 * sd) < 1e-9);
				}
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_negative_status_is_a_failure_and_begins_deepest),
			cmocka_unit_test(a_schema_says_what_fails),
			cmocka_unit_test(conditions_are_read),
			cmocka_unit_test(texts_can_tell_it),
			cmocka_unit_test(a_usual_return_value_is_no_failure),
			cmocka_unit_test(a_whole_register_is_no_status),
			cmocka_unit_test(errors_of_calls_are_told_but_fail_no_request),
			cmocka_unit_test(a_request_that_falls_silent_has_failed),
			cmocka_unit_test(a_thread_that_ends_takes_its_request_along),
			cmocka_unit_test(the_end_of_a_trace_is_no_failure),
			cmocka_unit_test(bounds_of_shares_solve_their_equation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
