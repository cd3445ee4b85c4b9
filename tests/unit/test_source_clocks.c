/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles become times since the epoch; traces of one clock agree on when it began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/clocks.h"

static void test_cycles_become_times(void **state)
{
	struct clocks clocks = {0};
	struct clock_rule ns =
			clocks_rule(&clocks, &(struct clock_description){.frequency = 1000000000,
							     .offset_s = 1700000000,
							     .offset_cycles = 7});
	struct clock_rule us =
			clocks_rule(&clocks, &(struct clock_description){.frequency = 1000000,
							     .offset_s = 10,
							     .offset_cycles = 500000});
	struct clock_rule tsc =
			clocks_rule(&clocks, &(struct clock_description){.frequency = 3000000000u});

	(void)state;
	assert_int_equal(clock_rule_ns(&ns, 93), UINT64_C(1700000000000000100));
	assert_int_equal(clock_rule_ns(&us, 3), UINT64_C(10500003000));
	/* Exact for a year of cycles at 3 GHz: beyond what a double holds. */
	assert_int_equal(clock_rule_ns(&tsc, UINT64_C(94608000000000003)),
			UINT64_C(31536000000000001));
	assert_int_equal(clocks.n, 0); /* without a UUID nothing is shared */
}

static void test_what_does_not_fit_saturates(void **state)
{
	struct clocks clocks = {0};
	struct clock_rule far =
			clocks_rule(&clocks, &(struct clock_description){.frequency = 1000000000,
							     .offset_s = INT64_MAX});
	struct clock_rule before = clocks_rule(&clocks,
			&(struct clock_description){.frequency = 1000000000, .offset_s = -5});
	struct clock_rule none = clocks_rule(&clocks, &(struct clock_description){0});

	(void)state;
	assert_int_equal(clock_rule_ns(&far, 1), INT64_MAX);
	assert_int_equal(clock_rule_ns(&far, UINT64_MAX), INT64_MAX);
	assert_int_equal(clock_rule_ns(&before, 1), 0);
	assert_int_equal(clock_rule_ns(&before, UINT64_C(6000000000)), 1000000000);
	assert_int_equal(clock_rule_ns(&none, 5), 5);
}

/* LTTng measures the offset anew for each session: the same clock, microseconds apart. */
static void test_one_clock_has_one_offset(void **state)
{
	static const uint8_t boot[16] = "one boot's clock", other[16] = "another boot's 2";
	struct clocks clocks = {0};
	struct clock_description kernel = {.uuid = boot,
			.frequency = 1000000000,
			.offset_s = 100,
			.offset_cycles = 2000};
	struct clock_description user = kernel, elsewhere = kernel;
	struct clock_rule first, second, third;

	(void)state;
	user.offset_cycles = 5000;
	elsewhere.uuid = other;
	elsewhere.offset_cycles = 9000;
	first = clocks_rule(&clocks, &kernel);
	second = clocks_rule(&clocks, &user);
	third = clocks_rule(&clocks, &elsewhere);
	assert_int_equal(first.shift_ns, 0);
	assert_int_equal(second.shift_ns, -3000);
	assert_int_equal(third.shift_ns, 0);
	assert_int_equal(clock_rule_ns(&second, 42), clock_rule_ns(&first, 42));
	assert_int_equal(clock_rule_ns(&third, 42), clock_rule_ns(&first, 42) + 7000);
	assert_memory_equal(second.uuid, boot, sizeof(boot));
}

static void test_more_clocks_than_kept_use_their_own_offsets(void **state)
{
	struct clocks clocks = {0};
	struct clock_rule rule = {0};

	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 2 * CLOCKS_MAX; i++) {
			uint8_t uuid[16] = {(uint8_t)i, 1};

			rule = clocks_rule(&clocks, &(struct clock_description){.uuid = uuid,
								    .frequency = 1000000000,
								    .offset_s = 1 + round});
			assert_int_equal(rule.offset_ns,
					i < CLOCKS_MAX ? 1000000000 : (1 + round) * 1000000000);
		}
	}
	assert_int_equal(clocks.n, CLOCKS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_cycles_become_times),
			cmocka_unit_test(test_what_does_not_fit_saturates),
			cmocka_unit_test(test_one_clock_has_one_offset),
			cmocka_unit_test(test_more_clocks_than_kept_use_their_own_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
