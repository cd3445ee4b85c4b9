/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/schema_file.h"
#include "feed.h"

/* The schemas that ship with the program: they load, and say what they should of real names. */
#define MS     UINT64_C(1000000)
#define T0     UINT64_C(1700000000000000000)
#define V(...) ((union feed_value[]){__VA_ARGS__})

typedef enum status taker(
		struct engine *engine, const struct schema *schema, char *error, size_t size);

static void start_by(struct feed *feed, const char *name, taker *take)
{
	char path[512], error[512] = "";
	struct schema_file *file;

	snprintf(path, sizeof(path), "%s/analysis/schemas/%s.yaml", PT_SOURCE_DIR, name);
	file = schema_file_read(path, error, sizeof(error));
	if (!file) {
		fail_msg("%s", error);
	}
	feed_start(feed, NULL);
	if (take(feed->engine, schema_file_schema(file), error, sizeof(error)) != STATUS_OK) {
		fail_msg("%s", error);
	}
	schema_file_destroy(file);
}

static void start_with(struct feed *feed, const char *name)
{
	start_by(feed, name, engine_add_schema);
}

static uint64_t count_of(const struct snapshot *snapshot, const char *type)
{
	uint32_t i;
	uint64_t count = 0;

	for (i = 0; i < snapshot->groups.n; i++) {
		if (strcmp(snapshot->groups.rows[i].type, type) == 0) {
			count += snapshot->groups.rows[i].count;
		}
	}
	return count;
}

static struct snapshot *look(struct feed *feed, uint64_t request)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = request};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static void kernel(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t sched, entry, exit, irq_entry, irq_exit, issue, complete, softirq_entry,
			softirq_exit, waking, i, disks = 0;

	(void)state;
	start_with(&feed, "lttng-kernel");
	feed_as_kernel(&feed);
	sched = feed_type(&feed, "sched_switch", "prev_comm:s prev_tid:u next_comm:s next_tid:u");
	entry = feed_type(&feed, "syscall_entry_fsync", "fd:u");
	exit = feed_type(&feed, "syscall_exit_fsync", "ret:i");
	irq_entry = feed_type(&feed, "irq_handler_entry", "irq:u name:s");
	irq_exit = feed_type(&feed, "irq_handler_exit", "irq:u ret:u");
	softirq_entry = feed_type(&feed, "irq_softirq_entry", "vec:u");
	softirq_exit = feed_type(&feed, "irq_softirq_exit", "vec:u");
	issue = feed_type(&feed, "block_rq_issue", "dev:u sector:u bytes:u");
	complete = feed_type(&feed, "block_rq_complete", "dev:u sector:u");
	waking = feed_type(&feed, "sched_waking", "tid:u");

	feed_event(&feed, sched, T0, 0, V({.s = "swapper/0"}, {.u = 0}, {.s = "db"}, {.u = 42}));
	feed_event(&feed, entry, T0 + MS, 0, V({.u = 3}));
	feed_event(&feed, issue, T0 + 2 * MS, 0, V({.u = 8}, {.u = 1000}, {.u = 4096}));
	feed_event(&feed, issue, T0 + 3 * MS, 0, V({.u = 8}, {.u = 2000}, {.u = 4096}));
	/* They end in the order the disk likes, on whatever CPU. */
	feed_event(&feed, irq_entry, T0 + 4 * MS, 0, V({.u = 19}, {.s = "ahci"}));
	feed_event(&feed, complete, T0 + 4 * MS, 0, V({.u = 8}, {.u = 1000}));
	feed_event(&feed, irq_exit, T0 + 5 * MS, 0, V({.u = 19}, {.u = 1}));
	feed_event(&feed, softirq_entry, T0 + 5 * MS, 0, V({.u = 4}));
	feed_event(&feed, complete, T0 + 6 * MS, 0, V({.u = 8}, {.u = 2000}));
	feed_event(&feed, waking, T0 + 6 * MS, 0, V({.u = 42}));
	feed_event(&feed, softirq_exit, T0 + 6 * MS, 0, V({.u = 4}));
	feed_event(&feed, exit, T0 + 7 * MS, 0, V({.i = 0}));
	engine_finish(feed.engine);
	snapshot = look(&feed, 3);
	assert_int_equal(count_of(snapshot, "syscall fsync"), 1);
	assert_int_equal(count_of(snapshot, "irq ahci"), 1);
	assert_int_equal(count_of(snapshot, "softirq block"), 1);
	assert_string_equal(snapshot->request.type, "syscall fsync");
	assert_int_equal(snapshot->request.duration_ns, 6 * MS);
	for (i = 0; i < snapshot->request.n_spans; i++) {
		if (strcmp(snapshot->request.spans[i].name, "disk") == 0) {
			assert_int_equal(snapshot->request.spans[i].duration_ns,
					disks ? 3 * MS : 2 * MS);
			assert_int_equal(snapshot->request.spans[i].parent, 0);
			disks++;
		}
	}
	assert_int_equal(disks, 2);
	assert_int_equal(snapshot->accounting.unmatched, 0);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static uint64_t partial_of(const struct snapshot *snapshot, const char *type)
{
	uint64_t partial = 0;
	uint32_t i;

	for (i = 0; i < snapshot->groups.n; i++) {
		if (strcmp(snapshot->groups.rows[i].type, type) == 0) {
			partial += snapshot->groups.rows[i].partial;
		}
	}
	return partial;
}

/*
 * A system call whose exit is lost ends, cut off, with the next one of its thread, and does not
 * take that in; exit() ends with its thread. Nothing of either stays open.
 */
static void calls_that_do_not_return(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t sched, poll, read, read_exit, exit, gone;

	(void)state;
	start_with(&feed, "lttng-kernel");
	feed_as_kernel(&feed);
	sched = feed_type(&feed, "sched_switch",
			"prev_comm:s prev_tid:u prev_state:u next_comm:s next_tid:u");
	poll = feed_type(&feed, "syscall_entry_poll", "fds:u");
	read = feed_type(&feed, "syscall_entry_read", "fd:u");
	read_exit = feed_type(&feed, "syscall_exit_read", "ret:i");
	exit = feed_type(&feed, "syscall_entry_exit", "error_code:i");
	gone = feed_type(&feed, "sched_process_free", "comm:s tid:u");

	feed_event(&feed, sched, T0, 0,
			V({.s = "swapper/0"}, {.u = 0}, {.u = 0}, {.s = "db"}, {.u = 42}));
	feed_event(&feed, poll, T0 + MS, 0, V({.u = 3}));
	feed_event(&feed, read, T0 + 5 * MS, 0, V({.u = 3}));
	feed_event(&feed, read_exit, T0 + 7 * MS, 0, V({.i = 1}));
	feed_event(&feed, exit, T0 + 8 * MS, 0, V({.i = 0}));
	snapshot = look(&feed, 2);
	assert_int_equal(partial_of(snapshot, "syscall poll"), 1);
	assert_int_equal(count_of(snapshot, "syscall read"), 1);
	assert_string_equal(snapshot->request.type, "syscall read");
	assert_int_equal(snapshot->request.duration_ns, 2 * MS);
	assert_int_equal(snapshot->accounting.pending, 1);
	snapshot_destroy(snapshot);

	feed_event(&feed, sched, T0 + 9 * MS, 0,
			V({.s = "db"}, {.u = 42}, {.u = 0x20}, {.s = "swapper/0"}, {.u = 0}));
	feed_event(&feed, gone, T0 + 10 * MS, 0, V({.s = "db"}, {.u = 42}));
	snapshot = look(&feed, 0);
	assert_int_equal(partial_of(snapshot, "syscall exit"), 1);
	assert_int_equal(snapshot->accounting.pending, 0);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static void ros2(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t start, end, publish, write, i;

	(void)state;
	start_with(&feed, "ros2");
	start = feed_type(&feed, "ros2:callback_start",
			"callback:x is_intra_process:u vtid:c procname:p");
	end = feed_type(&feed, "ros2:callback_end", "callback:x vtid:c procname:p");
	publish = feed_type(&feed, "ros2:rclcpp_publish", "message:x vtid:c procname:p");
	write = feed_type(&feed, "dds:write", "writer:x vtid:c procname:p");
	for (i = 0; i < 3; i++) {
		uint64_t t = T0 + i * 10 * MS;

		feed_event(&feed, start, t, 0,
				V({.u = 0xa0 + i / 2}, {.u = 0}, {.u = 7}, {.s = "sink"}));
		feed_event(&feed, publish, t + MS, 0, V({.u = 1}, {.u = 7}, {.s = "sink"}));
		feed_event(&feed, write, t + MS, 0, V({.u = 2}, {.u = 7}, {.s = "sink"}));
		feed_event(&feed, end, t + 2 * MS, 0,
				V({.u = 0xa0 + i / 2}, {.u = 7}, {.s = "sink"}));
	}
	snapshot = look(&feed, 1);
	assert_int_equal(count_of(snapshot, "callback sink 0xa0"), 2);
	assert_int_equal(count_of(snapshot, "callback sink 0xa1"), 1);
	assert_int_equal(snapshot->request.n_events, 4);
	assert_string_equal(snapshot->request.tracks[0].process, "sink");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* A callback on thread `tid` of a host that takes a message (0: none) and sends one (0: none). */
struct ros2_types {
	uint32_t start, end, take, write;
};

static void callback(struct feed *feed, const struct ros2_types *types, uint32_t stream,
		uint64_t ts_ns, uint64_t tid, const char *process, uint64_t takes, uint64_t sends)
{
	if (takes) {
		feed_raw(feed, stream, types->take, ts_ns - MS / 2, 0,
				V({.u = takes}, {.u = tid}, {.s = process}));
	}
	feed_raw(feed, stream, types->start, ts_ns, 0,
			V({.u = 0xa0 + tid}, {.u = 0}, {.u = tid}, {.s = process}));
	if (sends) {
		feed_raw(feed, stream, types->write, ts_ns + MS, 0,
				V({.u = sends}, {.u = tid}, {.s = process}));
	}
	feed_raw(feed, stream, types->end, ts_ns + 2 * MS, 0,
			V({.u = 0xa0 + tid}, {.u = tid}, {.s = process}));
}

/*
 * A chain across hosts, a fan-out to two, and the end of each: with the last callback. What is
 * taken later than messages are waited for begins a request of its own.
 */
static void ros2_chains(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	struct ros2_types types;
	uint32_t other;

	(void)state;
	start_with(&feed, "ros2");
	types.start = feed_type(&feed, "ros2:callback_start",
			"callback:x is_intra_process:u vtid:c procname:p");
	types.end = feed_type(&feed, "ros2:callback_end", "callback:x vtid:c procname:p");
	types.take = feed_type(&feed, "ros2:rmw_take", "source_timestamp:i vtid:c procname:p");
	types.write = feed_type(&feed, "dds:write", "timestamp:i vtid:c procname:p");
	other = feed_stream(&feed, "beta", "test");
	callback(&feed, &types, feed.stream, T0, 7, "source", 0, 1001);
	callback(&feed, &types, other, T0 + 10 * MS, 8, "middle", 1001, 1002);
	callback(&feed, &types, feed.stream, T0 + 20 * MS, 7, "source", 0, 0);
	callback(&feed, &types, feed.stream, T0 + 30 * MS, 9, "left", 1002, 0);
	callback(&feed, &types, other, T0 + 60 * MS, 10, "right", 1002, 1003);
	callback(&feed, &types, feed.stream, T0 + 300 * MS, 11, "late", 1003, 0);
	engine_finish(feed.engine);
	feed_accounting(&feed);

	snapshot = look(&feed, 2);
	assert_string_equal(snapshot->request.type, "callback source 0xa7");
	assert_int_equal(snapshot->request.duration_ns, 62 * MS);
	assert_int_equal(snapshot->request.state, REQUEST_COMPLETE);
	assert_int_equal(count_of(snapshot, "callback source 0xa7"), 2);
	assert_int_equal(count_of(snapshot, "callback late 0xab"), 1);
	assert_int_equal(snapshot->groups.n, 3);
	for (uint32_t i = 0, n = 0; i < snapshot->request.n_spans; i++) {
		static const char *const names[] = {"callback_source_0xa7", "callback_middle_0xa8",
				"callback_left_0xa9", "callback_right_0xaa"};
		static const uint32_t depths[] = {0, 1, 2, 2};
		const struct request_span *span = &snapshot->request.spans[i];

		if (!(span->flags & REQUEST_SPAN_POINT)) {
			assert_in_range(n, 0, 3);
			assert_string_equal(span->name, names[n]);
			assert_int_equal(span->depth, depths[n]);
			n++;
		}
	}
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static bool is_chosen(struct feed *feed)
{
	const struct schema *schema = engine_schema(feed->engine, true);
	bool noted = false;

	for (uint32_t i = 0; i < schema->n_notes; i++) {
		noted |= strstr(schema->notes[i], "chosen by itself since there are events "
						  "ros2:callback_start") != NULL;
	}
	return noted && strstr(schema->origin, "ros2.yaml");
}

/* In force by itself where its events are, with what it needs; not where a person says otherwise.
 */
static void chosen_by_itself(void **state)
{
	static const char *const fields[] = {"callback:x vtid:c procname:p", "callback:x vtid:c"};
	struct feed feed;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		start_by(&feed, "ros2", engine_offer_schema);
		feed_type(&feed, "app:work_entry", "vtid:c");
		feed_type(&feed, "app:work_exit", "vtid:c");
		assert_false(is_chosen(&feed));
		feed_type(&feed, "ros2:callback_start", fields[i]);
		assert_int_equal(is_chosen(&feed), i == 0);
		feed_stop(&feed);
	}
	start_by(&feed, "ros2", engine_offer_schema);
	assert_int_equal(engine_set_request(feed.engine, "*", "work"), STATUS_OK);
	feed_type(&feed, "ros2:callback_start", fields[0]);
	assert_false(is_chosen(&feed));
	feed_stop(&feed);
	/* One that does not say `when` is never chosen. */
	start_by(&feed, "lttng-kernel", engine_offer_schema);
	feed_type(&feed, "syscall_entry_read", "fd:u");
	assert_string_equal(engine_schema(feed.engine, true)->origin, "inferred");
	feed_stop(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(kernel),
			cmocka_unit_test(calls_that_do_not_return),
			cmocka_unit_test(ros2),
			cmocka_unit_test(ros2_chains),
			cmocka_unit_test(chosen_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
