/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"

/*
 * From events to shapes: which order the steps of requests have, that loops and threads do not make
 * shapes, and in which words shapes differ.
 */
#define MS     UINT64_C(1000000)
#define S      UINT64_C(1000000000)
#define T0     (UINT64_C(1700000000) * S)
#define V(...) ((union feed_value[]){__VA_ARGS__})

enum { ORDER, CHECK, CACHE, QUERY, COMMIT, RETRY, LEFT, RIGHT, PLACES };
static const char *const places[PLACES] = {
		"order", "check", "cache_get", "query", "commit", "retry", "left", "right"};

struct shop {
	struct feed feed;
	uint32_t entry[PLACES], exit[PLACES];
	uint64_t ns, id;
};

static void shop_open(struct shop *shop)
{
	memset(shop, 0, sizeof(*shop));
	feed_start(&shop->feed, NULL);
	for (uint32_t i = 0; i < PLACES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "shop:%s_entry", places[i]);
		shop->entry[i] = feed_type(&shop->feed, name, "request_id:u vtid:c");
		snprintf(name, sizeof(name), "shop:%s_exit", places[i]);
		shop->exit[i] = feed_type(&shop->feed, name, "request_id:u vtid:c status:i");
	}
	shop->ns = T0;
}

static void enter(struct shop *shop, uint32_t place, uint64_t tid)
{
	feed_event(&shop->feed, shop->entry[place], shop->ns += 1000, 0,
			V({.u = shop->id}, {.u = tid}));
}

static void leave(struct shop *shop, uint32_t place, uint64_t tid, int64_t status)
{
	feed_event(&shop->feed, shop->exit[place], shop->ns += 1000, 0,
			V({.u = shop->id}, {.u = tid}, {.i = status}));
}

static void call(struct shop *shop, uint32_t place, uint64_t tid)
{
	enter(shop, place, tid);
	leave(shop, place, tid, 0);
}

static void begin(struct shop *shop)
{
	shop->id++;
	enter(shop, ORDER, 1);
}

static void end(struct shop *shop)
{
	leave(shop, ORDER, 1, 0);
	shop->ns += MS;
	engine_advance(shop->feed.engine, shop->ns);
}

/* The usual request: queries one after the other, and what two other threads do in any order. */
static void order(struct shop *shop, uint32_t queries, bool right_first)
{
	begin(shop);
	call(shop, CHECK, 1);
	call(shop, CACHE, 1);
	call(shop, right_first ? RIGHT : LEFT, right_first ? 3 : 2);
	for (uint32_t i = 0; i < queries; i++) {
		enter(shop, QUERY, 1);
		call(shop, CACHE, 1);
		leave(shop, QUERY, 1, 0);
	}
	call(shop, right_first ? LEFT : RIGHT, right_first ? 2 : 3);
	call(shop, COMMIT, 1);
	end(shop);
}

static struct snapshot *look(struct shop *shop)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(shop->feed.engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static const struct shape_row *shape_of(const struct snapshot *snapshot, const char *differs)
{
	for (uint32_t i = 0; i < snapshot->shapes.n; i++) {
		if (strcmp(snapshot->shapes.rows[i].differs, differs) == 0) {
			return &snapshot->shapes.rows[i];
		}
	}
	for (uint32_t i = 0; i < snapshot->shapes.n; i++) {
		print_message("%s\n", snapshot->shapes.rows[i].differs);
	}
	fail_msg("no shape \"%s\"", differs);
	return NULL;
}

static void loops_and_threads_make_no_shapes(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;

	(void)state;
	shop_open(&shop);
	for (uint32_t i = 0; i < 60; i++) {
		order(&shop, 2 + i % 5, i % 2);
	}
	snapshot = look(&shop);
	assert_int_equal(snapshot->shapes.n, 1);
	assert_int_equal(snapshot->shapes.rows[0].count, 60);
	assert_int_equal(snapshot->shapes.rows[0].variants, 1);
	assert_int_equal(snapshot->shapes.rows[0].steps, 8);
	assert_string_equal(snapshot->shapes.rows[0].type, "order");
	assert_int_equal(snapshot->shapes.n_improbable, 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

static void shapes_differ_in_words(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;
	const struct shape_row *row;

	(void)state;
	shop_open(&shop);
	for (uint32_t i = 0; i < 100; i++) {
		order(&shop, 3, false);
	}
	for (uint32_t i = 0; i < 10; i++) {
		order(&shop, 1, false);
	}
	for (uint32_t i = 0; i < 9; i++) { /* ends early */
		begin(&shop);
		call(&shop, CHECK, 1);
		end(&shop);
	}
	for (uint32_t i = 0; i < 8; i++) { /* with a retry that queries again, and a failure */
		begin(&shop);
		call(&shop, CHECK, 1);
		call(&shop, LEFT, 2);
		call(&shop, RIGHT, 3);
		for (uint32_t j = 0; j < 3; j++) {
			enter(&shop, QUERY, 1);
			call(&shop, CACHE, 1);
			leave(&shop, QUERY, 1, 0);
		}
		enter(&shop, RETRY, 1);
		call(&shop, QUERY, 1);
		leave(&shop, RETRY, 1, 0);
		enter(&shop, COMMIT, 1);
		leave(&shop, COMMIT, 1, -5);
		leave(&shop, ORDER, 1, -5); /* and so does the order */
		shop.ns += MS;
		engine_advance(shop.feed.engine, shop.ns);
	}
	snapshot = look(&shop);
	assert_int_equal(snapshot->shapes.n, 4);
	assert_int_equal(shape_of(snapshot, "")->count, 100);
	assert_int_equal(shape_of(snapshot, "query once")->count, 10);
	row = shape_of(snapshot, "ends after check");
	assert_int_equal(row->count, 9);
	assert_true(row->share_low < 9.0 / 127 && row->share_high > 9.0 / 127);
	assert_int_equal(shape_of(snapshot, "without cache_get, + retry, commit fails")->count, 8);
	/* Each has a request that can be looked at. */
	for (uint32_t i = 0; i < snapshot->shapes.n; i++) {
		struct focus focus = {.parts = FOCUS_REQUEST,
				.horizon = HORIZON_ALL,
				.request_id = snapshot->shapes.rows[i].request};
		struct snapshot *shown = snapshot_create();

		assert_int_equal(engine_fill(shop.feed.engine, &focus, shown), STATUS_OK);
		assert_int_equal(shown->request.id, focus.request_id);
		assert_true(shown->request.n_spans > 1);
		snapshot_destroy(shown);
	}
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

static void improbable_requests_tell_their_step(void **state)
{
	struct shop shop;
	struct snapshot *snapshot;
	const struct improbable_row *row;

	(void)state;
	shop_open(&shop);
	for (uint32_t i = 0; i < 400; i++) {
		order(&shop, i % 2 ? 3 : 1, false);
	}
	begin(&shop);
	call(&shop, CHECK, 1);
	call(&shop, RETRY, 1);
	call(&shop, COMMIT, 1);
	end(&shop);
	snapshot = look(&shop);
	assert_int_equal(snapshot->shapes.n_improbable, 1);
	row = &snapshot->shapes.improbable[0];
	assert_int_equal(row->count, 1);
	assert_int_equal(row->step, 3);
	assert_string_equal(row->at, "retry");
	assert_string_equal(row->expected, "cache_get");
	assert_true(row->probability > 0.9 / 401 && row->probability < 1.1 / 401);
	assert_true(row->request != 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* A frozen picture stays; of the window is what ended in it. */
static void shapes_follow_the_horizon(void **state)
{
	struct shop shop;
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_GROUP | FOCUS_SHAPES,
			.screen = SCREEN_SHAPES,
			.horizon = HORIZON_WINDOW};

	(void)state;
	shop_open(&shop);
	for (uint32_t i = 0; i < 20; i++) {
		order(&shop, 1, false);
	}
	shop.ns += 20 * S;
	for (uint32_t i = 0; i < 5; i++) {
		order(&shop, 1, false);
	}
	assert_int_equal(engine_fill(shop.feed.engine, &focus, snapshot), STATUS_OK);
	assert_int_equal(snapshot->shapes.n, 1);
	assert_int_equal(snapshot->shapes.rows[0].count, 5);
	snapshot_destroy(snapshot);
	focus.frozen = true;
	for (uint32_t i = 0; i < 2; i++) {
		snapshot = snapshot_create();
		assert_int_equal(engine_fill(shop.feed.engine, &focus, snapshot), STATUS_OK);
		assert_int_equal(snapshot->shapes.rows[0].count, 5);
		snapshot_destroy(snapshot);
		order(&shop, 1, false);
	}
	feed_stop(&shop.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(loops_and_threads_make_no_shapes),
			cmocka_unit_test(shapes_differ_in_words),
			cmocka_unit_test(improbable_requests_tell_their_step),
			cmocka_unit_test(shapes_follow_the_horizon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
