/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What threads read and wrote, disks, interfaces and pages of the recorded kernel traces, beside
 * what lttng-analyses computed of them. Where the two differ, the test says which is right and why.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "trace_feed.h"

#define SECOND UINT64_C(1000000000)

static const char *folder(const char *variable, const char *otherwise)
{
	const char *path = getenv(variable);

	return path ? path : otherwise;
}

/* The whole trace in one window. */
static struct engine *read_trace(const char *name)
{
	struct engine *engine = engine_create(&(struct engine_config){.window_ns = 60 * SECOND});
	char path[PATH_MAX];

	assert_non_null(engine);
	snprintf(path, sizeof(path), "%s/%s", folder("PYTHIATOP_TRACES", PT_TRACES_DIR), name);
	trace_feed(engine, path);
	return engine;
}

static struct snapshot *state_of(struct engine *engine)
{
	struct focus focus = {.parts = FOCUS_STATE};
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static json_t *oracle(const char *trace, const char *analysis)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/../oracle/%s.%s_mi.json",
			folder("PYTHIATOP_TRACES", PT_TRACES_DIR), trace, analysis);
	return json_load_file(path, 0, NULL);
}

/* The rows of the table whose class or title contains a text. */
static json_t *table(json_t *document, const char *wanted)
{
	json_t *results = json_object_get(document, "results"), *result;
	size_t i;

	json_array_foreach(results, i, result)
	{
		json_t *class = json_object_get(result, "class");
		const char *title = json_is_string(class) ? json_string_value(class)
							  : json_string_value(json_object_get(
									    class, "title"));

		if (title && strstr(title, wanted)) {
			return json_object_get(result, "data");
		}
	}
	fail_msg("the reference has no table \"%s\"", wanted);
	return NULL;
}

static int64_t member(json_t *row, size_t column, const char *name)
{
	return json_integer_value(json_object_get(json_array_get(row, column), name));
}

static int64_t value(json_t *row, size_t column)
{
	return member(row, column, "value");
}

static const char *text_of(json_t *row, size_t column, const char *name)
{
	return json_string_value(json_object_get(json_array_get(row, column), name));
}

/* Those that look something up are not inlined: gcc 12 would warn of what they might return. */

/* --- by thread and by file ------------------------------------------------------------------- */

static __attribute__((noinline)) const struct state_thread *thread_of(
		const struct snapshot *snapshot, int64_t tid)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_threads; i++) {
		if (snapshot->state.threads[i].tid == tid) {
			return &snapshot->state.threads[i];
		}
	}
	fail_msg("thread %ld is in the reference only", (long)tid);
	return NULL;
}

/*
 * All bytes agree. Of the network's, the reference counts local sockets and those of netlink, too;
 * here they are those of IP sockets, which are never more.
 */
static void check_threads(
		const struct snapshot *snapshot, json_t *usage, const char *title, bool write)
{
	json_t *rows = table(usage, title), *row;
	size_t i;

	assert_int_equal(json_array_size(rows), 10);
	json_array_foreach(rows, i, row)
	{
		const struct state_thread *thread = thread_of(snapshot, member(row, 0, "tid"));

		assert_int_equal(write ? thread->write_bytes : thread->read_bytes, value(row, 1));
		assert_int_equal(thread->pid, member(row, 0, "pid"));
		assert_true((int64_t)(write ? thread->net_write_bytes : thread->net_read_bytes) <=
				value(row, 3));
	}
}

/* The reference tells paths as they were given; here relative ones are completed where they can. */
static bool is_path(const char *ours, const char *theirs)
{
	size_t n = strlen(ours), m = strlen(theirs);

	return strcmp(ours, theirs) == 0 || (theirs[0] != '/' && n > m && ours[n - m - 1] == '/' &&
							    strcmp(ours + n - m, theirs) == 0);
}

/* What the reference calls unknown are pipes and local sockets: it follows neither. */
static void check_files(const struct snapshot *snapshot, json_t *usage, const char *title,
		bool write, uint32_t least)
{
	json_t *rows = table(usage, title), *row;
	uint32_t n = 0, f;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *path = text_of(row, 0, "path");
		uint64_t bytes = 0;

		if (strncmp(path, "unknown (", 9) == 0 || strncmp(path, "socket (", 8) == 0) {
			continue;
		}
		for (f = 0; f < snapshot->state.n_fds; f++) {
			const struct state_fd *fd = &snapshot->state.fds[f];

			if (is_path(fd->path, path)) {
				bytes += write ? fd->write_bytes : fd->read_bytes;
			}
		}
		assert_int_equal(bytes, value(row, 1));
		n++;
	}
	assert_true(n >= least);
}

/* gzip writes into the pipe that make reads from: kinds that the reference does not know. */
static void check_pipe(const struct snapshot *snapshot)
{
	uint64_t written = 0;
	uint32_t i;

	for (i = 0; i < snapshot->state.n_fds; i++) {
		const struct state_fd *fd = &snapshot->state.fds[i];

		if (fd->pid == 13670 && fd->fd == 1 && fd->write_bytes > 0) {
			assert_int_equal(fd->kind, FD_PIPE);
			assert_int_equal(fd->confidence, FD_OBSERVED);
			written += fd->write_bytes;
		}
	}
	assert_int_equal(written, 184320);
}

/* --- disks ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) const struct state_disk *disk_of(
		const struct snapshot *snapshot, const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_disks; i++) {
		if (strcmp(snapshot->state.disks[i].name, name) == 0) {
			return &snapshot->state.disks[i];
		}
	}
	fail_msg("no disk %s", name);
	return NULL;
}

/* Requests go to the whole disk, whichever partition the reference names instead. */
static void check_disk(const struct snapshot *snapshot, json_t *usage, json_t *stats,
		const char *name, const char *there)
{
	const struct state_disk *disk = disk_of(snapshot, name);
	json_t *sectors = json_array_get(table(usage, "per-disk-top-sector"), 0);
	json_t *latency = json_array_get(table(stats, "disk-latency-stats"), 0);

	assert_string_equal(text_of(latency, 0, "name"), there);
	assert_int_equal(disk->read_bytes + disk->write_bytes, value(sectors, 1) * 512);
	assert_int_equal(disk->reads + disk->writes, value(latency, 1));
	assert_int_equal(disk->mean_ns, (uint64_t)json_number_value(json_object_get(
							json_array_get(latency, 3), "value")));
	assert_int_equal(disk->max_ns, value(latency, 4));
	assert_int_equal(disk->pending, 0);
	assert_int_equal(disk->errors, 0);
}

static void check_blocks(const struct snapshot *snapshot, json_t *usage, bool inserted)
{
	json_t *rows = table(usage, "block I/O operations [written]"), *row;
	uint64_t all = 0;
	uint32_t d, t;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const struct state_thread *thread = thread_of(snapshot, member(row, 0, "tid"));

		if (!inserted) {
			assert_int_equal(thread->disk_write_bytes, value(row, 1));
		} else if (strstr(text_of(row, 0, "name"), "H")) {
			/* kworker/0:1H empties queues: the reference gives it what others asked
			 * for, where who inserted a request is told. */
			assert_int_equal(thread->disk_write_bytes, 0);
		} else {
			assert_true((int64_t)thread->disk_write_bytes >= value(row, 1));
		}
	}
	for (t = 0; t < snapshot->state.n_threads; t++) {
		all += snapshot->state.threads[t].disk_write_bytes;
	}
	for (d = 0; d < snapshot->state.n_disks; d++) {
		all -= snapshot->state.disks[d].write_bytes;
	}
	assert_int_equal(all, 0);
}

/* --- interfaces and pages -------------------------------------------------------------------- */

static __attribute__((noinline)) const struct state_net *net_of(
		const struct snapshot *snapshot, const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_nets; i++) {
		if (strcmp(snapshot->state.nets[i].name, name) == 0) {
			return &snapshot->state.nets[i];
		}
	}
	fail_msg("no interface %s", name);
	return NULL;
}

/*
 * The reference counts events, one page each. An event is of 2^order pages: its 132 allocations of
 * order 1 to 3 are of 296 pages more, which is where the two differ. It leaves out what is freed
 * while it believes none to be taken.
 */
static void check_pages(const struct snapshot *snapshot, json_t *memory)
{
	json_t *rows = table(memory, "alloc"), *row;
	int64_t more = 0;
	size_t i;

	assert_int_equal(json_array_size(rows), 10);
	json_array_foreach(rows, i, row)
	{
		const struct state_thread *thread = thread_of(snapshot, member(row, 0, "tid"));

		assert_true((int64_t)thread->pages_allocated >= value(row, 1));
		more += (int64_t)thread->pages_allocated - value(row, 1);
	}
	assert_true(more <= 296);
	rows = table(memory, "freed");
	json_array_foreach(rows, i, row)
	{
		assert_true((int64_t)thread_of(snapshot, member(row, 0, "tid"))->pages_freed >=
				value(row, 1));
	}
}

/* --- the traces ------------------------------------------------------------------------------ */

static void check_trace(const char *name,
		void (*more)(const struct snapshot *snapshot, json_t *usage, json_t *stats))
{
	json_t *usage = oracle(name, "io.runusage"), *stats = oracle(name, "io.runstats");
	struct snapshot *snapshot;
	struct engine *engine;

	if (!usage || !stats) {
		print_message("skipped: no recorded traces with a reference beside them\n");
		skip();
	}
	engine = read_trace(name);
	snapshot = state_of(engine);
	check_threads(snapshot, usage, "top I/O operations [read]", false);
	check_threads(snapshot, usage, "top I/O operations [written]", true);
	more(snapshot, usage, stats);
	snapshot_destroy(snapshot);
	engine_destroy(engine);
	json_decref(usage);
	json_decref(stats);
}

static void more_of_4_4(const struct snapshot *snapshot, json_t *usage, json_t *stats)
{
	json_t *memory = oracle("kernel-4.4-basic", "memtop.run");

	check_files(snapshot, usage, "Per-file top I/O operations [read]", false, 10);
	check_files(snapshot, usage, "Per-file top I/O operations [written]", true, 9);
	check_pipe(snapshot);
	check_disk(snapshot, usage, stats, "vda", "vda1");
	check_blocks(snapshot, usage, false);
	assert_int_equal(net_of(snapshot, "ens3")->sent_bytes, 20256);
	assert_int_equal(net_of(snapshot, "ens3")->sent_packets, 170);
	assert_non_null(memory);
	check_pages(snapshot, memory);
	json_decref(memory);
}

static void more_of_6_2(const struct snapshot *snapshot, json_t *usage, json_t *stats)
{
	check_files(snapshot, usage, "Per-file top I/O operations [read]", false, 6);
	check_files(snapshot, usage, "Per-file top I/O operations [written]", true, 1);
	check_disk(snapshot, usage, stats, "sda", "sda");
	check_blocks(snapshot, usage, true);
	/* Of net_if_receive_skb and net_dev_queue the reference knows nothing: events counted by
	 * hand. */
	assert_int_equal(net_of(snapshot, "lo")->received_packets, 5);
	assert_int_equal(net_of(snapshot, "ens33")->received_packets, 15);
	assert_int_equal(net_of(snapshot, "lo")->sent_packets, 5);
	assert_int_equal(net_of(snapshot, "ens33")->sent_packets, 14);
	/* Of wget's 20,714 bytes from sockets 328 came over netlink and local ones. */
	assert_int_equal(thread_of(snapshot, 4349)->net_read_bytes, 20386);
}

static void trace_4_4(void **state)
{
	(void)state;
	check_trace("kernel-4.4-basic", more_of_4_4);
}

static void trace_6_2(void **state)
{
	(void)state;
	check_trace("kernel-6.2-2cpu", more_of_6_2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(trace_4_4),
			cmocka_unit_test(trace_6_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
