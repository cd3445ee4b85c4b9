/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What programs get: valid JSON whatever a trace holds, the same numbers in every format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_out.h"
#include "output/output.h"
#include "pythiatop/text.h"

static const struct groups_row rows[] = {
		{.id = 1,
				.type = "server create",
				.path = "api\u203asched",
				.count = 3,
				.tainted = 2,
				.rate_per_s = 0.3,
				.mean_ns = 2e6,
				.sd_ns = 1e6,
				.cov = 0.5,
				.min_ns = 1000000,
				.max_ns = 3000000,
				.p50_ns = 2000000,
				.p95_ns = 3000000,
				.p99_ns = 3000000,
				.variation_share = 1.0},
		{.id = 2, .type = "evil\x1b]0;x\x07\xff,\"q\"", .path = "", .count = 0},
};

static const struct source_row sources[] = {
		{.id = 1,
				.url = "net://relay1",
				.host = "h",
				.session = "s",
				.state = SOURCE_BROKEN,
				.detail = "relayd died",
				.live = true,
				.events = 10,
				.lag_ns = 5},
};

static struct snapshot example(void)
{
	return (struct snapshot){
			.focus.horizon = HORIZON_ALL,
			.time_ns = 1000000000000000123u,
			.accounting = {.in = 10, .in_request = 9, .unmatched = 1},
			.groups = {.n = 2, .rows = rows},
			.sources = {.n = 1, .rows = sources},
	};
}

static char *write(enum output_format format, const struct snapshot *snapshot)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(
			output_write(out, &(struct output_style){.format = format}, snapshot, true),
			STATUS_OK);
	fclose(out);
	return text;
}

static void as_json(void **state)
{
	struct snapshot snapshot = example();
	char *text = write(OUTPUT_JSON, &snapshot);
	json_error_t error;
	json_t *document = json_loads(text, 0, &error);
	json_t *group;

	(void)state;
	assert_non_null(document);
	assert_int_equal(strcspn(text, "\n"), strlen(text) - 1);
	assert_string_equal(json_string_value(json_object_get(document, "schema")), "pythiatop/1");
	assert_int_equal(json_integer_value(json_object_get(document, "time_ns")),
			1000000000000000123);
	assert_string_equal(json_string_value(json_object_get(document, "horizon")), "all");
	group = json_array_get(json_object_get(document, "groups"), 0);
	assert_true(json_real_value(json_object_get(group, "cov")) == 0.5);
	assert_int_equal(json_integer_value(json_object_get(group, "p50_ns")), 2000000);
	group = json_array_get(json_object_get(document, "groups"), 1);
	assert_true(json_is_null(json_object_get(group, "mean_ns")));
	assert_string_equal(json_string_value(json_object_get(group, "type")),
			"evil\\x1b]0;x\\x07\\xff,\"q\"");
	json_decref(document);
	free(text);
}

static void as_csv(void **state)
{
	struct snapshot snapshot = example();
	char *text = write(OUTPUT_CSV, &snapshot);

	(void)state;
	assert_non_null(strstr(text,
			"1000000000000000123,all,1,server create,api\u203asched,3,2,0,0.3,2000000,"
			"1000000,0.5,1000000,3000000,2000000,3000000,3000000,1,"));
	assert_non_null(strstr(
			text, "all,2,\"evil\\x1b]0;x\\x07\\xff,\"\"q\"\"\",,0,0,0,0,,,,,,,,,,"));
	free(text);
}

static void as_text(void **state)
{
	struct snapshot snapshot = example();
	char *text = write(OUTPUT_TEXT, &snapshot);

	(void)state;
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "~server create"));
	assert_non_null(strstr(text, "2.00ms"));
	assert_non_null(strstr(text, "in 10 = in request 9"));
	free(text);
}

static void full_disk(void **state)
{
	struct snapshot snapshot = example();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(output_write(full, &(struct output_style){.format = OUTPUT_JSON},
					 &snapshot, true),
			STATUS_IO);
	fclose(full);
}

static void escapes(void **state)
{
	static const char *const cases[][2] = {
			{"plain \u203a \u4e16", "plain \u203a \u4e16"},
			{"a\tb\nc", "a\\tb\\nc"},
			{"\x1b[31m", "\\x1b[31m"},
			{"\xc2\x9b"
			 "31m",
					"\\x9b31m"},
			{"\xc0\xaf", "\\xc0\\xaf"},
			{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
			{"x\u202egnp", "x\\u{202e}gnp"},
			{"\xf0\x9f", "\\xf0\\x9f"},
	};
	char out[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(text_escape(out, sizeof(out), cases[i][0]), strlen(cases[i][1]));
		assert_string_equal(out, cases[i][1]);
	}
	assert_int_equal(text_escape(out, 4, "ab\u203a"), 2); /* no half characters */
	assert_string_equal(out, "ab");
}

/* One real number, as it is written. */
static const char *write_real(double real, char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w");
	struct json_out json = {.file = file};

	assert_non_null(file);
	json_out_value(&json, NULL, value_real_if(true, real));
	json_out_flush(&json);
	fclose(file);
	return text;
}

static void check_real(double real)
{
	json_t *value = json_real(real);
	char *theirs = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	char ours[64];

	assert_non_null(theirs);
	assert_string_equal(write_real(real, ours, sizeof(ours)), theirs);
	free(theirs);
	json_decref(value);
}

/* Of all magnitudes, of few digits, and in the middle of two that have twelve. */
static void reals_as_jansson(void **state)
{
	static const double some[] = {0, -0.0, 1, -1, 1e-4, 0.00009999999999996, 9.99999999999e-5,
			0.1, 0.5, 1e11, 99999999999.95, 123456789012, 123456789012.5, 999999999999,
			999999999999.4, 999999999999.5, 999999999999.6, 1e12, 1e15, 5e-324, 1e300,
			0.0000123, 1.0000000000005, 1.0000000000015, 2.00000000000049999};
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		check_real(some[i]);
		check_real(-some[i]);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		double digits, scale = 1;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		digits = (double)(random >> 24) / (double)(1 + i % 7);
		for (uint32_t k = 0; k < (random >> 20) % 20; k++) {
			scale *= i % 2 ? 10 : 0.1;
		}
		check_real(digits * scale);
		check_real((double)(random >> 40) * scale);
		check_real(((double)(random >> 30) + 0.5) / 1e4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(reals_as_jansson),
			cmocka_unit_test(as_json),
			cmocka_unit_test(as_csv),
			cmocka_unit_test(as_text),
			cmocka_unit_test(full_disk),
			cmocka_unit_test(escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
