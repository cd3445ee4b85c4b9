/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/number_map.h"
#include "base/proc.h"

static void an_array_grows_and_keeps_its_items(void **state)
{
	uint64_t *items = NULL;
	uint32_t room = 0, changes = 0;

	(void)state;
	for (uint32_t n = 0; n < 10000; n++) {
		uint32_t before = room;

		assert_true(array_reserve(&items, &room, n + 1));
		assert_true(room > n);
		changes += room != before;
		items[n] = n * 3;
	}
	/* Room doubles, so 10,000 items take a dozen moves. */
	assert_in_range(changes, 5, 14);
	for (uint32_t n = 0; n < 10000; n++) {
		assert_int_equal(items[n], n * 3);
	}
	free(items);
}

static void what_an_array_gains_is_zero_where_it_was_asked(void **state)
{
	uint32_t *items = NULL, *exact = NULL, room = 0, length = 0;

	(void)state;
	for (uint32_t n = 1; n < 1000; n *= 3) {
		uint32_t before = room;

		assert_true(array_reserve_zeroed(&items, &room, n));
		for (uint32_t i = before; i < room; i++) {
			assert_int_equal(items[i], 0);
			items[i] = i + 1;
		}
		assert_true(array_extend(&exact, &length, n));
		assert_int_equal(length, n);
		assert_int_equal(exact[n - 1], 0);
		exact[n - 1] = 1;
	}
	for (uint32_t i = 0; i < room; i++) {
		assert_int_equal(items[i], i + 1);
	}
	/* To ask for less changes nothing. */
	assert_true(array_extend(&exact, &length, 1));
	assert_int_equal(length, 729);
	free(items);
	free(exact);
}

static void an_array_without_memory_stays_as_it_was(void **state)
{
	uint64_t *items = NULL, *was;
	uint32_t room = 0;

	(void)state;
	assert_true(array_reserve(&items, &room, 1));
	items[0] = 7;
	was = items;
	/* More than there can be: the product of number and size overflows. */
	assert_false(array_resize_bytes(&items, SIZE_MAX / 4, sizeof(*items)));
	assert_ptr_equal(items, was);
	assert_int_equal(items[0], 7);
	assert_int_equal(array_room(UINT32_MAX - 1, UINT32_MAX), UINT32_MAX);
	free(items);
}

static void a_number_map_finds_what_was_set(void **state)
{
	struct number_map map = {.n = 0};

	(void)state;
	assert_int_equal(number_map_find(&map, 1), NUMBER_NONE);
	for (uint64_t key = 0; key < 5000; key++) {
		assert_true(number_map_set(&map, key * key, (uint32_t)key));
	}
	assert_true(number_map_set(&map, 49, 123));
	for (uint64_t key = 0; key < 5000; key++) {
		assert_int_equal(number_map_find(&map, key * key), key == 7 ? 123 : key);
		assert_int_equal(number_map_find(&map, key * key + 2), NUMBER_NONE);
	}
	assert_int_equal(map.n, 5000);
	number_map_release(&map);
}

/* A copy of `sleep`, started under another name, and deleted while it runs. */
static pid_t start_deleted(const char *file)
{
	char command[PATH_MAX + 64];
	int ends[2];
	pid_t pid;
	char byte;

	snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" '%s'", file);
	assert_int_equal(system(command), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execl(file, "/opt/renamed: worker 1", "60", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* its end closes as the file is run */
	close(ends[0]);
	assert_int_equal(unlink(file), 0);
	return pid;
}

static void what_a_process_runs_is_told_after_it_was_deleted(void **state)
{
	char file[64], told[PATH_MAX], name[NAME_MAX + 1];
	pid_t pid;

	(void)state;
	snprintf(file, sizeof(file), "/tmp/pt-base-%ld", (long)getpid());
	pid = start_deleted(file);
	assert_true(proc_exe(pid, told));
	assert_string_equal(told, file);
	proc_started_as(pid, name);
	assert_string_equal(name, "renamed");
	assert_true(proc_read(pid, "comm", told, sizeof(told)));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(proc_exe(pid, told));
	proc_started_as(pid, name);
	assert_string_equal(name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_array_grows_and_keeps_its_items),
			cmocka_unit_test(what_an_array_gains_is_zero_where_it_was_asked),
			cmocka_unit_test(an_array_without_memory_stays_as_it_was),
			cmocka_unit_test(a_number_map_finds_what_was_set),
			cmocka_unit_test(what_a_process_runs_is_told_after_it_was_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
