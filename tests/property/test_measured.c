/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "requests/walked.h"
#include "requests/internal.h"
#include "state/log.h"
#include "state/state.h"
#include "trace_feed.h"

/*
 * Every request of every recorded trace, as it is finished: the parts of its critical path add up
 * to its duration, in integer ns. With arguments, those of a live run instead:
 *
 *   property_test_measured URL SECONDS REQUESTS      there must be so many, or more
 */
#define WALKED_OF 7 /* so many requests: one is walked */
#define WINDOW_NS UINT64_C(10000000000)

/* The analysis without groups: each request is measured, not a sample of them. */
struct lab {
	struct registry registry;
	struct names *names;
	struct contexts *contexts;
	struct model *model;
	struct threads *threads;
	struct event_log *log;
	struct state *state;
	struct request_pool pool;
	struct requests *requests;
	uint64_t now_ns, tidy_ns;
	uint64_t n, n_spans, n_segments, n_split, n_plain, measuring_ns;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool release_thread(void *context, struct thread *thread, bool force)
{
	struct lab *lab = context;

	return requests_release_thread(lab->requests, thread, force) &&
	       state_release_thread(lab->state, thread, force);
}

static void check_visits(const struct measured *m)
{
	for (uint32_t i = 0; i < m->n_visits; i++) {
		assert_true(i == 0 || m->visits[i - 1].context < m->visits[i].context);
		assert_true(m->visits[i].count > 0);
		assert_true(m->visits[i].self_ns <= m->visits[i].total_ns);
		assert_true(m->visits[i].squares >= m->visits[i].total_ns);
	}
}

/* Those of one span are measured without a tree: to the same result. */
static void check_plain(
		struct lab *lab, const struct request *request, const struct measured *plain)
{
	static struct measured_segment segments[16];
	static struct measured_visit visits[16];
	struct measured short_way = *plain, long_way;

	if (request->n_spans != 1 || plain->n_segments > 16 || plain->n_visits > 16) {
		return;
	}
	memcpy(segments, plain->segments, plain->n_segments * sizeof(*segments));
	memcpy(visits, plain->visits, plain->n_visits * sizeof(*visits));
	assert_true(measuring_whole(lab->requests, request, &long_way));
	assert_int_equal(short_way.folded, long_way.folded);
	assert_int_equal(short_way.n_segments, long_way.n_segments);
	assert_int_equal(short_way.n_visits, long_way.n_visits);
	for (uint32_t i = 0; i < long_way.n_segments; i++) {
		assert_int_equal(segments[i].context, long_way.segments[i].context);
		assert_int_equal(segments[i].ns, long_way.segments[i].ns);
	}
	for (uint32_t i = 0; i < long_way.n_visits; i++) {
		assert_int_equal(visits[i].context, long_way.visits[i].context);
		assert_int_equal(visits[i].count, long_way.visits[i].count);
		assert_int_equal(visits[i].total_ns, long_way.visits[i].total_ns);
		assert_int_equal(visits[i].self_ns, long_way.visits[i].self_ns);
		assert_true(visits[i].squares == long_way.visits[i].squares);
	}
	lab->n_plain++;
}

/* Walked span by span, the stretches follow each other, and add up to the same by context. */
static void check_walk(struct lab *lab, const struct request *request)
{
	uint64_t at_ns = request->start_ns, *own;
	struct measured m;
	struct walked walked;

	assert_true(requests_walk(lab->requests, request, &walked));
	assert_int_equal(walked.total_ns, request->end_ns - request->start_ns);
	own = calloc(contexts_count(lab->contexts) + 1, sizeof(*own));
	assert_non_null(own);
	for (uint32_t i = 0; i < walked.n_pieces; i++) {
		const struct walked_piece *piece = &walked.pieces[i];

		assert_true(piece->span < walked.n_spans);
		assert_int_equal(piece->start_ns, at_ns);
		at_ns += piece->ns;
		own[walked.spans[piece->span].context] += piece->own ? piece->ns : 0;
	}
	assert_int_equal(at_ns, request->end_ns);
	for (uint32_t i = 0; i < walked.n_spans; i++) {
		uint32_t parent = walked.spans[i].parent;

		assert_true(parent == WALKED_NONE || (parent < walked.n_spans && parent != i));
	}
	assert_true(requests_measure(lab->requests, request, &m));
	for (uint32_t i = 0; i < m.n_segments; i++) {
		const struct context *of = contexts_get(lab->contexts, m.segments[i].context);

		if (names_text(lab->names, of->name)[0] != '(') {
			assert_int_equal(own[m.segments[i].context], m.segments[i].ns);
		}
	}
	free(own);
}

static void measure(void *context, struct request *request)
{
	struct lab *lab = context;
	uint64_t sum_ns = 0, start_ns = cpu_ns();
	struct measured m;

	assert_true(requests_measure(lab->requests, request, &m));
	lab->measuring_ns += cpu_ns() - start_ns;
	assert_int_equal(m.total_ns, request->end_ns - request->start_ns);
	for (uint32_t i = 0; i < m.n_segments; i++) {
		const struct context *at = contexts_get(lab->contexts, m.segments[i].context);
		const char *name = names_text(lab->names, at->name);

		sum_ns += m.segments[i].ns;
		assert_true(m.segments[i].ns > 0);
		assert_true(i == 0 || m.segments[i - 1].context < m.segments[i].context);
		lab->n_split += strcmp(name, "(runnable)") == 0 ||
				strncmp(name, "(blocked", 8) == 0;
	}
	assert_int_equal(sum_ns, m.total_ns);
	check_visits(&m);
	check_plain(lab, request, &m);
	if (lab->n % WALKED_OF == 0) {
		check_walk(lab, request);
	}
	lab->n++;
	lab->n_spans += request->n_spans;
	lab->n_segments += m.n_segments;
}

static void lab_start(struct lab *lab)
{
	memset(lab, 0, sizeof(*lab));
	registry_init(&lab->registry);
	pool_init(&lab->pool.pool);
	lab->names = names_create(1u << 20);
	lab->contexts = contexts_create(1u << 20);
	lab->model = model_create(lab->names);
	lab->threads = threads_create(65536, release_thread, lab);
	lab->log = log_create(&(struct event_log_config){
			.max_bytes = 64u << 20, .max_held_bytes = 64u << 20});
	lab->state = state_create(&(struct state_config){.window_ns = WINDOW_NS,
						  .max_bytes = 256u << 20,
						  .max_pin_bytes = 64u << 20,
						  .innermost = requests_innermost},
			&lab->registry, lab->names, lab->threads, lab->log);
	lab->requests = requests_create(&(struct requests_config){.max_open = 200000,
							.max_events = 10000,
							.max_bytes = 4u << 20,
							.state = lab->state},
			&lab->registry, lab->model, lab->names, lab->contexts, lab->threads,
			&lab->pool, measure, lab);
	assert_non_null(lab->requests);
}

static void lab_stop(struct lab *lab)
{
	threads_destroy(lab->threads);
	state_destroy(lab->state);
	log_destroy(lab->log);
	requests_destroy(lab->requests);
	model_destroy(lab->model);
	contexts_destroy(lab->contexts);
	names_destroy(lab->names);
	registry_release(&lab->registry);
	pool_release(&lab->pool.pool);
}

static uint32_t add_type(void *context, const struct event_type *type)
{
	struct lab *lab = context;
	bool fresh;
	uint32_t id = registry_add_type(&lab->registry, type, &fresh);

	if (fresh) {
		assert_true(model_add_type(lab->model, &lab->registry.types[id]));
		assert_true(requests_add_type(lab->requests));
		assert_true(state_add_type(lab->state));
	}
	return id;
}

static uint32_t add_session(void *context, const struct session_desc *session)
{
	return registry_add_session(&((struct lab *)context)->registry, session);
}

static uint32_t add_stream(void *context, const struct stream_desc *stream)
{
	return registry_add_stream(&((struct lab *)context)->registry, stream);
}

static void end_session(void *context, uint32_t session)
{
	registry_end_session(&((struct lab *)context)->registry, session);
}

static void advance(void *context, uint64_t ts_ns)
{
	struct lab *lab = context;

	if (ts_ns < lab->now_ns) {
		return;
	}
	lab->now_ns = ts_ns;
	requests_expire(lab->requests, ts_ns);
	if (ts_ns >= lab->tidy_ns) {
		state_advance(lab->state, ts_ns);
		log_expire(lab->log, ts_ns > WINDOW_NS ? ts_ns - WINDOW_NS : 0);
		lab->tidy_ns = ts_ns + state_tick_ns(WINDOW_NS);
	}
}

static void feed(void *context, const struct event *event)
{
	struct lab *lab = context;
	bool used;

	if (event->ts_ns < lab->now_ns) {
		return;
	}
	advance(lab, event->ts_ns);
	used = state_uses(lab->state, event->type);
	requests_feed(lab->requests, event,
			used && state_feed(lab->state, event, log_add(lab->log, event)));
}

static void lose(void *context, const struct loss *loss)
{
	struct lab *lab = context;

	requests_lose(lab->requests, loss);
	state_lose(lab->state, loss);
}

static void late(void *context, uint32_t session, uint64_t count)
{
	(void)context;
	(void)session;
	(void)count;
}

static struct intake_sink sink_of(struct lab *lab)
{
	return (struct intake_sink){.context = lab,
			.add_type = add_type,
			.add_session = add_session,
			.add_stream = add_stream,
			.end_session = end_session,
			.feed = feed,
			.lose = lose,
			.late = late,
			.advance = advance};
}

static void lab_tell(const struct lab *lab, const char *source)
{
	double n = (double)(lab->n + !lab->n);

	print_message("%s: %lu requests of %.1f spans, %.1f segments; %.2f us each; "
		      "%lu parts that the kernel told\n",
			source, (unsigned long)lab->n, (double)lab->n_spans / n,
			(double)lab->n_segments / n, (double)lab->measuring_ns / 1e3 / n,
			(unsigned long)lab->n_split);
}

static void measure_trace(const char *name, uint64_t at_least, bool kernel)
{
	char directory[512];
	struct stat there;
	struct lab lab;
	struct intake_sink sink = sink_of(&lab);
	const char *traces = getenv("PYTHIATOP_TRACES");

	snprintf(directory, sizeof(directory), "%s/%s", traces ? traces : PT_TRACES_DIR, name);
	if (stat(directory, &there) != 0) {
		print_message("skipped: no recorded trace %s\n", directory);
		skip();
	}
	lab_start(&lab);
	trace_feed_into(&sink, directory);
	requests_finish(lab.requests);
	lab_tell(&lab, name);
	assert_true(lab.n >= at_least && lab.n_plain >= at_least / 2);
	assert_true(!kernel || lab.n_split > 0);
	lab_stop(&lab);
}

/* URL, seconds, how many requests there must be. */
static void live(void **state)
{
	char **arguments = *state;
	struct lab lab;
	struct intake_sink sink = sink_of(&lab);

	lab_start(&lab);
	trace_feed_for(&sink, arguments[0], strtoull(arguments[1], NULL, 10) * 1000000000u);
	requests_finish(lab.requests);
	lab_tell(&lab, arguments[0]);
	assert_true(lab.n >= strtoull(arguments[2], NULL, 10));
	lab_stop(&lab);
}

static void kernel_6_2(void **state)
{
	(void)state;
	measure_trace("kernel-6.2-2cpu", 1, true);
}

static void kernel_4_4(void **state)
{
	(void)state;
	measure_trace("kernel-4.4-basic", 1, true);
}

static void kernel_big_endian(void **state)
{
	(void)state;
	measure_trace("kernel-bigendian-1cpu", 0, false);
}

static void cyg_profile(void **state)
{
	(void)state;
	measure_trace("ust-cyg-profile", 1, false);
}

static void ros2(void **state)
{
	(void)state;
	measure_trace("ust-ros2", 1000, false);
}

static void multi_domain(void **state)
{
	(void)state;
	measure_trace("multi-domain-lost", 0, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest live_tests[] = {cmocka_unit_test_prestate(live, argv + 1)};
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(kernel_6_2),
			cmocka_unit_test(kernel_4_4),
			cmocka_unit_test(kernel_big_endian),
			cmocka_unit_test(cyg_profile),
			cmocka_unit_test(ros2),
			cmocka_unit_test(multi_domain),
	};

	return argc == 4 ? cmocka_run_group_tests(live_tests, NULL, NULL)
			 : cmocka_run_group_tests(tests, NULL, NULL);
}
