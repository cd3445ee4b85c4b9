/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "path_scene.h"

/*
 * The critical path of one request, shape by shape, in ns.
 */
enum { A, B, C }; /* hosts */

static void one_span(void **state)
{
	struct scene s;
	uint64_t a;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 100, A, 1, 0);
	scene_point(&s, 104, A, 1, 0);
	scene_leave(&s, a, 110, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10");
	scene_stop(&s);
}

static void sequential_and_nested(void **state)
{
	struct scene s;
	uint64_t a, b, c, d;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	b = scene_enter(&s, "b", 10, A, 1, 0);
	c = scene_enter(&s, "c", 12, A, 1, 0);
	scene_leave(&s, c, 19, 0);
	scene_leave(&s, b, 30, 0);
	d = scene_enter(&s, "d", 30, A, 1, 0);
	scene_leave(&s, d, 90, 0);
	scene_leave(&s, a, 100, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, b 2, c 7, b 11, d 60, a 10");
	scene_stop(&s);
}

/* Only the child that the parent waited for last counts, and what came before it began. */
static void fan_out_with_a_join(void **state)
{
	struct scene s;
	uint64_t a, p, b, c, d;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	p = scene_enter(&s, "p", 5, A, 1, 0);
	scene_leave(&s, p, 8, 0);
	b = scene_enter(&s, "b", 10, A, 2, 0);
	c = scene_enter(&s, "c", 12, A, 3, 0);
	d = scene_enter(&s, "d", 14, A, 4, 0);
	scene_leave(&s, d, 40, 0);
	scene_leave(&s, c, 80, 0);
	scene_leave(&s, b, 60, 0);
	scene_leave(&s, a, 100, 0);
	/* b, c and d are siblings as far as anybody told. */
	scene_build(&s);
	for (uint32_t i = 0; i < s.spans.n; i++) {
		s.spans.items[i].parent = i == s.spans.root ? SPAN_NONE : s.spans.root;
	}
	assert_true(path_find(&s.path, &s.spans, NULL));
	assert_int_equal(s.path.n, 5);
	assert_string_equal(scene_name(&s, s.path.pieces[3].span), "c");
	assert_int_equal(s.path.pieces[3].ns, 68);
	scene_stop(&s);
}

static void loops_and_retries(void **state)
{
	struct scene s;
	uint64_t a;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t b = scene_enter(&s, "b", 10 + 20 * i, A, 1, 0);

		scene_leave(&s, b, 25 + 20 * i, 0);
	}
	scene_leave(&s, a, 70, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, b 15, a 5, b 15, a 5, b 15, a 5");
	scene_stop(&s);
}

/* By a message to a thread of the same host, while the sender waits. */
static void handed_over_and_awaited(void **state)
{
	struct scene s;
	uint64_t a, call, prepare, work;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	call = scene_enter(&s, "call", 10, A, 1, 7);
	prepare = scene_enter(&s, "prepare", 10, A, 1, 0);
	scene_leave(&s, prepare, 13, 0);
	work = scene_enter(&s, "work", 20, A, 2, 7);
	scene_leave(&s, work, 50, 7);
	scene_leave(&s, call, 55, 7);
	scene_leave(&s, a, 60, 0);
	assert_string_equal(scene_path(&s, NULL),
			"a 10, prepare 3, work(wait) 7, work 30, call 5, a 5");
	scene_stop(&s);
}

/* The sender has long ended when the work begins; its ancestor waits. */
static void handed_over_and_outlived(void **state)
{
	struct scene s;
	uint64_t a, send, work;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	send = scene_enter(&s, "send", 10, A, 1, 0);
	scene_point(&s, 14, A, 1, 7);
	scene_leave(&s, send, 20, 0);
	work = scene_enter(&s, "work", 45, A, 2, 7);
	scene_leave(&s, work, 90, 0);
	scene_leave(&s, a, 100, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, send 4, work(wait) 31, work 45, a 10");
	scene_stop(&s);
}

/* Through a third thread, each outliving the one before. */
static void handed_over_twice(void **state)
{
	struct scene s;
	uint64_t a, b, c;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_point(&s, 5, A, 1, 7);
	b = scene_enter(&s, "b", 8, A, 2, 7);
	scene_point(&s, 18, A, 2, 8);
	scene_leave(&s, b, 20, 0);
	c = scene_enter(&s, "c", 30, A, 3, 8);
	scene_leave(&s, c, 50, 0);
	scene_leave(&s, a, 60, 0);
	assert_string_equal(scene_path(&s, NULL), "a 5, b(wait) 3, b 10, c(wait) 12, c 20, a 10");
	scene_stop(&s);
}

/* What goes on after the request's end has no part in its duration. */
static void outliving_the_request(void **state)
{
	struct scene s;
	uint64_t a, b;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_point(&s, 5, A, 1, 7);
	b = scene_enter(&s, "b", 8, A, 2, 7);
	scene_leave(&s, a, 60, 0);
	scene_leave(&s, b, 70, 0);
	assert_string_equal(scene_path(&s, NULL), "a 60");
	scene_stop(&s);
}

/* Whatever the other host's clock says: the wait, less what the callee took. */
static void across_hosts(void **state)
{
	static const int64_t offsets[] = {0, -900, 5, 40, 1000000};

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct scene s;
		uint64_t at = 1000, a, call, serve, inner, far = at + (uint64_t)offsets[i];

		scene_start(&s);
		a = scene_enter(&s, "a", at, A, 1, 0);
		call = scene_enter(&s, "call", at + 10, A, 1, 7);
		serve = scene_enter(&s, "serve", far + 15, B, 9, 7);
		inner = scene_enter(&s, "inner", far + 20, B, 9, 0);
		scene_leave(&s, inner, far + 30, 0);
		scene_leave(&s, serve, far + 45, 7);
		scene_leave(&s, call, at + 60, 7);
		scene_leave(&s, a, at + 70, 0);
		assert_string_equal(scene_path(&s, NULL),
				"a 10, call(transit) 20, serve 5, inner 10, serve 15, a 10");
		assert_false(s.path.skewed);
		scene_stop(&s);
	}
}

/* What the call's own thread did meanwhile is not waiting. */
static void across_hosts_between_own_children(void **state)
{
	struct scene s;
	uint64_t a, pack, serve, unpack;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 7);
	pack = scene_enter(&s, "pack", 0, A, 1, 0);
	scene_leave(&s, pack, 10, 0);
	serve = scene_enter(&s, "serve", 500, B, 9, 7);
	scene_leave(&s, serve, 530, 7);
	unpack = scene_enter(&s, "unpack", 80, A, 1, 0);
	scene_leave(&s, unpack, 95, 0);
	scene_leave(&s, a, 100, 7);
	assert_string_equal(
			scene_path(&s, NULL), "pack 10, a(transit) 40, serve 30, unpack 15, a 5");
	scene_stop(&s);
}

/* The callee's clock goes faster than the caller's: its path is scaled to the wait. */
static void callee_longer_than_the_wait(void **state)
{
	struct scene s;
	uint64_t a, call, serve, inner;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	call = scene_enter(&s, "call", 10, A, 1, 7);
	serve = scene_enter(&s, "serve", 12, B, 9, 7);
	inner = scene_enter(&s, "inner", 22, B, 9, 0);
	scene_leave(&s, inner, 52, 0);
	scene_leave(&s, serve, 112, 7);
	scene_leave(&s, call, 60, 7);
	scene_leave(&s, a, 70, 0);
	/* 10, 30 and 60 of 100, in 50; then 7: 0.7, 2.1, 4.2 and the remainder to the last. */
	assert_string_equal(scene_path(&s, NULL), "a 10, serve 5, inner 15, serve 30, a 10");
	assert_true(s.path.skewed);
	scene_stop(&s);

	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	call = scene_enter(&s, "call", 10, A, 1, 7);
	serve = scene_enter(&s, "serve", 12, B, 9, 7);
	inner = scene_enter(&s, "inner", 22, B, 9, 0);
	scene_leave(&s, inner, 52, 0);
	scene_leave(&s, serve, 112, 7);
	scene_leave(&s, call, 17, 7);
	scene_leave(&s, a, 20, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, inner 2, serve 5, a 3");
	assert_true(s.path.skewed);
	scene_stop(&s);
}

/* A callee that calls back, and further: durations alone count on each way. */
static void across_hosts_there_and_back(void **state)
{
	struct scene s;
	uint64_t a, b, back, c;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 7);
	b = scene_enter(&s, "b", 5000, B, 2, 7);
	back = scene_enter(&s, "back", 5010, B, 2, 8);
	c = scene_enter(&s, "c", 20, A, 3, 8);
	scene_leave(&s, c, 30, 8);
	scene_leave(&s, back, 5040, 8);
	scene_leave(&s, b, 5060, 7);
	scene_leave(&s, a, 100, 7);
	assert_string_equal(
			scene_path(&s, NULL), "a(transit) 40, b 10, back(transit) 20, c 10, b 20");
	scene_stop(&s);
}

/* The one that took longest is what a call to several hosts waited for. */
static void fan_out_over_hosts(void **state)
{
	struct scene s;
	uint64_t a, x, y, bx, by;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	x = scene_enter(&s, "x", 10, A, 2, 7);
	y = scene_enter(&s, "y", 11, A, 3, 8);
	bx = scene_enter(&s, "bx", 1000, B, 9, 7);
	scene_leave(&s, bx, 1030, 7);
	by = scene_enter(&s, "by", 70, C, 9, 8);
	scene_leave(&s, by, 90, 8);
	scene_leave(&s, x, 60, 7);
	scene_leave(&s, y, 40, 8);
	scene_leave(&s, a, 80, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, x(transit) 20, bx 30, a 20");
	scene_stop(&s);
}

/* A server that was asked again: all it did is in the wait, the pauses are between. */
static void retries_over_hosts(void **state)
{
	struct scene s;
	uint64_t a, call, b, c;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	call = scene_enter(&s, "call", 10, A, 1, 7);
	b = scene_enter(&s, "b", 1000, B, 9, 7);
	scene_leave(&s, b, 1020, 7);
	c = scene_enter(&s, "c", 1025, B, 9, 7);
	scene_leave(&s, c, 1040, 7);
	scene_leave(&s, call, 70, 7);
	scene_leave(&s, a, 80, 0);
	assert_string_equal(scene_path(&s, NULL),
			"a 10, call(transit) 20, b 20, call(transit) 5, c 15, a 10");
	scene_stop(&s);
}

/* Points tell when it was sent and answered: the span around them goes on working. */
static void points_across_hosts(void **state)
{
	struct scene s;
	uint64_t a, b;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_point(&s, 10, A, 1, 7);
	b = scene_enter(&s, "b", 1000, B, 9, 7);
	scene_leave(&s, b, 1020, 7);
	scene_point(&s, 45, A, 1, 7);
	scene_leave(&s, a, 80, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, a(transit) 15, b 20, a 35");
	scene_stop(&s);
}

/* Nobody answers: by the clocks, as it comes. */
static void one_way_across_hosts(void **state)
{
	struct scene s;
	uint64_t a, b;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_point(&s, 10, A, 1, 7);
	b = scene_enter(&s, "b", 14, B, 9, 7);
	scene_leave(&s, b, 50, 0);
	scene_leave(&s, a, 80, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, a(transit) 4, b 36, a 30");
	assert_false(s.path.skewed);
	scene_stop(&s);

	/* Begun before it was sent: that cannot be, and nobody knows by how much. */
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_point(&s, 10, A, 1, 7);
	b = scene_enter(&s, "b", 7, B, 9, 7);
	scene_leave(&s, b, 50, 0);
	scene_leave(&s, a, 80, 0);
	assert_string_equal(scene_path(&s, NULL), "a 7, b 43, a 30");
	assert_true(s.path.skewed);
	assert_int_equal(s.path.skew_ns, 3);
	scene_stop(&s);
}

static void unclosed_and_unopened(void **state)
{
	struct scene s;
	uint64_t a, b;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	scene_enter(&s, "b", 10, A, 1, 0);
	scene_leave(&s, a, 50, 0);
	assert_string_equal(scene_path(&s, NULL), "a 10, b 40");
	scene_stop(&s);

	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	b = scene_add(&s, 20, A, 1, 0)->seq;
	s.copies.last = s.copies.first;
	((struct event_copy *)(void *)((char *)s.copies.first->data + sizeof(struct event_copy)))
			->role = COPY_EXIT;
	assert_int_equal(b, 2);
	scene_leave(&s, a, 50, 0);
	assert_string_equal(scene_path(&s, NULL), "a 50");
	scene_stop(&s);
}

/* Times that no clock tells. */
static void damaged_times(void **state)
{
	struct scene s;
	uint64_t a, b;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	b = scene_enter(&s, "b", UINT64_MAX - 5, B, 1, 0);
	scene_leave(&s, b, UINT64_MAX - 5, 0);
	scene_leave(&s, a, UINT64_MAX, 0);
	assert_string_equal(scene_path(&s, NULL), "a 18446744073709551615");
	scene_stop(&s);

	scene_start(&s);
	a = scene_enter(&s, "a", 1000, A, 1, 7);
	b = scene_enter(&s, "b", 1001, B, 1, 7);
	scene_leave(&s, b, UINT64_MAX - 5, 7);
	scene_leave(&s, a, 1100, 7);
	assert_string_equal(scene_path(&s, NULL), "b 100");
	assert_true(s.path.skewed);
	scene_stop(&s);
}

/* The kernel: thread 1 was blocked from 25 to 65, and an interrupt woke it. */
static bool blocked_in_read(
		void *context, const struct span *span, uint64_t before_ns, struct path_doing *out)
{
	(void)context;
	if (span->tid != 1 || before_ns <= 25) {
		return false;
	}
	*out = (struct path_doing){.what = before_ns > 65 ? PATH_SELF : PATH_BLOCKED,
			.since_ns = before_ns > 65 ? 65 : 25,
			.waker_tid = 9,
			.sure = true};
	return true;
}

/*
 * A call's thread waits in a system call for the answer, which its callee sends when its span is
 * over: the time is the callee's, not the system call's.
 */
static void the_wait_for_an_answer_is_the_callees(void **state)
{
	const struct path_kernel kernel = {.wakes = true, .doing = blocked_in_read};
	struct scene s;
	uint64_t a, call, read, serve;

	(void)state;
	scene_start(&s);
	a = scene_enter(&s, "a", 0, A, 1, 0);
	call = scene_enter(&s, "call", 10, A, 1, 7);
	read = scene_enter(&s, "read", 20, A, 1, 0);
	serve = scene_enter(&s, "serve", 30, A, 2, 7);
	scene_leave(&s, serve, 60, 0);
	scene_leave(&s, read, 70, 0);
	scene_leave(&s, call, 80, 0);
	scene_leave(&s, a, 100, 0);
	assert_string_equal(scene_path(&s, &kernel),
			"a 10, serve(wait) 20, serve 30, call(transit) 5, read 5, call 10, "
			"a 20");
	scene_stop(&s);
}

/*
 * A server's request, which is paired by a key, is over with the last send of its answer: within the
 * thread's work for it and the functions that send, which end later.
 */
static void what_outlives_a_keyed_root_worked_for_it(void **state)
{
	struct scene s;
	uint64_t a, work, command, reply, write;

	(void)state;
	scene_start(&s);
	a = scene_enter_keyed(&s, "a", 0, A, 1);
	work = scene_enter_under(&s, "work", 10, A, 1, a);
	command = scene_enter(&s, "command", 20, A, 1, 0);
	scene_leave(&s, command, 60, 0);
	reply = scene_enter(&s, "reply", 70, A, 1, 0);
	write = scene_enter(&s, "write", 80, A, 1, 0);
	scene_leave(&s, a, 90, 0);
	scene_leave(&s, write, 95, 0);
	scene_leave(&s, reply, 120, 0);
	scene_leave(&s, work, 200, 0);
	assert_string_equal(scene_path(&s, NULL),
			"a 10, work 10, command 40, work 10, reply 10, write 10");
	scene_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(one_span),
			cmocka_unit_test(sequential_and_nested),
			cmocka_unit_test(fan_out_with_a_join),
			cmocka_unit_test(loops_and_retries),
			cmocka_unit_test(handed_over_and_awaited),
			cmocka_unit_test(handed_over_and_outlived),
			cmocka_unit_test(handed_over_twice),
			cmocka_unit_test(outliving_the_request),
			cmocka_unit_test(across_hosts),
			cmocka_unit_test(across_hosts_between_own_children),
			cmocka_unit_test(callee_longer_than_the_wait),
			cmocka_unit_test(across_hosts_there_and_back),
			cmocka_unit_test(fan_out_over_hosts),
			cmocka_unit_test(retries_over_hosts),
			cmocka_unit_test(points_across_hosts),
			cmocka_unit_test(one_way_across_hosts),
			cmocka_unit_test(unclosed_and_unopened),
			cmocka_unit_test(damaged_times),
			cmocka_unit_test(the_wait_for_an_answer_is_the_callees),
			cmocka_unit_test(what_outlives_a_keyed_root_worked_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
