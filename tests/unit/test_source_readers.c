/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of packets gives what libbabeltrace2 gives, of recorded traces and of made ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support_readers.h"
#include "support_trace.h"

static const char *traces_dir(void)
{
	const char *given = getenv("PYTHIATOP_TRACES");

	return given ? given : PT_TRACES_DIR;
}

static void compare_recording(const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", traces_dir(), name);
	if (access(path, R_OK) != 0) {
		printf("skipped: no recorded trace at %s\n", path);
		skip();
	}
	readers_compare(path);
}

static void a_kernel_at_rest(void **state)
{
	(void)state;
	compare_recording("kernel-6.2-2cpu");
}

static void a_busy_kernel(void **state)
{
	(void)state;
	compare_recording("kernel-4.4-basic");
}

static void a_big_endian_kernel(void **state)
{
	(void)state;
	compare_recording("kernel-bigendian-1cpu");
}

static void functions_of_user_space(void **state)
{
	(void)state;
	compare_recording("ust-cyg-profile");
}

static void messages_of_user_space(void **state)
{
	(void)state;
	compare_recording("ust-ros2");
}

static void a_kernel_that_lost(void **state)
{
	(void)state;
	compare_recording("multi-domain-lost/kernel");
}

static void user_space_that_lost(void **state)
{
	(void)state;
	compare_recording("multi-domain-lost/ust");
}

static void compare_made(bool big_endian, void (*make)(const struct trace_maker *maker))
{
	struct trace_maker maker;

	trace_maker_init(&maker, big_endian);
	make(&maker);
	readers_compare(maker.directory);
	trace_maker_release(&maker);
}

static void all_kinds_of_fields(void **state)
{
	(void)state;
	compare_made(false, trace_maker_all_kinds);
	compare_made(true, trace_maker_all_kinds);
}

static void beyond_every_bound(void **state)
{
	(void)state;
	compare_made(false, trace_maker_large);
	compare_made(true, trace_maker_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_kernel_at_rest),
			cmocka_unit_test(a_busy_kernel),
			cmocka_unit_test(a_big_endian_kernel),
			cmocka_unit_test(functions_of_user_space),
			cmocka_unit_test(messages_of_user_space),
			cmocka_unit_test(a_kernel_that_lost),
			cmocka_unit_test(user_space_that_lost),
			cmocka_unit_test(all_kinds_of_fields),
			cmocka_unit_test(beyond_every_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
