/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <math.h>

#include "lab.h"
#include "requests/walked.h"
#include "requests/engine.h"
#include "requests/keys.h"
#include "requests/sequence.h"
#include "trace_feed.h"

/*
 * Every request of every recorded trace, as it is finished: the parts of its critical path add up
 * to its duration, in integer ns; its key-values are in order, each once. With arguments, those of
 * a live run instead:
 *
 *   property_test_measured URL SECONDS REQUESTS      there must be so many, or more
 */
#define WALKED_OF 7 /* so many requests: one is walked */

struct work {
	struct lab lab;
	uint64_t n, n_spans, n_segments, n_split, n_plain, n_alone, n_keys, measuring_ns,
			reading_ns;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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
		struct work *work, const struct request *request, const struct measured *plain)
{
	static struct measured_segment segments[16];
	static struct measured_visit visits[16];
	struct measured short_way = *plain, long_way;

	if (request->n_spans != 1 || plain->n_segments > 16 || plain->n_visits > 16) {
		return;
	}
	memcpy(segments, plain->segments, plain->n_segments * sizeof(*segments));
	memcpy(visits, plain->visits, plain->n_visits * sizeof(*visits));
	assert_true(measuring_whole(work->lab.requests, request, &long_way));
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
		assert_int_equal(visits[i].failed, long_way.visits[i].failed);
		assert_int_equal(visits[i].total_ns, long_way.visits[i].total_ns);
		assert_int_equal(visits[i].self_ns, long_way.visits[i].self_ns);
		assert_true(visits[i].squares == long_way.visits[i].squares);
	}
	work->n_plain++;
}

/*
 * Where all but the root are points of the kernel, the root is all that is told of what it did;
 * that is found without the tree, which is here.
 */
static void check_sequence(struct work *work, const struct request *request)
{
	const struct requests *r = work->lab.requests;
	struct sequence sequence;
	bool alone = true;

	assert_true(measuring_build(work->lab.requests, request));
	for (uint32_t i = 0; i < r->spans.n; i++) {
		const struct span *span = &r->spans.items[i];

		alone &= i == r->spans.root ||
			 (span->point && !r->plans[span->entry->type].provider);
	}
	assert_true(requests_sequence(work->lab.requests, request, &sequence));
	assert_true(sequence.n > 0);
	assert_int_equal(sequence.steps[0].name, request->type);
	assert_int_equal(sequence.steps[0].above, SEQUENCE_NONE);
	assert_false(sequence.steps[0].many);
	if (alone) {
		const struct span *root = &r->spans.items[r->spans.root];

		assert_int_equal(sequence.n, 1);
		assert_false(sequence.cut);
		assert_int_equal(sequence.steps[0].failed,
				root->exit && root->exit->fails == COPY_FAILS);
		assert_int_equal(sequence.steps[0].provider,
				root->entry ? r->plans[root->entry->type].provider : 0);
		work->n_alone++;
	}
}

/* By (source, context, name), each once, and each with a value. */
static void check_keys(struct work *work, const struct request *request)
{
	uint64_t start_ns = cpu_ns();
	struct request_keys keys;

	assert_true(requests_read_keys(work->lab.requests, request, &keys));
	work->reading_ns += cpu_ns() - start_ns;
	for (uint32_t i = 0; i < keys.n; i++) {
		const struct request_key *key = &keys.items[i], *last = key - (i > 0);

		assert_true(key->numeric ? isfinite(key->number)
					 : key->text && key->length <= KEY_TEXT_BYTES);
		assert_true((key->name == 0) == (key->source == EXPLANATION_HOST));
		assert_true((key->context == 0) == (key->source == EXPLANATION_RESOURCE));
		assert_true(i == 0 || last->source < key->source ||
				(last->source == key->source &&
						(last->context < key->context ||
								(last->context == key->context &&
										last->name < key->name))));
	}
	work->n_keys += keys.n;
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
	struct work *work = context;
	struct lab *lab = &work->lab;
	uint64_t sum_ns = 0, start_ns = cpu_ns();
	struct measured m;

	assert_true(requests_measure(lab->requests, request, &m));
	work->measuring_ns += cpu_ns() - start_ns;
	assert_int_equal(m.total_ns, request->end_ns - request->start_ns);
	for (uint32_t i = 0; i < m.n_segments; i++) {
		const struct context *at = contexts_get(lab->contexts, m.segments[i].context);
		const char *name = names_text(lab->names, at->name);

		sum_ns += m.segments[i].ns;
		assert_true(m.segments[i].ns > 0);
		assert_true(i == 0 || m.segments[i - 1].context < m.segments[i].context);
		work->n_split += strcmp(name, "(runnable)") == 0 ||
				 strncmp(name, "(blocked", 8) == 0;
	}
	assert_int_equal(sum_ns, m.total_ns);
	check_visits(&m);
	check_plain(work, request, &m);
	check_keys(work, request);
	check_sequence(work, request);
	if (work->n % WALKED_OF == 0) {
		check_walk(lab, request);
	}
	work->n++;
	work->n_spans += request->n_spans;
	work->n_segments += m.n_segments;
}

static void tell(const struct work *work, const char *source)
{
	double n = (double)(work->n + !work->n);

	print_message("%s: %lu requests of %.1f spans, %.1f segments, %.1f key-values; %.2f us "
		      "each, %.2f for these; %lu parts that the kernel told\n",
			source, (unsigned long)work->n, (double)work->n_spans / n,
			(double)work->n_segments / n, (double)work->n_keys / n,
			(double)work->measuring_ns / 1e3 / n, (double)work->reading_ns / 1e3 / n,
			(unsigned long)work->n_split);
}

static void measure_trace(const char *name, uint64_t at_least, bool kernel)
{
	char directory[512];
	struct stat there;
	struct work work = {.n = 0};
	struct intake_sink sink = LAB_SINK(&work.lab);
	const char *traces = getenv("PYTHIATOP_TRACES");

	snprintf(directory, sizeof(directory), "%s/%s", traces ? traces : PT_TRACES_DIR, name);
	if (stat(directory, &there) != 0) {
		print_message("skipped: no recorded trace %s\n", directory);
		skip();
	}
	lab_start(&work.lab, measure, &work);
	trace_feed_into(&sink, directory);
	requests_finish(work.lab.requests);
	tell(&work, name);
	assert_true(work.n >= at_least && work.n_plain >= at_least / 2);
	assert_true(!kernel || (work.n_split > 0 && work.n_alone > work.n / 2));
	lab_stop(&work.lab);
}

/* URL, seconds, how many requests there must be. */
static void live(void **state)
{
	char **arguments = *state;
	struct work work = {.n = 0};
	struct intake_sink sink = LAB_SINK(&work.lab);

	lab_start(&work.lab, measure, &work);
	trace_feed_for(&sink, arguments[0], strtoull(arguments[1], NULL, 10) * 1000000000u);
	requests_finish(work.lab.requests);
	tell(&work, arguments[0]);
	assert_true(work.n >= strtoull(arguments[2], NULL, 10));
	lab_stop(&work.lab);
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
