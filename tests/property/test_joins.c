/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <unistd.h>

#include "../feed.h"
#include "../trials.h"
#include "requests/kept.h"
#include "requests/model.h"
#include "requests/requests.h"

/*
 * Joins against a naive oracle on random inputs; and what must hold whatever the input: the same
 * output however often time is told, a balanced account after every event, flat memory.
 */
#define MS UINT64_C(1000000)
#define T0 UINT64_C(1700000000000000000)

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- the oracle ------------------------------------------------------------------------------ */

#define ORACLE_EVENTS 400
#define ORACLE_VALUES 12
#define ORACLE_SPACES 3

/* What one event of the random input says of each namespace: an operation on a value, or nothing.
 */
struct saying {
	bool seed;
	bool binds[ORACLE_SPACES];
	enum bind_op ops[ORACLE_SPACES];
	uint32_t values[ORACLE_SPACES];
};

/* Sets as labels: uniting two relabels all of one. Slow and obvious. */
struct oracle {
	int set_of[ORACLE_EVENTS];              /* -1: belongs to nothing */
	int open[ORACLE_SPACES][ORACLE_VALUES]; /* the set whose interval it is; -1: closed */
	bool seeded[ORACLE_EVENTS];
	int n_sets;
};

static void oracle_unite(struct oracle *oracle, int to, int from, int n_events)
{
	int i, s, v;

	for (i = 0; i < n_events; i++) {
		if (oracle->set_of[i] == from) {
			oracle->set_of[i] = to;
		}
	}
	for (s = 0; s < ORACLE_SPACES; s++) {
		for (v = 0; v < ORACLE_VALUES; v++) {
			if (oracle->open[s][v] == from) {
				oracle->open[s][v] = to;
			}
		}
	}
	oracle->seeded[to] |= oracle->seeded[from];
}

static void oracle_feed(struct oracle *oracle, int event, const struct saying *saying)
{
	int set = -1, s;
	bool begins = false;

	for (s = 0; s < ORACLE_SPACES; s++) {
		int open = saying->binds[s] ? oracle->open[s][saying->values[s]] : -1;

		if (!saying->binds[s]) {
			continue;
		}
		if (saying->ops[s] == BIND_START || saying->ops[s] == BIND_SWITCH) {
			begins = true;
		} else if (open >= 0 && set >= 0 && open != set) {
			oracle_unite(oracle, set, open, event);
		} else if (open >= 0) {
			set = open;
		}
	}
	if (set < 0 && begins) {
		set = oracle->n_sets++;
	}
	oracle->set_of[event] = set;
	if (set < 0) {
		return;
	}
	oracle->seeded[set] |= saying->seed;
	for (s = 0; s < ORACLE_SPACES; s++) {
		int *open = saying->binds[s] ? &oracle->open[s][saying->values[s]] : NULL;

		if (open && (saying->ops[s] == BIND_START || saying->ops[s] == BIND_SWITCH)) {
			*open = set;
		} else if (open && saying->ops[s] == BIND_STOP) {
			*open = -1;
		}
	}
}

/* --- the engine, with what it emits laid open --------------------------------------------------
 */

struct bench {
	struct registry registry;
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct model *model;
	struct requests *requests;
	struct threads *threads;
	uint32_t stream;
	int request_of[ORACLE_EVENTS]; /* by event number; 0: none */
	uint64_t n_requests, n_events;
	uint64_t digest;
};

static void collect(void *context, struct request *request)
{
	struct bench *bench = context;
	const struct kept_request *kept = (const struct kept_request *)(const void *)request;
	struct copy_chunk *chunk = NULL;
	struct event_copy *copy;
	uint32_t offset = 0;

	bench->n_requests++;
	bench->n_events += request->n_events;
	while ((copy = copies_next(&kept->copies, &chunk, &offset))) {
		if (copy->slots[0] < ORACLE_EVENTS) {
			assert_int_equal(bench->request_of[copy->slots[0]], 0);
			bench->request_of[copy->slots[0]] = (int)request->id;
		}
	}
}

static bool release_thread(void *context, struct thread *thread, bool force)
{
	return requests_release_thread(((struct bench *)context)->requests, thread, force);
}

static void bench_start(struct bench *bench)
{
	const struct requests_config config = {
			.max_open = 2000, .max_events = 10000, .max_bytes = 1u << 22};
	uint32_t session;

	memset(bench, 0, sizeof(*bench));
	registry_init(&bench->registry);
	pool_init(&bench->pool.pool);
	bench->names = names_create(100000);
	bench->contexts = contexts_create(100000);
	bench->model = model_create(bench->names);
	bench->threads = threads_create(1000, release_thread, bench);
	assert_non_null(bench->threads);
	bench->requests = requests_create(&config, &bench->registry, bench->model, bench->names,
			bench->contexts, bench->threads, &bench->pool, collect, bench);
	assert_non_null(bench->requests);
	session = registry_add_session(
			&bench->registry, &(struct session_desc){.host = "a", .name = "s"});
	bench->stream = registry_add_stream(&bench->registry,
			&(struct stream_desc){.session = session, .domain = DOMAIN_UST});
}

static void bench_stop(struct bench *bench)
{
	requests_destroy(bench->requests);
	threads_destroy(bench->threads);
	assert_int_equal(bench->pool.pool.in_use_bytes, 0); /* nothing is lost */
	model_destroy(bench->model);
	contexts_destroy(bench->contexts);
	names_destroy(bench->names);
	registry_release(&bench->registry);
	pool_release(&bench->pool.pool);
}

static uint32_t bench_type(struct bench *bench, const char *name)
{
	static const struct field fields[] = {
			{.name = "n", .kind = FIELD_UINT, .base = 10},
			{.name = "v0", .kind = FIELD_UINT, .base = 10},
			{.name = "v1", .kind = FIELD_UINT, .base = 10},
			{.name = "v2", .kind = FIELD_UINT, .base = 10},
			{.name = "vtid", .kind = FIELD_UINT, .base = 10, .scope = SCOPE_CONTEXT},
	};
	const struct event_type type = {.name = name, .n_fields = 5, .fields = fields};
	bool fresh;
	uint32_t id = registry_add_type(&bench->registry, &type, &fresh);

	if (fresh) {
		assert_true(model_add_type(bench->model, &bench->registry.types[id]));
		assert_true(requests_add_type(bench->requests));
	}
	return id;
}

static void bench_feed(struct bench *bench, uint32_t type, uint64_t ts_ns, const uint64_t *slots)
{
	requests_expire(bench->requests, ts_ns);
	requests_feed(bench->requests,
			&(struct event){.ts_ns = ts_ns,
					.type = type,
					.stream = bench->stream,
					.bytes = 40,
					.slots = slots},
			false);
}

static bool opens(uint32_t op)
{
	return op == 1 + BIND_START || op == 1 + BIND_SWITCH;
}

/*
 * A schema with one event for each way to combine operations on three namespaces; the first is
 * opened by seeds, each with a value of its own.
 */
static void add_random_schema(struct bench *bench)
{
	static const char *const spaces[] = {"v0", "v1", "v2"};
	static const char *const everything[] = {"*"};
	static struct schema_bind binds[1024][3];
	static struct schema_event events[1024];
	static char names[1024][32];
	const struct schema_namespace namespaces[] = {
			{.name = "v0", .scope = SCHEMA_HOST, .ttl_ns = 1000 * MS, .join = true},
			{.name = "v1", .scope = SCHEMA_HOST, .ttl_ns = 1000 * MS, .join = true},
			{.name = "v2", .scope = SCHEMA_HOST, .ttl_ns = 1000 * MS, .join = true},
	};
	struct schema schema = {.origin = "random",
			.n_namespaces = 3,
			.namespaces = namespaces,
			.events = events,
			.n_skeleton = 1,
			.skeleton = everything};
	char error[200] = "";
	uint32_t a, b, c, s;

	/* An operation is 0 (not bound) or 1 + enum bind_op, of BASIC, START, STOP, SWITCH. */
	for (a = 0; a < 5; a++) {
		for (b = 0; b < 5; b++) {
			for (c = 0; c < 5; c++) {
				struct schema_event *event = &events[schema.n_events];
				uint32_t ops[3] = {a, b, c};
				bool seed = a == 1 + BIND_START;

				/* What a seed opens names its request: only the first does. */
				if (seed && (opens(b) || opens(c))) {
					continue;
				}
				snprintf(names[schema.n_events], 32, "x:%u%u%u", a, b, c);
				*event = (struct schema_event){.match = names[schema.n_events],
						.bind = binds[schema.n_events],
						.seed = seed};
				for (s = 0; s < 3; s++) {
					if (ops[s]) {
						binds[schema.n_events][event->n_bind++] =
								(struct schema_bind){
										.ns = spaces[s],
										.op = ops[s] - 1,
										.n_keys = 1,
										.keys = &spaces[s]};
					}
				}
				schema.n_events++;
			}
		}
	}
	assert_int_equal(model_add_schema(bench->model, &schema, error, sizeof(error)), STATUS_OK);
}

static struct saying random_saying(uint64_t *seed, uint32_t event)
{
	struct saying saying = {.seed = false};
	uint32_t s;

	for (s = 0; s < ORACLE_SPACES; s++) {
		saying.binds[s] = random_next(seed) % 3 != 0;
		saying.ops[s] = (enum bind_op)(random_next(seed) % 4);
		saying.values[s] = (uint32_t)(random_next(seed) % ORACLE_VALUES);
	}
	if (saying.binds[0] && (saying.ops[0] == BIND_START || saying.ops[0] == BIND_SWITCH)) {
		/* A request id begins once: what begins anew is another test. */
		saying.ops[0] = event < ORACLE_VALUES ? BIND_START : BIND_BASIC;
		saying.values[0] = event < ORACLE_VALUES ? event : saying.values[0];
		saying.seed = saying.ops[0] == BIND_START;
	}
	for (s = 1; s < ORACLE_SPACES && saying.seed; s++) {
		if (saying.ops[s] == BIND_START || saying.ops[s] == BIND_SWITCH) {
			saying.ops[s] = BIND_BASIC;
		}
	}
	return saying;
}

static void sets_are_those_of_the_oracle(void **state)
{
	uint64_t round, seed = 88172645463325252u;

	(void)state;
	for (round = 0; round < TRIALS(300); round++) {
		struct bench bench;
		struct oracle oracle = {.n_sets = 0};
		int set_to_request[ORACLE_EVENTS] = {0};
		int n = 50 + (int)(random_next(&seed) % (ORACLE_EVENTS - 50)), i, s, v;

		for (s = 0; s < ORACLE_SPACES; s++) {
			for (v = 0; v < ORACLE_VALUES; v++) {
				oracle.open[s][v] = -1;
			}
		}
		bench_start(&bench);
		add_random_schema(&bench);
		for (i = 0; i < n; i++) {
			struct saying saying = random_saying(&seed, (uint32_t)i);
			uint64_t slots[5] = {(uint64_t)i, 0, 0, 0, 1};
			char name[32];
			unsigned int ops[3];

			for (s = 0; s < ORACLE_SPACES; s++) {
				ops[s] = saying.binds[s] ? 1u + saying.ops[s] : 0;
				slots[1 + s] = saying.values[s];
			}
			snprintf(name, sizeof(name), "x:%u%u%u", ops[0], ops[1], ops[2]);
			bench_feed(&bench, bench_type(&bench, name), T0 + (uint64_t)i, slots);
			oracle_feed(&oracle, i, &saying);
		}
		requests_finish(bench.requests);
		for (i = 0; i < n; i++) {
			int set = oracle.set_of[i];

			if (set < 0 || !oracle.seeded[set]) {
				assert_int_equal(bench.request_of[i], 0);
				continue;
			}
			assert_int_not_equal(bench.request_of[i], 0);
			if (set_to_request[set] == 0) {
				set_to_request[set] = bench.request_of[i];
			}
			assert_int_equal(bench.request_of[i], set_to_request[set]);
		}
		/* And no two sets became one request. */
		for (i = 0; i < oracle.n_sets; i++) {
			for (v = 0; v < i; v++) {
				assert_true(set_to_request[i] == 0 ||
						set_to_request[i] != set_to_request[v]);
			}
		}
		bench_stop(&bench);
	}
}

/* --- output does not depend on how time is told ------------------------------------------------
 */

struct script_event {
	uint64_t ts_ns;
	uint32_t order, type, cpu;
	uint64_t values[3];
};

static int by_time(const void *a, const void *b)
{
	const struct script_event *x = a, *y = b;

	return x->ts_ns != y->ts_ns ? (x->ts_ns < y->ts_ns ? -1 : 1)
				    : (x->order > y->order) - (x->order < y->order);
}

/* Everything a snapshot shows of groups and of one request, as one number. */
static uint64_t digest(struct feed *feed)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL};
	char text[512];
	uint64_t hash = 1469598103934665603u;
	uint32_t i, c;

	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	for (i = 0; i <= snapshot->groups.n + snapshot->request.n_spans; i++) {
		if (i < snapshot->groups.n) {
			const struct groups_row *row = &snapshot->groups.rows[i];

			snprintf(text, sizeof(text),
					"%s %s %" PRIu64 " %" PRIu64 " %.17g %.17g %" PRIu64,
					row->type, row->path, row->count, row->partial,
					row->mean_ns, row->sd_ns, row->p99_ns);
		} else if (i < snapshot->groups.n + snapshot->request.n_spans) {
			const struct request_span *span =
					&snapshot->request.spans[i - snapshot->groups.n];

			snprintf(text, sizeof(text), "%s %" PRId64 " %" PRIu64 " %u %u", span->name,
					span->start_ns, span->duration_ns, span->parent,
					span->flags);
		} else {
			const struct accounting *a = &snapshot->accounting;

			snprintf(text, sizeof(text),
					"%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
					a->in, a->in_request, a->unmatched, a->dropped, a->pending);
		}
		for (c = 0; text[c]; c++) {
			hash = (hash ^ (unsigned char)text[c]) * 1099511628211u;
		}
	}
	snapshot_destroy(snapshot);
	return hash;
}

#define SCRIPT_EVENTS 3000

/* Requests with gaps beyond their ttl, lost exits, late ends and orphans. */
static void make_script(struct script_event *script, uint64_t *seed)
{
	uint64_t ts = T0;
	uint32_t i;

	for (i = 0; i < SCRIPT_EVENTS; i++) {
		uint64_t r = random_next(seed);

		ts += r % 20 == 0 ? 10000 * MS : r % 7 == 0 ? 60 * MS : r % 1000;
		script[i] = (struct script_event){.ts_ns = ts,
				.order = i,
				.type = (uint32_t)(random_next(seed) % 7),
				.cpu = 0,
				.values = {random_next(seed) % 30, random_next(seed) % 8, i}};
	}
}

static uint64_t run_script(const struct script_event *script, uint64_t advance_seed)
{
	struct feed feed;
	uint32_t types[7], i;
	uint64_t result;

	feed_start(&feed, NULL);
	types[0] = feed_type(&feed, "a:one_entry", "request_id:u vtid:c n:u");
	types[1] = feed_type(&feed, "a:one_exit", "request_id:u vtid:c n:u");
	types[2] = feed_type(&feed, "b:two_entry", "request_id:u vtid:c n:u");
	types[3] = feed_type(&feed, "b:two_exit", "request_id:u vtid:c n:u");
	types[4] = feed_type(&feed, "c:inner_begin", "x:u vtid:c n:u");
	types[5] = feed_type(&feed, "c:inner_end", "x:u vtid:c n:u");
	types[6] = feed_type(&feed, "c:point", "x:u vtid:c n:u");
	for (i = 0; i < SCRIPT_EVENTS; i++) {
		if (advance_seed && i > 0) {
			uint64_t gap = script[i].ts_ns - script[i - 1].ts_ns, steps, s;

			steps = random_next(&advance_seed) % 4;
			for (s = 1; s <= steps; s++) {
				engine_advance(feed.engine,
						script[i - 1].ts_ns + gap / (steps + 1) * s);
				feed_accounting(&feed);
			}
			if (random_next(&advance_seed) % 2) {
				engine_advance(feed.engine, script[i].ts_ns);
			}
		}
		feed_event(&feed, types[script[i].type], script[i].ts_ns, script[i].cpu,
				(union feed_value[]){{.u = script[i].values[0]},
						{.u = script[i].values[1]},
						{.u = script[i].values[2]}});
	}
	engine_finish(feed.engine);
	assert_int_equal(feed_accounting(&feed).pending, 0);
	result = digest(&feed);
	feed_stop(&feed);
	return result;
}

static void time_may_be_told_as_often_as_one_likes(void **state)
{
	struct script_event *script = calloc(SCRIPT_EVENTS, sizeof(*script));
	uint64_t seed = 42, round, plain;

	(void)state;
	for (round = 0; round < 3; round++) {
		make_script(script, &seed);
		plain = run_script(script, 0);
		assert_int_equal(run_script(script, 7 + round), plain);
		assert_int_equal(run_script(script, 70 + round), plain);
	}
	free(script);
}

/* Sources deliver out of order by up to a window; what the merge puts in order is all that counts.
 */
static void a_shuffle_within_the_reorder_window_changes_nothing(void **state)
{
	struct script_event *script = calloc(SCRIPT_EVENTS, sizeof(*script));
	uint64_t seed = 4711, plain;
	uint32_t i, j;

	(void)state;
	make_script(script, &seed);
	plain = run_script(script, 0);
	for (i = 0; i + 32 <= SCRIPT_EVENTS; i += 16) {
		for (j = 31; j > 0; j--) {
			uint32_t k = (uint32_t)(random_next(&seed) % (j + 1));
			struct script_event swap = script[i + j];

			script[i + j] = script[i + k];
			script[i + k] = swap;
		}
	}
	qsort(script, SCRIPT_EVENTS, sizeof(*script), by_time);
	assert_int_equal(run_script(script, 0), plain);
	free(script);
}

/* --- memory ------------------------------------------------------------------------------------
 */

/* Entries without exits, exits without entries, ever new ids and threads. */
static void orphans_for_ever_need_no_more_memory(void **state)
{
	struct bench bench;
	uint64_t i, half_bytes = 0, n = TRIALS(400000);
	uint32_t entry, exit, point;

	(void)state;
	bench_start(&bench);
	static const struct field fields[] = {
			{.name = "n", .kind = FIELD_UINT, .base = 10},
			{.name = "request_id", .kind = FIELD_UINT, .base = 10},
			{.name = "a", .kind = FIELD_UINT, .base = 10},
			{.name = "b", .kind = FIELD_UINT, .base = 10},
			{.name = "vtid", .kind = FIELD_UINT, .base = 10, .scope = SCOPE_CONTEXT},
	};
	static const char *const type_names[] = {"o:work_entry", "o:work_exit", "o:point"};
	uint32_t *types[] = {&entry, &exit, &point};

	for (i = 0; i < 3; i++) {
		const struct event_type type = {
				.name = type_names[i], .n_fields = 5, .fields = fields};
		bool fresh;

		*types[i] = registry_add_type(&bench.registry, &type, &fresh);
		assert_true(model_add_type(bench.model, &bench.registry.types[*types[i]]));
		assert_true(requests_add_type(bench.requests));
	}
	for (i = 0; i < n; i++) {
		const uint64_t slots[5] = {ORACLE_EVENTS + i, i, 0, 0, i % 100000};

		bench_feed(&bench,
				i % 3 == 0   ? entry
				: i % 3 == 1 ? exit
					     : point,
				T0 + i * MS / 10, slots);
		if (i == n / 2) {
			half_bytes = bench.pool.pool.in_use_bytes;
		}
	}
	assert_in_range(bench.pool.pool.in_use_bytes, 0, half_bytes + half_bytes / 20);
	bench_stop(&bench);
}

/* --- whatever comes ----------------------------------------------------------------------------
 */

#define WILD_EVENTS 40

/* A schema of random sense: any operation, role, key and pair on any namespace. */
static void add_wild_schema(struct feed *feed, uint64_t *seed)
{
	static const char *const spaces[] = {"req", "msg", "fd", "thr", "cpu"};
	static const char *const keys[] = {"a", "b", "text", "$tid", "$cpu", "$pid", "$ctx.vtid"};
	static const char *const execution_keys[] = {"$tid", "$cpu"};
	static const char *const some[] = {"w:e1*", "w:e2*"};
	static char names[WILD_EVENTS][16];
	static struct schema_bind binds[WILD_EVENTS][3];
	static struct schema_event events[WILD_EVENTS];
	static const char *bind_keys[WILD_EVENTS][3][2], *pair_keys[WILD_EVENTS][2];
	struct schema_namespace namespaces[5];
	struct schema schema = {.origin = "wild",
			.n_namespaces = 5,
			.namespaces = namespaces,
			.n_events = WILD_EVENTS,
			.events = events,
			.skeleton = some,
			.n_skeleton = random_next(seed) % 2 ? 0 : 2};
	char error[200];
	uint32_t i, b;

	for (i = 0; i < 5; i++) {
		namespaces[i] = (struct schema_namespace){.name = spaces[i],
				.scope = i < 2 ? SCHEMA_GLOBAL : SCHEMA_HOST,
				.ttl_ns = (1 + random_next(seed) % 500) * MS,
				.join = random_next(seed) % 8 != 0};
	}
	for (i = 0; i < WILD_EVENTS; i++) {
		struct schema_event *event = &events[i];

		snprintf(names[i], sizeof(names[i]), "w:e%u", i);
		*event = (struct schema_event){.match = names[i],
				.role = (enum span_role)(random_next(seed) % 3),
				.name = random_next(seed) % 4 ? "work" : "other_{a}",
				.seed = random_next(seed) % 3 == 0,
				.bind = binds[i],
				.n_bind = 1 + (uint32_t)(random_next(seed) % 3),
				.pair = pair_keys[i],
				.n_pair = random_next(seed) % 5 == 0 ? 1 : 0};
		pair_keys[i][0] = keys[random_next(seed) % 3];
		if (event->role == SPAN_EXIT && random_next(seed) % 6 == 0) {
			event->name = "*o*";
		}
		for (b = 0; b < event->n_bind; b++) {
			uint32_t space = (uint32_t)(random_next(seed) % 5);

			binds[i][b] = (struct schema_bind){.ns = spaces[space],
					.op = (enum bind_op)(random_next(seed) % 6),
					.n_keys = space < 3 && random_next(seed) % 4 == 0 ? 2 : 1,
					.keys = bind_keys[i][b]};
			bind_keys[i][b][0] = space == 3   ? execution_keys[0]
					     : space == 4 ? execution_keys[1]
							  : keys[random_next(seed) % 7];
			bind_keys[i][b][1] = keys[random_next(seed) % 7];
		}
	}
	if (engine_add_schema(feed->engine, &schema, error, sizeof(error)) != STATUS_OK) {
		fail_msg("%s", error);
	}
}

/* Nothing is to be right here but the account, and that nothing breaks (run it with ASan). */
static void whatever_comes_is_accounted_for(void **state)
{
	static const char long_text[] = "a text that does not fit into a key without more memory";
	const struct engine_config config = {.max_open_requests = 6,
			.max_request_events = 12,
			.max_request_bytes = 3000,
			.max_groups = 5};
	uint64_t round, seed = 20261121;

	(void)state;
	for (round = 0; round < 150; round++) {
		struct feed feed;
		uint32_t types[WILD_EVENTS], streams[3], i;
		uint64_t ts = T0;
		struct snapshot *snapshot;
		struct focus focus = {.parts = FOCUS_ALL, .horizon = HORIZON_ALL};

		feed_start(&feed, round % 2 ? &config : NULL);
		if (round % 5) {
			add_wild_schema(&feed, &seed);
		}
		streams[0] = feed.stream;
		streams[1] = feed_stream(&feed, "beta", "test");
		streams[2] = feed_stream(&feed, "alpha", "other");
		for (i = 0; i < WILD_EVENTS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "w:e%u", i);
			types[i] = feed_type(&feed, name,
					i % 7 == 6 ? "a:u b:u text:s"
						   : "a:u b:u text:s vtid:c vpid:c");
		}
		for (i = 0; i < 1500; i++) {
			uint64_t r = random_next(&seed);

			ts += r % 97 == 0 ? 700 * MS : r % 5 * MS;
			if (r % 211 == 0) {
				engine_lose(feed.engine, &(struct loss){.stream = streams[r % 3],
									 .begin_ns = ts - MS,
									 .end_ns = ts,
									 .count = 1});
			}
			feed_raw(&feed, streams[r / 7 % 3], types[r / 16 % WILD_EVENTS], ts,
					(uint32_t)(r / 1024 % 2),
					(union feed_value[]){{.u = r / 2048 % 3},
							{.u = r / 8192 % 3},
							{.s = r / 32768 % 5 ? "x" : long_text},
							{.u = r / 65536 % 3}, {.u = 1}});
			feed_accounting(&feed);
			if (r % 89 == 0) { /* types turn up, and time passes, at any moment */
				char name[24];

				snprintf(name, sizeof(name), "%s%u_%s", r % 2 ? "w:late" : "late",
						(uint32_t)(r / 4096 % 30),
						r % 3 ? "entry" : "exit");
				types[r / 64 % WILD_EVENTS] = feed_type(&feed, name,
						r % 5 ? "a:u b:u text:s vtid:c vpid:c"
						      : "a:u request_id:u text:s vtid:c vpid:c");
				ts += r % 4 * 100 * MS;
				engine_advance(feed.engine, ts);
				feed_accounting(&feed);
			}
			if (r % 499 == 0) {
				snapshot = snapshot_create();
				assert_int_equal(engine_fill(feed.engine, &focus, snapshot),
						STATUS_OK);
				snapshot_destroy(snapshot);
			}
		}
		engine_finish(feed.engine);
		assert_int_equal(feed_accounting(&feed).pending, 0);
		assert_non_null(engine_schema(feed.engine, true));
		feed_stop(&feed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(sets_are_those_of_the_oracle),
			cmocka_unit_test(time_may_be_told_as_often_as_one_likes),
			cmocka_unit_test(a_shuffle_within_the_reorder_window_changes_nothing),
			cmocka_unit_test(whatever_comes_is_accounted_for),
			cmocka_unit_test(orphans_for_ever_need_no_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
