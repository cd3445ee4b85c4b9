/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screens over the real analysis: of events made here, and of a recorded trace read by real
 * source processes.
 */
#include "support_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "feed.h"
#include "run/pipeline.h"

#define MS UINT64_C(1000000)
#define T0 (UINT64_C(1700000000) * 1000 * MS)

static struct snapshot *answer_engine(const struct focus *focus, void *context)
{
	struct feed *feed = context;
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, focus, snapshot), STATUS_OK);
	snapshot->progress = -1;
	snapshot->notice = "";
	return snapshot;
}

/* One call of `name` on a thread: entry and exit of a request, a step inside that takes most of it.
 */
struct call {
	uint32_t entry, exit, step_entry, step_exit;
	uint64_t thread;
};

static void feed_call(struct feed *feed, const struct call *call, uint64_t id, uint64_t at_ns,
		uint64_t step_ns)
{
	const union feed_value values[] = {{.u = id}, {.u = call->thread}};

	feed_event(feed, call->entry, at_ns, 0, values);
	feed_event(feed, call->step_entry, at_ns + 1 * MS, 0, values);
	feed_event(feed, call->step_exit, at_ns + 1 * MS + step_ns, 0, values);
	feed_event(feed, call->exit, at_ns + 2 * MS + step_ns, 0, values);
}

/* Two types of request, of which one has two latencies. */
static void feed_cloud(struct feed *feed)
{
	static const char fields[] = "request_id:u vtid:c";
	struct call create = {feed_type(feed, "app:create_entry", fields),
			feed_type(feed, "app:create_exit", fields),
			feed_type(feed, "app:lock_entry", fields),
			feed_type(feed, "app:lock_exit", fields), 11};
	struct call list = {feed_type(feed, "app:list_entry", fields),
			feed_type(feed, "app:list_exit", fields),
			feed_type(feed, "app:query_entry", fields),
			feed_type(feed, "app:query_exit", fields), 12};
	uint64_t i, at_ns = T0;

	for (i = 0; i < 120; i++) {
		feed_call(feed, &create, 1000 + i, at_ns,
				(i % 5 == 0 ? 30 : 8) * MS + i % 7 * MS / 8);
		at_ns += 45 * MS;
		feed_call(feed, &list, 5000 + i, at_ns, 3 * MS + i % 3 * MS / 10);
		at_ns += 20 * MS;
	}
	engine_advance(feed->engine, at_ns + 100 * MS);
}

static void made_events(void **state)
{
	struct bench bench;
	struct feed feed;

	(void)state;
	feed_start(&feed, NULL);
	feed_cloud(&feed);
	bench.answer = answer_engine;
	bench.context = &feed;
	bench_open(&bench, 24, 80, false, false);
	bench_type(&bench, "t");
	bench_golden(&bench, "engine-groups");
	bench_type(&bench, "Enter");
	bench_golden(&bench, "engine-group");
	bench_type(&bench, "3 w");
	bench_golden(&bench, "engine-tree");
	bench_type(&bench, "Enter");
	bench_golden(&bench, "engine-request");
	bench_type(&bench, "c");
	bench_golden(&bench, "engine-compare");
	bench_close(&bench);
	feed_stop(&feed);
}

static struct snapshot *answer_pipeline(const struct focus *focus, void *context)
{
	struct snapshot *snapshot = pipeline_answer(context, focus);

	assert_non_null(snapshot);
	/* What depends on the machine: how fast it was read, and from which folder. */
	snapshot->events_per_s = 0;
	return snapshot;
}

/* Reads a trace to its end. */
static struct pipeline *read_trace(const char *path)
{
	struct pipeline *pipeline = pipeline_create(0, false);
	char error[256];

	assert_non_null(pipeline);
	if (intake_attach(pipeline_intake(pipeline), path, error, sizeof(error)) != STATUS_OK) {
		fail_msg("%s", error);
	}
	while (!pipeline_ended(pipeline)) {
		if (!pipeline_step(pipeline)) {
			pipeline_wait(pipeline, clock_monotonic_ns() + 100 * MS, -1);
		}
	}
	return pipeline;
}

static void recorded_trace(void **state)
{
	const char *traces = getenv("PYTHIATOP_TRACES");
	struct pipeline *pipeline;
	struct bench bench;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/ust-ros2", traces ? traces : PT_TRACES_DIR);
	if (access(path, R_OK) != 0) {
		print_message("skipped: no trace at %s\n", path);
		skip();
	}
	pipeline = read_trace(path);
	bench.answer = answer_pipeline;
	bench.context = pipeline;
	bench_open(&bench, 30, 110, false, false);
	bench_type(&bench, "t");
	bench_golden(&bench, "trace-groups");
	bench_type(&bench, "3 A");
	bench_golden(&bench, "trace-tree");
	bench_type(&bench, "4");
	bench_golden(&bench, "trace-request");
	bench_close(&bench);
	pipeline_destroy(pipeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(made_events),
			cmocka_unit_test(recorded_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
