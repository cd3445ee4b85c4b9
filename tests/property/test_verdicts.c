/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the rows of groups say about variation, from requests to snapshots: when nothing may be
 * said, the rules that compare groups, the order by each metric, and when verdicts are given.
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

#include "feed.h"
#include "groups/groups.h"
#include "stats/bootstrap.h"
#include "support_request.h"

#define MS    UINT64_C(1000000)
#define S     UINT64_C(1000000000)
#define START (1000 * S)

struct bench {
	struct request_source source;
	struct groups *groups;
	struct bootstrap_random random;
};

static void bench_init(struct bench *bench, uint64_t seed)
{
	const struct groups_config config = {.window_ns = 10 * S,
			.max_groups = 20000,
			.max_kept_bytes = UINT64_C(64) << 20,
			.max_pin_bytes = UINT64_C(64) << 20};

	request_source_init(&bench->source);
	bench->groups = groups_create(
			&config, bench->source.names, bench->source.contexts, &bench->source.pool);
	assert_non_null(bench->groups);
	bench->random.state = seed;
	groups_advance(bench->groups, START);
}

static void bench_release(struct bench *bench)
{
	groups_destroy(bench->groups);
	request_source_release(&bench->source);
}

static double lognormal(struct bench *bench, double median_ms, double sigma)
{
	return median_ms * exp(sigma * bootstrap_normal(&bench->random));
}

static void add_one(struct bench *bench, const char *type, uint64_t end_ns, double ms, bool tainted)
{
	struct request *request = request_source_make(
			&bench->source, type, end_ns, (uint64_t)(ms * (double)MS), NULL, 0);

	request->tainted = tainted;
	groups_add(bench->groups, request);
	request_drop(&bench->source.pool, request);
}

/* n requests within a second from `at_ns`. */
static void add(struct bench *bench, const char *type, uint64_t at_ns, uint32_t n, double median_ms,
		double sigma)
{
	for (uint32_t i = 0; i < n; i++) {
		add_one(bench, type, at_ns + i * S / n, lognormal(bench, median_ms, sigma), false);
	}
}

static struct snapshot *fill(struct bench *bench, struct focus focus, uint64_t at_ns)
{
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	focus.parts |= FOCUS_GROUPS;
	assert_int_equal(groups_fill(bench->groups, &focus, at_ns, snapshot), STATUS_OK);
	return snapshot;
}

static struct groups_row row_of(struct bench *bench, const char *type, uint64_t at_ns)
{
	struct snapshot *snapshot = fill(bench, (struct focus){.horizon = HORIZON_ALL}, at_ns);
	struct groups_row row = {0};

	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		if (!strcmp(snapshot->groups.rows[i].type, type)) {
			row = snapshot->groups.rows[i];
		}
	}
	row.type = row.path = NULL; /* the snapshot's */
	snapshot_destroy(snapshot);
	assert_true(row.id != 0);
	return row;
}

static void assert_silent(const struct groups_row *row)
{
	assert_int_equal(row->detection, 0);
	assert_int_equal(row->n_modes, 0);
	assert_true(row->cov_low == 0 && row->shift == 0);
}

/* Fewer than 50 requests say nothing, whatever they look like, and how many are missing. */
static void few_requests_say_nothing(void **state)
{
	struct groups_row row;
	struct bench bench;

	(void)state;
	bench_init(&bench, 1);
	assert_int_equal(groups_expect(bench.groups, "a", 1), STATUS_OK);
	for (uint32_t i = 0; i < 60; i++) {
		add_one(&bench, "a", START + i * MS, i % 2 ? 1000 : 10, false);
		row = row_of(&bench, "a", START + S);
		assert_int_equal(row.missing, i + 1 < 50 ? 50 - (i + 1) : 0);
		assert_false(row.lossy);
		if (row.missing) {
			assert_silent(&row);
			continue;
		}
		assert_int_equal(
				row.detection, DETECTION_VARIES | DETECTION_MODES | DETECTION_SLOW);
		assert_int_equal(row.n_modes, 2);
		assert_true(row.cov_low > 0.25 && row.cov_low <= row.cov);
		assert_int_equal(row.objective_ns, 1);
	}
	bench_release(&bench);
}

/* More than a tenth of tainted requests says nothing; no more of them says it again. */
static void lossy_groups_say_nothing(void **state)
{
	struct groups_row row;
	struct bench bench;

	(void)state;
	bench_init(&bench, 2);
	add(&bench, "a", START, 90, 10, 1);
	for (uint32_t i = 0; i < 11; i++) {
		row = row_of(&bench, "a", START + S);
		assert_false(row.lossy); /* 10 of 100 is a tenth */
		assert_true(row.detection & DETECTION_VARIES);
		add_one(&bench, "a", START + S, 10, true);
	}
	row = row_of(&bench, "a", START + S);
	assert_int_equal(row.tainted, 11);
	assert_true(row.lossy);
	assert_silent(&row);
	add(&bench, "a", START + S, 20, 10, 1);
	row = row_of(&bench, "a", START + 2 * S);
	assert_false(row.lossy);
	assert_true(row.detection & DETECTION_VARIES);
	assert_int_equal(row.missing, 0);
	bench_release(&bench);
}

/* Adds `n_groups` types of n requests each; returns how many are SLOW. */
static uint32_t count_slow(struct bench *bench, uint32_t n_groups, uint32_t n, double spread)
{
	struct snapshot *snapshot;
	uint32_t slow = 0;

	for (uint32_t i = 0; i < n_groups; i++) {
		char type[32];

		snprintf(type, sizeof(type), "type %u", i);
		add(bench, type, START, n, lognormal(bench, 20, spread), 0.5);
	}
	snapshot = fill(bench, (struct focus){.horizon = HORIZON_ALL}, START + S);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		slow += (snapshot->groups.rows[i].detection & DETECTION_SLOW) != 0;
	}
	snapshot_destroy(snapshot);
	return slow;
}

/* Groups that perform alike, or as differently as types do, are not slow: at most 0.2 % of them. */
static void like_groups_are_not_slow(void **state)
{
	static const double spreads[] = {0, 0.5, 1.5};
	uint32_t slow = 0;

	(void)state;
	for (uint32_t i = 0; i < 15; i++) {
		struct bench bench;

		bench_init(&bench, 30 + i);
		slow += count_slow(&bench, 100, 60, spreads[i % 3]);
		bench_release(&bench);
	}
	print_message("slow: %u of 1500\n", slow);
	assert_true(slow <= 3);
}

static void a_slow_group_among_others(void **state)
{
	static const uint32_t others[] = {2, 18, 19, 40};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct bench bench;

		bench_init(&bench, 50 + i);
		add(&bench, "slow", START, 100, 100, 0.2);
		assert_int_equal(count_slow(&bench, others[i], 60, 0.2), others[i] >= 19);
		assert_int_equal(
				(row_of(&bench, "slow", START + S).detection & DETECTION_SLOW) != 0,
				others[i] >= 19);
		bench_release(&bench);
	}
}

/* Of groups that precisely keep their objective at most 5 % are called slow. */
static void objectives_keep_their_level(void **state)
{
	struct groups_row row;
	struct bench bench;
	uint32_t slow = 0;

	(void)state;
	bench_init(&bench, 3);
	assert_int_equal(groups_expect(bench.groups, "*", 20 * MS), STATUS_OK);
	assert_int_equal(groups_expect(bench.groups, "server ?reate", 10 * MS), STATUS_OK);
	slow = count_slow(&bench, 1000, 80, 0);
	print_message("slow: %u of 1000\n", slow);
	assert_true(slow <= 50);
	assert_true(slow >= 10); /* a bound that never fires would be none */
	add(&bench, "server create", START, 100, 15, 0.2);
	add(&bench, "server delete", START, 100, 15, 0.2);
	row = row_of(&bench, "server create", START + S);
	assert_int_equal(row.objective_ns, 10 * MS);
	assert_true(row.detection & DETECTION_SLOW);
	row = row_of(&bench, "server delete", START + S);
	assert_int_equal(row.objective_ns, 20 * MS);
	assert_false(row.detection & DETECTION_SLOW);
	bench_release(&bench);
}

/* Each metric puts another group on top; groups without a verdict come last. */
static void metrics_order_groups(void **state)
{
	static const char *const first[METRIC_COUNT] = {"many", "tiny", "modes"};
	struct bench bench;

	(void)state;
	bench_init(&bench, 4);
	add(&bench, "many", START, 2000, 100, 0.1);
	add(&bench, "tiny", START, 200, 0.01, 1.2); /* a huge CoV of next to nothing */
	add(&bench, "modes", START, 300, 2, 0.05);
	add(&bench, "modes", START, 100, 10, 0.05);
	add(&bench, "few", START, 40, 1, 2);
	for (uint32_t metric = 0; metric < METRIC_COUNT; metric++) {
		struct focus focus = {.horizon = HORIZON_ALL,
				.metric = (enum metric)metric,
				.parts = FOCUS_GROUP};
		struct snapshot *snapshot = fill(&bench, focus, START + S);
		const struct groups_row *rows = snapshot->groups.rows;
		double sum = 0;

		assert_string_equal(rows[0].type, first[metric]);
		assert_int_equal(snapshot->group.id, rows[0].id); /* the worst */
		for (uint32_t i = 0; i < 4; i++) {
			sum += rows[i].variation_share;
			assert_true(strcmp(rows[i].type, "few") != 0 || metric == 0 || i == 3 ||
					rows[i + 1].n_modes < 2);
			assert_true(metric != METRIC_COV || i == 0 ||
					rows[i].cov_low <= rows[i - 1].cov_low);
		}
		assert_true(fabs(sum - 1) < 1e-9);
		snapshot_destroy(snapshot);
	}
	bench_release(&bench);
}

/* The verdict is on the horizon that is shown. */
static void horizons_have_their_own_verdicts(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, 5);
	add(&bench, "a", START, 200, 10, 1);
	add(&bench, "a", START + 20 * S, 200, 10, 0.05);
	for (uint32_t i = 0; i < 4; i++) {
		enum horizon horizon = i % 2 ? HORIZON_WINDOW : HORIZON_ALL;

		snapshot = fill(&bench, (struct focus){.horizon = horizon}, START + 21 * S);
		assert_int_equal(snapshot->groups.rows[0].n_modes, 1);
		assert_int_equal(snapshot->groups.rows[0].detection & DETECTION_VARIES,
				horizon == HORIZON_ALL ? DETECTION_VARIES : 0);
		snapshot_destroy(snapshot);
	}
	bench_release(&bench);
}

/* A baseline made of the groups tells what has become of them, by their names. */
static void baselines_tell_shifts(void **state)
{
	const struct baseline *made;
	struct baseline renamed;
	struct baseline_group group;
	struct groups_row row;
	struct bench then, now;

	(void)state;
	bench_init(&then, 6);
	add(&then, "same", START, 300, 10, 0.3);
	add(&then, "slower", START, 300, 10, 0.3);
	add(&then, "few", START, 20, 10, 0.3);
	made = groups_baseline(then.groups, HORIZON_ALL, START + S);
	assert_non_null(made);
	assert_int_equal(made->n, 3);
	assert_int_equal(made->groups[1].count, 300);
	assert_string_equal(made->groups[1].type, "slower");
	bench_init(&now, 7);
	add(&now, "fresh", START, 300, 10, 0.3);
	add(&now, "slower", START, 300, 20, 0.3);
	assert_int_equal(groups_set_baseline(now.groups, made), STATUS_OK);
	bench_release(&then); /* it was copied */
	add(&now, "same", START, 300, 10, 0.3);
	add(&now, "few", START, 300, 20, 0.3);
	row = row_of(&now, "same", START + S);
	assert_false(row.detection & DETECTION_SHIFTED);
	assert_true(fabs(row.shift - 1) < 0.1);
	row = row_of(&now, "slower", START + S);
	assert_true(row.detection & DETECTION_SHIFTED);
	assert_true(fabs(row.shift - 2) < 0.2);
	row = row_of(&now, "few", START + S); /* too few of then: shown, not judged */
	assert_false(row.detection & DETECTION_SHIFTED);
	assert_true(fabs(row.shift - 2) < 0.4);
	assert_true(row_of(&now, "fresh", START + S).shift == 0);
	/* What no histogram can be compares to nothing. */
	made = groups_baseline(now.groups, HORIZON_ALL, START + S);
	group = made->groups[0];
	group.histogram_low = INT32_MIN;
	renamed = (struct baseline){.origin = "x", .n = 1, .groups = &group};
	assert_int_equal(groups_set_baseline(now.groups, &renamed), STATUS_OK);
	assert_true(row_of(&now, "fresh", START + S).shift == 0);
	assert_int_equal(groups_set_baseline(now.groups, NULL), STATUS_OK);
	row = row_of(&now, "slower", START + S);
	assert_true(row.shift == 0 && !(row.detection & DETECTION_SHIFTED));
	bench_release(&now);
}

static void print_verdicts(FILE *out, const struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		const struct groups_row *row = &snapshot->groups.rows[i];

		fprintf(out, "%u %u %a %u", row->id, row->detection, row->cov_low, row->n_modes);
		for (uint32_t k = 0; k < row->n_modes; k++) {
			fprintf(out, " %lu:%lu:%a", row->modes[k].low_ns, row->modes[k].peak_ns,
					row->modes[k].share);
		}
		fputc('\n', out);
	}
}

static char *verdicts(struct bench *bench, struct focus focus, uint64_t at_ns, uint32_t *without)
{
	struct snapshot *snapshot = fill(bench, focus, at_ns);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print_verdicts(out, snapshot);
	*without = 0;
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		*without += snapshot->groups.rows[i].n_modes == 0;
		assert_true(i >= 64 || snapshot->groups.rows[i].n_modes || /* those on top */
				snapshot->groups.rows[i].missing);
	}
	fclose(out);
	snapshot_destroy(snapshot);
	return text;
}

static void fill_many(struct bench *bench)
{
	bench_init(bench, 8);
	for (uint32_t i = 0; i < 5000; i++) {
		char type[32];

		snprintf(type, sizeof(type), "type %u", i);
		add(bench, type, START, 60, lognormal(bench, 20, 1), 0.2 + 0.1 * (i % 8));
	}
}

/*
 * Of thousands of groups a fill judges some, those on top first, until all are; a thorough one all
 * at once, with the same result, whatever was looked at before. The same calls give the same rows.
 */
static void verdicts_come_in_turn(void **state)
{
	struct focus usual = {.horizon = HORIZON_ALL}, thorough = usual;
	uint32_t without, before = UINT32_MAX, fills = 0;
	struct bench one, two;
	char *a = NULL, *b = NULL;

	(void)state;
	thorough.parts = FOCUS_THOROUGH;
	fill_many(&one);
	fill_many(&two);
	do {
		free(a);
		free(b);
		a = verdicts(&one, usual, START + S, &without);
		b = verdicts(&two, usual, START + S, &without);
		assert_string_equal(a, b);
		assert_true(without < before);
		before = without;
		fills++;
	} while (without);
	print_message("%u fills\n", fills);
	assert_true(fills > 1);
	groups_destroy(two.groups);
	request_source_release(&two.source);
	free(b);
	fill_many(&two);
	b = verdicts(&two, thorough, START + S, &without);
	assert_int_equal(without, 0);
	assert_string_equal(a, b);
	free(b);
	/* A group in focus does not wait. */
	groups_begin_epoch(one.groups, START + S, NULL, NULL);
	add(&one, "type 4321", START + 2 * S, 60, 1, 0.1);
	usual.horizon = HORIZON_EPOCH;
	usual.group_id = 4322;
	usual.parts = FOCUS_GROUP;
	free(verdicts(&one, usual, START + 3 * S, &without));
	assert_int_equal(without, 4999); /* too few requests */
	free(a);
	bench_release(&one);
	bench_release(&two);
}

/* ---- through the engine ---- */

/* A schema's objective, and a baseline of one engine in another, whose ids differ. */
static void engines_take_objectives_and_baselines(void **state)
{
	static const struct schema_expect expect = {.type = "w*", .p50_ns = 5 * MS};
	static const char *const key = "request_id", *const skeleton = "app:*";
	static const struct schema_namespace request = {
			.name = "request", .scope = SCHEMA_GLOBAL, .ttl_ns = 10 * S, .join = true};
	static const struct schema_bind start = {"request", BIND_START, 1, &key},
					stop = {"request", BIND_STOP, 1, &key};
	static const struct schema_event events[] = {
			{.match = "app:work_entry",
					.role = SPAN_ENTRY,
					.name = "work",
					.seed = true,
					.n_bind = 1,
					.bind = &start},
			{.match = "app:work_exit",
					.role = SPAN_EXIT,
					.name = "work",
					.n_bind = 1,
					.bind = &stop},
	};
	static const struct schema schema = {.origin = "here",
			.n_namespaces = 1,
			.n_events = 2,
			.n_skeleton = 1,
			.n_expect = 1,
			.namespaces = &request,
			.events = events,
			.skeleton = &skeleton,
			.expect = &expect};
	const struct baseline *made = NULL;
	struct feed feeds[2];

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};
		struct snapshot *snapshot = snapshot_create();
		uint32_t entry, leave;
		char error[256];

		feed_start(&feeds[k], NULL);
		assert_int_equal(engine_add_schema(feeds[k].engine, &schema, error, sizeof(error)),
				STATUS_OK);
		if (k) {
			assert_int_equal(engine_set_baseline(feeds[k].engine, made), STATUS_OK);
		}
		entry = feed_type(&feeds[k], "app:work_entry", "request_id:u vtid:c");
		leave = feed_type(&feeds[k], "app:work_exit", "request_id:u vtid:c");
		for (uint64_t i = 0; i < 100; i++) {
			uint64_t ts_ns = START + i * S / 10;
			union feed_value values[] = {{.u = 7 + i}, {.u = 100}};

			feed_event(&feeds[k], entry, ts_ns, 0, values);
			feed_event(&feeds[k], leave, ts_ns + (10 + 10 * k) * MS, 0, values);
		}
		engine_finish(feeds[k].engine);
		assert_non_null(snapshot);
		assert_int_equal(engine_fill(feeds[k].engine, &focus, snapshot), STATUS_OK);
		assert_int_equal(snapshot->groups.n, 1);
		assert_int_equal(snapshot->groups.rows[0].count, 100);
		assert_int_equal(snapshot->groups.rows[0].objective_ns, 5 * MS);
		assert_int_equal(snapshot->groups.rows[0].detection,
				DETECTION_SLOW | (k ? DETECTION_SHIFTED : 0));
		assert_true(k == 0 || fabs(snapshot->groups.rows[0].shift - 2) < 0.05);
		snapshot_destroy(snapshot);
		made = engine_baseline(feeds[k].engine, HORIZON_ALL);
		assert_non_null(made);
		assert_int_equal(made->n, 1);
	}
	feed_stop(&feeds[0]);
	feed_stop(&feeds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(few_requests_say_nothing),
			cmocka_unit_test(lossy_groups_say_nothing),
			cmocka_unit_test(like_groups_are_not_slow),
			cmocka_unit_test(a_slow_group_among_others),
			cmocka_unit_test(objectives_keep_their_level),
			cmocka_unit_test(metrics_order_groups),
			cmocka_unit_test(horizons_have_their_own_verdicts),
			cmocka_unit_test(baselines_tell_shifts),
			cmocka_unit_test(verdicts_come_in_turn),
			cmocka_unit_test(engines_take_objectives_and_baselines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
