/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that people write: durations, settings, schemas; what is wrong is named with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/duration.h"
#include "config/schema_file.h"
#include "config/settings.h"

/* A temporary file with the text; the caller unlinks and frees its name. */
static char *write_file(const char *text)
{
	char *path = strdup("/tmp/pt-config-XXXXXX");
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static void remove_file(char *path)
{
	unlink(path);
	free(path);
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"30s", 30000000000u}, {"10m", 600000000000u}, {"1.5ms", 1500000u},
			{"250us", 250000u}, {"7ns", 7u}, {"2h", 7200000000000u}, {"0s", 0u}};
	static const char *const bad[] = {
			"", "s", "10", "10 s", "-1s", "1x", "nans", "1e99s", "0x1s", "infs"};
	char text[32];
	uint64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(duration_parse(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
		duration_format(text, sizeof(text), ns);
		assert_true(duration_parse(text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(duration_parse(bad[i], &ns));
	}
	assert_true(duration_parse_seconds("0.5", &ns));
	assert_int_equal(ns, 500000000u);
	assert_false(duration_parse_seconds("1s", &ns));
}

/* The last value of a name, or NULL. */
static const char *value_of(const struct settings *settings, const char *name)
{
	uint32_t i = settings->n;

	while (i > 0 && strcmp(settings->items[i - 1].name, name) != 0) {
		i--;
	}
	return i > 0 ? settings->items[i - 1].value : NULL;
}

static void settings(void **state)
{
	char *path = write_file(
			"# a comment\n\n theme = light \nkey.quit=q  Q\ntheme = mono\nempty =\n");
	struct settings_file file;
	char error[256] = "";

	(void)state;
	assert_int_equal(settings_read(&file, path, error, sizeof(error)), STATUS_OK);
	assert_int_equal(file.settings.n, 4);
	assert_string_equal(value_of(&file.settings, "theme"), "mono");
	assert_string_equal(value_of(&file.settings, "key.quit"), "q  Q");
	assert_string_equal(value_of(&file.settings, "empty"), "");
	assert_null(value_of(&file.settings, "none"));
	assert_int_equal(file.settings.items[1].line, 4);
	settings_release(&file);
	remove_file(path);
}

static void settings_errors(void **state)
{
	static const char *const bad[][2] = {
			{"a = 1\nnonsense\n", ":2: expected `name = value`"},
			{"a b = 1\n", ":1: a name has letters"},
			{"= 1\n", ":1: a name has letters"},
	};
	struct settings_file file;
	char error[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *path = write_file(bad[i][0]);

		assert_int_equal(settings_read(&file, path, error, sizeof(error)), STATUS_INVALID);
		assert_non_null(strstr(error, bad[i][1]));
		assert_non_null(strstr(error, path));
		settings_release(&file);
		remove_file(path);
	}
	assert_int_equal(settings_read(&file, "/nonexistent/file", error, sizeof(error)),
			STATUS_NOT_FOUND);
	settings_release(&file);
	assert_int_equal(settings_read(&file, "/", error, sizeof(error)), STATUS_IO);
	settings_release(&file);
}

static const char full_schema[] =
		"schema: 1\n"
		"applies_to: \"nova:*\"\n"
		"namespaces:\n"
		"  - {name: req, scope: global, ttl: 30s}\n"
		"  - {name: cpu, scope: host, ttl: 10m, join: false}\n"
		"events:\n"
		"  - match: nova:server_create_entry\n"
		"    span: entry\n"
		"    name: server_create\n"
		"    seed: true\n"
		"    type: [action]\n"
		"    bind:\n"
		"      - {ns: req, key: [request_id], op: start}\n"
		"      - {ns: cpu, key: [$cpu]}\n"
		"  - match: \"nova:*_exit\"\n"
		"    span: exit\n"
		"    pair: [dev, sector]\n"
		"    values: [queue_len]\n"
		"skeleton: [\"*:*_request_*\", \"rpc:*\"]\n"
		"expect: [{type: server_create, p50: 500ms, group_by: [image]}]\n";

static void check_full(const struct schema *schema)
{
	assert_string_equal(schema->applies_to, "nova:*");
	assert_int_equal(schema->n_namespaces, 2);
	assert_int_equal(schema->namespaces[0].scope, SCHEMA_GLOBAL);
	assert_int_equal(schema->namespaces[0].ttl_ns, 30000000000u);
	assert_true(schema->namespaces[0].join);
	assert_false(schema->namespaces[1].join);
	assert_int_equal(schema->n_events, 2);
	assert_int_equal(schema->events[0].role, SPAN_ENTRY);
	assert_true(schema->events[0].seed);
	assert_string_equal(schema->events[0].type[0], "action");
	assert_int_equal(schema->events[0].n_bind, 2);
	assert_int_equal(schema->events[0].bind[0].op, BIND_START);
	assert_int_equal(schema->events[0].bind[1].op, BIND_BASIC);
	assert_string_equal(schema->events[0].bind[1].keys[0], "$cpu");
	assert_int_equal(schema->events[1].n_pair, 2);
	assert_string_equal(schema->events[1].values[0], "queue_len");
	assert_null(schema->events[1].name);
	assert_int_equal(schema->n_skeleton, 2);
	assert_int_equal(schema->expect[0].p50_ns, 500000000u);
	assert_string_equal(schema->expect[0].group_by[0], "image");
}

static void schemas(void **state)
{
	char *path = write_file(full_schema);
	char *copy = write_file("");
	char error[512] = "";
	struct schema_file *file = schema_file_read(path, error, sizeof(error));
	FILE *out;

	(void)state;
	assert_string_equal(error, "");
	assert_non_null(file);
	check_full(schema_file_schema(file));
	assert_int_equal(schema_file_schema(file)->events[0].line, 7);
	assert_int_equal(schema_file_schema(file)->events[1].line, 15);

	out = fopen(copy, "w");
	assert_int_equal(schema_file_write(out, schema_file_schema(file)), STATUS_OK);
	fclose(out);
	schema_file_destroy(file);
	file = schema_file_read(copy, error, sizeof(error));
	assert_string_equal(error, "");
	assert_non_null(file);
	check_full(schema_file_schema(file));
	schema_file_destroy(file);
	remove_file(path);
	remove_file(copy);
}

static void schema_errors(void **state)
{
	static const char *const bad[][2] = {
			{"schema: 1\nevents:\n  - match: a\n    sede: true\n", "sede"},
			{"schema: 1\nevents:\n  - span: entry\n", "match"},
			{"schema: 1\nevents:\n  - {match: a, span: sideways}\n", ":3"},
			{"schema: 2\n", "version 2"},
			{"events: []\n", "schema"},
			{"schema: 1\nnamespaces:\n  - {name: req, ttl: 30}\n", "ttl \"30\""},
			{"schema: 1\nexpect:\n  - {type: x, p50: soon}\n", "p50 \"soon\""},
			{"schema: [1\n", ""},
			{"", ""},
			{"a: &x [1]\nb: *x\n", ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *path = write_file(bad[i][0]);
		char error[512] = "";

		assert_null(schema_file_read(path, error, sizeof(error)));
		if (!strstr(error, path) || !strstr(error, bad[i][1])) {
			fail_msg("unhelpful: %s", error);
		}
		remove_file(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(durations),
			cmocka_unit_test(settings),
			cmocka_unit_test(settings_errors),
			cmocka_unit_test(schemas),
			cmocka_unit_test(schema_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
