/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a console may say to a helper, what a host's configuration allows, and lines of all sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/check.h"
#include "helper/lines.h"
#include "helper/rights.h"

static void globs(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
			{"a:b", "a:b", true},
			{"a:b", "a:bc", false},
			{"*", "", true},
			{"a*", "a", true},
			{"a*c", "abbc", true},
			{"a*c", "abcd", false},
			{"*b*b*", "abab", true},
			{"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
			{"a\\*", "a*", true},
			{"a\\*", "ab", false},
			{"a?", "ab", false},
			{"[a]", "a", false},
			{"", "", true},
			{"", "a", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (rights_glob(cases[i].pattern, cases[i].text) != cases[i].matches) {
			fail_msg("%s and %s", cases[i].pattern, cases[i].text);
		}
	}
}

static bool has(void *context, const char *field)
{
	(void)context;
	return strcmp(field, "seq") == 0 || strcmp(field, "_name") == 0;
}

static void filters(void **state)
{
	static const char *const right[] = {"seq == 1", "seq>0x1F && _name == \"no such field\"",
			"$ctx.vtid == 7", "seq.part == 1", "$app.p:n == 2", "(seq & 1) == 0",
			"_name == \"a \\\" b\" || !seq", "seq[0] == 10L", "-seq < 1e3"};
	static const char *const wrong[] = {"other == 1", "seq == Seq", "$ctx.no == 1", "$seq == 1",
			"seq == \"open", "", "   ", "seq\n== 1", "seq == 1 // \x80",
			"$ctx.no.vtid == 1"};
	char word[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		const char *said = check_filter(right[i], has, NULL, word, sizeof(word));

		if (said) {
			fail_msg("%s: %s %s", right[i], said, word);
		}
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!check_filter(wrong[i], has, NULL, word, sizeof(word))) {
			fail_msg("taken: %s", wrong[i]);
		}
	}
}

static void write_file(char path[32], const char *text)
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/pt-rights.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	fputs(text, file);
	fclose(file);
}

static void configuration(void **state)
{
	struct rights rights;
	char path[32], error[512];

	(void)state;
	write_file(path,
			"control.allow = a:* b:*\ncontrol.allow = c:d\ncontrol.deny = *:secret\n"
			"control.relay = net://10.*\ncontrol.max_points = 7\ncontrol.subbuf_kb = "
			"64\n"
			"control.filter_slots = 0\ncontrol.context = perf:instructions $app.p:n\n");
	assert_true(rights_read(&rights, path, error, sizeof(error)));
	assert_true(rights_point(&rights, "a:x") && rights_point(&rights, "c:d"));
	assert_false(rights_point(&rights, "d:x") || rights_point(&rights, "b:secret"));
	assert_true(rights_relay(&rights, "net://10.0.0.1"));
	assert_false(rights_relay(&rights, "net://192.168.0.1"));
	assert_int_equal(rights.max_points, 7);
	assert_int_equal(rights.subbuf_kb, 64);
	assert_int_equal(rights.filter_slots, 0);
	assert_int_equal(rights.call_seconds, 25);
	assert_int_equal(rights.contexts.n, 2);
	assert_false(rights.read_only);
	rights_release(&rights);
	unlink(path);
}

static void wrong_configuration(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
			{"control.subbuf_kb = 100\n",
					":1: control.subbuf_kb = 100: expected a number "
					"that is a power of two"},
			{"\ncontrol.max_points = -1\n", ":2: control.max_points = -1: expected"},
			{"control.read_only = maybe\n", "expected yes or no"},
			{"control.allw = *\n", "expected a name that starts with control.: allow"},
			{"read_only\n", "expected `name = value`"},
	};
	struct rights rights;
	char path[32], error[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(path, cases[i].text);
		assert_false(rights_read(&rights, path, error, sizeof(error)));
		rights_release(&rights);
		unlink(path);
		if (!strstr(error, cases[i].error)) {
			fail_msg("not \"%s\" in %s", cases[i].error, error);
		}
	}
}

/* The system's file and the person's hold together; neither widens what the other one allows. */
static void two_files(void **state)
{
	char directory[] = "/tmp/pt-xdg.XXXXXX", path[96], error[512];
	struct rights rights;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("XDG_CONFIG_HOME", directory, 1);
	assert_true(rights_read(&rights, NULL, error, sizeof(error)));
	assert_int_equal(rights.max_points, 2000);
	rights_release(&rights);
	snprintf(path, sizeof(path), "%s/pythiatop", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/pythiatop/control.conf", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("control.read_only = yes\ncontrol.max_points = 5\n", file);
	fclose(file);
	assert_true(rights_read(&rights, NULL, error, sizeof(error)));
	assert_true(rights.read_only);
	assert_int_equal(rights.max_points, 5);
	rights_release(&rights);
	unlink(path);
	snprintf(path, sizeof(path), "%s/pythiatop", directory);
	rmdir(path);
	rmdir(directory);
	unsetenv("XDG_CONFIG_HOME");
}

static const char *const wanted[] = {"one", "", NULL, "four"};

/* Reads once and takes what is complete. */
static size_t take_lines(struct line_in *in, int fd, size_t n)
{
	enum line line;
	size_t length;
	char *text;

	assert_int_equal(line_in_read(in, fd), STATUS_OK);
	while ((line = line_in_next(in, &text, &length)) != LINE_NONE) {
		assert_true(n < 4);
		assert_int_equal(line, wanted[n] ? LINE_WHOLE : LINE_TOO_LONG);
		if (wanted[n]) {
			assert_string_equal(text, wanted[n]);
			assert_int_equal(length, strlen(text));
		}
		n++;
	}
	return n;
}

/* Lines cut at every place come out whole; those beyond the limit are told once and left out. */
static void lines(void **state)
{
	static const char bytes[] = "one\n\nthree is long enough to be left out\nfour\nfi";
	size_t piece, size = sizeof(bytes) - 1;

	(void)state;
	for (piece = 1; piece <= size; piece++) {
		struct line_in in;
		size_t at = 0, n = 0;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		assert_true(line_in_init(&in, 16));
		while (at < size) {
			size_t length = size - at < piece ? size - at : piece;

			assert_int_equal(write(fds[1], bytes + at, length), (ssize_t)length);
			at += length;
			n = take_lines(&in, fds[0], n);
		}
		close(fds[1]);
		while (n < 4) {
			n = take_lines(&in, fds[0], n);
		}
		assert_int_equal(n, 4);
		close(fds[0]);
		line_in_release(&in);
	}
}

static void out_bound(void **state)
{
	struct line_out out;

	(void)state;
	line_out_init(&out, 10);
	assert_true(line_out_add(&out, "12345678", 8));
	assert_false(line_out_add(&out, "901", 3));
	assert_int_equal(line_out_pending(&out), 8);
	assert_true(line_out_add(&out, "90", 2));
	line_out_release(&out);
}

/* A kernel's points are not listed with their fields: those that name a thread are known. */
static void kernel_filters_name_threads(void **state)
{
	(void)state;
	assert_true(check_kernel_field("sched_switch", "prev_tid"));
	assert_true(check_kernel_field("sched_waking", "tid"));
	assert_false(check_kernel_field("sched_switch", "tid"));
	assert_false(check_kernel_field("sched_switch", "prev_comm"));
	assert_false(check_kernel_field("softirq_entry", "vec"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(kernel_filters_name_threads),
			cmocka_unit_test(globs),
			cmocka_unit_test(filters),
			cmocka_unit_test(configuration),
			cmocka_unit_test(wrong_configuration),
			cmocka_unit_test(two_files),
			cmocka_unit_test(lines),
			cmocka_unit_test(out_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
