/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key-values of requests: which there are, under which names, with which values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "feed.h"
#include "lab.h"
#include "requests/keys.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define T0 UINT64_C(1700000000000000000)

#define V(...) ((union feed_value[]){__VA_ARGS__})

struct bench {
	struct lab lab;
	uint32_t alpha, beta, kernel; /* streams */
	uint32_t n_fields[64];
	bool is_string[64][16];
	bool after; /* is told, in ms, instead of values */
	char said[8192];
	size_t n_said;
};

static void say(struct bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct bench *bench, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(bench->said + bench->n_said, sizeof(bench->said) - bench->n_said, format,
			arguments);
	va_end(arguments);
	bench->n_said += (size_t)length;
	assert_true(bench->n_said < sizeof(bench->said));
}

/* A line a key: source, where, context, field and value. */
static void tell(void *context, struct request *request)
{
	struct bench *bench = context;
	struct lab *lab = &bench->lab;
	struct request_keys keys;

	assert_true(requests_read_keys(lab->requests, request, &keys));
	say(bench, "%s:\n", names_text(lab->names, request->type));
	for (uint32_t i = 0; i < keys.n; i++) {
		const struct request_key *key = &keys.items[i];
		const struct context *at = contexts_get(lab->contexts, key->context);
		const struct context *above = contexts_get(lab->contexts, at->parent);

		say(bench, "%d %s/%s.%s = ", key->source, names_text(lab->names, above->name),
				names_text(lab->names, at->name),
				names_text(lab->names, key->name));
		if (bench->after) {
			say(bench, "after %.1f ms\n", (double)key->after_ns / MS);
		} else if (key->numeric) {
			say(bench, "%.17g\n", key->number);
		} else {
			say(bench, "'%.*s'\n", (int)key->length, key->text);
		}
	}
}

static void bench_start(struct bench *bench)
{
	uint32_t session;

	memset(bench, 0, sizeof(*bench));
	lab_start(&bench->lab, tell, bench);
	session = lab_add_session(
			&bench->lab, &(struct session_desc){.host = "alpha", .name = "test"});
	bench->alpha = lab_add_stream(&bench->lab,
			&(struct stream_desc){.session = session, .domain = DOMAIN_UST});
	bench->kernel = lab_add_stream(&bench->lab,
			&(struct stream_desc){.session = session, .domain = DOMAIN_KERNEL});
	session = lab_add_session(
			&bench->lab, &(struct session_desc){.host = "beta", .name = "test"});
	bench->beta = lab_add_stream(&bench->lab,
			&(struct stream_desc){.session = session, .domain = DOMAIN_UST});
}

static uint32_t type(struct bench *bench, const char *name, const char *text)
{
	struct field fields[16];
	char copy[512];
	struct event_type made = {.name = name, .fields = fields};
	uint32_t id;

	snprintf(copy, sizeof(copy), "%s", text);
	made.n_fields = feed_fields(copy, fields);
	id = lab_add_type(&bench->lab, &made);
	assert_true(id < 64);
	bench->n_fields[id] = made.n_fields;
	for (uint32_t i = 0; i < made.n_fields; i++) {
		bench->is_string[id][i] = fields[i].kind == FIELD_STRING;
	}
	return id;
}

static void feed(struct bench *bench, uint32_t stream, uint32_t id, uint64_t ts_ns,
		const union feed_value *values)
{
	uint64_t slots[FEED_SLOTS];
	uint32_t bytes = feed_slots(slots, bench->n_fields[id], bench->is_string[id], values);

	lab_feed(&bench->lab, &(struct event){.ts_ns = ts_ns,
					      .type = id,
					      .stream = stream,
					      .cpu = 0,
					      .bytes = bytes,
					      .slots = slots});
}

static void bench_stop(struct bench *bench, const char *expected)
{
	requests_finish(bench->lab.requests);
	assert_string_equal(bench->said, expected);
	lab_stop(&bench->lab);
}

/* A server is created; the work is handed to a thread of another host, which asks a database. */
struct cloud {
	struct bench bench;
	uint32_t begin, end, call, back, serve, served, query, queried, cache;
};

static void cloud_types(struct cloud *cloud)
{
	struct bench *bench = &cloud->bench;

	cloud->begin = type(bench, "api:create_entry",
			"request_id:u image:s flags:x mode:e parts:t vtid:c");
	cloud->end = type(bench, "api:create_exit", "request_id:u status:i vtid:c");
	cloud->call = type(bench, "api:call_build_entry", "request_id:u msg_id:u peer:s vtid:c");
	cloud->back = type(bench, "api:call_build_exit", "request_id:u msg_id:u vtid:c");
	cloud->serve = type(bench, "compute:serve_build_entry",
			"request_id:u msg_id:u queue_len:u vtid:c");
	cloud->served = type(bench, "compute:serve_build_exit",
			"request_id:u msg_id:u queue_len:u vtid:c");
	cloud->query = type(bench, "compute:query_entry", "rows:i table:s tries:u vtid:c");
	cloud->queried = type(bench, "compute:query_exit", "rows:i vtid:c");
	cloud->cache = type(bench, "compute:cache_seen", "ratio:d hit:e vtid:c");
}

/* A query of table `table` that takes that long and finds so many rows. */
static void query(struct cloud *cloud, uint64_t ts_ns, uint64_t ns, const char *table, int64_t rows)
{
	struct bench *bench = &cloud->bench;

	feed(bench, bench->beta, cloud->query, ts_ns,
			V({.i = -1}, {.s = table}, {.u = 1}, {.u = 9}));
	feed(bench, bench->beta, cloud->queried, ts_ns + ns, V({.i = rows}, {.u = 9}));
}

static void create(struct cloud *cloud, uint64_t id, uint64_t t, uint64_t mode, double ratio)
{
	struct bench *bench = &cloud->bench;
	uint32_t a = bench->alpha, b = bench->beta;

	feed(bench, a, cloud->begin, t,
			V({.u = id}, {.s = "fedora"}, {.u = 0x1f}, {.u = mode}, {.u = EVENT_ABSENT},
					{.u = 1}));
	feed(bench, a, cloud->call, t + 10 * US,
			V({.u = id}, {.u = 70 + id}, {.s = "c-2"}, {.u = 1}));
	feed(bench, b, cloud->serve, t + 20 * US, V({.u = id}, {.u = 70 + id}, {.u = 4}, {.u = 9}));
	query(cloud, t + 30 * US, 10 * US, "ports", 5);
	query(cloud, t + 50 * US, 30 * US, "hosts", 11);
	query(cloud, t + 90 * US, 30 * US, "nets", INT64_C(1) << 40);
	feed(bench, b, cloud->cache, t + 130 * US, V({.d = ratio}, {.u = 7}, {.u = 9}));
	feed(bench, b, cloud->served, t + 140 * US,
			V({.u = id}, {.u = 70 + id}, {.u = 3}, {.u = 9}));
	feed(bench, a, cloud->back, t + 150 * US, V({.u = id}, {.u = 70 + id}, {.u = 1}));
	feed(bench, a, cloud->end, t + 160 * US, V({.u = id}, {.i = -5}, {.u = 1}));
}

/*
 * Ids are none, nor trees, nor what is not a number. Sums of three queries, the table of the
 * longest, of equal ones of the first; exits tell last; an enumeration goes by its names.
 */
static void inferred_schema(void **state)
{
	struct cloud cloud;

	(void)state;
	bench_start(&cloud.bench);
	cloud_types(&cloud);
	create(&cloud, 1, T0, 1, 0.25);
	create(&cloud, 2, T0 + 10 * MS, 77, 0.0 / 0.0);
	bench_stop(&cloud.bench, "create:\n"
				 "0 /create.image = 'fedora'\n"
				 "0 /create.flags = '0x1f'\n"
				 "0 /create.mode = 'warm'\n"
				 "0 /create.status = -5\n"
				 "0 create/call_build.peer = 'c-2'\n"
				 "0 call_build/serve_build.queue_len = 3\n"
				 "0 serve_build/query.rows = 1099511627792\n"
				 "0 serve_build/query.table = 'hosts'\n"
				 "0 serve_build/query.tries = 3\n"
				 "0 serve_build/cache_seen.ratio = 0.25\n"
				 "0 serve_build/cache_seen.hit = 'hot'\n"
				 "1 /create. = 'alpha'\n"
				 "1 call_build/serve_build. = 'beta'\n"
				 "create:\n"
				 "0 /create.image = 'fedora'\n"
				 "0 /create.flags = '0x1f'\n"
				 "0 /create.mode = '77'\n"
				 "0 /create.status = -5\n"
				 "0 create/call_build.peer = 'c-2'\n"
				 "0 call_build/serve_build.queue_len = 3\n"
				 "0 serve_build/query.rows = 1099511627792\n"
				 "0 serve_build/query.table = 'hosts'\n"
				 "0 serve_build/query.tries = 3\n"
				 "0 serve_build/cache_seen.hit = 'hot'\n"
				 "1 /create. = 'alpha'\n"
				 "1 call_build/serve_build. = 'beta'\n");
}

/* Only the values that a schema names, and what names requests or messages in one event does so in
 * all, whatever the others join by. */
static void given_schema(void **state)
{
	static const char *const request[] = {"request_id"}, *const message[] = {"msg_id"},
				 *const thread[] = {"$tid"}, *const rows[] = {"rows"},
				 *const shared[] = {"*"};
	static const struct schema_namespace namespaces[] = {
			{.name = "req", .scope = SCHEMA_GLOBAL, .ttl_ns = 1000 * MS, .join = true},
			{.name = "msg", .scope = SCHEMA_GLOBAL, .ttl_ns = 1000 * MS, .join = true},
			{.name = "thr", .scope = SCHEMA_HOST, .ttl_ns = 1000 * MS, .join = true}};
#define BIND(name, how, what)                                                                      \
	{                                                                                          \
		.ns = (name), .op = (how), .n_keys = 1, .keys = (what)                             \
	}
	static const struct schema_bind begin[] = {BIND("req", BIND_START, request),
			BIND("thr", BIND_START, thread)},
					end[] = {BIND("req", BIND_STOP, request),
							BIND("thr", BIND_STOP, thread)},
					call[] = {BIND("thr", BIND_BASIC, thread),
							BIND("msg", BIND_START, message)},
					serve[] = {BIND("msg", BIND_BASIC, message),
							BIND("thr", BIND_START, thread)},
					other[] = {BIND("thr", BIND_BASIC, thread)};
#define EVENT(glob, how, binds, n) .match = (glob), .role = (how), .n_bind = (n), .bind = (binds)
	static const struct schema_event events[] = {
			{EVENT("api:create_entry", SPAN_ENTRY, begin, 2), .seed = true},
			{EVENT("api:create_exit", SPAN_EXIT, end, 2)},
			{EVENT("api:call_*_entry", SPAN_ENTRY, call, 2)},
			{EVENT("api:call_*_exit", SPAN_EXIT, call, 1)},
			{EVENT("compute:serve_*_entry", SPAN_ENTRY, serve, 2)},
			{EVENT("compute:serve_*_exit", SPAN_EXIT, other, 1)},
			{EVENT("compute:query_entry", SPAN_ENTRY, other, 1), .n_values = 1,
					.values = rows},
			{EVENT("compute:query_exit", SPAN_EXIT, other, 1), .n_values = 1,
					.values = rows},
			{EVENT("compute:cache_*", SPAN_POINT, other, 1)},
	};
	static const struct schema schema = {.origin = "test",
			.n_namespaces = 3,
			.namespaces = namespaces,
			.n_events = sizeof(events) / sizeof(*events),
			.events = events,
			.n_skeleton = 1,
			.skeleton = shared};
	struct cloud cloud;
	char error[200] = "";

	(void)state;
	bench_start(&cloud.bench);
	assert_int_equal(model_add_schema(cloud.bench.lab.model, &schema, error, sizeof(error)),
			STATUS_OK);
	cloud_types(&cloud);
	create(&cloud, 3, T0, 0, 1e300);
	bench_stop(&cloud.bench, "create:\n"
				 "0 /create.image = 'fedora'\n"
				 "0 /create.flags = '0x1f'\n"
				 "0 /create.mode = 'cold'\n"
				 "0 /create.status = -5\n"
				 "0 create/call_build.peer = 'c-2'\n"
				 "0 call_build/serve_build.queue_len = 3\n"
				 "0 serve_build/query.rows = 1099511627792\n"
				 "0 serve_build/cache_seen.ratio = 1.0000000000000001e+300\n"
				 "0 serve_build/cache_seen.hit = 'hot'\n"
				 "1 /create. = 'alpha'\n"
				 "1 call_build/serve_build. = 'beta'\n");
}

/* Long texts are cut; empty ones are values, too. A tracepoint that is new brings a new key. */
static void texts(void **state)
{
	static const char longer[] =
			"0123456789012345678901234567890123456789012345678901234567890123456789"
			"0123456789012345678901234567890123456789012345678901234567890123456789";
	struct bench bench;
	uint32_t begin, end, inner;

	(void)state;
	bench_start(&bench);
	begin = type(&bench, "app:work_entry", "request_id:u note:s empty:s vtid:c");
	end = type(&bench, "app:work_exit", "request_id:u vtid:c");
	feed(&bench, bench.alpha, begin, T0, V({.u = 1}, {.s = longer}, {.s = ""}, {.u = 1}));
	feed(&bench, bench.alpha, end, T0 + 5 * US, V({.u = 1}, {.u = 1}));
	inner = type(&bench, "app:step", "size_bytes:u vtid:c");
	feed(&bench, bench.alpha, begin, T0 + 10 * US,
			V({.u = 2}, {.s = "x"}, {.s = ""}, {.u = 1}));
	feed(&bench, bench.alpha, inner, T0 + 12 * US, V({.u = UINT64_C(1) << 63}, {.u = 1}));
	feed(&bench, bench.alpha, end, T0 + 15 * US, V({.u = 2}, {.u = 1}));
	bench_stop(&bench, "work:\n"
			   "0 /work.note = "
			   "'0123456789012345678901234567890123456789012345678901234567890123456789"
			   "0123456789012345678901234567890123456789012345678901234567'\n"
			   "0 /work.empty = ''\n"
			   "1 /work. = 'alpha'\n"
			   "work:\n"
			   "0 /work.note = 'x'\n"
			   "0 /work.empty = ''\n"
			   "0 work/step.size_bytes = 9.2233720368547758e+18\n"
			   "1 /work. = 'alpha'\n");
}

/* A number that is only a name is never summed: of two, that of the longer span. */
static void names_that_are_numbers(void **state)
{
	struct bench bench;
	uint32_t begin, end, call, back;

	(void)state;
	bench_start(&bench);
	begin = type(&bench, "app:work_entry", "request_id:u vtid:c");
	end = type(&bench, "app:work_exit", "request_id:u vtid:c");
	call = type(&bench, "app:call_entry",
			"nodeHandle:u peer_addr:u key_hash:i addresses:u vtid:c");
	back = type(&bench, "app:call_exit", "vtid:c");
	feed(&bench, bench.alpha, begin, T0, V({.u = 1}, {.u = 1}));
	for (uint32_t i = 0; i < 2; i++) {
		feed(&bench, bench.alpha, call, T0 + (1 + i * 10) * US,
				V({.u = UINT64_C(140037) + i}, {.u = 70 + i}, {.i = -3 - (int)i},
						{.u = 4}, {.u = 1}));
		feed(&bench, bench.alpha, back, T0 + (2 + i * 12) * US, V({.u = 1}));
	}
	feed(&bench, bench.alpha, end, T0 + 30 * US, V({.u = 1}, {.u = 1}));
	bench_stop(&bench, "work:\n"
			   "0 work/call.nodeHandle = '140038'\n"
			   "0 work/call.peer_addr = '71'\n"
			   "0 work/call.key_hash = '-4'\n"
			   "0 work/call.addresses = 8\n"
			   "1 /work. = 'alpha'\n");
}

/* Two are asked, and the one that does not answer is asked for less long: it is of the failure. */
static void what_failed_comes_first(void **state)
{
	struct bench bench;
	uint32_t begin, end, call, back;

	(void)state;
	bench_start(&bench);
	begin = type(&bench, "app:list_entry", "request_id:u vtid:c");
	end = type(&bench, "app:list_exit", "request_id:u vtid:c");
	call = type(&bench, "app:call_entry", "peer:s vtid:c");
	back = type(&bench, "app:call_exit", "status:i vtid:c");
	feed(&bench, bench.alpha, begin, T0, V({.u = 1}, {.u = 1}));
	feed(&bench, bench.alpha, call, T0 + 1 * US, V({.s = "c-1"}, {.u = 1}));
	feed(&bench, bench.alpha, back, T0 + 20 * US, V({.i = 0}, {.u = 1}));
	feed(&bench, bench.alpha, call, T0 + 21 * US, V({.s = "c-2"}, {.u = 1}));
	feed(&bench, bench.alpha, back, T0 + 22 * US, V({.i = -111}, {.u = 1}));
	feed(&bench, bench.alpha, call, T0 + 23 * US, V({.s = "c-3"}, {.u = 1}));
	feed(&bench, bench.alpha, back, T0 + 50 * US, V({.i = 0}, {.u = 1}));
	feed(&bench, bench.alpha, end, T0 + 60 * US, V({.u = 1}, {.u = 1}));
	bench_stop(&bench, "list:\n"
			   "0 list/call.peer = 'c-2'\n"
			   "0 list/call.status = -111\n"
			   "1 /list. = 'alpha'\n");
}

/* A value is told with its event; what the request was sent with was there from the start. */
static void when_told(void **state)
{
	struct bench bench;
	uint32_t enter, leave, received, rows;

	(void)state;
	bench_start(&bench);
	bench.after = true;
	enter = type(&bench, "app:work_entry", "kind:s vtid:c");
	leave = type(&bench, "app:work_exit", "status:u vtid:c");
	received = type(&bench, "socket_recv", "length:u vtid:c");
	rows = type(&bench, "app:rows", "n:u vtid:c");
	feed(&bench, bench.alpha, enter, T0, V({.s = "read"}, {.u = 5}));
	feed(&bench, bench.alpha, received, T0 + 2 * MS, V({.u = 100}, {.u = 5}));
	feed(&bench, bench.alpha, rows, T0 + 4 * MS, V({.u = 10}, {.u = 5}));
	feed(&bench, bench.alpha, rows, T0 + 5 * MS, V({.u = 10}, {.u = 5}));
	feed(&bench, bench.alpha, leave, T0 + 6 * MS, V({.u = 0}, {.u = 5}));
	bench_stop(&bench, "work:\n"
			   "0 /work.kind = after 0.0 ms\n"
			   "0 /work.status = after 6.0 ms\n"
			   "0 work/socket_recv.length = after 0.0 ms\n"
			   "0 work/rows.n = after 5.0 ms\n"
			   "1 /work. = after 0.0 ms\n");
}

/* With kernel events: 1 ms on a CPU, 2 ms blocked, 2 ms runnable, 1 ms on a CPU again. */
static void resources(void **state)
{
	struct bench bench;
	uint32_t enter, leave, change, wake;

	(void)state;
	bench_start(&bench);
	/* The call is the request, and not a part of what its thread does. */
	assert_true(requests_set_request(bench.lab.requests, "*", "syscall_read"));
	enter = type(&bench, "syscall_entry_read", "fd:u count:u");
	leave = type(&bench, "syscall_exit_read", "ret:i");
	change = type(&bench, "sched_switch",
			"prev_comm:s prev_tid:i prev_state:i next_comm:s next_tid:i");
	wake = type(&bench, "sched_waking", "comm:s tid:i prio:i target_cpu:i");
	feed(&bench, bench.kernel, change, T0,
			V({.s = "idle"}, {.i = 0}, {.i = 0}, {.s = "cat"}, {.i = 42}));
	feed(&bench, bench.kernel, enter, T0 + 1 * MS, V({.u = 3}, {.u = 10}));
	feed(&bench, bench.kernel, change, T0 + 2 * MS,
			V({.s = "cat"}, {.i = 42}, {.i = 2}, {.s = "idle"}, {.i = 0}));
	feed(&bench, bench.kernel, wake, T0 + 4 * MS,
			V({.s = "cat"}, {.i = 42}, {.i = 20}, {.i = 0}));
	feed(&bench, bench.kernel, change, T0 + 6 * MS,
			V({.s = "idle"}, {.i = 0}, {.i = 0}, {.s = "cat"}, {.i = 42}));
	feed(&bench, bench.kernel, leave, T0 + 7 * MS, V({.i = 10}));
	bench_stop(&bench, "syscall read:\n"
			   "0 /syscall_read.fd = '3'\n"
			   "0 /syscall_read.count = 10\n"
			   "0 /syscall_read.ret = 10\n"
			   "1 /syscall_read. = 'alpha'\n"
			   "3 /.cpu_ns = 2000000\n"
			   "3 /.runqueue_ns = 2000000\n"
			   "3 /.blocked_ns = 2000000\n"
			   "3 /.irq_ns = 0\n"
			   "3 /.unknown_ns = 0\n"
			   "3 /.blocked_disk_ns = 0\n"
			   "3 /.blocked_net_ns = 0\n"
			   "3 /.blocked_lock_ns = 0\n"
			   "3 /.blocked_timer_ns = 0\n"
			   "3 /.blocked_other_ns = 2000000\n"
			   "3 /.disk_read_bytes = 0\n"
			   "3 /.disk_write_bytes = 0\n"
			   "3 /.net_read_bytes = 0\n"
			   "3 /.net_write_bytes = 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(inferred_schema),
			cmocka_unit_test(given_schema),
			cmocka_unit_test(texts),
			cmocka_unit_test(names_that_are_numbers),
			cmocka_unit_test(what_failed_comes_first),
			cmocka_unit_test(when_told),
			cmocka_unit_test(resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
