/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a step is seen, where daemons hold events back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/coverage.h"

#define S    UINT64_C(1000000000)
#define NOW  (1000 * S)
#define TIME (1700000000 * S)

/* Events come a little later than they happened, as always: the wall clock is judged by. */
static void all_is_seen(void **state)
{
	struct coverage coverage;

	(void)state;
	coverage_begin(&coverage, 7, 5, NOW, TIME);
	coverage_update(&coverage, NOW + 5 * S, TIME + 4 * S, false);
	assert_false(coverage_is_low(&coverage, NOW + 4 * S, TIME));
	assert_false(coverage_is_low(&coverage, NOW + 5 * S, TIME + 4 * S));
	assert_int_equal(coverage_clock(&coverage, NOW + 5 * S, TIME + 4 * S), NOW + 5 * S);
	/* A look may be older than the answer that began it. */
	assert_false(coverage_is_low(&coverage, NOW - 1, TIME));
	assert_int_equal(coverage_clock(&coverage, NOW - 1, TIME), NOW - 1);
}

/* A daemon is stopped for 12 s; then everything comes within one. */
static void what_is_held_back(void **state)
{
	struct coverage coverage;

	(void)state;
	coverage_begin(&coverage, 7, 5, NOW, TIME);
	assert_true(coverage_is_low(&coverage, NOW + 5 * S, TIME + 1 * S));
	assert_true(coverage_is_low(&coverage, NOW + 12 * S, TIME + 1 * S));
	assert_false(coverage_is_lost(&coverage, NOW + 12 * S, TIME + 1 * S));
	assert_false(coverage_is_low(&coverage, NOW + 13 * S, TIME + 13 * S));
	/* A step that was made meanwhile is not judged by the 10 s before it, in one second. */
	coverage_begin(&coverage, 8, 5, NOW + 12 * S, TIME + 2 * S);
	assert_int_equal(coverage_clock(&coverage, NOW + 13 * S, TIME + 13 * S), NOW + 23 * S);
}

static void nothing_comes(void **state)
{
	struct coverage coverage;

	(void)state;
	coverage_begin(&coverage, 7, 5, NOW, TIME);
	assert_false(coverage_is_lost(&coverage, NOW + (COVERAGE_LOW_S - 1) * S, TIME));
	assert_true(coverage_is_lost(&coverage, NOW + COVERAGE_LOW_S * S, TIME));
	/* The first events of all, which a step brought: there is no time before them. */
	coverage_begin(&coverage, 8, 5, NOW, 0);
	coverage_update(&coverage, NOW + 2 * S, 0, false);
	coverage_update(&coverage, NOW + 3 * S, TIME, false);
	assert_int_equal(coverage_clock(&coverage, NOW + 3 * S, TIME), NOW + 3 * S);
	assert_false(coverage_is_low(&coverage, NOW + 6 * S, TIME + 3 * S));
}

/* Others' events come, but not what the step enabled. */
static void only_others_come(void **state)
{
	struct coverage coverage;

	(void)state;
	coverage_begin(&coverage, 7, 5, NOW, TIME);
	coverage_update(&coverage, NOW + 5 * S, TIME + 5 * S, true);
	assert_true(coverage_is_low(&coverage, NOW + 5 * S, TIME + 5 * S));
	assert_false(coverage_is_lost(&coverage, NOW + 5 * S, TIME + 5 * S));
	assert_true(coverage_is_lost(
			&coverage, NOW + COVERAGE_LOW_S * S, TIME + COVERAGE_LOW_S * S));
	coverage_update(&coverage, NOW + 6 * S, TIME + 6 * S, false);
	assert_false(coverage_is_low(&coverage, NOW + 6 * S, TIME + 6 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(all_is_seen),
			cmocka_unit_test(what_is_held_back),
			cmocka_unit_test(nothing_comes),
			cmocka_unit_test(only_others_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
