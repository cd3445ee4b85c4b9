/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What explaining by key-values promises, by simulation with fixed seeds: how often it believes in
 * keys that say nothing, where all resembles what came before it, and how often it finds the key
 * that was planted.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain/explain.h"
#include "stats/bootstrap.h"
#include "stats/kruskal.h"
#include "stats/ranks.h"
#include "stats/shift_test.h"
#include "trials.h"

#define MAX_ROWS 1024u
#define BAD_LUCK 2u /* trials */

/* ---- series ---- */

/* AR(1), of variance 1. */
static void resembling(struct bootstrap_random *random, double phi, double *out, uint32_t n)
{
	double at = bootstrap_normal(random);

	for (uint32_t i = 0; i < n; i++) {
		out[i] = at;
		at = phi * at + sqrt(1 - phi * phi) * bootstrap_normal(random);
	}
}

static void durations_of(struct bootstrap_random *random, double phi, double *out, uint32_t n)
{
	resembling(random, phi, out, n);
	for (uint32_t i = 0; i < n; i++) {
		out[i] = 1e7 * exp(0.5 * out[i]);
	}
}

static void all_one(uint8_t *levels, uint32_t n)
{
	memset(levels, 0, n);
}

/* ---- chance ---- */

#define N_BOUNDS 4u
static const double bounds[N_BOUNDS] = {0.01, 0.05, 0.1, 0.5};

enum null_kind { NULL_NUMBER, NULL_CATEGORY, NULL_MANY };

/* The smallest p of a test of keys that say nothing. */
static double null_p(struct bootstrap_random *random, double phi, enum null_kind kind, uint32_t n)
{
	static double series[MAX_ROWS], values[8][MAX_ROWS];
	static uint8_t levels[8][MAX_ROWS];
	struct shift_key keys[8];
	uint32_t n_keys = kind == NULL_MANY ? 8 : 1;
	struct shift_test *test;
	double least = 1;

	durations_of(random, phi, series, n);
	for (uint32_t k = 0; k < n_keys; k++) {
		bool category = kind == NULL_CATEGORY || k % 2 == 1;

		resembling(random, phi, values[k], n);
		all_one(levels[k], n);
		for (uint32_t i = 0; i < n && category; i++) {
			levels[k][i] = (uint8_t)(values[k][i] < -0.5  ? 0
						 : values[k][i] < 0.5 ? 1
								      : 2);
		}
		keys[k] = (struct shift_key){.values = category ? NULL : values[k],
				.levels = levels[k],
				.n_levels = category ? 3 : 1};
	}
	test = shift_test_create(series, n, n_keys);
	assert_non_null(test);
	for (uint32_t k = 0; k < n_keys; k++) {
		assert_true(shift_test_add(test, &keys[k]));
	}
	while (shift_test_step(test)) {
	}
	for (uint32_t k = 0; k < n_keys; k++) {
		least = fmin(least, shift_test_p(test, k));
	}
	shift_test_destroy(test);
	return least;
}

/* Of so many trials, what chance makes of a rate: three standard errors to both sides. */
static double chance(double rate, uint32_t trials)
{
	return 3 * sqrt(rate * (1 - rate) / trials);
}

static void check_null(double phi, enum null_kind kind, uint32_t n)
{
	struct bootstrap_random random = {.state = n * 100 + (uint32_t)(phi * 20) * 4 + kind};
	uint32_t trials = TRIALS(1200), below[N_BOUNDS] = {0};

	for (uint32_t i = 0; i < trials; i++) {
		double least = null_p(&random, phi, kind, n);

		for (uint32_t b = 0; b < N_BOUNDS; b++) {
			below[b] += least <= bounds[b];
		}
	}
	for (uint32_t b = 0; b < N_BOUNDS; b++) {
		double rate = (double)below[b] / trials;
		double off = chance(bounds[b], trials) + 0.1 * bounds[b];

		if (fabs(rate - bounds[b]) > off) {
			fail_msg("n %u, autocorrelation %g, kind %d: p <= %g in %g", n, phi,
					(int)kind, bounds[b], rate);
		}
	}
}

/* p is uniform, however much keys and durations resemble what came before them. */
static void test_p_is_uniform(void **state)
{
	static const double phis[] = {0, 0.5, 0.9, 0.95};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		check_null(phis[i], NULL_NUMBER, 250);
		check_null(phis[i], NULL_CATEGORY, 250);
		check_null(phis[i], NULL_MANY, 500);
	}
}

/* ---- tables ---- */

#define N_KEYS     10u
#define N_SEGMENTS 3u

struct table {
	struct explain_table table;
	uint32_t n_keys;
	struct explain_key keys[EXPLAIN_MAX_KEYS];
	char names[EXPLAIN_MAX_KEYS][32];
	double durations[MAX_ROWS], starts[MAX_ROWS];
	double values[EXPLAIN_MAX_KEYS][MAX_ROWS];
	double segments[N_SEGMENTS][MAX_ROWS];
	const double *of_segments[N_SEGMENTS];
};

static const char *const hosts[] = {"compute-1", "compute-2", "compute-3", "compute-4"};

static void table_begin(struct table *table, uint32_t n)
{
	table->n_keys = 0;
	table->table = (struct explain_table){.n_rows = n,
			.duration_ns = table->durations,
			.start_ns = table->starts,
			.keys = table->keys};
	for (uint32_t i = 0; i < n; i++) {
		table->starts[i] = i * 1e8;
	}
}

static double *add_number(struct table *table, const char *name)
{
	uint32_t at = table->n_keys++;

	snprintf(table->names[at], sizeof(table->names[at]), "%s", name);
	table->keys[at] = (struct explain_key){.name = table->names[at],
			.where = "create›build",
			.source = EXPLANATION_FIELD,
			.numeric = true,
			.values = table->values[at]};
	table->table.n_keys = table->n_keys;
	return table->values[at];
}

static double *add_category(struct table *table, const char *name)
{
	double *values = add_number(table, name);
	struct explain_key *key = &table->keys[table->n_keys - 1];

	key->numeric = false;
	key->source = EXPLANATION_HOST;
	key->texts = hosts;
	key->n_texts = 4;
	return values;
}

/* Keys that say nothing, some much like what came before them, some of a category. */
static void add_irrelevant(struct table *table, struct bootstrap_random *random, uint32_t n_keys)
{
	uint32_t n = table->table.n_rows;
	char name[32];

	for (uint32_t k = 0; k < n_keys; k++) {
		double *values;

		snprintf(name, sizeof(name), "load_%u", k);
		values = k % 3 == 2 ? add_category(table, name) : add_number(table, name);
		resembling(random, k % 2 ? 0.9 : 0.3, values, n);
		for (uint32_t i = 0; i < n && k % 3; i++) {
			values[i] = fmin(3, fmax(0, floor(values[i] + 2)));
		}
	}
}

/* Done, whatever the slices. */
static struct explain *explained(const struct table *table, uint64_t units)
{
	struct explain *explain = explain_start(&table->table);

	assert_non_null(explain);
	while (!explain_work(explain, units)) {
	}
	return explain;
}

static struct snapshot *shown(
		const struct table *table, uint64_t units, struct explanation *out, bool *sure)
{
	struct explain *explain = explained(table, units);
	struct snapshot *snapshot = snapshot_create();
	struct explain_verdict verdict;

	assert_non_null(snapshot);
	assert_int_equal(explain_fill(explain, snapshot, out), STATUS_OK);
	*sure = explain_is_sure(explain, &verdict);
	if (*sure) {
		assert_string_equal(verdict.name, out->keys[0].name);
		assert_true(verdict.n >= 250 && verdict.n_held >= 250);
	}
	explain_destroy(explain);
	return snapshot;
}

/* ---- what is planted is found ---- */

enum planted { MONOTONE, NOT_MONOTONE, CATEGORY, RARE, QUEUE, N_PLANTED };

static void plant(struct table *table, struct bootstrap_random *random, enum planted planted)
{
	uint32_t n = table->table.n_rows;
	double *values = planted == CATEGORY || planted == RARE ? add_category(table, "cause")
								: add_number(table, "cause");

	resembling(random, 0.8, values, n);
	for (uint32_t i = 0; i < n; i++) {
		double noise = exp(0.1 * bootstrap_normal(random)), ms = 10;

		switch (planted) {
		case MONOTONE: /* the larger, the longer */
			values[i] = floor(4096 * exp(values[i]));
			ms += values[i] * 5e-3;
			break;
		case NOT_MONOTONE: /* of a ring buffer: slow at both ends */
			ms += 10 * values[i] * values[i];
			break;
		case CATEGORY: /* a slow replica */
			values[i] = fmin(3, fmax(0, floor(values[i] + 2)));
			ms *= values[i] > 2 ? 3 : 1;
			break;
		case RARE: /* a miss of the cache, 3 % at ten times the latency */
			values[i] = bootstrap_uniform(random) < 0.03;
			ms *= values[i] > 0 ? 10 : 1;
			break;
		default: /* a semaphore for two */
			values[i] = fmin(2, fmax(0, floor(values[i] + 1)));
			ms = 400 + 850 * values[i];
			break;
		}
		table->durations[i] = ms * 1e6 * noise;
	}
}

/*
 * An answer goes with the duration even better than what was asked: it comes first only if nothing says
 * that it was told when all was over.
 */
static void test_what_is_told_late(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 4711};

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct explanation out;
		struct snapshot *snapshot;
		double *answer;
		bool sure;

		table_begin(&table, 1000);
		add_irrelevant(&table, &random, N_KEYS);
		plant(&table, &random, MONOTONE);
		answer = add_number(&table, "answer");
		table.keys[table.n_keys - 1].told = late ? 0.9 : 0.1;
		for (uint32_t i = 0; i < 1000; i++) {
			answer[i] = floor(table.durations[i] * table.durations[i] / 1e9);
		}
		snapshot = shown(&table, 100000, &out, &sure);
		assert_string_equal(out.keys[0].name, late ? "cause" : "answer");
		assert_true(sure);
		snapshot_destroy(snapshot);
	}
}

static void check_planted(enum planted planted, uint32_t n, double found_at_least)
{
	static struct table table;
	struct bootstrap_random random = {.state = 77 * n + planted};
	uint32_t trials = TRIALS(60), first = 0, believed = 0;

	for (uint32_t trial = 0; trial < trials; trial++) {
		struct explanation out;
		struct snapshot *snapshot;
		bool sure;

		table_begin(&table, n);
		add_irrelevant(&table, &random, N_KEYS);
		plant(&table, &random, planted);
		snapshot = shown(&table, 100000, &out, &sure);
		if (strcmp(out.keys[0].name, "cause") == 0) {
			first += out.keys[0].p < 0.05 && out.keys[0].confirmed;
			believed += sure;
			assert_true(out.keys[0].p >= 1 / (out.keys[0].shifts + 1.0));
		} else {
			assert_false(sure);
		}
		snapshot_destroy(snapshot);
	}
	if (first + BAD_LUCK < found_at_least * trials ||
			(n >= 2 * EXPLAIN_BELIEVE &&
					believed + BAD_LUCK < found_at_least * trials)) {
		fail_msg("planted %d, n %u: first and confirmed %u, believed %u of %u",
				(int)planted, n, first, believed, trials);
	}
	assert_true(n >= 2 * EXPLAIN_BELIEVE || believed == 0);
}

static void test_finds_what_is_planted(void **state)
{
	(void)state;
	for (enum planted planted = 0; planted < N_PLANTED; planted++) {
		check_planted(planted, 1000, 0.95);
		check_planted(planted, 500, 0.9);
		check_planted(planted, 120, planted == RARE ? 0 : 0.9);
	}
}

/* Nothing is planted: rule 2 never fires, and hardly anything seems found and confirmed. */
static void test_believes_in_nothing(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 5};
	uint32_t trials = TRIALS(400), confirmed = 0;

	(void)state;
	for (uint32_t trial = 0; trial < trials; trial++) {
		struct explanation out;
		struct snapshot *snapshot;
		bool sure;

		table_begin(&table, 600);
		add_irrelevant(&table, &random, N_KEYS);
		durations_of(&random, trial % 2 ? 0.95 : 0.5, table.durations, 600);
		snapshot = shown(&table, 1000000, &out, &sure);
		assert_false(sure);
		for (uint32_t k = 0; k < out.n_keys; k++) {
			confirmed += out.keys[k].p <= 0.05 && out.keys[k].confirmed;
		}
		snapshot_destroy(snapshot);
	}
	assert_true(confirmed <= 0.05 * trials);
}

/* ---- what is told ---- */

/* A table with a bit of everything. */
static void mixed_table(struct table *table, uint32_t n, uint64_t seed)
{
	struct bootstrap_random random = {.state = seed};
	double *copy, *again;

	table_begin(table, n);
	add_irrelevant(table, &random, N_KEYS);
	plant(table, &random, QUEUE);
	copy = add_number(table, "copy_of_cause");
	again = add_number(table, "partly_missing");
	for (uint32_t i = 0; i < n; i++) {
		copy[i] = 7 - 3 * table->values[N_KEYS][i];
		again[i] = i % 3 ? bootstrap_uniform(&random) : NAN;
	}
	for (uint32_t s = 0; s < N_SEGMENTS; s++) {
		for (uint32_t i = 0; i < n; i++) {
			table->segments[s][i] = s == 1 ? 0.9 * table->durations[i]
						       : 1e6 * exp(bootstrap_normal(&random));
		}
		table->of_segments[s] = table->segments[s];
	}
	table->table.n_segments = N_SEGMENTS;
	table->table.segments_ns = table->of_segments;
}

static void assert_same(const struct explanation *a, const struct explanation *b)
{
	struct explanation left = *a, right = *b;

	assert_int_equal(a->n_keys, b->n_keys);
	assert_int_equal(a->n_values, b->n_values);
	assert_int_equal(a->n_out, b->n_out);
	for (uint32_t i = 0; i < a->n_keys; i++) {
		assert_string_equal(a->keys[i].name, b->keys[i].name);
		assert_true(memcmp(&a->keys[i].rho, &b->keys[i].rho, 4 * sizeof(double)) == 0);
		assert_int_equal(a->keys[i].shifts, b->keys[i].shifts);
		assert_int_equal(a->keys[i].confirmed, b->keys[i].confirmed);
		assert_int_equal(a->keys[i].n_together, b->keys[i].n_together);
	}
	for (uint32_t i = 0; i < a->n_values; i++) {
		assert_string_equal(a->values[i].text, b->values[i].text);
		assert_memory_equal(
				a->values[i].bins, b->values[i].bins, sizeof(a->values[i].bins));
	}
	left.keys = right.keys = NULL;
	left.values = right.values = NULL;
	left.out = right.out = NULL;
	assert_memory_equal(&left, &right, sizeof(left));
}

static void test_slices_do_not_matter(void **state)
{
	static struct table table;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct explanation at_once, in_slices;
		struct snapshot *first, *second;
		bool sure, sure_too;

		mixed_table(&table, 600, seed);
		memset(&at_once, 0, sizeof(at_once));
		memset(&in_slices, 0, sizeof(in_slices));
		first = shown(&table, UINT64_MAX, &at_once, &sure);
		second = shown(&table, 1, &in_slices, &sure_too);
		assert_int_equal(sure, sure_too);
		assert_same(&at_once, &in_slices);
		snapshot_destroy(first);
		snapshot_destroy(second);
	}
}

/* A slice ends soon after its units are used up, and progress only rises. */
static void test_slices_end(void **state)
{
	static struct table table;
	struct snapshot *snapshot = snapshot_create();
	struct explanation out;
	struct explain *explain;
	double progress = 0;
	uint32_t slices = 0;

	(void)state;
	mixed_table(&table, 1000, 4);
	explain = explain_start(&table.table);
	while (!explain_work(explain, 500)) {
		slices++;
		assert_int_equal(explain_fill(explain, snapshot, &out), STATUS_OK);
		assert_int_equal(out.state, EXPLANATION_RUNNING);
		assert_true(out.progress >= progress && out.progress < 1);
		progress = out.progress;
	}
	assert_true(slices > 20);
	explain_destroy(explain);
	snapshot_destroy(snapshot);
}

static const struct explained_key *key_named(const struct explanation *out, const char *name)
{
	for (uint32_t i = 0; i < out->n_keys; i++) {
		if (strcmp(out->keys[i].name, name) == 0) {
			return &out->keys[i];
		}
	}
	return NULL;
}

/* What keeps the order of a number keeps its rho, its p, and, with few values, all. */
static void test_order_is_what_counts(void **state)
{
	static struct table table;
	struct explanation before, after;
	struct snapshot *first, *second;
	bool sure, sure_too;

	(void)state;
	mixed_table(&table, 600, 9);
	first = shown(&table, 100, &before, &sure);
	for (uint32_t k = 0; k < table.n_keys; k++) {
		for (uint32_t i = 0; i < 600 && table.keys[k].numeric; i++) {
			table.values[k][i] = exp(table.values[k][i]) + 3;
		}
	}
	second = shown(&table, 100, &after, &sure_too);
	assert_int_equal(sure, sure_too);
	assert_int_equal(before.n_keys, after.n_keys);
	for (uint32_t i = 0; i < before.n_keys; i++) {
		const struct explained_key *same = key_named(&after, before.keys[i].name);

		if (!same) {
			fail_msg("%s is gone", before.keys[i].name);
			return;
		}
		assert_true(fabs(same->rho - before.keys[i].rho) < 1e-12);
		assert_true(fabs(same->p - before.keys[i].p) < 1e-12);
	}
	assert_true(fabs(before.keys[0].omega2_held - after.keys[0].omega2_held) < 1e-12);
	assert_true(fabs(before.r2 - after.r2) < 1e-9);
	snapshot_destroy(first);
	snapshot_destroy(second);
}

/* The seed's result: three groups of latencies by the length of the queue. */
static void test_latency_by_value(void **state)
{
	static struct table table;
	struct explanation out;
	struct snapshot *snapshot;
	uint64_t counts[3] = {0};
	bool sure;

	(void)state;
	mixed_table(&table, 1000, 12);
	snapshot = shown(&table, 2000, &out, &sure);
	assert_true(sure);
	assert_int_equal(out.state, EXPLANATION_DONE);
	assert_int_equal(out.n, 500);
	assert_int_equal(out.n_held, 500);
	assert_string_equal(out.keys[0].name, "cause");
	assert_string_equal(out.keys[0].where, "create›build");
	assert_true(out.keys[0].p <= 0.001 + 1e-12 && out.keys[0].shifts == 999);
	assert_int_equal(out.keys[0].n_together, 1);
	assert_string_equal(out.keys[0].together[0], "copy_of_cause");
	assert_null(key_named(&out, "copy_of_cause"));
	assert_int_equal(out.n_values, 3);
	for (uint32_t i = 0; i < 1000; i++) {
		counts[(uint32_t)table.values[N_KEYS][i]]++;
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct explained_value *value = &out.values[i];
		char text[8];
		uint64_t sum = 0;

		snprintf(text, sizeof(text), "%u", i);
		assert_string_equal(value->text, text);
		assert_int_equal(value->count, counts[i]);
		assert_true(fabs(value->share - (double)counts[i] / 1000) < 1e-12);
		assert_true(fabs(value->mean_ns / (400e6 + 850e6 * i) - 1) < 0.03);
		assert_true(fabs((double)value->p50_ns / (400e6 + 850e6 * i) - 1) < 0.03);
		for (uint32_t bin = 0; bin < EXPLANATION_BINS; bin++) {
			sum += value->bins[bin];
		}
		assert_int_equal(sum, counts[i]);
	}
	/* All keys together, and against the segments of which one is nine tenths of it. */
	assert_true(out.r2 > 0.9 && out.n_columns <= 100 && out.f_p < 1e-6);
	assert_int_equal(out.n_segments, 3);
	assert_true(out.canonical > 0.9 && out.chi2_p < 1e-6);
	assert_int_equal(out.df, out.n_columns * 3);
	snapshot_destroy(snapshot);
}

static const char *why_out(const struct explanation *out, const char *name)
{
	for (uint32_t i = 0; i < out->n_out; i++) {
		if (strcmp(out->out[i].name, name) == 0) {
			return out->out[i].why;
		}
	}
	return NULL;
}

/* What is time, a part of it, or the number of the request explains nothing. */
static void test_derived_keys_are_left_out(void **state)
{
	static const char *const out_by_name[] = {"rpc.deadline", "rpc.timestamp", "sql.elapsed_ms",
			"rpc.latency", "rpc.waitedTime", "db.duration_us", "io.took",
			"rpc.wait_ns"};
	static const char *const stay[] = {"queue.waiters", "rpc.timeout_ms", "req.request_bytes",
			"sem.queue_len", "rows.sent"};
	static struct table table;
	struct bootstrap_random random = {.state = 3};
	struct explanation out;
	struct snapshot *snapshot;
	double *number, *duration, *sum, *address;
	bool sure;

	(void)state;
	table_begin(&table, 600);
	durations_of(&random, 0.5, table.durations, 600);
	for (uint32_t k = 0; k < sizeof(out_by_name) / sizeof(*out_by_name); k++) {
		resembling(&random, 0.5, add_number(&table, out_by_name[k]), 600);
	}
	for (uint32_t k = 0; k < sizeof(stay) / sizeof(*stay); k++) {
		resembling(&random, 0.5, add_number(&table, stay[k]), 600);
	}
	number = add_number(&table, "rpc.number");
	duration = add_number(&table, "rpc.result");
	sum = add_number(&table, "rows.both");
	add_number(&table, "rpc.constant"); /* of any values before */
	memset(table.values[table.n_keys - 1], 0, sizeof(table.values[0]));
	for (uint32_t i = 0; i < 600; i++) {
		number[i] = 4000 + i + 3 * bootstrap_uniform(&random);
		duration[i] = floor(table.durations[i] / 1e3) + 2;
		sum[i] = table.values[8][i] + 1e-3 * table.values[12][i];
	}
	resembling(&random, 0, add_number(&table, "rpc.request_id"), 600);
	address = add_number(&table, "rpc.buf");
	for (uint32_t i = 0; i < 600; i++) {
		/* Of a pool of buffers: as ordered as the durations are. */
		address[i] = 0x7f0000000000 + 4096 * floor(table.durations[i] / 1e7);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_false(sure);
	for (uint32_t k = 0; k < sizeof(out_by_name) / sizeof(*out_by_name); k++) {
		assert_string_equal(why_out(&out, out_by_name[k]), "derived from time");
	}
	for (uint32_t k = 1; k < sizeof(stay) / sizeof(*stay); k++) {
		assert_null(why_out(&out, stay[k]));
		assert_non_null(key_named(&out, stay[k]));
	}
	assert_string_equal(why_out(&out, "rpc.number"), "grows with time");
	assert_string_equal(why_out(&out, "rpc.result"), "is the duration");
	assert_string_equal(why_out(&out, "rpc.constant"), "does not vary");
	assert_string_equal(why_out(&out, "rpc.request_id"), "says which request it is");
	assert_string_equal(why_out(&out, "rpc.buf"), "an address, a hash or a clock, by its size");
	snapshot_destroy(snapshot);
}

/* What waits for a lock waits for a processor after it, too: for little of what it takes. */
static void test_small_parts_are_left_out(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 5};
	struct explanation out;
	struct snapshot *snapshot;
	double *part, *most;
	bool sure;

	(void)state;
	table_begin(&table, 600);
	durations_of(&random, 0.5, table.durations, 600);
	part = add_number(&table, "runqueue_ns");
	most = add_number(&table, "blocked_disk_ns");
	for (uint32_t k = 0; k < 2; k++) {
		table.keys[k].source = EXPLANATION_RESOURCE;
	}
	for (uint32_t i = 0; i < 600; i++) {
		double noise = bootstrap_uniform(&random);

		part[i] = table.durations[i] * (0.02 + 0.002 * noise);
		most[i] = table.durations[i] * (0.6 + 0.1 * noise);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(why_out(&out, "runqueue_ns"), "a small part of the duration");
	assert_null(why_out(&out, "blocked_disk_ns"));
	assert_non_null(key_named(&out, "blocked_disk_ns"));
	snapshot_destroy(snapshot);
}

/* Polls and retries are as many as there is time for: the value that makes it long comes first. */
static void test_counts_follow(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 11};
	struct explanation out;
	struct snapshot *snapshot;
	double *waiters, *polls;
	bool sure;

	(void)state;
	table_begin(&table, 600);
	waiters = add_number(&table, "sem.waiters");
	polls = add_number(&table, "poll");
	table.keys[1].source = EXPLANATION_COUNT;
	for (uint32_t i = 0; i < 600; i++) {
		waiters[i] = bootstrap_below(&random, 5);
		table.durations[i] = 1e8 * (1 + waiters[i]) * exp(0.2 * bootstrap_normal(&random));
		polls[i] = floor(table.durations[i] / 5e7);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "sem.waiters");
	assert_true(out.keys[0].confirmed);
	snapshot_destroy(snapshot);
	/* Without another it is told: nobody knows which follows from which. */
	for (uint32_t i = 0; i < 600; i++) {
		waiters[i] = bootstrap_below(&random, 5);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "poll");
	snapshot_destroy(snapshot);
}

/* A call is made again where the first took too long: that goes with the duration as much as the
 * value that makes it long, and has fewer levels; yet it follows. */
static void test_a_repeated_call_follows(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 12};
	struct explanation out;
	struct snapshot *snapshot;
	double *length, *calls, *retry;
	bool sure;

	(void)state;
	for (uint32_t whether = 0; whether < 2; whether++) {
		table_begin(&table, 600);
		calls = add_number(&table, "count of backend.call");
		retry = add_number(&table, "count of backend.retry");
		length = add_number(&table, "queue.length");
		table.keys[0].source = table.keys[1].source = EXPLANATION_COUNT;
		for (uint32_t i = 0; i < 600; i++) {
			bool slow;

			length[i] = bootstrap_below(&random, 6);
			slow = length[i] >= 4;
			/* Once or twice, or one more span that others lack. */
			calls[i] = whether ? 1 : 1 + slow;
			retry[i] = whether ? slow : 0;
			table.durations[i] =
					(slow ? 9e8 : 1e8) * exp(0.1 * bootstrap_normal(&random));
		}
		snapshot = shown(&table, 2000, &out, &sure);
		assert_string_equal(out.keys[0].name, "queue.length");
		assert_true(out.keys[0].confirmed);
		snapshot_destroy(snapshot);
	}
}

/* What a system call tells goes with the way that the code took: the message comes first that it was
 * taken for, if it tells half as much; alone it is named, and is no verdict. */
static void test_what_was_done_follows(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 13};
	struct explanation out;
	struct snapshot *snapshot;
	double *length, *size;
	bool sure;

	(void)state;
	table_begin(&table, 1000);
	size = add_number(&table, "syscall_lseek.ret");
	length = add_number(&table, "socket_recv.length");
	table.keys[0].done = true;
	for (uint32_t i = 0; i < 1000; i++) {
		bool slow = bootstrap_below(&random, 3) == 0;

		size[i] = slow ? 58408960 : 147456;
		length[i] = (slow ? 60 : 57) + bootstrap_below(&random, 4);
		table.durations[i] = (slow ? 9e8 : 1e8) * exp(0.1 * bootstrap_normal(&random));
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "socket_recv.length");
	assert_true(out.keys[0].omega2 < out.keys[1].omega2);
	snapshot_destroy(snapshot);
	for (uint32_t i = 0; i < 1000; i++) {
		length[i] = 57 + bootstrap_below(&random, 4);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "syscall_lseek.ret");
	assert_true(out.keys[0].omega2_held > 0.9 && out.keys[0].confirmed);
	assert_false(sure);
	snapshot_destroy(snapshot);
	table.keys[0].done = false;
	snapshot = shown(&table, 2000, &out, &sure);
	assert_true(sure);
	snapshot_destroy(snapshot);
}

/*
 * One client of five asks for what is slow: its port tells that with fewer levels than what it asks
 * for, which comes first nevertheless. Where nothing that is asked for tells it, who asks does.
 */
static void test_who_asks_comes_second(void **state)
{
	static struct table table;
	struct bootstrap_random random = {.state = 17};
	struct explanation out;
	struct snapshot *snapshot;
	double *port, *length;
	bool sure;

	(void)state;
	table_begin(&table, 1000);
	port = add_number(&table, "socket_recv.dport");
	length = add_number(&table, "socket_recv.length");
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t client = bootstrap_below(&random, 5);
		bool slow = client == 4;

		port[i] = 46000 + 4 * client;
		length[i] = slow ? 31 : 22 + bootstrap_below(&random, 8);
		table.durations[i] = (slow ? 3e6 : 6e4) * exp(0.1 * bootstrap_normal(&random));
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "socket_recv.length");
	assert_true(sure);
	snapshot_destroy(snapshot);
	for (uint32_t i = 0; i < 1000; i++) {
		length[i] = 22 + bootstrap_below(&random, 8);
	}
	snapshot = shown(&table, 2000, &out, &sure);
	assert_string_equal(out.keys[0].name, "socket_recv.dport");
	assert_true(sure);
	snapshot_destroy(snapshot);
}

/* Names of requests, and hosts that only the slow ones run on. */
static void test_categories(void **state)
{
	static struct table table;
	static char texts[600][16];
	static const char *names[600];
	struct bootstrap_random random = {.state = 8};
	struct explanation out;
	struct snapshot *snapshot;
	double *host, *name;
	bool sure;

	(void)state;
	table_begin(&table, 600);
	host = add_category(&table, "host of build");
	name = add_category(&table, "rpc.name");
	for (uint32_t i = 0; i < 600; i++) {
		snprintf(texts[i], sizeof(texts[i]), "r-%u", i);
		names[i] = texts[i];
		name[i] = i;
		host[i] = bootstrap_below(&random, 4);
		host[i] = i % 10 == 0 ? NAN : host[i];
		table.durations[i] =
				(host[i] >= 3 ? 9e8 : 1e8) * exp(0.1 * bootstrap_normal(&random));
	}
	table.keys[1].source = EXPLANATION_FIELD;
	table.keys[1].texts = names;
	table.keys[1].n_texts = 600;
	snapshot = shown(&table, 2000, &out, &sure);
	assert_true(sure);
	assert_string_equal(why_out(&out, "rpc.name"), "says which request it is");
	assert_string_equal(out.keys[0].name, "host of build");
	assert_int_equal(out.n_values, 5);
	assert_string_equal(out.values[4].text, "compute-4"); /* by mean, the slowest last */
	assert_true(out.keys[0].rho == 0 && !out.keys[0].numeric);
	snapshot_destroy(snapshot);
}

#define N_PLACES 6u

/* On host 2 the first `slow` of six places take twice as long; all vary by themselves. */
static bool is_broad(uint32_t slow, uint64_t seed, struct explain_broad *broad)
{
	static struct table table;
	static double places[N_PLACES][300];
	const double *of_places[N_PLACES];
	struct bootstrap_random random = {.state = seed};
	struct explain *explain;
	double *host;
	bool is;

	table_begin(&table, 300);
	host = add_category(&table, "host of build");
	for (uint32_t i = 0; i < 300; i++) {
		host[i] = bootstrap_below(&random, 3);
		table.durations[i] = 0;
		for (uint32_t s = 0; s < N_PLACES; s++) {
			/* The first is most of the time, as places are. */
			places[s][i] = (s == 0 ? 5e7 : 1e7) * exp(0.3 * bootstrap_normal(&random)) *
				       (s < slow && host[i] == 2 ? 2 : 1);
			table.durations[i] += places[s][i];
		}
	}
	for (uint32_t s = 0; s < N_PLACES; s++) {
		of_places[s] = places[s];
	}
	table.table.n_segments = N_PLACES;
	table.table.segments_ns = of_places;
	explain = explain_start(&table.table);
	assert_non_null(explain);
	while (!explain_work(explain, 1000)) {
	}
	is = explain_is_broad(explain, broad);
	assert_true(!is || strcmp(broad->value, "compute-3") == 0);
	explain_destroy(explain);
	return is;
}

/* A host that is slow at everything is told from one where one place is slow, or two. */
static void test_slow_everywhere(void **state)
{
	uint32_t everywhere = 0, in_one = 0, nowhere = 0;
	struct explain_broad broad;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		if (is_broad(N_PLACES, seed, &broad)) {
			everywhere++;
			assert_true(broad.slower >= 5 && broad.places == N_PLACES);
			assert_true(broad.times > 1.7 && broad.times < 2.4);
		}
		in_one += is_broad(1, seed, &broad) + is_broad(2, seed, &broad);
		nowhere += is_broad(0, seed, &broad);
	}
	assert_int_equal(everywhere, 40);
	assert_int_equal(in_one + nowhere, 0);
}

static void test_few(void **state)
{
	static struct table table;
	struct explanation out;
	struct snapshot *snapshot;
	bool sure;

	(void)state;
	mixed_table(&table, 49, 1);
	snapshot = shown(&table, 1, &out, &sure);
	assert_int_equal(out.state, EXPLANATION_FEW);
	assert_int_equal(out.missing, 1);
	snapshot_destroy(snapshot);

	mixed_table(&table, 50, 1);
	snapshot = shown(&table, 1, &out, &sure);
	assert_int_equal(out.state, EXPLANATION_DONE);
	assert_true(out.n_columns <= 5 && !sure);
	assert_string_equal(out.keys[0].name, "cause");
	snapshot_destroy(snapshot);

	mixed_table(&table, 600, 1);
	table.table.n_keys = 0;
	snapshot = shown(&table, 1, &out, &sure);
	assert_int_equal(out.state, EXPLANATION_FEW);
	assert_int_equal(out.missing, 0);
	snapshot_destroy(snapshot);
}

/* All the same: nothing divides by nothing. */
static void test_nothing_varies(void **state)
{
	static struct table table;
	struct explanation out;
	struct snapshot *snapshot;
	bool sure;

	(void)state;
	mixed_table(&table, 300, 6);
	for (uint32_t i = 0; i < 300; i++) {
		table.durations[i] = 5e6;
	}
	snapshot = shown(&table, 1000, &out, &sure);
	assert_false(sure);
	for (uint32_t k = 0; k < out.n_keys; k++) {
		assert_true(out.keys[k].p > 0.9 && out.keys[k].omega2 <= 0);
		assert_false(out.keys[k].confirmed);
	}
	assert_true(out.r2 <= 0);
	snapshot_destroy(snapshot);
}

/* ---- by hand ---- */

static void test_by_hand(void **state)
{
	static const double left[] = {1, 2, 3, 4, 5}, right[] = {2, 1, 4, 3, 5};
	static const double tied[] = {1, 1, 2, NAN, 9};
	/* Two groups {1, 3} and {5, 7}: SST 20, SSB 16, MSW 2: (16 - 2) / (20 + 2). */
	static const double four[] = {1, 3, 5, 7};
	static const uint8_t halves[] = {0, 0, 1, 1};
	double ranks[16], rho;

	(void)state;
	assert_true(ranks_spearman(left, right, 5, &rho));
	assert_true(fabs(rho - 0.8) < 1e-12); /* 1 - 6 * 4 / (5 * 24) */
	assert_true(ranks_make(tied, 5, ranks));
	assert_true(ranks[0] == 1.5 && ranks[1] == 1.5 && ranks[2] == 3 && isnan(ranks[3]) &&
			ranks[4] == 4);
	assert_true(fabs(kruskal_omega2(four, halves, 4, 2) - 14.0 / 22) < 1e-12);
	assert_true(fabs(kruskal_deviate(11.0705, 5) - 1.6449) < 0.01); /* the 95 % quantile */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_what_is_told_late),
			cmocka_unit_test(test_by_hand),
			cmocka_unit_test(test_p_is_uniform),
			cmocka_unit_test(test_finds_what_is_planted),
			cmocka_unit_test(test_believes_in_nothing),
			cmocka_unit_test(test_slices_do_not_matter),
			cmocka_unit_test(test_slices_end),
			cmocka_unit_test(test_order_is_what_counts),
			cmocka_unit_test(test_latency_by_value),
			cmocka_unit_test(test_derived_keys_are_left_out),
			cmocka_unit_test(test_small_parts_are_left_out),
			cmocka_unit_test(test_counts_follow),
			cmocka_unit_test(test_a_repeated_call_follows),
			cmocka_unit_test(test_what_was_done_follows),
			cmocka_unit_test(test_who_asks_comes_second),
			cmocka_unit_test(test_categories),
			cmocka_unit_test(test_slow_everywhere),
			cmocka_unit_test(test_few),
			cmocka_unit_test(test_nothing_varies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
