/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines come back from their file as they were; what is wrong with one is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/baseline_file.h"
#include "config/paths.h"

static char path[] = "/tmp/pt-baseline-XXXXXX";

static void put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd) != 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void comes_back(void **state)
{
	static const uint64_t bins[] = {1, 0, UINT64_C(1) << 60};
	static const struct baseline_group groups[] = {
			{"server create", "api>sched \"x\"\n\\", 17, 1.0 / 3, 1e-300, 320, 3, bins},
			{"server create", "", 0, 0, 0, 0, 0, NULL},
			{"\u4e16\u754c", "a", 1, 5, 0, 1023, 1, bins},
	};
	static const struct baseline_node nodes[] = {
			{UINT32_MAX, "a \"b\"", "p", "", 5, 4, 1.5, 1.0 / 3, 0, 1e-300},
			{0, "(wait)", "", "", 0, 4, 0, 0, 0, 0},
	};
	static const struct baseline_type types[] = {
			{"t", 4, 3, 9, 1.0 / 3, 2, 1.25, 2, nodes, .unrecorded_ns = 7},
			{"u", 0, 0, 0, 0, 0, 1, 0, NULL}};
	const struct baseline baseline = {.origin = "",
			.time_ns = 1700000000000000001,
			.length_ns = 60000000000,
			.n = 3,
			.groups = groups,
			.n_types = 2,
			.types = types};
	FILE *out = fopen(path, "w");
	struct baseline_file *file;
	const struct baseline *read;
	char error[512] = "";
	uint32_t i;

	(void)state;
	assert_int_equal(baseline_file_write(out, &baseline), STATUS_OK);
	assert_int_equal(fclose(out), 0);
	file = baseline_file_read(path, error, sizeof(error));
	assert_string_equal(error, "");
	read = baseline_file_baseline(file);
	assert_string_equal(read->origin, path);
	assert_true(read->time_ns == baseline.time_ns && read->n == 3);
	for (i = 0; i < 3; i++) {
		const struct baseline_group *a = &groups[i], *b = &read->groups[i];

		assert_string_equal(a->type, b->type);
		assert_string_equal(a->path, b->path);
		assert_true(a->count == b->count && a->mean_ns == b->mean_ns &&
				a->sd_ns == b->sd_ns && a->histogram_low == b->histogram_low &&
				a->histogram_bins == b->histogram_bins);
		if (a->histogram_bins) {
			assert_memory_equal(a->histogram, b->histogram,
					a->histogram_bins * sizeof(*bins));
		}
	}
	assert_true(read->length_ns == baseline.length_ns && read->n_types == 2);
	assert_string_equal(read->types[0].type, "t");
	assert_true(read->types[0].requests == 4 && read->types[0].complete == 3 &&
			read->types[0].all == 9 && read->types[0].mean_ns == 1.0 / 3 &&
			read->types[0].sd_ns == 2 && read->types[0].inflation == 1.25 &&
			read->types[0].n == 2 && read->types[0].unrecorded_ns == 7 &&
			read->types[1].n == 0);
	for (i = 0; i < 2; i++) {
		const struct baseline_node *a = &nodes[i], *b = &read->types[0].nodes[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->provider, b->provider);
		assert_true(a->parent == b->parent && a->spans == b->spans &&
				a->requests == b->requests && a->segment_ns == b->segment_ns &&
				a->segment_sd_ns == b->segment_sd_ns && a->self_ns == b->self_ns &&
				a->self_sd_ns == b->self_sd_ns);
	}
	baseline_file_destroy(file);
}

#define WITHOUT_GROUPS                                                                             \
	"{\"format\":\"pythiatop-baseline\",\"version\":2,\"time_ns\":5,\"length_ns\":5,"
#define HEAD WITHOUT_GROUPS "\"types\":[],\"groups\":["
#define TYPE(requests, complete, contexts)                                                         \
	WITHOUT_GROUPS "\"groups\":[],\"types\":[{\"type\":\"t\",\"requests\":" requests           \
		       ",\"complete\":" complete ",\"all\":9,\"mean_ns\":1,\"sd_ns\":1,"           \
		       "\"inflation\":1,\"contexts\":[" contexts "]}]}"
#define CONTEXT(parent)                                                                            \
	"{\"parent\":" parent ",\"name\":\"n\",\"provider\":\"p\",\"process\":\"\",\"spans\":1,"   \
	"\"requests\":1,\"segment_ns\":1,\"segment_sd_ns\":1,\"self_ns\":1,\"self_sd_ns\":1}"
#define ROW(count) "{\"type\":\"t\",\"path\":\"p\",\"count\":" count ",\"mean_ns\":1,\"sd_ns\":0,"

static void wrong_ones(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
			{"", "line 1: "},
			{"{", "line 1: "},
			{"[]", "another kind of file"},
			{"{\"format\":\"x\"}", "another kind of file"},
			{"{\"format\":\"pythiatop-baseline\"}", "another version"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":1}", "another version"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":2}", "time_ns"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":2,\"version\":2}",
					"duplicate"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":2,\"time_ns\":-1,"
			 "\"length_ns\":1,\"types\":[],\"groups\":[]}",
					"time_ns and length_ns to be 0 or more"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":2,\"time_ns\":1,"
			 "\"length_ns\":1,\"types\":[],\"groups\":{}}",
					"an array"},
			{HEAD "],\"more\":1}", "more"},
			{HEAD "7]}", "group 0: "},
			{HEAD ROW("1") "\"histogram\":[]}]}", "histogram_low"},
			{HEAD ROW("\"1\"") "\"histogram_low\":0,\"histogram\":[]}]}", "group 0: "},
			{HEAD ROW("-1") "\"histogram_low\":0,\"histogram\":[]}]}", "(t): negative"},
			{HEAD ROW("1") "\"histogram_low\":-1,\"histogram\":[]}]}",
					"bins 0 to 1023"},
			{HEAD ROW("1") "\"histogram_low\":1023,\"histogram\":[1,1]}]}",
					"bins 0 to 1023"},
			{HEAD ROW("1") "\"histogram_low\":0,\"histogram\":7}]}", "bins 0 to 1023"},
			{HEAD ROW("1") "\"histogram_low\":0,\"histogram\":[1.5]}]}", "are counts"},
			{HEAD ROW("1") "\"histogram_low\":0,\"histogram\":[-1]}]}", "are counts"},
			{HEAD ROW("1") "\"histogram_low\":0,\"histogram\":[1],\"x\":0}]}", "x"},
			{HEAD ROW("1") "\"histogram_low\":0,\"histogram\":[1]}," ROW(
					 "2") "\"histogram_low\":0,\"histogram\":[1]}]}",
					"\"t\" \"p\" is there twice"},
			{WITHOUT_GROUPS "\"types\":7,\"groups\":[]}", "\"types\" to be an array"},
			{TYPE("-1", "0", ""), "type 0 (t): a negative number"},
			{TYPE("1", "2", ""), "more complete than requests"},
			{WITHOUT_GROUPS "\"groups\":[],\"types\":[{\"type\":\"t\",\"requests\":1,"
					"\"complete\":1,\"all\":9,\"mean_ns\":1e300,\"sd_ns\":1,"
					"\"inflation\":1,\"contexts\":[]}]}",
					"a time beyond 2^64 ns"},
			{TYPE("1", "1", "7"), "type t: context 0: "},
			{TYPE("1", "1", CONTEXT("0")), "its parent is not one before it"},
			{TYPE("1", "1", CONTEXT("-2")), "its parent is not one before it"},
	};
	char error[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(cases[i].text);
		error[0] = '\0';
		assert_null(baseline_file_read(path, error, sizeof(error)));
		if (strncmp(error, path, strlen(path)) != 0 || !strstr(error, cases[i].says)) {
			fail_msg("%s\ngave: %s\nnot:  %s", cases[i].text, error, cases[i].says);
		}
	}
	assert_null(baseline_file_read("/nowhere/b.json", error, sizeof(error)));
	assert_non_null(strstr(error, "/nowhere/b.json: cannot open it: No such file"));
	assert_null(baseline_file_read("/tmp", error, sizeof(error)));
	assert_non_null(strstr(error, "/tmp: not a file"));
}

static void full_disk(void **state)
{
	const struct baseline baseline = {.n = 0};
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(baseline_file_write(full, &baseline), STATUS_IO);
	fclose(full);
}

/* Directories of the person's state are made, for nobody else to look into. */
static void state_directory(void **state)
{
	char home[] = "/tmp/pt-state-XXXXXX", file[256], expected[256];
	struct stat info;

	(void)state;
	assert_non_null(mkdtemp(home));
	snprintf(expected, sizeof(expected), "%s/a/b", home);
	setenv("XDG_STATE_HOME", expected, 1);
	assert_true(paths_state("baseline.json", file, sizeof(file)));
	snprintf(expected, sizeof(expected), "%s/a/b/pythiatop/baseline.json", home);
	assert_string_equal(file, expected);
	file[strlen(file) - strlen("/baseline.json")] = '\0';
	assert_int_equal(stat(file, &info), 0);
	assert_true(S_ISDIR(info.st_mode) && (info.st_mode & 077) == 0);
	assert_int_equal(rmdir(file), 0);
	snprintf(file, sizeof(file), "%s/a/b", home);
	assert_int_equal(rmdir(file), 0);
	snprintf(file, sizeof(file), "%s/a", home);
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(rmdir(home), 0);
	assert_false(paths_state("baseline.json", file, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(comes_back),
			cmocka_unit_test(wrong_ones),
			cmocka_unit_test(full_disk),
			cmocka_unit_test(state_directory),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
