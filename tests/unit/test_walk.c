/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces are found below a directory, and that looking for them ends. */
#include <errno.h>
#include <limits.h>
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

#include "intake/walk.h"

static char root[64];

static void path_of(char path[PATH_MAX], const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", root, name) >= PATH_MAX) {
		fail();
	}
}

static void make_directory(const char *name)
{
	char path[PATH_MAX];

	path_of(path, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_trace(const char *name)
{
	char file[PATH_MAX], below[256];
	FILE *metadata;

	make_directory(name);
	snprintf(below, sizeof(below), "%s/metadata", name);
	path_of(file, below);
	metadata = fopen(file, "w");
	assert_non_null(metadata);
	fclose(metadata);
}

static void make_link(const char *name, const char *target)
{
	char path[PATH_MAX];

	path_of(path, name);
	assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/pt-walk-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* Walks root/name and compares what is found, in order. */
static void expect(const char *name, const char *const *found, uint32_t n, int full)
{
	struct walk walk;
	char start[PATH_MAX], path[PATH_MAX], error[256];
	uint32_t i;

	path_of(start, name);
	assert_int_equal(walk_traces(&walk, start, error, sizeof(error)), STATUS_OK);
	for (i = 0; i < walk.n && i < n; i++) {
		path_of(path, found[i]);
		assert_string_equal(walk.paths[i], path);
	}
	assert_int_equal(walk.n, n);
	assert_int_equal(walk.full, full);
	walk_release(&walk);
}

static void test_links_are_followed(void **state)
{
	static const char *const found[] = {"in/c/kernel", "in/a", "in/b/kernel", "in/b/ust/pid/x"};

	(void)state;
	make_directory("in");
	make_directory("in/c");
	make_trace("in/c/kernel");
	make_directory("elsewhere");
	make_trace("elsewhere/t");
	make_directory("elsewhere/session");
	make_trace("elsewhere/session/kernel");
	make_directory("elsewhere/session/ust");
	make_directory("elsewhere/session/ust/pid");
	make_trace("elsewhere/session/ust/pid/x");
	make_link("in/a", "../elsewhere/t");
	make_link("in/b", "../elsewhere/session");
	make_link("in/dangling", "nothing");
	make_link("in/file", "../elsewhere/t/metadata");
	expect("in", found, 4, 0);
}

static void test_nothing_is_found_twice(void **state)
{
	static const char *const found[] = {"in/z", "in/a"};

	(void)state;
	make_directory("in");
	make_trace("in/z");
	make_trace("out");
	make_link("in/a", "../out");
	make_link("in/again", "../out");
	make_link("in/latest", "z"); /* it has a name of its own */
	make_link("in/by-way", "../in");
	expect("in", found, 2, 0);
}

static void test_circles_end(void **state)
{
	static const char *const found[] = {"a/t", "a/to-b/to-c/t2"};
	static const char *const through_link[] = {"link/t"};

	(void)state;
	make_directory("a");
	make_directory("b");
	make_directory("c");
	make_trace("a/t");
	make_trace("c/t2");
	make_link("a/self", ".");
	make_link("a/loop", "loop");
	make_link("b/to-a", "../a");
	make_link("b/to-c", "../c");
	make_link("c/back", "../b");
	make_link("a/to-b", "../b");
	expect("a", found, 2, 0);
	make_directory("only");
	make_trace("only/t");
	make_link("only/more", "../only");
	make_link("link", "only");
	expect("link", through_link, 1, 0);
}

static void test_depth_is_bounded_through_links(void **state)
{
	static const char *const found[] = {"near/t"};
	char name[64], target[64];
	int i;

	(void)state;
	make_directory("near");
	make_trace("near/t");
	for (i = 0; i < 2 * WALK_MAX_DEPTH; i++) {
		snprintf(name, sizeof(name), "d%02d", i);
		make_directory(name);
	}
	for (i = 0; i + 1 < 2 * WALK_MAX_DEPTH; i++) {
		snprintf(name, sizeof(name), "d%02d/next", i);
		snprintf(target, sizeof(target), "../d%02d", i + 1);
		make_link(name, target);
	}
	snprintf(name, sizeof(name), "d%02d/t", 2 * WALK_MAX_DEPTH - 1);
	make_trace(name);
	make_link("near/far", "../d00");
	expect("near", found, 1, 1);
}

static void test_identities(void **state)
{
	char a[PATH_MAX], b[PATH_MAX], link[PATH_MAX];

	(void)state;
	make_trace("a");
	make_trace("b");
	make_link("link", "a");
	path_of(a, "a");
	path_of(b, "b");
	path_of(link, "link");
	assert_true(walk_identity(a) == walk_identity(link));
	assert_true(walk_identity(a) != walk_identity(b));
	path_of(b, "none");
	assert_true(walk_identity(b) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(test_links_are_followed, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_nothing_is_found_twice, set_up, tear_down),
			cmocka_unit_test_setup_teardown(test_circles_end, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_depth_is_bounded_through_links, set_up, tear_down),
			cmocka_unit_test_setup_teardown(test_identities, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
