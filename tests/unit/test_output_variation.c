/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What programs get of variation: null until something is said, shares that add up, trees that are
 * bounded, and folded stacks that no name can break.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/formats.h"
#include "output/output.h"

#define NO_PARENT UINT32_MAX

static const struct groups_row rows[] = {
		{.id = 7,
				.type = "server create",
				.path = "api>compute",
				.count = 400,
				.mean_ns = 100e6,
				.sd_ns = 40e6,
				.cov = 0.4,
				.tail_ratio = 2.5,
				.detection = DETECTION_VARIES | DETECTION_MODES,
				.cov_low = 0.36,
				.n_modes = 2,
				.modes = {{20000000, 10000000, 50000000, 0.75},
						{90000000, 50000000, 200000000, 0.25}},
				.objective_ns = 80000000,
				.shift = 1.5},
		{.id = 8, .type = "few", .path = "", .count = 12, .missing = 38, .tail_ratio = 1.5},
		{.id = 9, .type = "lossy", .path = "", .count = 60, .lossy = true},
		{.id = 10, .type = "quiet", .path = "", .count = 60, .n_modes = 1, .cov_low = 0.01},
};

static const struct group_segment segments[] = {
		{3, "sem;acquire", "server_create>build", 60e6, 39e6, 0.9, 0.8, 1.1, 0.95, false},
		{4, "(wait)", "server_create", 20e6, 9e6, 0.2, 0.1, 0.3, -0.05, true},
		{0, "(rest)", "", 20e6, 5e6, -0.1, -0.2, 0, 0.1, false},
};

static const struct group_pair pairs[] = {{1, 2, -0.3, -0.8}};

static const struct tree_row contexts[] = {
		{.context = 2,
				.parent = NO_PARENT,
				.n_below = 3,
				.name = "server create",
				.provider = "api",
				.count = 400,
				.requests = 400,
				.total_ns = 40e9,
				.self_ns = 8e9,
				.mean_ns = 100e6,
				.sd_ns = 40e6,
				.phi = -0.1,
				.phi_below = 1},
		{.context = 3,
				.parent = 0,
				.depth = 1,
				.n_below = 1,
				.name = "sem;acquire a\nb",
				.provider = "",
				.mark = TREE_PROPOSED,
				.count = 1,
				.requests = 1,
				.total_ns = 24e9,
				.self_ns = 24e9,
				.mean_ns = 24e9,
				.phi = 0.9,
				.phi_below = 1.05},
		{.context = 5, .parent = 1, .depth = 2, .name = "", .self_ns = 1, .phi = 0.15},
		{.context = 4,
				.parent = 0,
				.depth = 1,
				.name = "(wait)",
				.mark = TREE_NO_POINT,
				.self_ns = 5e9,
				.phi = 0.05},
};

static struct snapshot example(void)
{
	static struct group_location locations[4];
	static struct tree_view trees[4];

	locations[0] = (struct group_location){.located = true,
			.requests = 390,
			.skewed = 10,
			.n_segments = 3,
			.segments = segments,
			.n_pairs = 1,
			.pairs = pairs,
			.first_component = 0.5};
	locations[1] = (struct group_location){.missing = 38};
	trees[0] = (struct tree_view){.group_id = 7,
			.type = "server create",
			.path = "api>compute",
			.requests = 400,
			.counted = 390,
			.sampled_share = 1,
			.located = true,
			.n = 4,
			.rows = contexts,
			.max_depth = 256,
			.folded_spans = 3};
	return (struct snapshot){
			.focus.metric = METRIC_COV,
			.groups = {.n = 4, .rows = rows, .locations = locations, .trees = trees},
	};
}

static char *write_as(enum output_format format, enum output_weight weight,
		const struct snapshot *snapshot)
{
	const struct output_style style = {.format = format, .weight = weight};
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(output_write(out, &style, snapshot, true), STATUS_OK);
	fclose(out);
	return text;
}

static json_t *document_of(const struct snapshot *snapshot)
{
	char *text = write_as(OUTPUT_JSON, OUTPUT_SELF, snapshot);
	json_t *document = json_loads(text, 0, NULL);

	assert_non_null(document);
	free(text);
	return document;
}

static json_t *at(json_t *document, const char *array, size_t i)
{
	json_t *value = json_array_get(json_object_get(document, array), i);

	assert_non_null(value);
	return value;
}

static double real(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static void assert_null_at(json_t *object, const char *name)
{
	assert_non_null(json_object_get(object, name));
	assert_true(json_is_null(json_object_get(object, name)));
}

static void assert_text(json_t *object, const char *name, const char *expected)
{
	assert_string_equal(json_string_value(json_object_get(object, name)), expected);
}

static void said(void **state)
{
	struct snapshot snapshot = example();
	json_t *document = document_of(&snapshot);
	json_t *group = at(document, "groups", 0);
	json_t *detection = json_object_get(group, "detection");
	json_t *mode;

	(void)state;
	assert_text(document, "metric", "cov");
	assert_int_equal(json_array_size(json_object_get(detection, "flags")), 2);
	assert_string_equal(json_string_value(at(detection, "flags", 0)), "varies");
	assert_string_equal(json_string_value(at(detection, "flags", 1)), "modes");
	assert_true(real(detection, "cov_low") == 0.36 && real(detection, "tail_ratio") == 2.5 &&
			real(detection, "objective_ns") == 80000000 &&
			real(detection, "shift") == 1.5 && real(detection, "missing") == 0);
	mode = at(detection, "modes", 1);
	assert_true(real(mode, "peak_ns") == 90000000 && real(mode, "low_ns") == 50000000 &&
			real(mode, "high_ns") == 200000000 && real(mode, "share") == 0.25);
	json_decref(document);
}

/* "Not yet" and "lost" are no zeros. */
static void not_said(void **state)
{
	static const char *const unknown[] = {"flags", "cov_low", "modes", "objective_ns", "shift"};
	struct snapshot snapshot = example();
	json_t *document = document_of(&snapshot);
	size_t g, i;

	(void)state;
	for (g = 1; g <= 2; g++) {
		json_t *group = at(document, "groups", g);

		for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
			assert_null_at(json_object_get(group, "detection"), unknown[i]);
		}
		assert_null_at(group, "segments");
		assert_null_at(group, "pairs");
		assert_null_at(json_object_get(group, "location"), "common_cause");
	}
	assert_true(real(json_object_get(at(document, "groups", 1), "detection"), "missing") == 38);
	assert_true(real(json_object_get(at(document, "groups", 1), "location"), "missing") == 38);
	assert_true(json_is_true(json_object_get(
			json_object_get(at(document, "groups", 2), "detection"), "lossy")));
	/* Judged, and nothing found, is something else. */
	assert_int_equal(json_array_size(json_object_get(
					 json_object_get(at(document, "groups", 3), "detection"),
					 "flags")),
			0);
	json_decref(document);
	snapshot.groups.locations = NULL;
	snapshot.groups.trees = NULL;
	document = document_of(&snapshot);
	assert_null_at(at(document, "groups", 0), "location");
	assert_null_at(at(document, "groups", 0), "segments");
	assert_int_equal(json_array_size(json_object_get(document, "contexts")), 0);
	json_decref(document);
}

static void located(void **state)
{
	struct snapshot snapshot = example();
	json_t *document = document_of(&snapshot);
	json_t *group = at(document, "groups", 0);
	json_t *segment = at(group, "segments", 0), *pair = at(group, "pairs", 0), *value;
	double phi = 0, mean_ns = 0;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(group, "segments"), i, value)
	{
		phi += real(value, "phi");
		mean_ns += real(value, "mean_ns");
	}
	assert_true(fabs(phi - 1) < 1e-9 && mean_ns == 100e6);
	assert_text(segment, "context", "sem;acquire");
	assert_text(segment, "where", "server_create>build");
	assert_true(real(segment, "id") == 3 && real(segment, "sd_ns") == 39e6 &&
			real(segment, "phi_low") == 0.8 && real(segment, "phi_high") == 1.1 &&
			real(segment, "tail_share") == 0.95);
	assert_true(json_is_true(json_object_get(at(group, "segments", 1), "disagrees")));
	assert_true(real(pair, "a") == 4 && real(pair, "b") == 0 && real(pair, "share") == -0.3 &&
			real(pair, "correlation") == -0.8);
	assert_true(real(json_object_get(group, "location"), "requests") == 390);
	json_decref(document);
}

static void trees(void **state)
{
	struct snapshot snapshot = example();
	json_t *document = document_of(&snapshot);
	json_t *tree = at(document, "contexts", 0), *row;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(document, "contexts")), 4);
	assert_true(real(tree, "group") == 7 && real(tree, "folded_spans") == 3 &&
			real(tree, "left_out") == 0);
	row = at(tree, "rows", 1);
	assert_text(row, "context", "sem;acquire a\\nb");
	assert_text(row, "point", "proposed");
	assert_null_at(row, "provider");
	assert_null_at(row, "sd_ns"); /* of one span */
	assert_true(real(row, "parent") == 0 && real(row, "self_ns") == 24e9 &&
			real(row, "phi") == 0.9 && real(row, "phi_below") == 1.05);
	assert_null_at(at(tree, "rows", 0), "parent");
	row = at(tree, "rows", 3);
	assert_null_at(row, "point");
	assert_null_at(row, "count");
	assert_null_at(at(document, "contexts", 1), "sampled_share");
	json_decref(document);
}

/* The first rows of each, until the document is full; parents are always there. */
static void bounded(void **state)
{
	enum { TREES = 30, ROWS = 1200 };
	static struct tree_row many[ROWS];
	static struct tree_view views[TREES];
	static struct groups_row groups[TREES];
	struct snapshot snapshot = {.groups = {.n = TREES, .rows = groups, .trees = views}};
	json_t *document, *tree, *row;
	size_t t, i, taken = 0, left_out = 0;

	(void)state;
	for (i = 0; i < ROWS; i++) {
		many[i] = (struct tree_row){.name = "x",
				.provider = "",
				.parent = i ? (uint32_t)i - 1 : NO_PARENT,
				.depth = (uint32_t)i};
	}
	for (i = 0; i < TREES; i++) {
		groups[i] = (struct groups_row){.type = "", .path = ""};
		views[i] = (struct tree_view){.type = "", .path = "", .n = ROWS, .rows = many};
	}
	document = document_of(&snapshot);
	json_array_foreach(json_object_get(document, "contexts"), t, tree)
	{
		size_t n = json_array_size(json_object_get(tree, "rows"));

		assert_true(n <= OUTPUT_TREE_ROWS);
		taken += n;
		left_out += (size_t)real(tree, "left_out");
		json_array_foreach(json_object_get(tree, "rows"), i, row)
		{
			assert_true(i == 0 || real(row, "parent") < (double)n);
		}
	}
	assert_int_equal(t, TREES);
	assert_int_equal(taken, OUTPUT_ROWS);
	assert_int_equal(taken + left_out, TREES * ROWS);
	json_decref(document);
}

/* The grammar of folded stacks: frames of printable characters without `;` and blanks, a number. */
static size_t check_folded(const char *text)
{
	size_t lines = 0;

	while (*text) {
		const char *end = strchr(text, '\n'), *blank = strchr(text, ' '), *c;

		assert_non_null(end);
		assert_true(blank && blank < end && blank > text && blank[1] != '0');
		for (c = text; c < blank; c++) {
			assert_true((unsigned char)*c > ' ' && *c != 0x7f);
			assert_false(*c == ';' && (c == text || c[1] == ';' || c + 1 == blank));
		}
		for (c = blank + 1; c < end; c++) {
			assert_true(isdigit((unsigned char)*c));
		}
		assert_true(blank + 1 < end);
		text = end + 1;
		lines++;
	}
	return lines;
}

static void folded_by_self(void **state)
{
	struct snapshot snapshot = example();
	char *text = write_as(OUTPUT_FOLDED, OUTPUT_SELF, &snapshot);

	(void)state;
	assert_int_equal(check_folded(text), 3);
	assert_string_equal(text,
			"server_create_api>compute;server_create 8000000000\n"
			"server_create_api>compute;server_create;sem\\x3bacquire_a\\nb "
			"24000000000\n"
			"server_create_api>compute;server_create;sem\\x3bacquire_a\\nb;- 1\n");
	free(text);
}

/* phi x Var(T) in us^2: 1.6e9 for all of it. A negative part has no width. */
static void folded_by_variance(void **state)
{
	struct snapshot snapshot = example();
	char *text = write_as(OUTPUT_FOLDED, OUTPUT_VARIANCE, &snapshot);

	(void)state;
	assert_int_equal(check_folded(text), 3);
	assert_string_equal(text,
			"server_create_api>compute;server_create;sem\\x3bacquire_a\\nb 1440000000\n"
			"server_create_api>compute;server_create;sem\\x3bacquire_a\\nb;- "
			"240000000\n"
			"server_create_api>compute;server_create;(wait) 80000000\n");
	free(text);
}

/* Every byte may come from a trace. */
static void folded_hostile(void **state)
{
	static char names[256][3];
	static struct tree_row many[256];
	struct tree_view tree = {.type = "a;b\n 7", .path = " ; ", .n = 256, .rows = many};
	struct groups_row group = {.type = tree.type, .path = tree.path};
	struct snapshot snapshot = {.groups = {.n = 1, .rows = &group, .trees = &tree}};
	char *text;
	int i;

	(void)state;
	for (i = 0; i < 256; i++) {
		names[i][0] = (char)i;
		names[i][1] = (char)(255 - i);
		many[i] = (struct tree_row){
				.name = names[i], .parent = NO_PARENT, .self_ns = 1 + i};
	}
	text = write_as(OUTPUT_FOLDED, OUTPUT_SELF, &snapshot);
	assert_int_equal(check_folded(text), 256);
	free(text);
}

static void in_tables(void **state)
{
	struct snapshot snapshot = example();
	char *text = write_as(OUTPUT_CSV, OUTPUT_SELF, &snapshot);

	(void)state;
	assert_non_null(strstr(text, ",detection,missing,lossy,cov_low,modes,tail_ratio,objective_"
				     "ns,shift,segment,"
				     "phi,phi_low,phi_high,failed,ended\n"));
	assert_non_null(strstr(text,
			",varies+modes,0,0,0.36,2,2.5,80000000,1.5,sem;acquire,0.9,0.8,1.1,0,0\n"));
	assert_non_null(strstr(text, ",,38,0,,,1.5,,,,,,,0,0\n"));
	assert_non_null(strstr(text, ",none,0,0,0.01,1,0,,,,,,,0,0\n"));
	free(text);
	text = write_as(OUTPUT_TEXT, OUTPUT_SELF, &snapshot);
	assert_non_null(strstr(text, "varies+modes"));
	assert_non_null(strstr(text, "38 more"));
	assert_non_null(strstr(text, " 90.0%  80.0%..110.0%"));
	assert_non_null(strstr(text, "sem;acquire"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(said),
			cmocka_unit_test(not_said),
			cmocka_unit_test(located),
			cmocka_unit_test(trees),
			cmocka_unit_test(bounded),
			cmocka_unit_test(folded_by_self),
			cmocka_unit_test(folded_by_variance),
			cmocka_unit_test(folded_hostile),
			cmocka_unit_test(in_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
