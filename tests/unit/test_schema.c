/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"
#include "requests/glob.h"
#include "requests/infer.h"

/*
 * Schemas: what inference makes of names and fields, which schemas are refused and with which
 * words, and what the operations of a given one do.
 */
#define MS     UINT64_C(1000000)
#define T0     UINT64_C(1700000000000000000)
#define V(...) ((union feed_value[]){__VA_ARGS__})

/* --- inference ------------------------------------------------------------------------------- */

struct expectation {
	const char *event, *other; /* other: also known */
	enum span_role role;
	const char *name;
	uint32_t n_pair;
};

static void names_tell_roles(void **state)
{
	static const struct expectation expectations[] = {
			{"app:work_entry", "app:work_exit", SPAN_ENTRY, "work", 0},
			{"app:work_exit", "app:work_entry", SPAN_EXIT, "work", 0},
			{"app:work_entry", "app:other_exit", SPAN_POINT, NULL, 0},
			{"app:work_exit", "app:other_entry", SPAN_POINT, NULL, 0},
			{"app:x_enter", "app:x_leave", SPAN_ENTRY, "x", 0},
			{"app:x_begin", "app:x_end", SPAN_ENTRY, "x", 0},
			{"app:x_end", "app:x_begin", SPAN_EXIT, "x", 0},
			{"app:x_start", "app:x_stop", SPAN_ENTRY, "x", 0},
			{"app:x_start", "app:x_done", SPAN_ENTRY, "x", 0},
			{"app:x_done", "app:x_start", SPAN_EXIT, "x", 0},
			{"app:x_end", "app:x_start", SPAN_EXIT, "x", 0},
			{"app:enter", "app:exit", SPAN_ENTRY, "app", 0},
			{"app:exit", "app:enter", SPAN_EXIT, "app", 0},
			{"app:begin", "app:end", SPAN_ENTRY, "app", 0},
			{"app:start", "app:stop", SPAN_ENTRY, "app", 0},
			{"syscall_entry_read", "syscall_exit_read", SPAN_ENTRY, "syscall_read", 0},
			{"syscall_exit_read", "syscall_entry_read", SPAN_EXIT, "syscall_read", 0},
			{"compat_syscall_entry_read", "compat_syscall_exit_read", SPAN_ENTRY,
					"compat_syscall_read", 0},
			{"syscall_entry_read", "compat_syscall_exit_read", SPAN_ENTRY,
					"syscall_read", 0},
			{"compat_syscall_exit_unknown", "syscall_entry_unknown", SPAN_EXIT,
					"syscall_unknown", 0},
			{"compat_syscall_entry_unknown", "compat_syscall_exit_unknown", SPAN_ENTRY,
					"syscall_unknown", 0},
			{"app:frame.begin", "app:frame.end", SPAN_ENTRY, "frame", 0},
			{"app:Frame_Enter", "app:Frame_Leave", SPAN_ENTRY, "Frame", 0},
			{"app:FRAME_END", "app:FRAME_BEGIN", SPAN_EXIT, "FRAME", 0},
			{"app:frameBegin", "app:frameEnd", SPAN_ENTRY, "frame", 0},
			{"app:XEnd", "app:XBegin", SPAN_EXIT, "X", 0},
			{"app:Begin", "app:End", SPAN_ENTRY, "app", 0},
			{"app:send", "app:sbegin", SPAN_POINT, NULL, 0},
			{"app:append", "app:appbegin", SPAN_POINT, NULL, 0},
			{"app:weekEND", "app:weekBEGIN", SPAN_POINT, NULL, 0},
			{"app:x_begin", "app:x_End", SPAN_POINT, NULL, 0},
			{"app:{x}_begin", "app:{x}_end", SPAN_ENTRY, "{{x}}", 0},
			{"sys_open", "exit_syscall", SPAN_ENTRY, "syscall_open", 0},
			{"compat_sys_open", "exit_syscall", SPAN_ENTRY, "compat_syscall_open", 0},
			{"exit_syscall", "sys_open", SPAN_EXIT, "*syscall_*", 0},
			{"irq_handler_entry", "irq_handler_exit", SPAN_ENTRY, "irq_{name}", 1},
			{"softirq_entry", "softirq_exit", SPAN_ENTRY,
					"softirq_{$softirq.vec}", 1},
			{"irq_softirq_exit", "irq_softirq_entry", SPAN_EXIT,
					"softirq_{$softirq.vec}", 1},
			{"x86_irq_vectors_local_timer_entry", "x86_irq_vectors_local_timer_exit",
					SPAN_ENTRY, "x86_irq_vectors_local_timer", 1},
			{"sched_switch", "sched_waking", SPAN_POINT, NULL, 0},
			{"lttng_statedump_start", "lttng_statedump_end", SPAN_POINT, NULL, 0},
			{"lttng_ust_statedump:start", "lttng_ust_statedump:end", SPAN_POINT, NULL,
					0},
			{"_entry", "_exit", SPAN_POINT, NULL, 0},
			{"", "_exit", SPAN_POINT, NULL, 0},
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *e = &expectations[i];
		const char *const known[] = {e->event, e->other};
		const struct infer_names names = {.names = known, .n = 2};
		const struct event_type type = {.name = e->event};
		struct arena arena = {.chunks = NULL};
		struct guess guess;

		assert_true(infer_role(&names, &type, &arena, &guess));
		if (guess.role != e->role ||
				strcmp(guess.name ? guess.name : "", e->name ? e->name : "") ||
				guess.n_pair != e->n_pair) {
			fail_msg("%s (with %s): role %d name %s pair %u", e->event, e->other,
					(int)guess.role, guess.name, guess.n_pair);
		}
		arena_release(&arena);
	}
}

static void fields_tell_requests(void **state)
{
	const struct field fields[] = {
			{.name = "id", .kind = FIELD_UINT},
			{.name = "header.trace_id", .kind = FIELD_STRING},
			{.name = "req_id", .kind = FIELD_UINT},
			{.name = "message_id", .kind = FIELD_INT},
			{.name = "request_id", .kind = FIELD_TREE},
	};
	struct event_type type = {.name = "x", .n_fields = 5, .fields = fields};

	(void)state;
	assert_int_equal(infer_request_field(&type), 2); /* a tree is no name */
	assert_int_equal(infer_message_field(&type), 3);
	assert_int_equal(infer_bare_id(&type), 0);
	type.n_fields = 2;
	assert_int_equal(infer_request_field(&type), 1);
	type.n_fields = 1;
	assert_int_equal(infer_request_field(&type), UINT32_MAX);
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

/* A bare `id` that only one thread ever uses is no request id; one that travels is. */
static void bare_id_must_travel(void **state)
{
	struct feed feed;
	uint32_t entry, exit;
	uint64_t i;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "a:work_entry", "id:u vtid:c");
	exit = feed_type(&feed, "a:work_exit", "id:u vtid:c");
	for (i = 0; i < 100; i++) {
		feed_event(&feed, entry, T0 + i * 10, 0, V({.u = i % 4}, {.u = 1 + i % 3}));
		feed_event(&feed, exit, T0 + i * 10 + 5, 0, V({.u = i % 4}, {.u = 1 + i % 3}));
	}
	assert_true(noted(&feed, "a:work_entry: field `id` is ambiguous"));
	assert_true(noted(&feed, "nothing names a request"));
	for (i = 0; i < 40; i++) {
		feed_event(&feed, entry, T0 + MS + i * 10, 0, V({.u = 1000 + i}, {.u = 1}));
		feed_event(&feed, entry, T0 + MS + i * 10 + 2, 0, V({.u = 1000 + i}, {.u = 2}));
		feed_event(&feed, exit, T0 + MS + i * 10 + 4, 0, V({.u = 1000 + i}, {.u = 2}));
		feed_event(&feed, exit, T0 + MS + i * 10 + 6, 0, V({.u = 1000 + i}, {.u = 1}));
	}
	assert_false(noted(&feed, "ambiguous"));
	assert_true(noted(&feed, "requests are named by request ids"));
	feed_stop(&feed);
}

static void inference_is_incremental_and_says_what_it_lacks(void **state)
{
	struct feed feed;
	uint32_t entry, exit;

	(void)state;
	feed_start(&feed, NULL);
	entry = feed_type(&feed, "a:work_entry", "request_id:u vtid:c");
	feed_event(&feed, entry, T0, 0, V({.u = 1}, {.u = 1}));
	assert_int_equal(feed_accounting(&feed).unmatched, 1);
	assert_true(noted(&feed, "a:work_entry: no a:work_exit is known: a point"));
	assert_true(noted(&feed, "a:work_entry carries a request id but is no pair"));
	exit = feed_type(&feed, "a:work_exit", "request_id:u vtid:c");
	feed_event(&feed, entry, T0 + 10, 0, V({.u = 2}, {.u = 1}));
	feed_event(&feed, exit, T0 + 20, 0, V({.u = 2}, {.u = 1}));
	assert_int_equal(feed_accounting(&feed).in_request, 2);
	assert_false(noted(&feed, "no a:work_exit"));
	feed_stop(&feed);
}

/* --- what is refused -------------------------------------------------------------------------- */

static const struct schema_namespace plain_namespaces[] = {
		{.name = "req", .scope = SCHEMA_GLOBAL, .ttl_ns = 30000 * MS, .join = true},
		{.name = "fd", .scope = SCHEMA_HOST, .ttl_ns = 30000 * MS, .join = true},
		{.name = "thr", .scope = SCHEMA_HOST, .ttl_ns = 30000 * MS, .join = true},
};
static const char *const key_request[] = {"request_id"};
static const char *const key_fd[] = {"fd"};
static const char *const key_tid[] = {"$tid"};

static void assert_refused(const struct schema *schema, const char *words)
{
	struct engine *engine = engine_create(NULL);
	char error[256] = "";

	assert_non_null(engine);
	assert_int_equal(engine_add_schema(engine, schema, error, sizeof(error)), STATUS_INVALID);
	if (!strstr(error, words)) {
		fail_msg("\"%s\" does not say \"%s\"", error, words);
	}
	engine_destroy(engine);
}

static void errors_say_what_and_where(void **state)
{
	const char *const bad_key[] = {"$foo"};
	struct schema_bind bind = {.ns = "nowhere", .n_keys = 1, .keys = key_fd};
	struct schema_event events[2] = {
			{.match = "a:b", .bind = &bind, .n_bind = 1, .line = 12}, {.match = ""}};
	struct schema_namespace namespaces[2] = {plain_namespaces[0], plain_namespaces[0]};
	struct schema schema = {.origin = "my.yaml",
			.n_namespaces = 3,
			.namespaces = plain_namespaces,
			.n_events = 1,
			.events = events};

	(void)state;
	assert_refused(&schema, "my.yaml:12: event \"a:b\" binds namespace \"nowhere\"");
	bind.ns = "fd";
	bind.keys = bad_key;
	assert_refused(&schema, "unknown key \"$foo\"");
	bind.keys = key_fd;
	bind.n_keys = 0;
	assert_refused(&schema, "needs 1 to 4 keys, not 0");
	bind.n_keys = 1;
	schema.n_events = 2;
	assert_refused(&schema, "an event has no `match`");
	events[1].match = "a:b";
	assert_refused(&schema, "event \"a:b\" is there twice (also at line 12)");
	events[1] = (struct schema_event){.match = "a:c", .seed = true};
	assert_refused(&schema, "is a seed but binds nothing");
	schema.n_events = 1;
	schema.n_namespaces = 2;
	schema.namespaces = namespaces;
	assert_refused(&schema, "namespace \"req\" is defined twice");
}

static void two_schemas_must_agree(void **state)
{
	struct schema_bind bind = {.ns = "fd", .n_keys = 1, .keys = key_fd};
	struct schema_event event = {.match = "a:b", .bind = &bind, .n_bind = 1, .line = 3};
	struct schema one = {.origin = "one.yaml",
			.n_namespaces = 3,
			.namespaces = plain_namespaces,
			.n_events = 1,
			.events = &event};
	struct schema two = one;
	struct schema_namespace other = {.name = "fd", .scope = SCHEMA_GLOBAL, .join = true};
	struct engine *engine = engine_create(NULL);
	char error[256];

	(void)state;
	two.origin = "two.yaml";
	assert_int_equal(engine_add_schema(engine, &one, error, sizeof(error)), STATUS_OK);
	assert_int_equal(engine_add_schema(engine, &two, error, sizeof(error)), STATUS_INVALID);
	assert_non_null(strstr(error, "one.yaml"));
	assert_non_null(strstr(error, "two.yaml"));
	two.applies_to = "a:*"; /* more specific: it wins */
	assert_int_equal(engine_add_schema(engine, &two, error, sizeof(error)), STATUS_OK);
	two.applies_to = "b:*";
	two.namespaces = &other;
	two.n_namespaces = 1;
	assert_int_equal(engine_add_schema(engine, &two, error, sizeof(error)), STATUS_INVALID);
	assert_non_null(strstr(error, "namespace \"fd\" differs"));
	engine_destroy(engine);
}

/* --- what operations do ------------------------------------------------------------------------
 */

#define BIND(name, operation, key)                                                                 \
	{                                                                                          \
		.ns = name, .op = operation, .n_keys = 1, .keys = key                              \
	}

/* Seeds by request id; connections hand work on; threads carry points. */
static void service_start(struct feed *feed, uint32_t *types)
{
	static const struct schema_bind begin[] = {
			BIND("req", BIND_START, key_request), BIND("thr", BIND_START, key_tid)};
	static const struct schema_bind end[] = {
			BIND("req", BIND_STOP, key_request), BIND("thr", BIND_STOP, key_tid)};
	static const struct schema_bind send[] = {
			BIND("thr", BIND_BASIC, key_tid), BIND("fd", BIND_START, key_fd)};
	static const struct schema_bind receive[] = {
			BIND("fd", BIND_STOP, key_fd), BIND("thr", BIND_SWITCH, key_tid)};
	static const struct schema_bind both[] = {
			BIND("req", BIND_BASIC, key_request), BIND("fd", BIND_BASIC, key_fd)};
	static const struct schema_bind step[] = {BIND("thr", BIND_BASIC, key_tid)};
	static const struct schema_event events[] = {
			{.match = "s:begin_entry",
					.role = SPAN_ENTRY,
					.seed = true,
					.bind = begin,
					.n_bind = 2},
			{.match = "s:begin_exit", .role = SPAN_EXIT, .bind = end, .n_bind = 2},
			{.match = "s:send", .bind = send, .n_bind = 2},
			{.match = "s:receive", .bind = receive, .n_bind = 2},
			{.match = "s:both", .bind = both, .n_bind = 2},
			{.match = "s:*", .bind = step, .n_bind = 1},
	};
	static const struct schema schema = {.origin = "service",
			.n_namespaces = 3,
			.namespaces = plain_namespaces,
			.n_events = 6,
			.events = events};
	char error[256] = "";

	feed_start(feed, NULL);
	if (engine_add_schema(feed->engine, &schema, error, sizeof(error)) != STATUS_OK) {
		fail_msg("%s", error);
	}
	types[0] = feed_type(feed, "s:begin_entry", "request_id:s vtid:c");
	types[1] = feed_type(feed, "s:begin_exit", "request_id:s vtid:c");
	types[2] = feed_type(feed, "s:send", "fd:u vtid:c");
	types[3] = feed_type(feed, "s:receive", "fd:u vtid:c");
	types[4] = feed_type(feed, "s:both", "request_id:s fd:u vtid:c");
	types[5] = feed_type(feed, "s:step", "n:u vtid:c");
}

static struct snapshot *look(struct feed *feed, uint64_t request)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = request};

	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* A request by its string id; work follows the connection to another thread, and points it. */
static void work_follows_a_connection(void **state)
{
	struct feed feed;
	uint32_t t[6];
	struct snapshot *snapshot;

	(void)state;
	service_start(&feed, t);
	feed_event(&feed, t[0], T0, 0, V({.s = "first-of-a-long-name-that-is-kept"}, {.u = 1}));
	feed_event(&feed, t[0], T0 + 1, 0, V({.s = "first-of-a-long-name-that-is-kepT"}, {.u = 2}));
	feed_event(&feed, t[2], T0 + 2, 0, V({.u = 9}, {.u = 1}));
	feed_event(&feed, t[3], T0 + 3, 0, V({.u = 9}, {.u = 5}));
	feed_event(&feed, t[5], T0 + 4, 0, V({.u = 0}, {.u = 5}));
	feed_event(&feed, t[5], T0 + 5, 0, V({.u = 0}, {.u = 2}));
	feed_event(&feed, t[1], T0 + 6, 0, V({.s = "first-of-a-long-name-that-is-kept"}, {.u = 1}));
	feed_event(&feed, t[1], T0 + 7, 0, V({.s = "first-of-a-long-name-that-is-kepT"}, {.u = 2}));
	assert_int_equal(feed_accounting(&feed).in_request, 8);
	snapshot = look(&feed, 1);
	assert_int_equal(snapshot->request.n_events, 5);
	assert_int_equal(snapshot->request.state, REQUEST_COMPLETE);
	snapshot_destroy(snapshot);
	snapshot = look(&feed, 2);
	assert_int_equal(snapshot->request.n_events, 3);
	snapshot_destroy(snapshot);
	/* The connection was closed: what comes on it now belongs to nothing. */
	feed_event(&feed, t[3], T0 + 10, 0, V({.u = 9}, {.u = 5}));
	engine_finish(feed.engine);
	assert_int_equal(feed_accounting(&feed).unmatched, 1);
	feed_stop(&feed);
}

static void conflicting_ids_are_merged_and_said_so(void **state)
{
	struct feed feed;
	uint32_t t[6];
	struct snapshot *snapshot;

	(void)state;
	service_start(&feed, t);
	feed_event(&feed, t[0], T0, 0, V({.s = "one"}, {.u = 1}));
	feed_event(&feed, t[0], T0 + 1, 0, V({.s = "two"}, {.u = 2}));
	feed_event(&feed, t[2], T0 + 2, 0, V({.u = 9}, {.u = 1}));
	feed_event(&feed, t[4], T0 + 3, 0, V({.s = "two"}, {.u = 9}, {.u = 2}));
	feed_event(&feed, t[1], T0 + 6, 0, V({.s = "one"}, {.u = 1}));
	feed_event(&feed, t[1], T0 + 7, 0, V({.s = "two"}, {.u = 2}));
	snapshot = look(&feed, 1);
	assert_int_equal(snapshot->request.state, REQUEST_MERGED);
	assert_int_equal(snapshot->request.n_events, 6);
	assert_int_equal(snapshot->groups.rows[0].count, 0);
	assert_int_equal(snapshot->groups.rows[0].partial, 1);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* A request id that begins anew while it is open: the first one is cut off, not prolonged. */
static void an_id_that_begins_anew(void **state)
{
	struct feed feed;
	uint32_t t[6];
	struct snapshot *snapshot;

	(void)state;
	service_start(&feed, t);
	feed_event(&feed, t[0], T0, 0, V({.s = "one"}, {.u = 1}));
	feed_event(&feed, t[0], T0 + 100, 0, V({.s = "one"}, {.u = 1}));
	feed_event(&feed, t[1], T0 + 300, 0, V({.s = "one"}, {.u = 1}));
	snapshot = look(&feed, 1);
	assert_int_equal(snapshot->request.state, REQUEST_TRUNCATED);
	snapshot_destroy(snapshot);
	snapshot = look(&feed, 2);
	assert_int_equal(snapshot->request.state, REQUEST_COMPLETE);
	assert_int_equal(snapshot->request.duration_ns, 200);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* A type no schema speaks of goes with its thread; it never makes or joins requests. */
static void enabling_a_point_changes_no_request(void **state)
{
	struct feed feed;
	uint32_t t[6], entry, exit;
	struct snapshot *snapshot;

	(void)state;
	service_start(&feed, t);
	entry = feed_type(&feed, "new:thing_entry", "request_id:s vtid:c");
	exit = feed_type(&feed, "new:thing_exit", "request_id:s vtid:c");
	feed_event(&feed, t[0], T0, 0, V({.s = "one"}, {.u = 1}));
	feed_event(&feed, entry, T0 + 1, 0, V({.s = "two"}, {.u = 1}));
	feed_event(&feed, exit, T0 + 2, 0, V({.s = "two"}, {.u = 1}));
	feed_event(&feed, entry, T0 + 3, 0, V({.s = "two"}, {.u = 7})); /* nothing there */
	feed_event(&feed, t[1], T0 + 4, 0, V({.s = "one"}, {.u = 1}));
	snapshot = look(&feed, 0);
	assert_int_equal(snapshot->groups.n, 1);
	assert_int_equal(snapshot->request.n_spans, 2);
	assert_string_equal(snapshot->request.spans[1].name, "thing");
	assert_int_equal(snapshot->accounting.unmatched, 1);
	snapshot_destroy(snapshot);
	feed_stop(&feed);
}

/* --- show, save, load ---------------------------------------------------------------------------
 */

static uint64_t replay(struct feed *feed, const uint32_t *types)
{
	uint64_t i, seed = 99;
	struct snapshot *snapshot;
	uint64_t sum = 0;
	uint32_t g;

	for (i = 0; i < 2000; i++) {
		uint64_t r;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		r = seed >> 33;
		feed_event(feed, types[r % 5], T0 + i * 1000, 0,
				V({.u = r / 8 % 6}, {.u = r / 64 % 4}));
	}
	engine_finish(feed->engine);
	snapshot = look(feed, 0);
	for (g = 0; g < snapshot->groups.n; g++) {
		const struct groups_row *row = &snapshot->groups.rows[g];

		sum = sum * 31 + row->count * 7 + row->partial * 3 + row->max_ns +
		      (uint64_t)row->type[0] + strlen(row->path);
	}
	sum = sum * 31 + snapshot->accounting.in_request;
	assert_true(snapshot->accounting.in_request > 500);
	snapshot_destroy(snapshot);
	return sum;
}

static void declare(struct feed *feed, uint32_t *types)
{
	types[0] = feed_type(feed, "a:one_entry", "request_id:u vtid:c");
	types[1] = feed_type(feed, "a:one_exit", "request_id:u vtid:c");
	types[2] = feed_type(feed, "b:two_begin", "request_id:u vtid:c");
	types[3] = feed_type(feed, "b:two_end", "request_id:u vtid:c");
	types[4] = feed_type(feed, "c:point", "x:u vtid:c");
}

static void what_is_shown_can_be_loaded(void **state)
{
	struct feed first, second;
	uint32_t types[5];
	uint64_t expected;
	char error[256] = "";

	(void)state;
	feed_start(&first, NULL);
	declare(&first, types);
	expected = replay(&first, types);
	feed_start(&second, NULL);
	if (engine_add_schema(second.engine, engine_schema(first.engine, true), error, sizeof(error)) !=
			STATUS_OK) {
		fail_msg("%s", error);
	}
	declare(&second, types);
	assert_int_equal(replay(&second, types), expected);
	assert_string_equal(engine_schema(second.engine, true)->origin, "inferred");
	feed_stop(&first);
	feed_stop(&second);
}

static void globs(void **state)
{
	(void)state;
	assert_true(glob_match("*", ""));
	assert_true(glob_match("a*c*e", "abcde"));
	assert_false(glob_match("a*c*e", "abcd"));
	assert_true(glob_match("nova:*", "nova:x"));
	assert_false(glob_match("nova:*", "no"));
	assert_true(glob_match("?b", "ab"));
	assert_false(glob_match("?b", "b"));
	assert_true(glob_match("*aab", "aaaaaab"));
	assert_true(glob_weight("a:b") > glob_weight("a:verylongname*"));
	assert_true(glob_weight("a:b*") > glob_weight("a:*"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(names_tell_roles),
			cmocka_unit_test(fields_tell_requests),
			cmocka_unit_test(bare_id_must_travel),
			cmocka_unit_test(inference_is_incremental_and_says_what_it_lacks),
			cmocka_unit_test(errors_say_what_and_where),
			cmocka_unit_test(two_schemas_must_agree),
			cmocka_unit_test(work_follows_a_connection),
			cmocka_unit_test(conflicting_ids_are_merged_and_said_so),
			cmocka_unit_test(an_id_that_begins_anew),
			cmocka_unit_test(enabling_a_point_changes_no_request),
			cmocka_unit_test(what_is_shown_can_be_loaded),
			cmocka_unit_test(globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
