/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"

/*
 * Measured requests through the engine's front door: what a fan-out adds up to by calling context,
 * and two requests laid over each other.
 */
#define US UINT64_C(1000)
#define S  UINT64_C(1000000000)
#define T0 (UINT64_C(1700000000) * S)

#define V(...) ((union feed_value[]){__VA_ARGS__})

/* A request asks two shards at once, by messages to threads of its own host. */
struct search {
	struct feed feed;
	uint32_t begin, end, ask, shard_begin, shard_end, merge_begin, merge_end;
	uint64_t messages;
};

static void search_start(struct search *search)
{
	struct feed *feed = &search->feed;

	memset(search, 0, sizeof(*search));
	feed_start(feed, NULL);
	search->begin = feed_type(feed, "api:search_entry", "request_id:u words:u vtid:c");
	search->end = feed_type(feed, "api:search_exit", "request_id:u status:i vtid:c");
	search->ask = feed_type(feed, "api:ask", "request_id:u msg_id:u vtid:c");
	search->shard_begin = feed_type(
			feed, "shard:scan_entry", "request_id:u msg_id:u queue_len:u vtid:c");
	search->shard_end = feed_type(feed, "shard:scan_exit", "request_id:u msg_id:u vtid:c");
	search->merge_begin = feed_type(feed, "api:merge_entry", "request_id:u vtid:c");
	search->merge_end = feed_type(feed, "api:merge_exit", "request_id:u vtid:c");
}

/*
 * Shard 2 is asked first and done after 40 us; shard 3 is asked 10 us later, waits 5 us, and is the
 * one waited for: `scan_us`. Then 20 us to merge, of which `twice` does two.
 */
static void search_request(struct search *search, uint64_t id, uint64_t t, uint64_t scan_us,
		uint64_t queue, bool twice)
{
	struct feed *feed = &search->feed;
	uint64_t a = ++search->messages, b = ++search->messages, end = t + (25 + scan_us) * US;

	feed_event(feed, search->begin, t, 0, V({.u = id}, {.u = 3}, {.u = 1}));
	feed_event(feed, search->ask, t + 10 * US, 0, V({.u = id}, {.u = a}, {.u = 1}));
	feed_event(feed, search->shard_begin, t + 12 * US, 0,
			V({.u = id}, {.u = a}, {.u = 0}, {.u = 2}));
	feed_event(feed, search->ask, t + 20 * US, 0, V({.u = id}, {.u = b}, {.u = 1}));
	feed_event(feed, search->shard_begin, t + 25 * US, 0,
			V({.u = id}, {.u = b}, {.u = queue}, {.u = 3}));
	feed_event(feed, search->shard_end, t + 52 * US, 0, V({.u = id}, {.u = a}, {.u = 2}));
	feed_event(feed, search->shard_end, end, 0, V({.u = id}, {.u = b}, {.u = 3}));
	for (int i = 0; i <= twice; i++) {
		feed_event(feed, search->merge_begin, end + 5 * US, 0, V({.u = id}, {.u = 1}));
		end += 25 * US;
		feed_event(feed, search->merge_end, end, 0, V({.u = id}, {.u = 1}));
	}
	feed_event(feed, search->end, end + 10 * US, 0, V({.u = id}, {.i = 0}, {.u = 1}));
}

static struct snapshot *look(struct search *search, struct focus focus)
{
	struct snapshot *snapshot = snapshot_create();

	focus.horizon = HORIZON_ALL;
	assert_non_null(snapshot);
	assert_int_equal(engine_fill(search->feed.engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static const struct tree_row *tree_row(const struct tree_view *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		if (strcmp(tree->rows[i].name, name) == 0) {
			return &tree->rows[i];
		}
	}
	fail_msg("the tree has no row %s", name);
	return NULL;
}

static void assert_us(double ns, double us)
{
	if (ns < us * 1e3 - 0.5 || ns > us * 1e3 + 0.5) {
		fail_msg("%.3f us instead of %.3f", ns / 1e3, us);
	}
}

/* 100 requests, slow enough that each is sampled; shard 3 takes 100, 101, ... 199 us. */
static void fan_out_in_numbers(void **state)
{
	struct search search;
	struct snapshot *snapshot;
	const struct tree_view *tree;
	const struct tree_row *row;

	(void)state;
	search_start(&search);
	for (uint64_t i = 0; i < 100; i++) {
		search_request(&search, i + 1, T0 + i * 25000 * US, 100 + i, 7, false);
	}
	engine_advance(search.feed.engine, T0 + 5 * S);
	snapshot = look(&search, (struct focus){.parts = FOCUS_GROUPS | FOCUS_GROUP | FOCUS_TREE});
	tree = &snapshot->tree;
	assert_int_equal(snapshot->groups.n, 1);
	assert_int_equal(tree->requests, 100);
	assert_int_equal(tree->counted, 100);
	assert_true(tree->located);

	row = tree_row(tree, "search");
	assert_int_equal(row->count, 100);
	assert_us(row->mean_ns, 60 + 149.5);
	assert_us(row->self_ns / 100, 60 + 149.5 - 20); /* all but the merge, on its thread */
	/* 20 us before the second message, 5 before the merge, 10 after it. */
	assert_us(row->segment_mean_ns, 35);
	row = tree_row(tree, "scan");
	assert_int_equal(row->count, 200);
	assert_us(row->total_ns / 100, 40 + 149.5);
	assert_us(row->segment_mean_ns, 149.5);
	assert_us(row->segment_sd_ns, 29.011492);
	assert_true(row->phi > 0.999999 && row->phi < 1.000001);
	row = tree_row(tree, "(wait)");
	assert_us(row->segment_mean_ns, 5);
	assert_int_equal(row->count, 0);
	assert_int_equal(row->mark, TREE_NO_POINT);
	row = tree_row(tree, "merge");
	assert_us(row->segment_mean_ns, 20);
	assert_us(row->self_ns / 100, 20);
	assert_true(row->phi > -1e-9 && row->phi < 1e-9);
	snapshot_destroy(snapshot);
	feed_stop(&search.feed);
}

static const struct compare_row *compare_row(const struct compare_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->n; i++) {
		if (strcmp(view->rows[i].name, name) == 0) {
			return &view->rows[i];
		}
	}
	fail_msg("the comparison has no row %s", name);
	return NULL;
}

/* Whatever is compared: differences add up, are ranked, and rows form a tree. */
static void check_comparison(const struct compare_view *view)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < view->n; i++) {
		const struct compare_row *row = &view->rows[i];

		sum_ns += row->difference_ns;
		if (row->parent == UINT32_MAX) {
			assert_int_equal(row->depth, 0);
		} else {
			assert_true(row->parent < i);
			assert_int_equal(row->depth, view->rows[row->parent].depth + 1);
		}
	}
	assert_int_equal(sum_ns, (int64_t)(view->a.duration_ns - view->b.duration_ns));
	for (uint32_t i = 1; i < view->n_ranked; i++) {
		assert_true(llabs(view->rows[view->ranked[i - 1]].difference_ns) >=
				llabs(view->rows[view->ranked[i]].difference_ns));
	}
}

static void two_requests(void **state)
{
	struct search search;
	struct snapshot *snapshot;
	const struct compare_view *view;

	(void)state;
	search_start(&search);
	search_request(&search, 1, T0, 100, 2, false);
	search_request(&search, 2, T0 + 5000 * US, 400, 9, true);
	engine_advance(search.feed.engine, T0 + 5 * S);
	snapshot = look(&search,
			(struct focus){.parts = FOCUS_GROUPS | FOCUS_REQUEST | FOCUS_COMPARE,
					.request_id = 2,
					.compare_id = 1});
	view = &snapshot->compare;
	assert_int_equal(view->a.id, 2);
	assert_int_equal(view->b.id, 1);
	assert_false(view->b_is_median);
	assert_int_equal(view->a.duration_ns, 485 * US);
	assert_int_equal(view->b.duration_ns, 160 * US);
	check_comparison(view);
	assert_int_equal(view->n_ranked, 3);
	assert_string_equal(view->rows[view->ranked[0]].name, "scan");
	assert_int_equal(compare_row(view, "scan")->difference_ns, 300 * US);
	assert_int_equal(compare_row(view, "merge")->difference_ns, 20 * US);
	assert_int_equal(compare_row(view, "merge")->a_count, 2);
	assert_int_equal(compare_row(view, "merge")->b_count, 1);
	assert_int_equal(compare_row(view, "search")->difference_ns, 5 * US);
	assert_int_equal(compare_row(view, "(wait)")->a_path_ns, 5 * US);
	assert_int_equal(compare_row(view, "(wait)")->difference_ns, 0);
	/* Ids differ, too, and tell nothing. */
	assert_int_equal(view->n_values, 1);
	assert_string_equal(view->values[0].span, "scan #2");
	assert_string_equal(view->values[0].name, "queue_len");
	assert_string_equal(view->values[0].a, "9");
	assert_string_equal(view->values[0].b, "2");
	snapshot_destroy(snapshot);
	feed_stop(&search.feed);
}

static void with_the_median(void **state)
{
	struct search search;
	struct snapshot *snapshot;

	(void)state;
	search_start(&search);
	for (uint64_t i = 0; i < 21; i++) {
		search_request(&search, i + 1, T0 + i * 5000 * US, 100 + 10 * i, i, false);
	}
	engine_advance(search.feed.engine, T0 + 5 * S);
	/* The slowest, with the eleventh. */
	snapshot = look(&search, (struct focus){.parts = FOCUS_GROUPS | FOCUS_GROUP |
							 FOCUS_REQUEST | FOCUS_COMPARE});
	assert_true(snapshot->compare.b_is_median);
	assert_int_equal(snapshot->compare.a.id, 21);
	assert_int_equal(snapshot->compare.b.id, 11);
	check_comparison(&snapshot->compare);
	assert_int_equal(snapshot->compare.rows[snapshot->compare.ranked[0]].difference_ns,
			100 * US);
	snapshot_destroy(snapshot);

	/* One that is not kept. */
	snapshot = look(&search, (struct focus){.parts = FOCUS_GROUPS | FOCUS_COMPARE,
						 .request_id = 21,
						 .compare_id = 999});
	assert_int_equal(snapshot->compare.a.id, 21);
	assert_int_equal(snapshot->compare.b.id, 0);
	assert_int_equal(snapshot->compare.n, 0);
	snapshot_destroy(snapshot);
	feed_stop(&search.feed);
}

/* Recursion without end: contexts are bounded, times still add up. */
static void deep_recursion(void **state)
{
	struct search search;
	struct snapshot *snapshot;
	struct feed *feed = &search.feed;
	uint64_t sum_ns = 0;

	(void)state;
	search_start(&search);
	for (uint64_t id = 1; id <= 2; id++) {
		uint64_t t = T0 + id * 50000 * US;

		feed_event(feed, search.begin, t, 0, V({.u = id}, {.u = 3}, {.u = 1}));
		for (uint64_t i = 1; i <= 1000; i++) {
			feed_event(feed, search.merge_begin, t + i * US, 0, V({.u = id}, {.u = 1}));
		}
		for (uint64_t i = 1; i <= 1000; i++) {
			feed_event(feed, search.merge_end, t + (1000 + i * id) * US, 0,
					V({.u = id}, {.u = 1}));
		}
		feed_event(feed, search.end, t + 4000 * US, 0, V({.u = id}, {.i = 0}, {.u = 1}));
	}
	engine_advance(feed->engine, T0 + 5 * S);
	snapshot = look(&search,
			(struct focus){.parts = FOCUS_GROUPS | FOCUS_REQUEST | FOCUS_COMPARE,
					.request_id = 1,
					.compare_id = 2});
	assert_int_equal(snapshot->compare.n, 256);
	assert_int_equal(snapshot->compare.rows[255].depth, 255);
	assert_int_equal(snapshot->compare.rows[255].a_count, 746);
	check_comparison(&snapshot->compare);
	for (uint32_t i = 0; i < snapshot->compare.n; i++) {
		sum_ns += snapshot->compare.rows[i].a_path_ns;
	}
	assert_int_equal(sum_ns, 4000 * US);
	assert_int_equal(snapshot->request.n_spans, 1001);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fan_out_in_numbers),
			cmocka_unit_test(two_requests),
			cmocka_unit_test(with_the_median),
			cmocka_unit_test(deep_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
