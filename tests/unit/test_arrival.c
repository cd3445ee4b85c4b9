/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Since when messages could be read: wake-ups, waits for one and for many, and what is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "requests/arrival.h"

static const struct type_told epoll = {.told = TOLD_WAIT, .multiplexes = true, .in_order = true};
static const struct type_told poll_ = {.told = TOLD_WAIT, .multiplexes = true};
static const struct type_told reads = {.told = TOLD_WAIT, .input = true};
static const struct type_told accepts = {.told = TOLD_WAIT};

/* Sleeps in a call from 10 on, is woken at 20, and returns at 30. */
static struct arrival woken_in(const struct type_told *call, int64_t n)
{
	struct arrival arrival = {.waits = false};

	arrival_enter(&arrival, call);
	arrival_wake(&arrival, 20);
	arrival_wake(&arrival, 25); /* again, before it runs */
	arrival_leave(&arrival, n, 30);
	return arrival;
}

static void test_first_since_the_wake_up(void **state)
{
	struct arrival arrival = woken_in(&epoll, 3);

	(void)state;
	assert_int_equal(arrival_since(&arrival, 1, 5), 20);
	/* The others were there when it returned; whether before, nobody told. */
	assert_int_equal(arrival_since(&arrival, 1, 6), 30);
	assert_int_equal(arrival_since(&arrival, 1, 7), 30);
}

static void test_order_unknown(void **state)
{
	struct arrival one = woken_in(&poll_, 1), two = woken_in(&poll_, 2);

	(void)state;
	assert_int_equal(arrival_since(&one, 1, 5), 20);
	assert_int_equal(arrival_since(&two, 1, 5), 30);
}

static void test_not_slept(void **state)
{
	struct arrival arrival = {.waits = false};

	(void)state;
	arrival_enter(&arrival, &epoll);
	arrival_leave(&arrival, 1, 30);
	assert_int_equal(arrival_since(&arrival, 1, 5), 30);
}

static void test_timeout(void **state)
{
	struct arrival arrival = woken_in(&epoll, 0);

	(void)state;
	assert_int_equal(arrival_since(&arrival, 1, 5), 0);
}

/* Since the return: a new connection, or the next message of one that was read. */
static void test_later(void **state)
{
	struct arrival arrival = woken_in(&epoll, 2);

	(void)state;
	assert_int_equal(arrival_since(&arrival, 31, 0), 0);
	assert_int_equal(arrival_since(&arrival, 1, 31), 0);
}

/* What woke it was a new connection. */
static void test_accepted(void **state)
{
	struct arrival arrival = woken_in(&epoll, 2);

	(void)state;
	arrival_enter(&arrival, &accepts);
	arrival_leave(&arrival, 5, 31);
	assert_int_equal(arrival_since(&arrival, 1, 5), 30);
}

/* A call that reads waits for itself; what is there it does not wait for. */
static void test_blocking_read(void **state)
{
	struct arrival arrival = {.waits = false};

	(void)state;
	arrival_enter(&arrival, &reads);
	arrival_wake(&arrival, 20);
	assert_int_equal(arrival_since(&arrival, 1, 5), 20);
	arrival_leave(&arrival, 100, 30);
	arrival_enter(&arrival, &reads);
	assert_int_equal(arrival_since(&arrival, 1, 20), 0);
}

/* It reads what it was told of by a wait for many, without sleeping again. */
static void test_read_after_wait(void **state)
{
	struct arrival arrival = woken_in(&epoll, 1);

	(void)state;
	arrival_enter(&arrival, &reads);
	assert_int_equal(arrival_since(&arrival, 1, 5), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_first_since_the_wake_up),
			cmocka_unit_test(test_order_unknown),
			cmocka_unit_test(test_not_slept),
			cmocka_unit_test(test_timeout),
			cmocka_unit_test(test_later),
			cmocka_unit_test(test_accepted),
			cmocka_unit_test(test_blocking_read),
			cmocka_unit_test(test_read_after_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
