/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"
#include "trials.h"

/*
 * Requests that begin to fail, through the front door: events in, findings out. What fails as it
 * always did is none; what begins to is one, with its place, time, host and value.
 */
#define MS     UINT64_C(1000000)
#define S      UINT64_C(1000000000)
#define T0     (UINT64_C(1700000000) * S)
#define V(...) ((union feed_value[]){__VA_ARGS__})

/* order > pay > bank, on host alpha; bank on beta or gamma. */
struct shop {
	struct feed feed;
	uint32_t entry[3], exit[3], bank[2];
	uint64_t ns, id;
	uint64_t random;
};

static double unit(struct shop *shop)
{
	shop->random = shop->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(shop->random >> 11) * 0x1p-53;
}

static void shop_open(struct shop *shop, uint64_t seed)
{
	static const char *const names[] = {"order", "pay", "bank"};

	memset(shop, 0, sizeof(*shop));
	shop->random = seed * 7919 + 1;
	feed_start(&shop->feed, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "shop:%s_entry", names[i]);
		shop->entry[i] = feed_type(&shop->feed, name, "request_id:u vtid:c card:s");
		snprintf(name, sizeof(name), "shop:%s_exit", names[i]);
		shop->exit[i] = feed_type(&shop->feed, name, "request_id:u vtid:c status:i");
	}
	shop->bank[0] = feed_stream(&shop->feed, "beta", "beta");
	shop->bank[1] = feed_stream(&shop->feed, "gamma", "gamma");
	shop->ns = T0;
}

static const char *const cards[] = {"visa", "amex", "giro", "cash"};

/* What the next order is like. */
struct order {
	uint32_t card, bank;
	bool bank_fails, pay_fails;
};

static void put(struct shop *shop, uint32_t stream, uint32_t type, uint64_t tid, const char *card,
		int64_t status)
{
	if (card) {
		feed_raw(&shop->feed, stream, type, shop->ns += MS / 10, 0,
				V({shop->id}, {tid}, {.s = card}));
	} else {
		feed_raw(&shop->feed, stream, type, shop->ns += MS / 10, 0,
				V({shop->id}, {tid}, {.i = status}));
	}
}

static void shop_order(struct shop *shop, const struct order *order)
{
	const char *card = cards[order->card];
	uint32_t bank = shop->bank[order->bank];
	bool fails = order->bank_fails || order->pay_fails;

	shop->id++;
	put(shop, shop->feed.stream, shop->entry[0], 7, card, 0);
	put(shop, shop->feed.stream, shop->entry[1], 7, card, 0);
	put(shop, bank, shop->entry[2], 9, card, 0);
	put(shop, bank, shop->exit[2], 9, NULL, order->bank_fails ? -5 : 0);
	put(shop, shop->feed.stream, shop->exit[1], 7, NULL, fails ? -6 : 0);
	put(shop, shop->feed.stream, shop->exit[0], 7, NULL, fails ? -7 : 0);
}

static struct order any_order(struct shop *shop)
{
	return (struct order){.card = (uint32_t)(unit(shop) * 4), .bank = unit(shop) < 0.5};
}

/* For so many seconds, `rate` a second; the shares of both that fail. */
static void shop_run(struct shop *shop, uint32_t seconds, uint32_t rate, double bank, double pay)
{
	uint64_t begin_ns = shop->ns;

	for (uint32_t i = 0; i < seconds * rate; i++) {
		struct order order = any_order(shop);

		order.bank_fails = unit(shop) < bank;
		order.pay_fails = unit(shop) < pay;
		shop_order(shop, &order);
		shop->ns = begin_ns + (i + 1) * (S / rate);
	}
}

static struct snapshot *look(struct shop *shop)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_STEPS, .horizon = HORIZON_ALL};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(shop->feed.engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* The n-th finding of what fails, or has failed; one of no time: there are fewer. */
static const struct steps_finding *failing(const struct snapshot *snapshot, uint32_t n)
{
	static const struct steps_finding none = {.text = "", .where = "", .host = ""};

	for (uint32_t i = 0; i < snapshot->steps.n_findings; i++) {
		if (snapshot->steps.findings[i].since_ns && n-- == 0) {
			return &snapshot->steps.findings[i];
		}
	}
	return &none;
}

static void what_always_failed_is_none(void **state)
{
	static const double shares[] = {0, 0.002, 0.05, 0.3, 1};

	(void)state;
	for (uint64_t seed = 0; seed < TRIALS(100); seed++) {
		struct snapshot *snapshot;
		struct shop shop;

		shop_open(&shop, seed);
		shop_run(&shop, 100, 50, shares[seed % 5], 0);
		snapshot = look(&shop);
		if (failing(snapshot, 0)->since_ns) {
			fail_msg("seed %lu: %s", seed, failing(snapshot, 0)->text);
		}
		snapshot_destroy(snapshot);
		feed_stop(&shop.feed);
	}
}

/* Failures that come in bursts as they always did: each is far from what was before, and usual. */
static void bursts_as_always_are_none(void **state)
{
	uint32_t alarms = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct snapshot *snapshot;
		struct shop shop;

		shop_open(&shop, seed);
		shop_run(&shop, 20, 50, 0.4, 0); /* what was usual is seen from the begin on */
		for (uint32_t burst = 0; burst < 4; burst++) {
			shop_run(&shop, 60, 50, 0.01, 0);
			snapshot = look(&shop);
			alarms += failing(snapshot, 0)->since_ns != 0;
			snapshot_destroy(snapshot);
			shop_run(&shop, 3, 50, 0.3, 0);
		}
		feed_stop(&shop.feed);
	}
	assert_int_equal(alarms, 0);
}

static void what_begins_to_fail_is_found(void **state)
{
	static const struct {
		double before, after;
	} cases[] = {{0, 0.05}, {0, 0.3}, {0.02, 0.15}, {0.1, 0.5}, {0, 1}};

	(void)state;
	for (uint64_t seed = 0; seed < TRIALS(40); seed++) {
		const struct steps_finding *finding;
		struct snapshot *snapshot;
		struct shop shop;
		uint64_t changed_ns;
		double off_s;

		shop_open(&shop, seed);
		shop_run(&shop, 70, 50, cases[seed % 5].before, 0.01);
		changed_ns = shop.ns;
		shop_run(&shop, 21, 50, cases[seed % 5].after, 0.01);
		snapshot = look(&shop);
		finding = failing(snapshot, 0);
		assert_int_equal(failing(snapshot, 1)->since_ns, 0);
		assert_int_equal(finding->rule, STOP_FAILS);
		assert_string_equal(finding->where, "order > pay > bank");
		off_s = ((double)finding->since_ns - (double)changed_ns) * 1e-9;
		if (off_s < -3 || off_s > 3) {
			fail_msg("seed %lu: %+.1f s: %s", seed, off_s, finding->text);
		}
		assert_non_null(strstr(finding->text, "status = -5"));
		assert_string_equal(finding->host, "");
		assert_null(strstr(finding->text, "card="));
		snapshot_destroy(snapshot);
		feed_stop(&shop.feed);
	}
}

/* One replica, and one value: both are told, and that it is over once it is. */
static void host_and_value_are_told(void **state)
{
	const struct steps_finding *finding;
	struct snapshot *snapshot;
	struct shop shop;

	(void)state;
	shop_open(&shop, 3);
	shop_run(&shop, 60, 50, 0, 0);
	for (uint32_t i = 0; i < 30 * 50; i++) {
		struct order order = any_order(&shop);
		uint64_t begin_ns = shop.ns;

		order.bank_fails = order.bank == 1;
		shop_order(&shop, &order);
		shop.ns = begin_ns + S / 50;
	}
	snapshot = look(&shop);
	finding = failing(snapshot, 0);
	assert_string_equal(finding->host, "gamma");
	assert_non_null(strstr(finding->text, "host=gamma in bank in 100% of them"));
	snapshot_destroy(snapshot);
	shop_run(&shop, 100, 50, 0, 0);
	snapshot = look(&shop);
	assert_int_equal(failing(snapshot, 0)->rule, STOP_HEALTHY);
	snapshot_destroy(snapshot);
	for (uint32_t i = 0; i < 30 * 50; i++) {
		struct order order = any_order(&shop);
		uint64_t begin_ns = shop.ns;

		order.pay_fails = order.card == 1;
		shop_order(&shop, &order);
		shop.ns = begin_ns + S / 50;
	}
	snapshot = look(&shop);
	finding = failing(snapshot, 0);
	assert_int_equal(finding->rule, STOP_FAILS);
	assert_string_equal(finding->where, "order > pay");
	assert_string_equal(finding->host, "alpha");
	assert_non_null(strstr(finding->text, "card=amex"));
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_always_failed_is_none),
			cmocka_unit_test(bursts_as_always_are_none),
			cmocka_unit_test(what_begins_to_fail_is_found),
			cmocka_unit_test(host_and_value_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
