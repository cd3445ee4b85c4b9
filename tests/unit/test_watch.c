/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What steps bring: while one is watched, and after it was kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/watch.h"

#define S    UINT64_C(1000000000)
#define NOW  (1000 * S)
#define TIME (1700000000 * S)

static const struct step_budget budget = {.events_per_s = 1000};

static void watching_ends_early_over_the_budget(void **state)
{
	struct watch watch;

	(void)state;
	watch_begin(&watch, 3, false, 5, NOW, (struct watch_counts){100, 0});
	watch_check(&watch, NOW + 1 * S, 1300, &budget);
	assert_true(watch.end_ns == NOW + 5 * S);
	watch_check(&watch, NOW + 2 * S, 2500, &budget);
	assert_true(watch.end_ns == NOW + 2 * S);
	assert_float_equal(watch_end(&watch, NOW + 2 * S, (struct watch_counts){2500, 0}, 0)
					   .actual.events_per_s,
			1200, 1e-6);
}

/* Seconds over the budget count where they follow each other. */
static void load_that_grew(void **state)
{
	static const uint32_t rates[] = {900, 1100, 1200, 990, 1100, 1100, 1300};
	struct load load;
	uint64_t events = 0;
	uint32_t i;

	(void)state;
	load_begin(&load, NOW, TIME, 0);
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t now_ns = NOW + (i + 1) * S;
		bool over;

		assert_false(load_check(&load, now_ns - S / 2, TIME + i * S, events, &budget));
		events += rates[i];
		over = load_check(&load, now_ns, TIME + (i + 1) * S, events, &budget);
		assert_int_equal(over, i == 6);
		assert_float_equal(load.rate, rates[i], 1e-6);
	}
	assert_int_equal(load.over, 0);
}

/* Ten seconds held back come within four: 500 events/s are 500 events/s. */
static void what_was_held_back_is_no_load(void **state)
{
	struct load load;

	(void)state;
	load_begin(&load, NOW, TIME, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_false(load_check(&load, NOW + i * S, TIME + i * 5 * S / 2,
				(uint64_t)i * 1250, &budget));
		assert_float_equal(load.rate, 500, 1e-6);
	}
}

static void without_a_budget_nothing_is_over_it(void **state)
{
	struct step_budget none = {0};
	struct load load;

	(void)state;
	load_begin(&load, NOW, TIME, 0);
	for (uint32_t i = 1; i <= 9; i++) {
		assert_false(load_check(
				&load, NOW + i * S, TIME + i * S, (uint64_t)i * 1000000, &none));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(watching_ends_early_over_the_budget),
			cmocka_unit_test(load_that_grew),
			cmocka_unit_test(what_was_held_back_is_no_load),
			cmocka_unit_test(without_a_budget_nothing_is_over_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
