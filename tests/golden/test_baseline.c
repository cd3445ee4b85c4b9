/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A baseline of a recording, saved by the console's command and given to the program: nothing has
 * shifted against itself; everything has against one that was twice as fast.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/pipeline.h"
#include "support_recorded.h"

#define TRACE  "ust-ros2"
#define ENOUGH 50 /* requests of a group, for anything to be said */

static const char *trace_path(void)
{
	static char path[4096];
	const char *folder = getenv("PYTHIATOP_TRACES");

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : PT_TRACES_DIR, TRACE);
	return path;
}

/* The notice that answers a command. */
static void assert_answer(struct pipeline *pipeline, const char *command, const char *expected)
{
	const struct focus focus = {.horizon = HORIZON_ALL};
	struct snapshot *snapshot;

	pipeline_command(pipeline, command, &focus);
	snapshot = pipeline_answer(pipeline, &focus);
	assert_non_null(snapshot);
	if (!strstr(snapshot->notice, expected)) {
		fail_msg("%s\nanswered: %s\nnot:      %s", command, snapshot->notice, expected);
	}
	snapshot_destroy(snapshot);
}

/* An epoch is compared with the one before, as long as a person gives nothing else. */
static void assert_epochs(struct pipeline *pipeline, const char *expected)
{
	const struct focus focus = {.horizon = HORIZON_ALL, .parts = FOCUS_CHANGES};
	struct snapshot *snapshot;

	assert_answer(pipeline, "epoch", "A new epoch begins");
	snapshot = pipeline_answer(pipeline, &focus);
	assert_true(snapshot->changes.compared && snapshot->changes.n_types > 0);
	assert_string_equal(snapshot->changes.baseline, expected);
	snapshot_destroy(snapshot);
}

/* From one moment on, against that very moment. */
static void assert_unchanged(struct pipeline *pipeline)
{
	const struct focus focus = {.horizon = HORIZON_ALL, .parts = FOCUS_CHANGES};
	struct snapshot *snapshot = pipeline_answer(pipeline, &focus);

	assert_false(snapshot->changes.compared);
	snapshot_destroy(snapshot);
	assert_answer(pipeline, "baseline now", "Comparing with how requests perform now");
	snapshot = pipeline_answer(pipeline, &focus);
	assert_true(snapshot->changes.compared && snapshot->changes.n_types > 0);
	assert_true(snapshot->changes.n == 0 && snapshot->changes.n_types_gone == 0 &&
			snapshot->changes.n_types_new == 0);
	snapshot_destroy(snapshot);
}

static void epochs(void **state)
{
	struct pipeline *pipeline = pipeline_create(0, false);
	char error[512];

	(void)state;
	if (!recorded_exists(TRACE)) {
		printf("skipped: no trace " TRACE "\n");
		pipeline_destroy(pipeline);
		skip();
	}
	assert_non_null(pipeline);
	assert_int_equal(intake_attach(pipeline_intake(pipeline), trace_path(), error,
					 sizeof(error)),
			STATUS_OK);
	while (!pipeline_ended(pipeline)) {
		pipeline_step(pipeline);
		pipeline_wait(pipeline, clock_monotonic_ns() + 20000000, -1);
	}
	assert_epochs(pipeline, "the epoch before");
	pipeline_destroy(pipeline);
}

static void save(const char *home)
{
	struct pipeline *pipeline = pipeline_create(0, false);
	char error[512], command[600];

	assert_non_null(pipeline);
	assert_answer(pipeline, "baseline save", "nothing to save");
	assert_answer(pipeline, "baseline now", "nothing to compare with");
	assert_int_equal(intake_attach(pipeline_intake(pipeline), trace_path(), error,
					 sizeof(error)),
			STATUS_OK);
	while (!pipeline_ended(pipeline)) {
		pipeline_step(pipeline);
		pipeline_wait(pipeline, clock_monotonic_ns() + 20000000, -1);
	}
	setenv("XDG_STATE_HOME", home, 1);
	assert_answer(pipeline, "baseline save", "Written: ");
	assert_unchanged(pipeline);
	assert_epochs(pipeline, "");
	assert_answer(pipeline, "baseline save /nowhere/b.json", "Cannot write /nowhere/b.json");
	assert_answer(pipeline, "baseline load /nowhere/b.json", "No such file");
	assert_answer(pipeline, "baseline load", "Comparing with the baseline ");
	snprintf(command, sizeof(command), "baseline save %s/mine.json", home);
	assert_answer(pipeline, command, "Written: ");
	assert_answer(pipeline, "baseline",
			"expected: baseline load [FILE], baseline now, baseline save [FILE]");
	pipeline_destroy(pipeline);
}

/* What the program says with that baseline, as a document. */
static json_t *compare(const char *file)
{
	char command[8192];
	json_t *document;
	FILE *in;

	/* The baseline was saved by a pipeline without ready schemas. */
	snprintf(command, sizeof(command),
			"'%s/pythiatop' --batch=json --schema=inferred --baseline='%s' '%s'",
			PT_BUILD_DIR, file, trace_path());
	in = popen(command, "r");
	assert_non_null(in);
	document = json_loadf(in, 0, NULL);
	assert_int_equal(pclose(in), 0);
	assert_non_null(document);
	return document;
}

static void assert_shifts(const char *file, double expected, bool flagged)
{
	json_t *document = compare(file), *group, *flag;
	uint32_t said = 0;
	size_t i, f;

	json_array_foreach(json_object_get(document, "groups"), i, group)
	{
		json_t *detection = json_object_get(group, "detection");
		double shift = json_number_value(json_object_get(detection, "shift"));
		bool shifted = false;

		if (json_integer_value(json_object_get(group, "count")) < ENOUGH) {
			assert_true(json_is_null(json_object_get(detection, "shift")));
			continue;
		}
		said++;
		json_array_foreach(json_object_get(detection, "flags"), f, flag)
		{
			shifted |= strcmp(json_string_value(flag), "shifted") == 0;
		}
		if (fabs(shift - expected) > 0.03 * expected || shifted != flagged) {
			fail_msg("%s: shift %f, %s",
					json_string_value(json_object_get(group, "type")), shift,
					shifted ? "flagged" : "not flagged");
		}
	}
	assert_true(said >= 3);
	json_decref(document);
}

/* The same requests in half the time: an octave of 16 bins. */
static void make_faster(const char *from, const char *to)
{
	json_t *document = json_load_file(from, 0, NULL), *group;
	size_t i;

	assert_non_null(document);
	json_array_foreach(json_object_get(document, "groups"), i, group)
	{
		json_t *low = json_object_get(group, "histogram_low");
		json_t *mean = json_object_get(group, "mean_ns");
		json_t *sd = json_object_get(group, "sd_ns");

		json_integer_set(low, json_integer_value(low) - 16);
		json_real_set(mean, json_number_value(mean) / 2);
		json_real_set(sd, json_number_value(sd) / 2);
	}
	assert_int_equal(json_dump_file(document, to, 0), 0);
	json_decref(document);
}

static void baselines(void **state)
{
	char home[] = "/tmp/pt-baseline-XXXXXX", standard[300], mine[300];

	(void)state;
	if (!recorded_exists(TRACE)) {
		printf("skipped: no trace " TRACE "\n");
		skip();
	}
	assert_non_null(mkdtemp(home));
	snprintf(standard, sizeof(standard), "%s/pythiatop/baseline.json", home);
	snprintf(mine, sizeof(mine), "%s/mine.json", home);
	save(home);
	assert_shifts(standard, 1, false);
	make_faster(standard, mine);
	assert_shifts(mine, 2, true);
	assert_int_equal(unlink(standard) || unlink(mine), 0);
	snprintf(standard, sizeof(standard), "%s/pythiatop", home);
	assert_int_equal(rmdir(standard) || rmdir(home), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(baselines),
			cmocka_unit_test(epochs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
