/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict for programs: whose it is, with all that is known of it, and null for what is not. */
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

#include "output/output.h"
#include "output/verdict.h"

#define HOSTILE "a\"b\x1b[2J\xff|`"

static const char *const together[] = {"sem.waiters"};
static const struct explained_key keys[] = {
		{.name = "sem." HOSTILE,
				.where = "api > sem",
				.numeric = true,
				.rho = 0.91,
				.omega2 = 0.94,
				.omega2_held = 0.92,
				.p = 0.001,
				.shifts = 999,
				.confirmed = true,
				.n_together = 1,
				.together = together},
		{.name = "host of sem", .where = "", .source = EXPLANATION_HOST},
};
static const struct explained_value values[] = {
		{"0", 542, 0.61, 408e6, 400000000, {[2] = 540, 2}},
		{"(none)", 0, 0, 0, 0, {0}},
};
static const struct explained_out out[] = {{"id", "says which request it is"}};
static const struct explanation done = {.state = EXPLANATION_DONE,
		.n = 444,
		.n_held = 443,
		.made_ns = 7,
		.n_keys = 2,
		.keys = keys,
		.n_values = 2,
		.values = values,
		.low_ns = 300000000,
		.high_ns = 3000000000,
		.n_columns = 3,
		.r2 = 0.95,
		.f = 1655,
		.f_p = 0,
		.n_segments = 4,
		.canonical = 0.97,
		.wilks = 0.05,
		.chi2 = 1301,
		.chi2_p = 1e-12,
		.df = 12,
		.n_out = 1,
		.out = out};
static const struct explanation running = {.state = EXPLANATION_RUNNING, .progress = 0.4};
static const struct explanation few = {.state = EXPLANATION_FEW, .missing = 120};

static const char *const ruled_out[] = {"image.fetch holds 1%"};
static const char *const history[] = {"step 2"};
static const struct steps_finding findings[] = {
		{.group_id = 8,
				.type = "volume",
				.path = "",
				.rule = STOP_VARIABLE,
				.text = "waits",
				.verdict = {.reason = REASON_WAIT,
						.place = "(wait)",
						.within = "sem." HOSTILE,
						.host = "",
						.share = 0.97,
						.requests = 888,
						.deeper = DEEPER_UNKNOWN,
						.evidence = WAIT_INFERRED,
						.n_holders = 1,
						.holders = {{.name = "spawn", .share = 0.7}},
						.n_places = 1,
						.places = {{"sem", 0.9}},
						.key = {.name = "queue_len",
								.held = 0.92,
								.n_values = 12,
								.values = {{"0", 1}, {"1", 2},
										{"8", 3},
										{"9", 4}}}},
				.where = "api > sem",
				.phi = 0.97,
				.phi_low = 0.95,
				.phi_high = 0.99,
				.requests = 888,
				.n_steps = 2,
				.seconds = 37.5,
				.n_history = 1,
				.history = history,
				.explanation = &done,
				.n_ruled_out = 1,
				.ruled_out = ruled_out,
				.next = "who holds it",
				.n_points = 3,
				.cost = {321, 14000, -1}},
		{.group_id = 7,
				.type = "server",
				.path = "",
				.text = "looking",
				.where = "",
				.next = "",
				.explanation = &running,
				.cost = {-1, -1, -1}},
		{.group_id = 9,
				.type = "few",
				.path = "",
				.text = "looking",
				.where = "",
				.explanation = &few,
				.cost = {-1, -1, -1}},
};
static const struct step_row steps[] = {
		{.id = 3, .group_id = 8, .title = "", .why = "", .effect = ""},
		{.id = 2, .group_id = 7, .title = "", .why = "", .effect = ""},
		{.id = 1, .group_id = 8, .title = "", .why = "", .effect = ""},
};

static struct groups_row groups[] = {
		{.id = 7, .type = "server", .path = ""}, {.id = 8, .type = "volume", .path = ""}};

static struct snapshot *make(uint32_t flagged_first, uint32_t flagged_second)
{
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	groups[0].detection = flagged_first;
	groups[1].detection = flagged_second;
	snapshot->notice = "";
	snapshot->groups.n = 2;
	snapshot->groups.rows = groups;
	snapshot->steps.n = 3;
	snapshot->steps.rows = steps;
	snapshot->steps.n_findings = 3;
	snapshot->steps.findings = findings;
	return snapshot;
}

static json_t *document(const struct snapshot *snapshot)
{
	const struct output_style style = {.format = OUTPUT_JSON};
	json_error_t error;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	json_t *json;

	assert_non_null(file);
	assert_int_equal(output_write(file, &style, snapshot, true), STATUS_OK);
	fclose(file);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json) {
		fail_msg("%s at %d: %s", error.text, error.position, text);
	}
	free(text);
	return json;
}

static double number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static void it_is_of_the_worst_group(void **state)
{
	struct snapshot *snapshot = make(0, DETECTION_VARIES);
	json_t *json;

	(void)state;
	assert_ptr_equal(output_verdict(snapshot), &findings[0]);
	groups[0].detection = DETECTION_MODES; /* worse, and still searched */
	assert_null(output_verdict(snapshot));
	json = document(snapshot);
	assert_true(json_is_null(json_object_get(json, "verdict")));
	json_decref(json);
	groups[0].detection = groups[1].detection = 0; /* the last word stays */
	assert_ptr_equal(output_verdict(snapshot), &findings[0]);
	snapshot->steps.n_findings = 0;
	assert_null(output_verdict(snapshot));
	snapshot_destroy(snapshot);
}

/* What names nothing is no answer while something that costs much more is looked at. */
static void it_is_not_outweighed(void **state)
{
	struct snapshot *snapshot = make(0, DETECTION_VARIES);
	struct steps_finding outweighed = findings[0];

	(void)state;
	outweighed.rule = STOP_DIFFUSE;
	snapshot->steps.n_findings = 1;
	snapshot->steps.findings = &outweighed;
	assert_ptr_equal(output_verdict(snapshot), &outweighed);
	outweighed.outweighed = true;
	assert_null(output_verdict(snapshot));
	groups[1].detection = 0;
	assert_null(output_verdict(snapshot));
	snapshot_destroy(snapshot);
}

static void it_has_all_that_is_known(void **state)
{
	struct snapshot *snapshot = make(0, DETECTION_VARIES);
	json_t *json = document(snapshot), *verdict = json_object_get(json, "verdict"), *explained,
	       *data, *row;

	(void)state;
	assert_true(json_equal(verdict, json_array_get(json_object_get(json, "findings"), 0)));
	assert_string_equal(json_string_value(json_object_get(verdict, "rule")), "variable");
	assert_string_equal(json_string_value(json_object_get(verdict, "next")), "who holds it");
	assert_true(fabs(number(verdict, "phi_low") - 0.95) < 1e-9);
	assert_int_equal((int)number(verdict, "points"), 3);
	row = json_object_get(verdict, "step_ids");
	assert_int_equal(json_array_size(row), 2);
	assert_int_equal(json_integer_value(json_array_get(row, 0)), 1);
	assert_int_equal(json_integer_value(json_array_get(row, 1)), 3);
	row = json_object_get(verdict, "cost");
	assert_true(fabs(number(row, "events_per_s") - 321) < 1e-9);
	assert_true(json_is_null(json_object_get(row, "cpu_share")));
	data = json_object_get(verdict, "verdict");
	assert_string_equal(json_string_value(json_object_get(data, "rule")), "variable");
	assert_string_equal(json_string_value(json_object_get(data, "reason")), "wait");
	assert_string_equal(json_string_value(json_object_get(data, "place")), "(wait)");
	assert_non_null(strstr(json_string_value(json_object_get(data, "within")), "\\x1b[2J"));
	assert_true(fabs(number(data, "share") - 0.97) < 1e-9);
	assert_int_equal((int)number(data, "requests"), 888);
	assert_null(json_object_get(data, "host")); /* what it does not speak of is left out */
	assert_null(json_object_get(data, "deeper"));
	assert_null(json_object_get(data, "left_off"));
	assert_null(json_object_get(data, "times"));
	assert_null(json_object_get(data, "learned"));
	assert_string_equal(json_string_value(json_object_get(data, "evidence")), "inferred");
	assert_int_equal(json_array_size(json_object_get(data, "holders")), 1);
	assert_int_equal(json_array_size(json_object_get(data, "places")), 1);
	row = json_object_get(data, "explained_by");
	assert_string_equal(json_string_value(json_object_get(row, "name")), "queue_len");
	assert_int_equal((int)number(row, "n_values"), 12);
	assert_int_equal(json_array_size(json_object_get(row, "values")), VERDICT_KEY_VALUES);
	explained = json_object_get(verdict, "explanation");
	assert_string_equal(json_string_value(json_object_get(explained, "state")), "done");
	assert_int_equal((int)number(explained, "n_held"), 443);
	row = json_array_get(json_object_get(explained, "keys"), 0);
	assert_non_null(strstr(json_string_value(json_object_get(row, "name")), "a\"b\\x1b[2J"));
	assert_true(fabs(number(row, "omega2_held") - 0.92) < 1e-9);
	assert_int_equal(json_array_size(json_object_get(row, "together")), 1);
	row = json_array_get(json_object_get(explained, "keys"), 1);
	assert_true(json_is_null(json_object_get(row, "rho"))); /* it is no number */
	assert_true(json_is_null(json_object_get(row, "p")));   /* of no shift */
	row = json_array_get(json_object_get(explained, "values"), 0);
	assert_int_equal(json_array_size(json_object_get(row, "bins")), EXPLANATION_BINS);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(row, "bins"), 2)), 540);
	row = json_array_get(json_object_get(explained, "values"), 1);
	assert_true(json_is_null(json_object_get(row, "p50_ns"))); /* of no request */
	assert_int_equal((int)number(json_object_get(explained, "joint"), "columns"), 3);
	assert_int_equal((int)number(json_object_get(explained, "canonical"), "df"), 12);
	assert_int_equal(json_array_size(json_object_get(explained, "out")), 1);
	json_decref(json);
	snapshot_destroy(snapshot);
}

static void what_is_not_known_is_null(void **state)
{
	struct snapshot *snapshot = make(0, 0);
	json_t *json = document(snapshot), *rows = json_object_get(json, "findings"), *row;

	(void)state;
	row = json_array_get(rows, 1);
	assert_true(json_is_null(json_object_get(row, "rule")));
	assert_true(json_is_null(json_object_get(row, "next")));
	assert_true(json_is_null(json_object_get(row, "phi")));
	assert_int_equal(json_object_size(json_object_get(row, "verdict")), 2);
	row = json_object_get(row, "explanation");
	assert_true(fabs(number(row, "progress") - 0.4) < 1e-9);
	assert_true(json_is_null(json_object_get(row, "n")));
	assert_true(json_is_null(json_object_get(row, "low_ns")));
	assert_true(json_is_null(json_object_get(row, "joint")));
	assert_true(json_is_null(json_object_get(row, "canonical")));
	row = json_object_get(json_array_get(rows, 2), "explanation");
	assert_int_equal((int)number(row, "missing"), 120);
	assert_true(json_is_null(json_object_get(row, "progress")));
	json_decref(json);
	snapshot_destroy(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(it_is_of_the_worst_group),
			cmocka_unit_test(it_is_not_outweighed),
			cmocka_unit_test(it_has_all_that_is_known),
			cmocka_unit_test(what_is_not_known_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
