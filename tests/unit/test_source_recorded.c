/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Real recordings are read with exactly the events that babeltrace2 finds in them, and what is lost
 * in them is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support_source.h"

static const char *traces_dir(void)
{
	const char *given = getenv("PYTHIATOP_TRACES");

	return given ? given : PT_TRACES_DIR;
}

/* Lines that babeltrace2 prints: one per event. -1 if it cannot be run. */
static long count_by_babeltrace(const char *path)
{
	char command[1200];
	FILE *output;
	long n = -1;

	snprintf(command, sizeof(command), "babeltrace2 '%s' 2>/dev/null | wc -l", path);
	output = popen(command, "r");
	if (!output || fscanf(output, "%ld", &n) != 1) {
		n = -1;
	}
	if (output) {
		pclose(output);
	}
	return n;
}

struct recording {
	const char *name;
	uint64_t lost;
	enum { DOES_NOT_SAY, IS_KERNEL, IS_UST } domain;
};

static void check_recording(const struct recording *recording)
{
	struct source_probe probe = {0};
	char path[1024];
	uint64_t events = 0;

	snprintf(path, sizeof(path), "%s/%s", traces_dir(), recording->name);
	if (access(path, R_OK) != 0) {
		printf("skipped: no recorded trace at %s\n", path);
		skip();
	}
	source_probe_read(&probe, path);
	if (probe.broken) {
		fail_msg("%s: %s", path, probe.why);
	}
	assert_true(probe.ended);
	assert_string_equal(probe.text, "");
	assert_int_equal(probe.state, SOURCE_ENDED);
	assert_int_equal(probe.last_done, probe.total);
	events = probe.n_events;
	assert_int_equal(probe.lost_events, recording->lost);
	for (uint64_t i = 0; i < probe.n_streams; i++) {
		if (recording->domain != DOES_NOT_SAY) {
			assert_int_equal(probe.streams[i]->domain,
					recording->domain == IS_KERNEL ? 1 : 2);
		}
	}
	assert_int_equal(source_probe_stop(&probe), 0);
	assert_int_equal(events, count_by_babeltrace(path));
}

static void test_kernel_6_2(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "kernel-6.2-2cpu", .domain = IS_KERNEL});
}

static void test_kernel_4_4(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "kernel-4.4-basic", .domain = IS_KERNEL});
}

static void test_kernel_bigendian(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "kernel-bigendian-1cpu"});
}

static void test_ust_cyg_profile(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "ust-cyg-profile", .domain = IS_UST});
}

static void test_ust_ros2(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "ust-ros2", .domain = IS_UST});
}

static void test_lost_events_show(void **state)
{
	(void)state;
	check_recording(&(struct recording){
			.name = "multi-domain-lost/kernel", .domain = IS_KERNEL, .lost = 728});
}

static void test_ust_of_several_domains(void **state)
{
	(void)state;
	check_recording(&(struct recording){.name = "multi-domain-lost/ust", .domain = IS_UST});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_kernel_6_2),
			cmocka_unit_test(test_kernel_4_4),
			cmocka_unit_test(test_kernel_bigendian),
			cmocka_unit_test(test_ust_cyg_profile),
			cmocka_unit_test(test_ust_ros2),
			cmocka_unit_test(test_lost_events_show),
			cmocka_unit_test(test_ust_of_several_domains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
