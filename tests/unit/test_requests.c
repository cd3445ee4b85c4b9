/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"

/*
 * The request engine through its front door: events in, groups, requests and accounting out.
 */
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)
#define T0 (UINT64_C(1700000000) * S)

static struct snapshot *look(struct feed *feed, uint64_t request)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = request};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* The row of a type; all zero if there is none. */
static struct groups_row row_of(const struct snapshot *snapshot, const char *type)
{
	uint32_t i;

	for (i = 0; i < snapshot->groups.n; i++) {
		if (strcmp(snapshot->groups.rows[i].type, type) == 0) {
			return snapshot->groups.rows[i];
		}
	}
	return (struct groups_row){.id = 0};
}

static uint64_t count_of(const struct snapshot *snapshot, const char *type)
{
	return row_of(snapshot, type).count;
}

static struct request_span span_of(const struct snapshot *snapshot, const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->request.n_spans; i++) {
		if (strcmp(snapshot->request.spans[i].name, name) == 0) {
			return snapshot->request.spans[i];
		}
	}
	fail_msg("the request has no span %s", name);
	return (struct request_span){.name = ""};
}

/* Groups know latencies to 0.8 %. */
static void assert_near(uint64_t ns, uint64_t expected)
{
	assert_in_range(ns, expected - expected / 100, expected + expected / 100);
}

static const char *parent_of(const struct snapshot *snapshot, const char *name)
{
	struct request_span span = span_of(snapshot, name);

	return span.parent == UINT32_MAX ? "" : snapshot->request.spans[span.parent].name;
}

static bool noted(struct feed *feed, const char *part)
{
	const struct schema *schema = engine_schema(feed->engine, true);
	uint32_t i;

	for (i = 0; i < schema->n_notes; i++) {
		if (strstr(schema->notes[i], part)) {
			return true;
		}
	}
	return false;
}

/* Two services, linked by messages; plain points inside. */
struct cloud {
	struct feed feed;
	uint32_t beta; /* stream of the other host */
	uint32_t create_entry, create_exit, call_entry, call_exit, serve_entry, serve_exit;
	uint32_t lock_entry, lock_exit, point;
};

static void cloud_start(struct cloud *cloud, const struct engine_config *config)
{
	struct feed *feed = &cloud->feed;

	feed_start(feed, config);
	cloud->beta = feed_stream(feed, "beta", "test");
	cloud->create_entry =
			feed_type(feed, "api:server_create_entry", "request_id:u vtid:c vpid:c");
	cloud->create_exit = feed_type(
			feed, "api:server_create_exit", "request_id:u status:i vtid:c vpid:c");
	cloud->call_entry =
			feed_type(feed, "rpc:call_entry", "request_id:u msg_id:u vtid:c vpid:c");
	cloud->call_exit = feed_type(feed, "rpc:call_exit", "request_id:u msg_id:u vtid:c vpid:c");
	cloud->serve_entry =
			feed_type(feed, "rpc:serve_entry", "request_id:u msg_id:u vtid:c vpid:c");
	cloud->serve_exit =
			feed_type(feed, "rpc:serve_exit", "request_id:u msg_id:u vtid:c vpid:c");
	cloud->lock_entry = feed_type(feed, "compute:lock_entry", "queue_len:u vtid:c vpid:c");
	cloud->lock_exit = feed_type(feed, "compute:lock_exit", "vtid:c vpid:c");
	cloud->point = feed_type(feed, "compute:point", "n:u vtid:c vpid:c");
}

#define V(...) ((union feed_value[]){__VA_ARGS__})

/* One request over two hosts; `skew` is how far the clock of beta is behind. */
static void cloud_request(struct cloud *cloud, uint64_t id, uint64_t t)
{
	struct feed *feed = &cloud->feed;

	feed_event(feed, cloud->create_entry, t, 0, V({.u = id}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud->call_entry, t + 1 * MS, 0,
			V({.u = id}, {.u = id + 1000}, {.u = 10}, {.u = 1}));
	feed_raw(feed, cloud->beta, cloud->serve_entry, t + 2 * MS, 0,
			V({.u = id}, {.u = id + 1000}, {.u = 20}, {.u = 2}));
	feed_raw(feed, cloud->beta, cloud->lock_entry, t + 3 * MS, 0,
			V({.u = 4}, {.u = 20}, {.u = 2}));
	feed_raw(feed, cloud->beta, cloud->point, t + 4 * MS, 0, V({.u = 1}, {.u = 20}, {.u = 2}));
	feed_raw(feed, cloud->beta, cloud->lock_exit, t + 5 * MS, 0, V({.u = 20}, {.u = 2}));
	feed_raw(feed, cloud->beta, cloud->serve_exit, t + 6 * MS, 0,
			V({.u = id}, {.u = id + 1000}, {.u = 20}, {.u = 2}));
	feed_event(feed, cloud->call_exit, t + 7 * MS, 0,
			V({.u = id}, {.u = id + 1000}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud->create_exit, t + 8 * MS, 0,
			V({.u = id}, {.i = 0}, {.u = 10}, {.u = 1}));
}

static void spans_across_hosts(void **state)
{
	struct cloud cloud;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	cloud_request(&cloud, 7, T0);
	snapshot = look(&cloud.feed, 0);
	assert_int_equal(snapshot->groups.n, 1);
	assert_string_equal(snapshot->groups.rows[0].type, "server create");
	assert_int_equal(snapshot->groups.rows[0].count, 1);
	assert_near(snapshot->groups.rows[0].max_ns, 8 * MS);
	assert_int_equal(snapshot->accounting.in_request, 9);
	assert_int_equal(snapshot->request.n_tracks, 2);
	assert_string_equal(parent_of(snapshot, "server_create"), "");
	assert_string_equal(parent_of(snapshot, "call"), "server_create");
	assert_string_equal(parent_of(snapshot, "serve"), "call");
	assert_string_equal(parent_of(snapshot, "lock"), "serve");
	assert_string_equal(parent_of(snapshot, "point"), "lock");
	assert_int_equal(span_of(snapshot, "lock").start_ns, 3 * MS);
	assert_int_equal(span_of(snapshot, "lock").duration_ns, 2 * MS);
	assert_int_equal(span_of(snapshot, "point").flags, REQUEST_SPAN_POINT);
	assert_false(snapshot->request.skewed);
	assert_int_equal(snapshot->request.n_events, 9);
	snapshot_destroy(snapshot);
	feed_stop(&cloud.feed);
}

/*
 * A caller sends two messages and waits for both; the spans that sent them end before anybody
 * receives them, and the receivers run at the same time: each is its sender's child, in any order.
 */
static void receivers_of_ended_senders(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	for (uint64_t id = 1; id <= 2; id++) {
		uint64_t t = T0 + id * 1000 * MS, order[2] = {id == 1 ? 51 : 52, id == 1 ? 52 : 51};

		feed_event(feed, cloud.create_entry, t, 0, V({.u = id}, {.u = 10}, {.u = 1}));
		for (uint64_t m = 51; m <= 52; m++) {
			feed_event(feed, cloud.call_entry, t + 1 * MS, 0,
					V({.u = id}, {.u = m}, {.u = 10}, {.u = 1}));
			feed_event(feed, cloud.call_exit, t + 1 * MS, 0,
					V({.u = id}, {.u = m}, {.u = 10}, {.u = 1}));
		}
		for (uint64_t i = 0; i < 2; i++) {
			feed_raw(feed, cloud.beta, cloud.serve_entry, t + (2 + i) * MS, 0,
					V({.u = id}, {.u = order[i]}, {.u = order[i]}, {.u = 2}));
		}
		for (uint64_t i = 0; i < 2; i++) {
			feed_raw(feed, cloud.beta, cloud.serve_exit, t + (5 + i) * MS, 0,
					V({.u = id}, {.u = order[i]}, {.u = order[i]}, {.u = 2}));
		}
		feed_event(feed, cloud.create_exit, t + 8 * MS, 0,
				V({.u = id}, {.i = 0}, {.u = 10}, {.u = 1}));
		snapshot = look(feed, 0);
		assert_int_equal(snapshot->groups.n, 1);
		assert_int_equal(count_of(snapshot, "server create"), id);
		for (uint32_t i = 0; i < snapshot->request.n_spans; i++) {
			const struct request_span *span = &snapshot->request.spans[i];

			if (strcmp(span->name, "serve") == 0) {
				assert_string_equal(
						snapshot->request.spans[span->parent].name, "call");
			}
		}
		snapshot_destroy(snapshot);
	}
	feed_stop(feed);
}

/* The callee's clock is 5 ms behind: it serves before it was called, even before the request. */
static void skew_is_reported_not_believed(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;
	uint64_t t = T0;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_raw(feed, cloud.beta, cloud.serve_entry, t - 3 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 20}, {.u = 2}));
	feed_event(feed, cloud.create_entry, t, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.call_entry, t + 1 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 10}, {.u = 1}));
	feed_raw(feed, cloud.beta, cloud.serve_exit, t + 2 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 20}, {.u = 2}));
	feed_event(feed, cloud.call_exit, t + 7 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, t + 8 * MS, 0,
			V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	snapshot = look(feed, 0);
	assert_int_equal(count_of(snapshot, "server create"), 1);
	assert_int_equal(snapshot->groups.n, 1);
	assert_near(snapshot->groups.rows[0].max_ns, 8 * MS);
	assert_string_equal(parent_of(snapshot, "serve"), "call");
	assert_true(snapshot->request.skewed);
	assert_int_equal(snapshot->request.skew_ns, 4 * MS);
	assert_true(span_of(snapshot, "serve").flags & REQUEST_SPAN_SKEWED);
	assert_int_equal(span_of(snapshot, "serve").start_ns, -3 * (int64_t)MS);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* What names the request 50 ms before it begins, by another host's clock, waits and joins it. */
static void skew_before_the_start(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	uint32_t sent;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	sent = feed_type(feed, "lb:sent", "request_id:u");
	feed_raw(feed, cloud.beta, sent, T0 - 50 * MS, 0, V({.u = 7}));
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 8 * MS, 0,
			V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	snapshot = look(feed, 0);
	assert_int_equal(snapshot->accounting.in_request, 3);
	assert_int_equal(snapshot->request.duration_ns, 8 * MS);
	assert_int_equal(span_of(snapshot, "sent").start_ns, -50 * (int64_t)MS);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* An inner span that carries the id neither restarts nor ends what the outer one opened. */
static void inner_spans_leave_the_thread_bound(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.call_entry, T0 + 1, 0,
			V({.u = 7}, {.u = 1007}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.call_exit, T0 + 2, 0, V({.u = 7}, {.u = 1007}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 3, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 4, 0, V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 5, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).in_request, 5);
	assert_int_equal(feed_accounting(feed).unmatched, 1);
	feed_stop(feed);
}

/* Many at once on one host each, ids interleaved: nobody gets another's events. */
static void concurrent_requests_stay_apart(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;
	uint64_t i;

	(void)state;
	cloud_start(&cloud, NULL);
	for (i = 0; i < 50; i++) {
		feed_event(feed, cloud.create_entry, T0 + i * MS, 0,
				V({.u = i}, {.u = 100 + i}, {.u = 1}));
	}
	for (i = 0; i < 50; i++) {
		feed_event(feed, cloud.point, T0 + 60 * MS, 0,
				V({.u = i}, {.u = 100 + i}, {.u = 1}));
	}
	for (i = 0; i < 50; i++) {
		feed_event(feed, cloud.create_exit, T0 + 100 * MS + i * MS, 0,
				V({.u = i}, {.i = 0}, {.u = 100 + i}, {.u = 1}));
	}
	snapshot = look(feed, 0);
	assert_int_equal(count_of(snapshot, "server create"), 50);
	assert_int_equal(snapshot->groups.rows[0].min_ns, snapshot->groups.rows[0].max_ns);
	assert_int_equal(snapshot->accounting.in_request, 150);
	assert_int_equal(snapshot->request.n_events, 3);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* The callee ends after its caller's root: the duration is the root's, the span is there. */
static void asynchronous_end_is_waited_for(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_raw(feed, cloud.beta, cloud.serve_entry, T0 + 1 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 20}, {.u = 2}));
	feed_event(feed, cloud.create_exit, T0 + 2 * MS, 0,
			V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).pending, 3);
	feed_raw(feed, cloud.beta, cloud.serve_exit, T0 + 50 * MS, 0,
			V({.u = 7}, {.u = 1007}, {.u = 20}, {.u = 2}));
	snapshot = look(feed, 0);
	assert_near(snapshot->groups.rows[0].max_ns, 2 * MS);
	assert_int_equal(span_of(snapshot, "serve").duration_ns, 49 * MS);
	assert_int_equal(snapshot->accounting.pending, 0);
	snapshot_destroy(snapshot);

	/* One that never ends holds its request up for 100 ms, no longer. */
	feed_event(feed, cloud.create_entry, T0 + 1000 * MS, 0, V({.u = 8}, {.u = 10}, {.u = 1}));
	feed_raw(feed, cloud.beta, cloud.serve_entry, T0 + 1001 * MS, 0,
			V({.u = 8}, {.u = 1008}, {.u = 20}, {.u = 2}));
	feed_event(feed, cloud.create_exit, T0 + 1002 * MS, 0,
			V({.u = 8}, {.i = 0}, {.u = 10}, {.u = 1}));
	engine_advance(feed->engine, T0 + 1101 * MS);
	assert_int_equal(feed_accounting(feed).pending, 3);
	engine_advance(feed->engine, T0 + 1102 * MS);
	assert_int_equal(feed_accounting(feed).pending, 0);
	snapshot = look(feed, 2);
	assert_int_equal(snapshot->request.state, REQUEST_COMPLETE);
	assert_true(span_of(snapshot, "serve").flags & REQUEST_SPAN_UNCLOSED);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

static void silence_times_out_and_the_end_truncates(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 5 * S, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	engine_advance(feed->engine, T0 + 35 * S - 1);
	assert_int_equal(feed_accounting(feed).pending, 2);
	engine_advance(feed->engine, T0 + 35 * S);
	assert_int_equal(feed_accounting(feed).in_request, 2);
	feed_event(feed, cloud.create_entry, T0 + 36 * S, 0, V({.u = 8}, {.u = 10}, {.u = 1}));
	engine_finish(feed->engine);
	assert_int_equal(feed_accounting(feed).in_request, 3);
	snapshot = look(feed, 1);
	assert_int_equal(snapshot->request.state, REQUEST_TIMEOUT);
	assert_int_equal(row_of(snapshot, "server create").partial, 2);
	assert_int_equal(row_of(snapshot, "server create").count, 0);
	snapshot_destroy(snapshot);
	snapshot = look(feed, 2);
	assert_int_equal(snapshot->request.state, REQUEST_TRUNCATED);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* One thread, two requests at once: what carries ids is right, the rest is not guessed. */
static void event_loop_with_ids(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 1}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 1 * MS, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_entry, T0 + 2 * MS, 0, V({.u = 2}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 3 * MS, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 10 * MS, 0,
			V({.u = 1}, {.i = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.point, T0 + 11 * MS, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 14 * MS, 0,
			V({.u = 2}, {.i = 0}, {.u = 10}, {.u = 1}));
	snapshot = look(feed, 0);
	assert_int_equal(count_of(snapshot, "server create"), 2);
	assert_near(snapshot->groups.rows[0].min_ns, 10 * MS);
	assert_near(snapshot->groups.rows[0].max_ns, 12 * MS);
	assert_int_equal(snapshot->accounting.unmatched, 1);
	assert_non_null(strstr(snapshot->unmatched.rows[0].why, "ambiguous"));
	assert_true(noted(feed, "event loop"));
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* The same without any id: thread-per-request comes back exactly, an event loop is reported. */
static void hidden_ids(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit, other_entry, other_exit, point;
	uint64_t i;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "web:handle_entry", "vtid:c");
	exit = feed_type(&feed, "web:handle_exit", "vtid:c");
	other_entry = feed_type(&feed, "web:poll_entry", "vtid:c");
	other_exit = feed_type(&feed, "web:poll_exit", "vtid:c");
	point = feed_type(&feed, "web:step", "vtid:c");
	for (i = 0; i < 20; i++) {
		feed_event(&feed, entry, T0 + i * 1000, 0, V({.u = 100 + i}));
	}
	for (i = 0; i < 20; i++) {
		feed_event(&feed, point, T0 + 50000, 0, V({.u = 100 + i}));
	}
	for (i = 0; i < 20; i++) {
		feed_event(&feed, exit, T0 + MS + i * 1000, 0, V({.u = 100 + i}));
	}
	snapshot = look(&feed, 0);
	assert_int_equal(count_of(snapshot, "handle"), 20);
	assert_near(snapshot->groups.rows[0].min_ns, MS);
	assert_near(snapshot->groups.rows[0].max_ns, MS);
	assert_int_equal(snapshot->accounting.in_request, 60);
	snapshot_destroy(snapshot);
	assert_false(noted(&feed, "ambiguous"));

	feed_event(&feed, entry, T0 + 2 * MS, 0, V({.u = 5}));
	feed_event(&feed, entry, T0 + 3 * MS, 0, V({.u = 5}));
	feed_event(&feed, exit, T0 + 4 * MS, 0, V({.u = 5}));
	feed_event(&feed, exit, T0 + 5 * MS, 0, V({.u = 5}));
	assert_true(noted(&feed, "web:handle_entry: 1 spans begin within one of their kind"));
	(void)other_entry;
	(void)other_exit;
	feed_stop(&feed);
}

/* Work handed to a pool: the second thread is bound by the id, and let go when its span ends. */
static void fan_out_to_a_pool(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;
	uint64_t i;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	for (i = 0; i < 3; i++) {
		feed_event(feed, cloud.serve_entry, T0 + (i + 1) * MS, 0,
				V({.u = 7}, {.u = 50 + i}, {.u = 20 + i}, {.u = 1}));
		feed_event(feed, cloud.point, T0 + (i + 1) * MS, 0,
				V({.u = i}, {.u = 20 + i}, {.u = 1}));
	}
	for (i = 0; i < 3; i++) {
		feed_event(feed, cloud.serve_exit, T0 + (i + 10) * MS, 0,
				V({.u = 7}, {.u = 50 + i}, {.u = 20 + i}, {.u = 1}));
		feed_event(feed, cloud.point, T0 + (i + 10) * MS, 0,
				V({.u = i}, {.u = 20 + i}, {.u = 1})); /* the thread is free */
	}
	feed_event(feed, cloud.create_exit, T0 + 20 * MS, 0,
			V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	snapshot = look(feed, 0);
	assert_int_equal(snapshot->accounting.in_request, 11);
	assert_int_equal(snapshot->accounting.unmatched, 3);
	assert_int_equal(snapshot->request.n_tracks, 4);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

static void pairing_survives_missing_ends(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_entry, T0, 0, V({.u = 7}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.lock_exit, T0 + 1 * MS, 0, V({.u = 10}, {.u = 1})); /* no entry */
	feed_event(feed, cloud.lock_entry, T0 + 2 * MS, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 4 * MS, 0,
			V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1})); /* the lock was never left */
	snapshot = look(feed, 0);
	assert_int_equal(snapshot->request.n_spans, 3);
	assert_int_equal(snapshot->request.spans[1].flags, REQUEST_SPAN_UNOPENED);
	assert_int_equal(snapshot->request.spans[2].flags, REQUEST_SPAN_UNCLOSED);
	assert_int_equal(snapshot->request.spans[2].duration_ns, 2 * MS);
	snapshot_destroy(snapshot);
	assert_true(noted(feed, "compute:lock_exit: 1 exits had no entry"));
	assert_true(noted(feed, "compute:lock_entry: 1 entries had no exit"));
	feed_stop(feed);
}

/* Exits whose request began before the trace: nothing to count them to. */
static void late_attach(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;

	(void)state;
	cloud_start(&cloud, NULL);
	feed_event(feed, cloud.create_exit, T0, 0, V({.u = 7}, {.i = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).pending, 1); /* its start may be late by skew */
	engine_advance(feed->engine, T0 + 100 * MS);
	assert_int_equal(feed_accounting(feed).unmatched, 1);
	/* A start that comes later than any skew is a request of its own. */
	feed_event(feed, cloud.create_exit, T0 + 200 * MS, 0,
			V({.u = 8}, {.i = 0}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_entry, T0 + 400 * MS, 0, V({.u = 8}, {.u = 10}, {.u = 1}));
	feed_event(feed, cloud.create_exit, T0 + 401 * MS, 0,
			V({.u = 8}, {.i = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).unmatched, 2);
	assert_int_equal(feed_accounting(feed).in_request, 2);
	feed_stop(feed);
}

static void loss_taints(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;
	const struct groups_row *row;

	(void)state;
	cloud_start(&cloud, NULL);
	cloud_request(&cloud, 1, T0);
	feed_event(feed, cloud.create_entry, T0 + 100 * MS, 0, V({.u = 2}, {.u = 10}, {.u = 1}));
	engine_lose(feed->engine, &(struct loss){.stream = feed->stream,
						  .begin_ns = T0 + 101 * MS,
						  .end_ns = T0 + 102 * MS,
						  .count = 3});
	feed_event(feed, cloud.create_exit, T0 + 105 * MS, 0,
			V({.u = 2}, {.i = 0}, {.u = 10}, {.u = 1}));
	/* Elsewhere, meanwhile: not tainted. */
	feed_raw(feed, cloud.beta, cloud.create_entry, T0 + 105 * MS, 0,
			V({.u = 3}, {.u = 30}, {.u = 2}));
	engine_lose(feed->engine, &(struct loss){.stream = feed->stream,
						  .begin_ns = T0 + 105 * MS,
						  .end_ns = T0 + 106 * MS,
						  .count = 3});
	feed_raw(feed, cloud.beta, cloud.create_exit, T0 + 107 * MS, 0,
			V({.u = 3}, {.i = 0}, {.u = 30}, {.u = 2}));
	snapshot = look(feed, 2);
	assert_true(snapshot->request.tainted);
	assert_int_equal(snapshot->discarded, 6);
	snapshot_destroy(snapshot);
	snapshot = look(feed, 3);
	assert_false(snapshot->request.tainted);
	row = &snapshot->groups.rows[0];
	assert_int_equal(row->count + snapshot->groups.rows[1].count, 2);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* The same event in two sessions of a host is one; the later one is the duplicate. */
static void two_sessions_are_not_counted_twice(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	uint32_t ours_session, ours, i;
	struct session_counts counts;

	(void)state;
	cloud_start(&cloud, NULL);
	ours_session = engine_add_session(feed->engine,
			&(struct session_desc){.host = "alpha", .name = "zz", .ours = true});
	ours = engine_add_stream(feed->engine, &(struct stream_desc){.session = ours_session,
							       .domain = DOMAIN_UST,
							       .channel = "explore"});
	for (i = 0; i < 10; i++) {
		uint64_t t = T0 + i * 10 * MS;

		feed_raw(feed, feed->stream, cloud.create_entry, t, 0,
				V({.u = i}, {.u = 10}, {.u = 1}));
		feed_raw(feed, ours, cloud.create_entry, t + 1, 0,
				V({.u = i}, {.u = 10}, {.u = 1}));
		feed_raw(feed, feed->stream, cloud.create_exit, t + MS, 0,
				V({.u = i}, {.i = 0}, {.u = 10}, {.u = 1}));
		feed_raw(feed, ours, cloud.create_exit, t + MS + 1, 0,
				V({.u = i}, {.i = 0}, {.u = 10}, {.u = 1}));
	}
	assert_int_equal(feed_accounting(feed).dropped, 20);
	assert_int_equal(feed_accounting(feed).in_request, 20);
	engine_session_counts(feed->engine, feed->session, &counts);
	assert_int_equal(counts.duplicates, 0);
	engine_session_counts(feed->engine, ours_session, &counts);
	assert_int_equal(counts.duplicates, 20);
	/* What only the other session has is no duplicate. */
	feed_event(feed, cloud.point, T0 + S, 0, V({.u = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).unmatched, 1);
	engine_end_session(feed->engine, ours_session);
	feed_raw(feed, feed->stream, cloud.create_entry, T0 + 2 * S, 0,
			V({.u = 99}, {.u = 10}, {.u = 1}));
	feed_raw(feed, feed->stream, cloud.create_exit, T0 + 2 * S + 1, 0,
			V({.u = 99}, {.i = 0}, {.u = 10}, {.u = 1}));
	assert_int_equal(feed_accounting(feed).in_request, 22);
	feed_stop(feed);
}

/*
 * Two sessions share tracepoints, and tell different events: other values, other threads, other
 * times, or one more of the same. None of these is a duplicate, whichever session comes first.
 */
static void what_differs_is_no_duplicate(void **state)
{
	for (uint32_t swapped = 0; swapped < 2; swapped++) {
		struct feed feed;
		uint32_t point, streams[2];

		(void)state;
		feed_start(&feed, NULL);
		streams[swapped] = feed.stream;
		streams[!swapped] = feed_stream(&feed, "alpha", "another");
		point = feed_type(&feed, "a:work", "size:u vtid:c vpid:c");
#define TELL(which, at, cpu, size, thread)                                                         \
	feed_raw(&feed, streams[which], point, T0 + (at), cpu,                                     \
			V({.u = (size)}, {.u = (thread)}, {.u = 1}))
		TELL(0, 0, 0, 1, 10);
		TELL(1, 100, 0, 2, 10);		 /* another value */
		TELL(1, 200, 0, 1, 11);		 /* another thread */
		TELL(0, 300, 0, 1, 10);		 /* told by the same session again */
		TELL(0, 20 * MS, 0, 3, 10);
		TELL(1, 40 * MS, 0, 3, 10);	 /* another time */
		assert_int_equal(feed_accounting(&feed).dropped, 0);
		/* The thread went on to another CPU between the two. */
		TELL(0, 50 * MS, 0, 4, 10);
		TELL(1, 50 * MS + 100, 1, 4, 10);
		assert_int_equal(feed_accounting(&feed).dropped, 1);
		/* Three times the same, each told by both; then once more by one of them. */
		for (uint32_t i = 0; i < 3; i++) {
			TELL(0, 60 * MS + 1000 * i, 0, 5, 10);
			TELL(1, 60 * MS + 1000 * i + 50, 0, 5, 10);
		}
		assert_int_equal(feed_accounting(&feed).dropped, 4);
		TELL(0, 61 * MS, 0, 5, 10);
#undef TELL
		assert_int_equal(feed_accounting(&feed).dropped, 4);
		feed_stop(&feed);
	}
}

/* Each session has contexts of its own: the tracepoint is the same for all that. */
static void copies_are_known_by_name(void **state)
{
	struct feed feed;
	uint32_t entry, exit, other_entry, other_exit, other, i;

	(void)state;
	feed_start(&feed, NULL);
	other = feed_stream(&feed, "alpha", "another");
	entry = feed_type(&feed, "a:work_entry", "request_id:u vtid:c");
	exit = feed_type(&feed, "a:work_exit", "request_id:u vtid:c");
	other_entry = feed_type(&feed, "a:work_entry", "request_id:u vtid:c procname:p");
	other_exit = feed_type(&feed, "a:work_exit", "request_id:u vtid:c procname:p");
	for (i = 0; i < 5; i++) {
		uint64_t t = T0 + i * MS;

		feed_event(&feed, entry, t, 0, V({.u = i}, {.u = 1}));
		feed_raw(&feed, other, other_entry, t + 1, 0, V({.u = i}, {.u = 1}, {.s = "x"}));
		feed_event(&feed, exit, t + 2, 0, V({.u = i}, {.u = 1}));
		feed_raw(&feed, other, other_exit, t + 3, 0, V({.u = i}, {.u = 1}, {.s = "x"}));
	}
	assert_int_equal(feed_accounting(&feed).dropped, 10);
	assert_int_equal(feed_accounting(&feed).in_request, 10);
	feed_stop(&feed);
}

/* Without the thread, ids still make requests; what has neither is told what it lacks. */
static void without_context(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t entry, exit, inner_entry, inner_exit, point;
	uint64_t i;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "a:work_entry", "request_id:u");
	exit = feed_type(&feed, "a:work_exit", "request_id:u");
	inner_entry = feed_type(&feed, "a:inner_entry", "request_id:u");
	inner_exit = feed_type(&feed, "a:inner_exit", "request_id:u");
	point = feed_type(&feed, "a:point", "n:u");
	for (i = 0; i < 10; i++) {
		feed_event(&feed, entry, T0 + i, 0, V({.u = i}));
		feed_event(&feed, inner_entry, T0 + i, 0, V({.u = i}));
		feed_event(&feed, point, T0 + i, 0, V({.u = i}));
	}
	for (i = 0; i < 10; i++) {
		feed_event(&feed, inner_exit, T0 + MS + i, 0, V({.u = i}));
	}
	for (i = 0; i < 10; i++) {
		feed_event(&feed, exit, T0 + 2 * MS + i, 0, V({.u = i}));
	}
	snapshot = look(&feed, 0);
	assert_int_equal(count_of(snapshot, "work"), 10);
	assert_int_equal(snapshot->request.duration_ns, 2 * MS);
	assert_int_equal(span_of(snapshot, "inner").duration_ns, MS);
	assert_int_equal(snapshot->accounting.unmatched, 10);
	assert_string_equal(snapshot->unmatched.rows[0].why,
			"thread not known: record the context vtid");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static void bounds_truncate_and_evict(void **state)
{
	struct cloud cloud;
	struct feed *feed = &cloud.feed;
	struct snapshot *snapshot;
	const struct engine_config config = {.max_open_requests = 4, .max_request_events = 5};
	uint64_t i;

	(void)state;
	cloud_start(&cloud, &config);
	for (i = 0; i < 6; i++) {
		feed_event(feed, cloud.create_entry, T0 + i, 0,
				V({.u = i}, {.u = 10 + i}, {.u = 1}));
	}
	assert_int_equal(feed_accounting(feed).pending, 4);
	assert_int_equal(feed_accounting(feed).in_request, 2); /* the oldest, as truncated */
	for (i = 0; i < 8; i++) {
		feed_event(feed, cloud.point, T0 + 10 + i, 0, V({.u = i}, {.u = 15}, {.u = 1}));
	}
	assert_int_equal(feed_accounting(feed).dropped, 4);
	feed_event(feed, cloud.create_exit, T0 + MS, 0, V({.u = 5}, {.i = 0}, {.u = 15}, {.u = 1}));
	snapshot = look(feed, 3);
	assert_int_equal(snapshot->request.state, REQUEST_TRUNCATED);
	assert_int_equal(snapshot->request.events_left_out, 4);
	assert_int_equal(snapshot->request.n_events, 6);
	assert_int_equal(snapshot->request.duration_ns, MS - 5);
	snapshot_destroy(snapshot);
	feed_stop(feed);
}

/* --- kernel ---------------------------------------------------------------------------------- */

static void bare_kernel_trace(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t sched, read_entry, read_exit, irq_entry, irq_exit, waking;

	(void)state;
	feed_start(&feed, NULL);
	feed_as_kernel(&feed);
	sched = feed_type(&feed, "sched_switch", "prev_comm:s prev_tid:u next_comm:s next_tid:u");
	read_entry = feed_type(&feed, "syscall_entry_read", "fd:u");
	read_exit = feed_type(&feed, "syscall_exit_read", "ret:i");
	irq_entry = feed_type(&feed, "irq_handler_entry", "irq:u name:s");
	irq_exit = feed_type(&feed, "irq_handler_exit", "irq:u ret:u");
	waking = feed_type(&feed, "sched_waking", "tid:u");

	feed_event(&feed, read_entry, T0, 0, V({.u = 3})); /* whose? not known yet */
	feed_event(&feed, sched, T0 + 1, 0,
			V({.s = "swapper/0"}, {.u = 0}, {.s = "cat"}, {.u = 42}));
	feed_event(&feed, read_entry, T0 + MS, 0, V({.u = 3}));
	feed_event(&feed, irq_entry, T0 + 2 * MS, 0, V({.u = 19}, {.s = "ahci"}));
	feed_event(&feed, waking, T0 + 2 * MS, 0, V({.u = 50}));
	feed_event(&feed, irq_exit, T0 + 3 * MS, 0, V({.u = 19}, {.u = 1}));
	feed_event(&feed, sched, T0 + 4 * MS, 0,
			V({.s = "cat"}, {.u = 42}, {.s = "swapper/0"}, {.u = 0}));
	/* It goes on where it left off, on the other CPU. */
	feed_event(&feed, sched, T0 + 5 * MS, 1,
			V({.s = "swapper/1"}, {.u = 0}, {.s = "cat"}, {.u = 42}));
	feed_event(&feed, read_exit, T0 + 6 * MS, 1, V({.i = 10}));
	snapshot = look(&feed, 2);
	assert_int_equal(count_of(snapshot, "syscall read"), 1);
	assert_near(row_of(snapshot, "syscall read").max_ns, 5 * MS);
	assert_int_equal(count_of(snapshot, "irq ahci"), 1);
	assert_near(row_of(snapshot, "irq ahci").max_ns, 1 * MS);
	assert_int_equal(snapshot->request.n_events, 3); /* entry, switch out, exit */
	assert_string_equal(snapshot->request.tracks[0].process, "cat");
	assert_int_equal(snapshot->request.tracks[0].tid, 42);
	assert_int_equal(snapshot->accounting.state_only, 2);
	assert_int_equal(snapshot->accounting.unmatched, 1);
	assert_string_equal(snapshot->unmatched.rows[0].why, "thread not known yet");
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

static void old_system_calls(void **state)
{
	struct feed feed;
	struct snapshot *snapshot;
	uint32_t open, exit, compat;

	(void)state;
	feed_start(&feed, NULL);
	open = feed_type(&feed, "sys_open", "filename:s tid:c");
	compat = feed_type(&feed, "compat_sys_close", "fd:u tid:c");
	exit = feed_type(&feed, "exit_syscall", "ret:i tid:c");
	feed_event(&feed, open, T0, 0, V({.s = "/etc/passwd"}, {.u = 42}));
	feed_event(&feed, exit, T0 + 100, 0, V({.i = 3}, {.u = 42}));
	feed_event(&feed, compat, T0 + 200, 0, V({.u = 3}, {.u = 42}));
	feed_event(&feed, exit, T0 + 250, 0, V({.i = 0}, {.u = 42}));
	snapshot = look(&feed, 0);
	assert_int_equal(count_of(snapshot, "syscall open"), 1);
	assert_int_equal(count_of(snapshot, "compat syscall close"), 1);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* --- what a schema expects ------------------------------------------------------------------- */

#define KEYS(...) ((const char *const[]){__VA_ARGS__})

/* One kind of work on a thread, with fields that may set requests apart. */
static void shop_start(struct feed *feed, const struct schema_expect *expect, uint32_t n_expect,
		uint32_t *entry, uint32_t *exit)
{
	const struct schema_namespace thread = {
			.name = "thr", .scope = SCHEMA_HOST, .join = true, .ttl_ns = 60 * S};
	const struct schema_bind enter = {
			.ns = "thr", .op = BIND_START, .n_keys = 1, .keys = KEYS("$tid")};
	const struct schema_bind leave = {
			.ns = "thr", .op = BIND_STOP, .n_keys = 1, .keys = KEYS("$tid")};
	const struct schema_event events[] = {
			{.match = "shop:buy_things_entry",
					.role = SPAN_ENTRY,
					.seed = true,
					.n_bind = 1,
					.bind = &enter},
			{.match = "shop:buy_things_exit",
					.role = SPAN_EXIT,
					.n_bind = 1,
					.bind = &leave},
	};
	const struct schema schema = {.n_namespaces = 1,
			.namespaces = &thread,
			.n_events = 2,
			.events = events,
			.n_expect = n_expect,
			.expect = expect};
	char error[256] = "";

	feed_start(feed, NULL);
	if (engine_add_schema(feed->engine, &schema, error, sizeof(error)) != STATUS_OK) {
		fail_msg("%s", error);
	}
	*entry = feed_type(feed, "shop:buy_things_entry", "image:s size:u vtid:c vpid:c");
	*exit = feed_type(feed, "shop:buy_things_exit", "vtid:c vpid:c");
}

static struct groups_row row_at(const struct snapshot *snapshot, const char *path)
{
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		if (strcmp(snapshot->groups.rows[i].path, path) == 0) {
			return snapshot->groups.rows[i];
		}
	}
	fail_msg("no group has the path \"%s\"", path);
	return (struct groups_row){.id = 0};
}

/* Requests of one type that differ in a field are groups of their own, with its objective. */
static void expected_groups(void **state)
{
	const struct schema_expect expect[] = {
			{.type = "*", .n_group_by = 1, .group_by = KEYS("size")},
			{.type = "buy_things",
					.p50_ns = 5 * MS,
					.n_group_by = 2,
					.group_by = KEYS("image", "colour")},
	};
	struct snapshot *snapshot;
	struct feed feed;
	uint32_t entry, exit;

	(void)state;
	shop_start(&feed, expect, 2, &entry, &exit);
	for (uint64_t i = 0; i < 90; i++) {
		uint64_t t = T0 + i * 100 * MS;
		bool large = i % 3 == 0;

		feed_event(&feed, entry, t, 0,
				V({.s = large ? "fedora" : "alpine"}, {.u = i}, {.u = 10},
						{.u = 1}));
		feed_event(&feed, exit, t + (large ? 40 : 4) * MS, 0, V({.u = 10}, {.u = 1}));
	}
	snapshot = look(&feed, 0);
	assert_int_equal(snapshot->groups.n, 2);
	assert_string_equal(snapshot->groups.rows[0].type, "buy things");
	assert_int_equal(row_at(snapshot, "shop image=alpine colour=-").count, 60);
	assert_near(row_at(snapshot, "shop image=alpine colour=-").p50_ns, 4 * MS);
	assert_int_equal(row_at(snapshot, "shop image=fedora colour=-").count, 30);
	assert_near(row_at(snapshot, "shop image=fedora colour=-").p50_ns, 40 * MS);
	assert_int_equal(row_at(snapshot, "shop image=fedora colour=-").objective_ns, 5 * MS);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* A field of a thousand values makes 64 groups and one for all others; nobody is left out. */
static void expected_groups_are_bounded(void **state)
{
	const struct schema_expect expect = {
			.type = "*", .n_group_by = 1, .group_by = KEYS("size")};
	struct snapshot *snapshot;
	struct feed feed;
	uint32_t entry, exit;

	(void)state;
	shop_start(&feed, &expect, 1, &entry, &exit);
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t t = T0 + i * MS;

		feed_event(&feed, entry, t, 0, V({.s = "x"}, {.u = i % 1000}, {.u = 10}, {.u = 1}));
		feed_event(&feed, exit, t + MS / 2, 0, V({.u = 10}, {.u = 1}));
	}
	snapshot = look(&feed, 0);
	assert_int_equal(snapshot->groups.n, 65);
	assert_int_equal(row_at(snapshot, "shop size=0").count, 2);
	assert_int_equal(row_at(snapshot, "shop size=63").count, 2);
	assert_int_equal(row_at(snapshot, "shop size=(other)").count, 2 * (1000 - 64));
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

struct told {
	uint32_t n, most;
	uint64_t last_ns, first_slots;
};

static bool take_told(void *context, const struct event *event)
{
	struct told *told = context;

	assert_true(event->ts_ns >= told->last_ns);
	told->last_ns = event->ts_ns;
	told->first_slots += event->slots[0];
	return ++told->n < told->most;
}

/* Whatever order they are asked for in, and however often: by time, each once, no others. */
static void events_of_some_requests(void **state)
{
	struct told told = {.most = 100};
	struct snapshot *snapshot;
	uint64_t ids[4], start;
	struct cloud cloud;

	(void)state;
	cloud_start(&cloud, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		cloud_request(&cloud, 100 * (i + 1), T0 + i * 20 * MS);
	}
	snapshot = look(&cloud.feed, 0);
	assert_int_equal(snapshot->group.n_requests, 3); /* newest first */
	ids[0] = ids[3] = snapshot->group.requests[0].id;
	ids[1] = 987654; /* not kept */
	ids[2] = snapshot->group.requests[2].id;
	start = snapshot->group.requests[0].start_ns;
	snapshot_destroy(snapshot);
	assert_int_equal(engine_dump_requests(cloud.feed.engine, ids, 4, take_told, &told),
			STATUS_OK);
	assert_int_equal(told.n, 2 * 9);
	/* Six of each name their request, the others are 4, 1 and a thread. */
	assert_int_equal(told.first_slots, 6 * 100 + 6 * 300 + 2 * (4 + 1 + 20));
	assert_int_equal(told.last_ns, start + 8 * MS);
	told = (struct told){.most = 3};
	assert_int_equal(engine_dump_requests(cloud.feed.engine, ids, 4, take_told, &told),
			STATUS_OK);
	assert_int_equal(told.n, 3);
	told = (struct told){.most = 3};
	assert_int_equal(engine_dump_requests(cloud.feed.engine, ids + 1, 1, take_told, &told),
			STATUS_OK);
	assert_int_equal(told.n, 0);
	feed_stop(&cloud.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(spans_across_hosts),
			cmocka_unit_test(receivers_of_ended_senders),
			cmocka_unit_test(events_of_some_requests),
			cmocka_unit_test(skew_is_reported_not_believed),
			cmocka_unit_test(skew_before_the_start),
			cmocka_unit_test(inner_spans_leave_the_thread_bound),
			cmocka_unit_test(concurrent_requests_stay_apart),
			cmocka_unit_test(asynchronous_end_is_waited_for),
			cmocka_unit_test(silence_times_out_and_the_end_truncates),
			cmocka_unit_test(event_loop_with_ids),
			cmocka_unit_test(hidden_ids),
			cmocka_unit_test(fan_out_to_a_pool),
			cmocka_unit_test(pairing_survives_missing_ends),
			cmocka_unit_test(late_attach),
			cmocka_unit_test(loss_taints),
			cmocka_unit_test(two_sessions_are_not_counted_twice),
			cmocka_unit_test(what_differs_is_no_duplicate),
			cmocka_unit_test(copies_are_known_by_name),
			cmocka_unit_test(without_context),
			cmocka_unit_test(bounds_truncate_and_evict),
			cmocka_unit_test(bare_kernel_trace),
			cmocka_unit_test(old_system_calls),
			cmocka_unit_test(expected_groups),
			cmocka_unit_test(expected_groups_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
