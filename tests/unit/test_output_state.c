/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state in documents: null where nothing was measured, bounded, and the part asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "output/select.h"

static const struct state_host hosts[] = {
		{.host = "a", .kernel = "6.2", .has_kernel = true, .cpus = 2, .capacity_ns = 20},
		{.host = "b", .kernel = ""},
};
static const struct state_cpu cpus[] = {
		{.host = "a", .cpu = 0, .busy_percent = 25, .known_ns = 8, .tid = 7, .name = "x"},
		{.host = "a", .cpu = 1, .tid = -1, .name = ""},
};
static const struct state_perf perf[] = {{"perf_cpu_cycles", 42}};
static const struct state_thread threads[] = {
		{.id = 1,
				.host = "a",
				.tid = 7,
				.pid = 7,
				.ppid = 1,
				.vtid = -1,
				.vpid = -1,
				.name = "x\x1b",
				.status = THREAD_RUN_SYSCALL,
				.syscall = "read",
				.waits_for = "",
				.waker_tid = -1,
				.measured = true,
				.cpu_ns = 5,
				.read_bytes = 8000,
				.context = "",
				.n_perf = 1,
				.perf = perf},
		{.id = 2,
				.host = "a",
				.tid = 8,
				.pid = 7,
				.ppid = -1,
				.vtid = 3,
				.vpid = 3,
				.name = "",
				.syscall = "",
				.waits_for = "",
				.waker_tid = -1,
				.measured = true,
				.context = ""},
		{.id = 3,
				.host = "b",
				.tid = 7,
				.pid = 7,
				.ppid = -1,
				.vtid = -1,
				.vpid = -1,
				.name = "ust",
				.syscall = "",
				.waits_for = "",
				.waker_tid = -1,
				.context = "main",
				.stack_depth = 1},
};
static const struct state_syscall calls[] = {
		{.host = "a", .name = "read", .process = "", .pid = -1, .tid = -1, .count = 2},
		{.host = "a", .name = "read", .process = "x", .pid = 7, .tid = 7, .count = 2},
};
static const struct state_fd fds[] = {
		{.id = 9,
				.host = "a",
				.pid = 7,
				.process = "x",
				.fd = 4,
				.path = "/tmp/test",
				.kind = FD_FILE,
				.open = true,
				.opened_ns = 1},
		{.id = 10,
				.host = "a",
				.pid = 9,
				.process = "y",
				.fd = 4,
				.path = "",
				.confidence = FD_GUESSED,
				.open = true},
};
static const struct state_disk disks[] = {
		{.host = "a", .name = "sda"}, {.host = "a", .name = "sdb"}};

static struct snapshot *example(void)
{
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	snapshot->state = (struct state_view){.at_ns = 100,
			.window_ns = 10,
			.measured = true,
			.n_hosts = 2,
			.hosts = hosts,
			.n_cpus = 2,
			.cpus = cpus,
			.n_threads = 3,
			.threads = threads,
			.n_syscalls = 2,
			.syscalls = calls,
			.n_fds = 2,
			.fds = fds,
			.n_disks = 2,
			.disks = disks};
	return snapshot;
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

/* "state" of the document; free *document. */
static json_t *state_of(const struct snapshot *snapshot, json_t **document)
{
	char *text = write(OUTPUT_JSON, snapshot);

	*document = json_loads(text, 0, NULL);
	assert_non_null(*document);
	free(text);
	return json_object_get(*document, "state");
}

static json_t *row(json_t *state, const char *array, size_t index)
{
	json_t *object = json_array_get(json_object_get(state, array), index);

	assert_non_null(object);
	return object;
}

static size_t rows(json_t *state, const char *array)
{
	json_t *found = json_object_get(state, array);

	assert_true(json_is_array(found));
	return json_array_size(found);
}

static void nothing_measured_is_null(void **state)
{
	struct snapshot *snapshot = example();
	json_t *document, *all = state_of(snapshot, &document), *thread;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(all, "at_ns")), 100);
	assert_true(json_is_null(json_object_get(row(all, "hosts", 1), "idle_ns")));
	assert_true(json_real_value(json_object_get(row(all, "cpus", 0), "busy_percent")) == 25);
	assert_true(json_is_null(json_object_get(row(all, "cpus", 1), "busy_percent")));
	assert_true(json_is_null(json_object_get(row(all, "cpus", 1), "tid")));
	thread = row(all, "threads", 0);
	assert_string_equal(json_string_value(json_object_get(thread, "name")), "x\\x1b");
	assert_string_equal(json_string_value(json_object_get(thread, "status")), "run_syscall");
	assert_int_equal(json_integer_value(json_object_get(thread, "cpu_ns")), 5);
	assert_int_equal(json_integer_value(json_object_get(thread, "read_bytes")), 8000);
	assert_true(json_is_null(json_object_get(thread, "vtid")));
	thread = json_object_get(thread, "perf");
	assert_int_equal(json_integer_value(json_object_get(thread, "perf_cpu_cycles")), 42);
	thread = row(all, "threads", 2);
	assert_true(json_is_null(json_object_get(thread, "cpu_ns")));
	assert_string_equal(json_string_value(json_object_get(thread, "context")), "main");
	assert_true(json_is_null(json_object_get(row(all, "syscalls", 0), "process")));
	assert_true(json_is_null(json_object_get(row(all, "fds", 1), "path")));
	assert_string_equal(json_string_value(json_object_get(row(all, "fds", 1), "confidence")),
			"guessed");
	assert_int_equal(rows(all, "nets"), 0);
	assert_int_equal(rows(all, "irqs"), 0);
	json_decref(document);
	snapshot_destroy(snapshot);
}

/* A document of a large system stays small, and says what it leaves out. */
static void bounded(void **state)
{
	struct snapshot *snapshot = example();
	struct state_disk *many = snapshot_alloc(snapshot, 1500 * sizeof(*many));
	json_t *document, *all;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1500; i++) {
		many[i] = disks[0];
	}
	snapshot->state.disks = many;
	snapshot->state.n_disks = 1500;
	all = state_of(snapshot, &document);
	assert_int_equal(rows(all, "disks"), 1000);
	assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(all, "left_out"), "disks")),
			500);
	json_decref(document);
	snapshot_destroy(snapshot);
}

static void as_text(void **state)
{
	struct snapshot *snapshot = example();
	char *text = write(OUTPUT_TEXT, snapshot);

	(void)state;
	assert_non_null(strstr(text, "host b  CPU not measured: no kernel events of it"));
	assert_non_null(strstr(text, "/tmp/test"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	snapshot_destroy(snapshot);
}

static void selection_is_understood(void **state)
{
	struct output_select select;

	(void)state;
	assert_true(output_select_parse("host=a,pid=7,fd=4", &select));
	assert_string_equal(select.host, "a");
	assert_int_equal(select.pid, 7);
	assert_int_equal(select.fd, 4);
	assert_int_equal(select.tid, -1);
	assert_false(output_select_parse("", &select));
	assert_false(output_select_parse("pid", &select));
	assert_false(output_select_parse("pid=", &select));
	assert_false(output_select_parse("pid=x", &select));
	assert_false(output_select_parse("pid=-1", &select));
	assert_false(output_select_parse("cpus=1", &select));
	assert_false(output_select_parse("host=", &select));
}

static void selected(void **state)
{
	static const struct {
		const char *text;
		uint32_t hosts, cpus, threads, syscalls, fds, disks;
	} cases[] = {
			{"host=a", 1, 2, 2, 2, 2, 2}, {"host=b", 1, 0, 1, 0, 0, 0},
			{"cpu=1", 2, 1, 0, 0, 0, 0}, {"disk=sda", 2, 0, 0, 0, 0, 1},
			{"pid=7,host=a", 1, 0, 2, 1, 1, 0}, {"tid=99", 2, 0, 0, 0, 0, 0},
			{"tid=3", 2, 0, 1, 0, 0, 0}, /* of a pid namespace */
	};
	struct output_select select;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *snapshot = example();
		const struct state_view *view = &snapshot->state;

		assert_true(output_select_parse(cases[i].text, &select));
		assert_int_equal(output_select_apply(&select, snapshot), STATUS_OK);
		assert_int_equal(view->n_hosts, cases[i].hosts);
		assert_int_equal(view->n_cpus, cases[i].cpus);
		assert_int_equal(view->n_threads, cases[i].threads);
		assert_int_equal(view->n_syscalls, cases[i].syscalls);
		assert_int_equal(view->n_fds, cases[i].fds);
		assert_int_equal(view->n_disks, cases[i].disks);
		snapshot_destroy(snapshot);
	}
}

/* First the thread is asked for, then its fd; then there is no more to ask. */
static void one_is_looked_for(void **state)
{
	struct snapshot *snapshot = example();
	struct output_select select;
	struct focus focus = {0};

	(void)state;
	assert_true(output_select_parse("pid=7,fd=4,host=a", &select));
	assert_true(output_select_focus(&select, snapshot, &focus));
	assert_int_equal(focus.thread_id, 1);
	snapshot->state.n_fds = 1; /* of its process */
	assert_true(output_select_focus(&select, snapshot, &focus));
	assert_int_equal(focus.fd_id, 9);
	assert_false(output_select_focus(&select, snapshot, &focus));
	focus = (struct focus){0};
	assert_true(output_select_parse("pid=7", &select));
	assert_false(output_select_focus(&select, snapshot, &focus));
	snapshot_destroy(snapshot);
}

/* Of the lives of a number the open one is meant, else the last; whichever moved most bytes. */
static void the_open_one_is_looked_for(void **state)
{
	static const struct state_fd lives[] = {
			{.id = 9, .host = "a", .pid = 7, .fd = 4, .read_bytes = 8000},
			{.id = 12, .host = "a", .pid = 7, .fd = 4, .open = true},
			{.id = 11, .host = "a", .pid = 7, .fd = 4},
			{.id = 13, .host = "a", .pid = 7, .fd = 5, .open = true},
	};
	struct snapshot *snapshot = example();
	struct output_select select;
	struct focus focus = {.thread_id = 1};

	(void)state;
	snapshot->state.fds = lives;
	snapshot->state.n_fds = 4;
	assert_true(output_select_parse("pid=7,fd=4,host=a", &select));
	assert_true(output_select_focus(&select, snapshot, &focus));
	assert_int_equal(focus.fd_id, 12);
	snapshot->state.n_fds = 1;
	focus.fd_id = 0;
	assert_true(output_select_focus(&select, snapshot, &focus));
	assert_int_equal(focus.fd_id, 9);
	snapshot_destroy(snapshot);
}

/* Where there is no such fd, the events of its thread are not told in its stead. */
static void no_events_of_others(void **state)
{
	static const struct state_event event = {
			.host = "a", .name = "sched_switch", .values = "", .tid = 7};
	static const char *const parts[] = {"pid=7,fd=99,host=a", "tid=7,host=a"};
	struct output_select select;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct snapshot *snapshot = example();

		snapshot->state.events = &event;
		snapshot->state.n_events = 1;
		snapshot->focus.thread_id = 1;
		assert_true(output_select_parse(parts[i], &select));
		assert_int_equal(output_select_apply(&select, snapshot), STATUS_OK);
		assert_int_equal(snapshot->state.n_events, i);
		snapshot_destroy(snapshot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nothing_measured_is_null),
			cmocka_unit_test(bounded),
			cmocka_unit_test(as_text),
			cmocka_unit_test(selection_is_understood),
			cmocka_unit_test(selected),
			cmocka_unit_test(one_is_looked_for),
			cmocka_unit_test(the_open_one_is_looked_for),
			cmocka_unit_test(no_events_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
