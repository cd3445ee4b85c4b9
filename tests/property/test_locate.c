/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "groups/groups.h"
#include "base/hash.h"
#include "support_request.h"
#include "trials.h"

/*
 * Where a group varies, from what its requests measured: shares of planted structures come back,
 * intervals hold the truth as often as they say, and sums are those of a plain list.
 */

#define MS       UINT64_C(1000000)
#define S        UINT64_C(1000000000)
#define QUARTER  (250 * MS)
#define START    (1000 * S)
#define CONTEXTS 64u

/* What the next request is measured as. */
struct script {
	struct measured measured;
	struct measured_segment segments[CONTEXTS];
	struct measured_visit visits[CONTEXTS];
};

struct bench {
	struct request_source source;
	struct groups *groups;
	struct script script;
	uint32_t contexts[CONTEXTS]; /* ascending: 0 is the root, others below the one before / 2 */
	uint64_t random;
};

static bool measure(void *context, const struct request *request, struct measured *out)
{
	struct script *script = context;

	(void)request;
	*out = script->measured;
	out->segments = script->segments;
	out->visits = script->visits;
	return true;
}

static const struct groups_config usual = {.window_ns = 10 * S,
		.max_groups = 1000,
		.max_kept_bytes = UINT64_C(64) << 20,
		.max_pin_bytes = UINT64_C(64) << 20};

static void bench_init(struct bench *bench, const struct groups_config *config, uint64_t seed)
{
	struct groups_config own = *config;

	memset(&bench->script, 0, sizeof(bench->script));
	request_source_init(&bench->source);
	own.measure = measure;
	own.measurer = &bench->script;
	bench->groups = groups_create(
			&own, bench->source.names, bench->source.contexts, &bench->source.pool);
	assert_non_null(bench->groups);
	bench->random = seed << 32;
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "span_%u", i);
		bench->contexts[i] = request_source_context(
				&bench->source, i ? bench->contexts[(i - 1) / 2] : 0, "app", name);
	}
	groups_advance(bench->groups, START);
}

static void bench_release(struct bench *bench)
{
	groups_destroy(bench->groups);
	assert_int_equal(request_source_bytes(&bench->source), 0);
	request_source_release(&bench->source);
}

static uint64_t below(struct bench *bench, uint64_t n)
{
	return hash_u64(bench->random++) % n;
}

static double uniform(struct bench *bench)
{
	return (double)(1 + below(bench, (UINT64_C(1) << 52) - 1)) * 0x1p-52;
}

static double normal(struct bench *bench)
{
	double u = uniform(bench), v = uniform(bench);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The next request's part of a context is this long; parts of 0 are left out. */
static void part(struct bench *bench, uint32_t context, uint64_t ns)
{
	struct measured *measured = &bench->script.measured;

	if (!ns) {
		return;
	}
	bench->script.segments[measured->n_segments++] =
			(struct measured_segment){.context = bench->contexts[context], .ns = ns};
	bench->script.visits[measured->n_visits++] =
			(struct measured_visit){.context = bench->contexts[context],
					.count = 1,
					.total_ns = ns,
					.self_ns = ns,
					.squares = (measured_uint128)ns * ns};
	measured->total_ns += ns;
}

/* Adds a request of the parts told so far. */
static void add_as(struct bench *bench, const char *type, uint64_t end_ns, enum request_state state,
		bool tainted)
{
	struct request *request = request_source_make(
			&bench->source, type, end_ns, bench->script.measured.total_ns, NULL, 0);

	request->state = state;
	request->tainted = tainted;
	groups_add(bench->groups, request);
	request_drop(&bench->source.pool, request);
	bench->script.measured.n_segments = bench->script.measured.n_visits = 0;
	bench->script.measured.total_ns = 0;
	bench->script.measured.skewed = false;
}

static void add(struct bench *bench, const char *type, uint64_t end_ns)
{
	add_as(bench, type, end_ns, REQUEST_COMPLETE, false);
}

static struct snapshot *fill_as(struct bench *bench, const struct focus *focus, uint64_t at_ns)
{
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(groups_fill(bench->groups, focus, at_ns, snapshot), STATUS_OK);
	return snapshot;
}

static struct snapshot *fill(struct bench *bench, enum horizon horizon, uint64_t at_ns)
{
	struct focus focus = {.parts = FOCUS_ALL, .horizon = horizon, .group_id = 1};

	return fill_as(bench, &focus, at_ns);
}

/* ---- planted structures ---- */

enum { PLANTED = 5 };

/*
 * Five parts in microseconds, each a function of a normal number that follows from the last
 * request's with correlation rho. Their shares of the variance are known in closed form.
 */
struct planted {
	const char *name;
	double (*value)(uint32_t i, const double *z);
	double phi[PLANTED];
};

/* Independent and normal, sd 1..5: phi_i = i^2 / 55. */
static double independent(uint32_t i, const double *z)
{
	return 100 + (i + 1) * z[i];
}

/*
 * A true cause of sd 6, and two parts of sd 20 that make up for each other but for a bit of noise;
 * two that hardly vary: Var T = 36 + 4 + 1 + 1 = 42, and of it the noise's 4 are the second's.
 */
static double noisy_pair(uint32_t i, const double *z)
{
	return i == 0   ? 100 + 6 * z[0]
	       : i == 1 ? 200 + 20 * z[1]
	       : i == 2 ? 200 - 20 * z[1] + 2 * z[2]
			: 100 + z[i];
}

/* Lognormal, sigma 0.5: Var = m^2 e^s2 (e^s2 - 1), in medians of 10, 20, 30, 5 and 2. */
static double skewed_right(uint32_t i, const double *z)
{
	static const double medians[PLANTED] = {10, 20, 30, 5, 2};

	return medians[i] * exp(0.5 * z[i]);
}

/* One part follows another: Cov(0, T) = 9 + 6, Cov(1, T) = 6 + 4 + 4, others 1 each. */
static double following(uint32_t i, const double *z)
{
	return i == 0 ? 100 + 3 * z[0] : i == 1 ? 100 + 2 * z[0] + 2 * z[1] : 100 + z[i];
}

static const struct planted planted[] = {
		{"independent", independent, {1 / 55., 4 / 55., 9 / 55., 16 / 55., 25 / 55.}},
		{"noisy pair", noisy_pair, {36 / 42., 0, 4 / 42., 1 / 42., 1 / 42.}},
		{"skewed", skewed_right,
				{100 / 1429., 400 / 1429., 900 / 1429., 25 / 1429., 4 / 1429.}},
		{"following", following, {15 / 32., 14 / 32., 1 / 32., 1 / 32., 1 / 32.}},
};

static void plant(struct bench *bench, const struct planted *one, double rho, uint32_t n)
{
	double z[PLANTED];

	for (uint32_t i = 0; i < PLANTED; i++) {
		z[i] = normal(bench);
	}
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < PLANTED; i++) {
			double us = one->value(i, z);

			part(bench, i, us > 0.001 ? (uint64_t)(us * 1000) : 1);
		}
		for (uint32_t i = 0; i < PLANTED; i++) {
			z[i] = rho * z[i] + sqrt(1 - rho * rho) * normal(bench);
		}
		add(bench, "planted", START + k * 9 * MS);
	}
}

static const struct group_segment *segment_of(
		const struct bench *bench, const struct snapshot *snapshot, uint32_t i)
{
	static const struct group_segment none = {.phi_low = 1};
	const struct group_location *location = &snapshot->group.location;

	for (uint32_t k = 0; k < location->n_segments; k++) {
		if (location->segments[k].context == bench->contexts[i]) {
			return &location->segments[k];
		}
	}
	fail_msg("part %u is not listed", i);
	return &none;
}

#define FEW (1000 / TRIALS(1000) - 1) /* trials: chance has more to say in fewer */

/* Of 1,000 trials, how many of each part's intervals hold the truth. */
static void cover(const struct planted *one, double rho, uint32_t n, double least, double most)
{
	const uint32_t trials = TRIALS(1000);
	uint32_t held[PLANTED] = {0};
	double width = 0;

	for (uint64_t trial = 0; trial < trials; trial++) {
		struct snapshot *snapshot;
		struct bench bench;

		bench_init(&bench, &usual, 1 + trial);
		plant(&bench, one, rho, n);
		snapshot = fill(&bench, HORIZON_ALL, START + n * 9 * MS);
		assert_true(snapshot->group.location.located);
		for (uint32_t i = 0; i < PLANTED; i++) {
			const struct group_segment *segment = segment_of(&bench, snapshot, i);

			held[i] += segment->phi_low <= one->phi[i] &&
				   segment->phi_high >= one->phi[i];
			width += (segment->phi_high - segment->phi_low) / (double)PLANTED / trials;
		}
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
	print_message("%-12s rho %.1f n %4u:", one->name, rho, n);
	for (uint32_t i = 0; i < PLANTED; i++) {
		print_message(" %.1f %%", 100.0 * held[i] / trials);
	}
	print_message(", width %.3f\n", width);
	for (uint32_t i = 0; i < PLANTED; i++) {
		assert_true(held[i] >= least * trials - FEW && held[i] <= most * trials + FEW);
	}
}

/* 90 % intervals of a thousand trials each. What follows itself closely needs more requests. */
static void test_intervals_cover_the_truth(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
		cover(&planted[i], 0, 60, 0.85, 0.94);
		cover(&planted[i], 0.6, 400, 0.85, 0.94);
	}
	cover(&planted[2], 0, 400, 0.85, 0.94);
	cover(&planted[0], 0.9, 1000, 0.85, 0.94);
	cover(&planted[0], 0, 2500, 0.85, 0.94); /* sums of more than there are samples of */
}

/* ---- sums ---- */

static void print_location(FILE *out, const struct group_location *location, bool all)
{
	fprintf(out, "located %d missing %u of %lu skewed %lu\n", location->located,
			location->missing, location->requests, location->skewed);
	for (uint32_t i = 0; i < location->n_segments; i++) {
		const struct group_segment *one = &location->segments[i];

		fprintf(out, "%u %s in %s: %a %a %a", one->context, one->name, one->where,
				one->mean_ns, one->sd_ns, one->phi);
		if (all) {
			fprintf(out, " %a..%a tail %a %d", one->phi_low, one->phi_high,
					one->tail_share, one->disagrees);
		}
		fputc('\n', out);
	}
	for (uint32_t i = 0; all && i < location->n_pairs; i++) {
		fprintf(out, "%u %u %a %a\n", location->pairs[i].a, location->pairs[i].b,
				location->pairs[i].share, location->pairs[i].correlation);
	}
	fprintf(out, "first %a %d\n", all ? location->first_component : 0, location->common_cause);
}

static void print_tree(FILE *out, const struct tree_view *tree, bool all)
{
	fprintf(out, "tree %u: %lu, %lu, %a, located %d missing %u lossy %d folded %lu\n",
			tree->group_id, tree->requests, tree->counted, tree->sampled_share,
			tree->located, tree->missing, tree->lossy, tree->folded_spans);
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];

		fprintf(out, "%u %u %u %u %s %s %d: %lu %lu %a %a %a %a, %a %a %a %a", row->context,
				row->parent, row->depth, row->n_below, row->name, row->provider,
				(int)row->mark, row->count, row->requests, row->total_ns,
				row->self_ns, row->mean_ns, row->sd_ns, row->segment_mean_ns,
				row->segment_sd_ns, row->phi, row->phi_below);
		if (all) {
			fprintf(out, " %a..%a tail %a", row->phi_low, row->phi_high,
					row->tail_share);
		}
		fputc('\n', out);
	}
}

/* All that is said of where the first group varies; without `all` only what sums tell. Free it. */
static char *print(struct bench *bench, enum horizon horizon, uint64_t at_ns, bool all)
{
	struct focus of_all = {.parts = FOCUS_TREE, .horizon = horizon, .tree_of_all = true};
	struct snapshot *snapshot = fill(bench, horizon, at_ns);
	struct snapshot *whole = fill_as(bench, &of_all, at_ns);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print_location(out, &snapshot->group.location, all);
	print_tree(out, &snapshot->tree, all);
	fprintf(out, "of all ");
	print_tree(out, &whole->tree, all);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		print_location(out, &snapshot->groups.locations[i], all);
		print_tree(out, &snapshot->groups.trees[i], all);
	}
	fprintf(out, "median %lu\n", all ? snapshot->group.median_request : 0);
	fclose(out);
	snapshot_destroy(snapshot);
	snapshot_destroy(whole);
	return text;
}

/* A request of random parts of random contexts. */
static void wander(struct bench *bench, uint32_t n_contexts)
{
	for (uint32_t i = 0; i < n_contexts; i++) {
		if (i == 0 || below(bench, 3)) {
			part(bench, i, 1 + below(bench, (1 + i) * 100000));
		}
	}
}

/* Shares of all contexts add up to 1, whether they are listed or in the rest; so do the tail's. */
static void test_shares_add_up(void **state)
{
	(void)state;
	for (uint32_t n_contexts = 1; n_contexts <= CONTEXTS; n_contexts += 9) {
		const struct group_location *location;
		double phi = 0, tail = 0, row_phi = 0, row_tail = 0, below_phi = 0;
		struct snapshot *snapshot;
		struct bench bench;

		bench_init(&bench, &usual, n_contexts);
		for (uint32_t i = 0; i < 300; i++) {
			wander(&bench, n_contexts);
			add(&bench, "a", START + i * 10 * MS);
		}
		snapshot = fill(&bench, HORIZON_ALL, START + 4 * S);
		location = &snapshot->group.location;
		assert_true(location->located);
		assert_int_equal(location->n_segments, n_contexts > 32 ? 33 : n_contexts);
		for (uint32_t i = 0; i < location->n_segments; i++) {
			const struct group_segment *one = &location->segments[i];

			phi += one->phi;
			tail += one->tail_share;
			assert_true(one->phi_low <= one->phi && one->phi <= one->phi_high);
			assert_true((one->context == 0) == (i == 32));
			assert_true(i == 0 || i == 32 || one->phi <= location->segments[i - 1].phi);
		}
		assert_int_equal(snapshot->tree.n, n_contexts);
		for (uint32_t i = 0; i < snapshot->tree.n; i++) {
			const struct tree_row *row = &snapshot->tree.rows[i];

			row_phi += row->phi;
			row_tail += row->tail_share;
			below_phi += row->depth == 0 ? row->phi_below : 0;
			assert_true(row->phi_low <= row->phi && row->phi <= row->phi_high);
		}
		assert_true(fabs(phi - 1) < 1e-12 && fabs(tail - 1) < 1e-9);
		assert_true(fabs(row_phi - 1) < 1e-12 && fabs(row_tail - 1) < 1e-9);
		assert_true(fabs(below_phi - 1) < 1e-12);
		for (uint32_t i = 0; i < location->n_pairs; i++) {
			const struct group_pair *pair = &location->pairs[i];

			assert_true(pair->a < pair->b && pair->b < location->n_segments);
			assert_true(fabs(pair->correlation) <= 1 + 1e-12);
			assert_true(i == 0 ||
					fabs(pair->share) <= fabs(location->pairs[i - 1].share));
		}
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
}

/* Two noisy parts that make up for each other stay behind the cause, and stand among the pairs. */
static void test_noisy_pair_does_not_win(void **state)
{
	(void)state;
	for (uint64_t trial = 0; trial < 200; trial++) {
		const struct group_location *location;
		struct snapshot *snapshot;
		struct bench bench;

		bench_init(&bench, &usual, 5000 + trial);
		plant(&bench, &planted[1], 0, 400);
		snapshot = fill(&bench, HORIZON_ALL, START + 4 * S);
		location = &snapshot->group.location;
		assert_int_equal(location->segments[0].context, bench.contexts[0]);
		assert_true(location->segments[0].phi_low > 0.2);
		assert_true(location->n_pairs > 0);
		assert_true(location->pairs[0].correlation < -0.98 &&
				location->pairs[0].share < -10);
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
}

/* What many parts have in common shows as one component, and no part above a fifth. */
static void test_common_cause(void **state)
{
	for (int common = 0; common < 2; common++) {
		struct snapshot *snapshot;
		struct bench bench;

		(void)state;
		bench_init(&bench, &usual, 77);
		for (uint32_t k = 0; k < 500; k++) {
			double together = normal(&bench);

			for (uint32_t i = 0; i < 8; i++) {
				double z = common ? together + 0.2 * normal(&bench)
						  : normal(&bench);

				part(&bench, i, (uint64_t)(100000 + 10000 * z));
			}
			add(&bench, "a", START + k * 10 * MS);
		}
		snapshot = fill(&bench, HORIZON_ALL, START + 5 * S);
		assert_int_equal(snapshot->group.location.common_cause, common);
		assert_true(common == (snapshot->group.location.first_component > 0.6));
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
}

/* A part that only the slowest have tells a different story in the tail than over all. */
static void test_tail_disagrees(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 78);
	for (uint32_t k = 0; k < 1000; k++) {
		part(&bench, 0, 1000000 + below(&bench, 20000));
		part(&bench, 1, k % 25 == 7 ? 30000 : 0);
		part(&bench, 2, 1000 + below(&bench, 100));
		add(&bench, "a", START + k * 10 * MS);
	}
	snapshot = fill(&bench, HORIZON_ALL, START + 11 * S);
	assert_true(segment_of(&bench, snapshot, 1)->disagrees);
	assert_true(segment_of(&bench, snapshot, 1)->tail_share >
			segment_of(&bench, snapshot, 1)->phi + 0.2);
	assert_true(segment_of(&bench, snapshot, 0)->disagrees);
	assert_false(segment_of(&bench, snapshot, 2)->disagrees);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Cov(S, T) / Var(T) of a plain list. */
static double share_of_list(const double *part, const double *duration, uint32_t n)
{
	double s = 0, t = 0, product = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		s += part[i] / n;
		t += duration[i] / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		product += (part[i] - s) * (duration[i] - t);
		squares += (duration[i] - t) * (duration[i] - t);
	}
	return product / squares;
}

/*
 * 800 requests a second, one in 2,700 of them slow: a uniform sample of 51 a second has none of
 * these mostly. Shares and spread are those of all requests, in each of the trials; and what is
 * counted one by one is still of the uniform sample.
 */
static void test_rare_slow_requests_are_measured(void **state)
{
	enum { RATE = 800, SECONDS = 20, RARE = 2700, WINDOW = 10 * RATE };
	static double slow[RATE * SECONDS], duration[RATE * SECONDS];
	struct groups_config sampling = usual;

	(void)state;
	sampling.samples_per_s = 51;
	for (uint64_t trial = 0; trial < 20; trial++) {
		const struct group_segment *segment;
		struct snapshot *snapshot;
		struct bench bench;
		double exact;

		bench_init(&bench, &sampling, 9000 + trial);
		for (uint32_t k = 0; k < RATE * SECONDS; k++) {
			uint64_t a = (uint64_t)(100000 * exp(0.5 * normal(&bench)));
			uint64_t b = 20000 + below(&bench, 10000);
			uint64_t c = k % RARE == 1700 ? 15000000 + below(&bench, 9000000) : 0;

			part(&bench, 0, a);
			part(&bench, 1, b);
			part(&bench, 2, c);
			slow[k] = (double)c;
			duration[k] = (double)(a + b + c);
			add(&bench, "a", START + k * (S / RATE));
		}
		snapshot = fill(&bench, HORIZON_WINDOW, START + SECONDS * S);
		exact = share_of_list(slow + WINDOW, duration + WINDOW, WINDOW);
		segment = segment_of(&bench, snapshot, 2);
		assert_true(fabs(segment->phi - exact) < 0.01);
		assert_true(segment->phi_low > 0.9);
		assert_false(snapshot->group.location.unlike);
		assert_true(snapshot->tree.requests > 400 && snapshot->tree.requests < 650);
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
}

/* The same of a spread that follows no plan: shares of half the variance are within a twentieth. */
static void test_shares_are_those_of_all_requests(void **state)
{
	enum { RATE = 1500, SECONDS = 20, WINDOW = 10 * RATE };
	static double first[RATE * SECONDS], duration[RATE * SECONDS];
	struct groups_config sampling = usual;
	double off = 0;

	(void)state;
	sampling.samples_per_s = 51;
	for (uint64_t trial = 0; trial < 10; trial++) {
		struct snapshot *snapshot;
		struct bench bench;

		bench_init(&bench, &sampling, 9100 + trial);
		for (uint32_t k = 0; k < RATE * SECONDS; k++) {
			uint64_t a = (uint64_t)(100000 * exp(0.9 * normal(&bench)));
			uint64_t b = (uint64_t)(100000 * exp(0.9 * normal(&bench)));

			part(&bench, 0, a);
			part(&bench, 1, b);
			first[k] = (double)a;
			duration[k] = (double)(a + b);
			add(&bench, "a", START + k * (S / RATE));
		}
		snapshot = fill(&bench, HORIZON_WINDOW, START + SECONDS * S);
		off += segment_of(&bench, snapshot, 0)->phi -
		       share_of_list(first + WINDOW, duration + WINDOW, WINDOW);
		assert_true(fabs(snapshot->group.location.sample_sd_ns /
						    snapshot->groups.rows[0].sd_ns -
					    1) < 0.1);
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
	assert_true(fabs(off / 10) < 0.05);
}

/* Sums do not depend on the order that requests were completed in. */
static void test_any_order_gives_the_same_sums(void **state)
{
	enum { N = 400 };
	uint32_t order[N];
	char *first = NULL;

	(void)state;
	for (uint64_t round = 0; round < 4; round++) {
		struct bench bench;
		char *text;

		bench_init(&bench, &usual, 30 + round);
		for (uint32_t i = 0; i < N; i++) {
			order[i] = i;
		}
		for (uint32_t i = N; round && i > 1; i--) {
			uint32_t other = (uint32_t)below(&bench, i), last = order[i - 1];

			order[i - 1] = order[other];
			order[other] = last;
		}
		for (uint32_t i = 0; i < CONTEXTS; i++) { /* makes the nodes, in one order */
			part(&bench, i, 1 + i);
		}
		add(&bench, "a", START + 8 * S);
		for (uint32_t i = 0; i < N; i++) {
			bench.random = UINT64_C(99) << 32 | order[i] * 1000;
			wander(&bench, 12);
			add(&bench, order[i] % 3 ? "a" : "b",
					START + (10 + order[i] % 16) * QUARTER);
		}
		text = print(&bench, HORIZON_ALL, START + 8 * S, false);
		if (!first) {
			first = text;
		} else {
			assert_string_equal(first, text);
			free(text);
		}
		bench_release(&bench);
	}
	free(first);
}

/* ---- horizons ---- */

enum { LIST_MAX = 3000 };

struct listed {
	uint64_t start_ns, end_ns, parts[4];
};

/* What a plain list says of part `i` of the requests within a horizon. */
static void assert_part(struct bench *bench, const struct snapshot *snapshot,
		const struct listed *list, uint32_t n, uint32_t i, uint64_t from_end,
		uint64_t from_start)
{
	const struct tree_row *row = NULL;
	double count = 0, sum = 0, total = 0, cov = 0, var = 0, spans = 0;

	for (uint32_t k = 0; k < snapshot->tree.n; k++) {
		row = snapshot->tree.rows[k].context == bench->contexts[i] ? &snapshot->tree.rows[k]
									   : row;
	}
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < n; k++) {
			double own = (double)list[k].parts[i];
			double t = (double)(list[k].end_ns - list[k].start_ns);

			if (list[k].end_ns < from_end || list[k].start_ns < from_start) {
				continue;
			}
			if (pass == 0) {
				count++;
				sum += own;
				total += t;
				spans += list[k].parts[i] > 0;
			} else {
				cov += (own - sum / count) * (t - total / count);
				var += (t - total / count) * (t - total / count);
			}
		}
	}
	assert_int_equal(snapshot->tree.requests, (uint64_t)count);
	if (spans == 0) {
		assert_true(!row || row->count == 0);
		return;
	}
	assert_non_null(row);
	assert_int_equal(row->count, (uint64_t)spans);
	assert_true(row->total_ns == sum);
	if (snapshot->tree.located) {
		assert_true(fabs(row->segment_mean_ns - sum / count) <= 1e-12 * sum);
		assert_true(fabs(row->phi - cov / var) < 1e-9);
	} else {
		assert_true(count < 50);
		assert_int_equal(snapshot->tree.missing, 50 - (uint32_t)count);
	}
}

/* Every horizon says what a plain list of its requests does, late ones and epochs included. */
static void test_horizons_are_those_of_a_plain_list(void **state)
{
	static struct listed list[LIST_MAX];

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint64_t now = START + 40 * S, epoch = 0;
		struct bench bench;
		uint32_t n = 0;

		bench_init(&bench, &usual, seed);
		groups_advance(bench.groups, now);
		while (n < 900) {
			struct listed *one = &list[n++];
			uint64_t late = below(&bench, 10) ? below(&bench, 200 * MS)
							  : below(&bench, 15 * S);

			now += below(&bench, 60) ? below(&bench, 60 * MS) : below(&bench, 12 * S);
			if (below(&bench, 300) == 0) {
				groups_begin_epoch(bench.groups, now, NULL, NULL);
				epoch = now++;
			}
			one->end_ns = now - late;
			one->start_ns = one->end_ns;
			for (uint32_t i = 0; i < 4; i++) {
				one->parts[i] = i == 0 || below(&bench, 2) ? 1 + below(&bench, MS)
									   : 0;
				part(&bench, i, one->parts[i]);
				one->start_ns -= one->parts[i];
			}
			add(&bench, "a", one->end_ns);
			for (uint32_t h = 0; n % 25 == 0 && h < HORIZON_COUNT; h++) {
				struct snapshot *snapshot;

				groups_advance(bench.groups, now);
				snapshot = fill(&bench, (enum horizon)h, now);
				for (uint32_t i = 0; i < 4; i++) {
					assert_part(&bench, snapshot, list, n, i,
							h == HORIZON_WINDOW
									? (now / QUARTER - 39) *
											  QUARTER
									: 0,
							h == HORIZON_EPOCH ? epoch : 0);
				}
				snapshot_destroy(snapshot);
			}
		}
		bench_release(&bench);
	}
}

/* A second of traffic of three groups. */
static void traffic(struct bench *bench, uint64_t from_ns, uint64_t length_ns, uint32_t n)
{
	static const char *const types[3] = {"a", "b", "c"};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = below(bench, 8) ? 0 : 1 + (uint32_t)below(bench, 2);

		wander(bench, 8 + 4 * type);
		add(bench, types[type], from_ns + (i + 1) * length_ns / (n + 1));
	}
}

/* While frozen nothing changes, at the pin and stepped back from it, whatever comes in. */
static void test_pinned_views_stay_byte_for_byte(void **state)
{
	static const uint64_t back[3] = {0, 3 * S, 10 * S};
	uint64_t at = START + 31 * S + 77 * MS;
	char *before[9], *live[HORIZON_COUNT];
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 8);
	traffic(&bench, START, 12 * S, 600);
	groups_begin_epoch(bench.groups, START + 12 * S, NULL, NULL);
	traffic(&bench, START + 12 * S, 19 * S + 77 * MS, 2500);
	for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
		live[h] = print(&bench, (enum horizon)h, at, true);
	}
	groups_pin(bench.groups, at);
	for (uint32_t i = 0; i < 9; i++) {
		before[i] = print(&bench, (enum horizon)(i % 3), at - back[i / 3], true);
	}
	for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
		assert_string_equal(live[h], before[h]);
		free(live[h]);
	}
	for (uint32_t round = 0; round < 25; round++) {
		traffic(&bench, at + round * S, S, 150);
		wander(&bench, 8);
		add(&bench, "b", at - 100 * MS); /* late: ended before the pin */
		if (round == 10) {
			groups_begin_epoch(bench.groups, at + (round + 1) * S, NULL, NULL);
		}
		for (uint32_t i = 0; i < 9; i++) {
			char *text = print(&bench, (enum horizon)(i % 3), at - back[i / 3], true);

			assert_string_equal(text, before[i]);
			free(text);
		}
	}
	groups_unpin(bench.groups);
	for (uint32_t i = 0; i < 9; i++) {
		free(before[i]);
	}
	bench_release(&bench);
}

/* Stepping back shows what was shown then, as long as samples reach back. */
static void test_stepping_back_shows_what_was_shown(void **state)
{
	enum { STEPS = 40, FIRST = 39 }; /* requests are kept for twice the window */
	static char *live[STEPS + FIRST][HORIZON_COUNT];
	uint64_t now = START;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 10);
	for (uint32_t step = 0; step < STEPS + FIRST; step++, now += QUARTER) {
		for (uint32_t h = 0; step >= FIRST && h < HORIZON_COUNT; h++) {
			live[step][h] = print(&bench, (enum horizon)h, now, true);
		}
		if (step == FIRST - 10) {
			groups_begin_epoch(bench.groups, now, NULL, NULL);
		}
		traffic(&bench, now, QUARTER, 8);
	}
	groups_pin(bench.groups, now);
	traffic(&bench, now, 30 * S, 3000);
	for (uint32_t step = FIRST; step < STEPS + FIRST; step++) {
		for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
			char *text = print(&bench, (enum horizon)h,
					now - (STEPS + FIRST - step) * QUARTER, true);

			assert_string_equal(text, live[step][h]);
			free(text);
			free(live[step][h]);
		}
	}
	bench_release(&bench);
}

/* ---- nothing is said without reason ---- */

static void test_not_yet(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 40);
	for (uint32_t i = 0; i < 49; i++) {
		wander(&bench, 5);
		add(&bench, "a", START + i * MS);
	}
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_false(snapshot->group.location.located || snapshot->tree.located);
	assert_int_equal(snapshot->group.location.missing, 1);
	assert_int_equal(snapshot->tree.missing, 1);
	assert_int_equal(snapshot->group.location.n_segments, 0);
	assert_int_equal(snapshot->tree.n, 5); /* times are known from the first on */
	snapshot_destroy(snapshot);
	for (uint32_t i = 0; i < 5; i++) { /* cut short, or skewed: neither counts */
		wander(&bench, 5);
		bench.script.measured.skewed = i == 4;
		add_as(&bench, "a", START + S, i == 4 ? REQUEST_COMPLETE : REQUEST_TRUNCATED,
				false);
	}
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_int_equal(snapshot->group.location.missing, 1);
	assert_int_equal(snapshot->group.location.skewed, 1);
	assert_int_equal(snapshot->tree.requests, 54);
	assert_int_equal(snapshot->tree.rows[0].requests, 54);
	assert_int_equal(snapshot->tree.counted, 49);
	snapshot_destroy(snapshot);
	wander(&bench, 5);
	add(&bench, "a", START + S);
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_true(snapshot->group.location.located && snapshot->tree.located);
	assert_int_equal(snapshot->group.location.requests, 50);
	snapshot_destroy(snapshot);
	for (uint32_t i = 0; i < 6; i++) { /* 6 of 57 are tainted: more than a tenth */
		wander(&bench, 5);
		add_as(&bench, "a", START + S, REQUEST_COMPLETE, true);
	}
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_false(snapshot->group.location.located || snapshot->tree.located);
	assert_true(snapshot->tree.lossy);
	assert_int_equal(snapshot->group.location.missing, 0);
	assert_true(snapshot->tree.rows[0].phi == 0);
	assert_int_equal(snapshot->tree.requests, 55);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

static void test_nothing_varies(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 41);
	for (uint32_t i = 0; i < 100; i++) { /* parts do, but make up for each other */
		part(&bench, 0, 1000 + i);
		part(&bench, 1, 2000 - i);
		add(&bench, "a", START + i * MS);
	}
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_false(snapshot->group.location.located || snapshot->tree.located);
	assert_int_equal(snapshot->group.location.missing, 0);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* ---- bounds ---- */

/* Contexts without room count as what is above them: times and shares still add up. */
static void test_bound_on_contexts(void **state)
{
	struct groups_config config = usual;
	double self = 0, phi = 0, spent = 0;
	struct snapshot *snapshot;
	struct bench bench;
	uint64_t spans = 0, visited = 0;

	(void)state;
	config.max_contexts = 10;
	bench_init(&bench, &config, 50);
	for (uint32_t i = 0; i < 200; i++) {
		wander(&bench, 40);
		spent += (double)bench.script.measured.total_ns;
		spans += bench.script.measured.n_visits;
		add(&bench, "a", START + i * 10 * MS);
	}
	wander(&bench, 5);
	add(&bench, "b", START + 3 * S);
	snapshot = fill(&bench, HORIZON_ALL, START + 3 * S);
	for (uint32_t i = 0; i < snapshot->tree.n; i++) {
		self += snapshot->tree.rows[i].self_ns;
		phi += snapshot->tree.rows[i].phi;
		spans -= snapshot->tree.rows[i].count;
		visited += snapshot->tree.rows[i].count > 0;
	}
	assert_int_equal(visited, 10);
	assert_true(self == spent);
	assert_true(fabs(phi - 1) < 1e-12);
	assert_int_equal(snapshot->tree.folded_spans, spans);
	assert_int_equal(snapshot->groups.trees[1].n, 1);
	assert_string_equal(snapshot->groups.trees[1].rows[0].name, "(rest)");
	assert_true(snapshot->groups.trees[1].folded_spans > 0);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Deep chains end at the bound, and what is below counts there. */
static void test_bound_on_depth(void **state)
{
	enum { DEEP = 300 };
	static struct measured_visit visits[DEEP];
	struct snapshot *snapshot;
	struct bench bench;
	uint32_t context = 0;

	(void)state;
	bench_init(&bench, &usual, 51);
	for (uint32_t i = 0; i < DEEP; i++) {
		context = request_source_context(&bench.source, context, "app", "again");
		visits[i] = (struct measured_visit){.context = context,
				.count = 1,
				.total_ns = DEEP - i,
				.self_ns = 1,
				.squares = (DEEP - i) * (DEEP - i)};
	}
	for (uint32_t i = 0; i < DEEP; i++) {
		groups_advance(bench.groups, START + i);
	}
	memcpy(bench.script.visits, visits, sizeof(bench.script.visits));
	bench.script.measured.n_visits = 0;
	/* As many as the script holds, from the middle of the bound on. */
	for (uint32_t i = 100; i < 100 + CONTEXTS; i++) {
		bench.script.visits[bench.script.measured.n_visits++] = visits[i];
	}
	bench.script.measured.total_ns = DEEP;
	add_as(&bench, "deep", START + S, REQUEST_TRUNCATED, false);
	snapshot = fill(&bench, HORIZON_ALL, START + S);
	assert_int_equal(snapshot->tree.max_depth, 128);
	assert_int_equal(snapshot->tree.n, 128);
	assert_int_equal(snapshot->tree.rows[127].depth, 127);
	assert_int_equal(snapshot->tree.rows[0].n_below, 127);
	assert_int_equal(snapshot->tree.rows[0].count, 0); /* above what was visited */
	assert_int_equal(snapshot->tree.folded_spans, 100 + CONTEXTS - 128);
	assert_true(snapshot->tree.rows[127].self_ns == 1 + 100 + CONTEXTS - 128);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Samples stay within their bytes, over all groups; shares of all are those of the sums. */
static void test_bound_on_samples(void **state)
{
	struct groups_config config = usual;
	struct snapshot *snapshot;
	size_t filled = 0, used = 0;
	struct bench bench;

	(void)state;
	config.max_sample_bytes = 60000;
	bench_init(&bench, &config, 52);
	for (uint32_t second = 0; second < 120; second++) {
		traffic(&bench, START + second * S, S, 300);
		if (second % 30 == 12) {
			groups_pin(bench.groups, START + (second + 1) * S);
		}
		if (second % 30 == 22) {
			groups_unpin(bench.groups);
		}
		used = mallinfo2().uordblks + mallinfo2().hblkhd;
		filled = second == 59 ? used : filled;
	}
	assert_true((double)used <= 1.05 * (double)filled);
	snapshot = fill(&bench, HORIZON_ALL, START + 120 * S);
	assert_true(snapshot->tree.counted > 30000);
	assert_true(snapshot->tree.located);
	snapshot_destroy(snapshot);
	snapshot = fill_as(&bench, &(struct focus){.parts = FOCUS_GROUP, .group_id = 2},
			START + 120 * S);
	/* Of the others too few are left to say how sure that is. */
	assert_true(snapshot->group.location.missing > 0);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* The request nearest to the median is one that is kept, and of the horizon. */
static void test_median_request(void **state)
{
	struct focus focus = {.parts = FOCUS_GROUP, .horizon = HORIZON_WINDOW, .group_id = 1};
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 60);
	for (uint32_t i = 1; i <= 201; i++) { /* ids are 1..201, of i ms */
		part(&bench, 0, i * MS);
		add(&bench, "a", START + S + i * MS);
	}
	for (uint32_t i = 0; i < 3; i++) { /* left out */
		part(&bench, 0, 101 * MS);
		add_as(&bench, "a", START + 2 * S, REQUEST_TIMEOUT, i == 2);
	}
	snapshot = fill_as(&bench, &focus, START + 2 * S);
	assert_int_equal(snapshot->group.median_request, 101);
	assert_int_equal(groups_median_request(bench.groups, &focus, START + 2 * S, 1), 101);
	assert_int_equal(groups_median_request(bench.groups, &focus, START + 2 * S, 2), 0);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_intervals_cover_the_truth),
			cmocka_unit_test(test_shares_add_up),
			cmocka_unit_test(test_noisy_pair_does_not_win),
			cmocka_unit_test(test_common_cause),
			cmocka_unit_test(test_tail_disagrees),
			cmocka_unit_test(test_rare_slow_requests_are_measured),
			cmocka_unit_test(test_shares_are_those_of_all_requests),
			cmocka_unit_test(test_any_order_gives_the_same_sums),
			cmocka_unit_test(test_horizons_are_those_of_a_plain_list),
			cmocka_unit_test(test_pinned_views_stay_byte_for_byte),
			cmocka_unit_test(test_stepping_back_shows_what_was_shown),
			cmocka_unit_test(test_not_yet),
			cmocka_unit_test(test_nothing_varies),
			cmocka_unit_test(test_bound_on_contexts),
			cmocka_unit_test(test_bound_on_depth),
			cmocka_unit_test(test_bound_on_samples),
			cmocka_unit_test(test_median_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
