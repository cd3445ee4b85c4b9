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

#define MS      UINT64_C(1000000)
#define S       UINT64_C(1000000000)
#define QUARTER (250 * MS)
#define START   (1000 * S) /* of all streams here */

/* Everything that a test needs, and a stream of random numbers. */
struct bench {
	struct request_source source;
	struct groups *groups;
	uint64_t seed;
};

static const struct groups_config usual = {.window_ns = 10 * S,
		.max_groups = 1000,
		.max_kept_bytes = UINT64_C(64) << 20,
		.max_pin_bytes = UINT64_C(64) << 20};

static void bench_init(struct bench *bench, const struct groups_config *config, uint64_t seed)
{
	request_source_init(&bench->source);
	bench->groups = groups_create(
			config, bench->source.names, bench->source.contexts, &bench->source.pool);
	assert_non_null(bench->groups);
	bench->seed = seed << 32;
}

static void bench_release(struct bench *bench)
{
	groups_destroy(bench->groups);
	assert_int_equal(request_source_bytes(&bench->source), 0); /* all were let go */
	request_source_release(&bench->source);
}

static uint64_t below(struct bench *bench, uint64_t n)
{
	return hash_u64(bench->seed++) % n;
}

static uint64_t lognormal(struct bench *bench, uint64_t median_ns, double sigma)
{
	double u = (double)(1 + below(bench, 999999)) / 1e6;
	double v = (double)below(bench, 1000000) / 1e6;

	return (uint64_t)((double)median_ns *
			  exp(sigma * sqrt(-2 * log(u)) * cos(6.283185307179586 * v)));
}

/* Adds a request and lets it go, as the engine does. Returns its id. */
static uint64_t add(struct bench *bench, const char *type, uint64_t end_ns, uint64_t duration_ns)
{
	struct request *request =
			request_source_make(&bench->source, type, end_ns, duration_ns, NULL, 0);
	uint64_t id = request->id;

	groups_add(bench->groups, request);
	request_drop(&bench->source.pool, request);
	return id;
}

static struct snapshot *fill(
		struct bench *bench, enum horizon horizon, uint32_t group_id, uint64_t at_ns)
{
	struct focus focus = {.parts = FOCUS_ALL, .horizon = horizon, .group_id = group_id};
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(groups_fill(bench->groups, &focus, at_ns, snapshot), STATUS_OK);
	return snapshot;
}

static void print_row(FILE *out, const struct groups_row *row)
{
	fprintf(out, "%u %s %s %lu %lu %lu %a %a %a %a %lu %lu %lu %lu %lu %a %lu %lu %lu", row->id,
			row->type, row->path, row->count, row->tainted, row->partial,
			row->rate_per_s, row->mean_ns, row->sd_ns, row->cov, row->min_ns,
			row->max_ns, row->p50_ns, row->p95_ns, row->p99_ns, row->variation_share,
			row->worst_request, row->spark_lo_ns, row->spark_hi_ns);
	for (uint32_t i = 0; i < GROUPS_SPARK_BINS; i++) {
		fprintf(out, " %u", row->spark[i]);
	}
	fprintf(out, " %u %u %d %a %u", row->missing, row->detection, row->lossy, row->cov_low,
			row->n_modes);
	fputc('\n', out);
}

/* All that a snapshot says of groups, as text; `requests` too. Free it. */
static char *print(const struct snapshot *snapshot, bool requests)
{
	const struct group_view *group = &snapshot->group;
	const struct groups_view *rows = &snapshot->groups;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "%lu %u %a %u %lu\n", snapshot->horizon_ns, rows->n, rows->rate_per_s,
			rows->need_more, rows->folded);
	for (uint32_t i = 0; i < rows->n; i++) {
		print_row(out, &rows->rows[i]);
	}
	fprintf(out, "group %u heat %lu %ux%u from %d, histogram %u from %d, sampled %a\n",
			group->id, group->heat_start_ns, group->heat_rows, group->heat_cols,
			group->heat_low, group->histogram_bins, group->histogram_low,
			group->sampled_share);
	for (uint32_t i = 0; i < group->heat_rows * group->heat_cols; i++) {
		fprintf(out, "%u:%lu ", group->heat[i], requests ? group->heat_request[i] : 0);
	}
	for (uint32_t i = 0; i < group->histogram_bins; i++) {
		fprintf(out, "%lu ", group->histogram[i]);
	}
	for (uint32_t i = 0; requests && i < group->n_requests; i++) {
		fprintf(out, "\n%lu %lu %lu", group->requests[i].id, group->requests[i].start_ns,
				group->requests[i].duration_ns);
	}
	fclose(out);
	return text;
}

static char *fill_text(struct bench *bench, enum horizon horizon, uint64_t at_ns, bool requests)
{
	struct snapshot *snapshot = fill(bench, horizon, 0, at_ns);
	char *text = print(snapshot, requests);

	snapshot_destroy(snapshot);
	return text;
}

/* ---- against a plain list of requests ---- */

#define MODEL_MAX 60000

struct model_request {
	uint32_t group;
	uint64_t start_ns, end_ns;
	enum request_state state;
	bool tainted;
};

struct model {
	struct model_request *items;
	uint32_t n;
};

struct expected {
	uint64_t count, tainted, partial;
	double mean, sd;
	uint64_t *sorted;
};

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void expect(const struct model *model, uint32_t group, uint64_t from_end,
		uint64_t from_start, struct expected *out)
{
	double squares = 0;

	out->count = out->tainted = out->partial = 0;
	out->mean = out->sd = 0;
	for (uint32_t i = 0; i < model->n; i++) {
		const struct model_request *one = &model->items[i];

		if (one->group != group || one->end_ns < from_end || one->start_ns < from_start) {
			continue;
		}
		if (one->state != REQUEST_COMPLETE) {
			out->partial++;
		} else if (one->tainted) {
			out->tainted++;
		} else {
			out->sorted[out->count++] = one->end_ns - one->start_ns;
			out->mean += (double)(one->end_ns - one->start_ns);
		}
	}
	out->mean /= out->count ? (double)out->count : 1;
	for (uint64_t i = 0; i < out->count; i++) {
		double distance = (double)out->sorted[i] - out->mean;

		squares += distance * distance;
	}
	out->sd = out->count > 1 ? sqrt(squares / (double)(out->count - 1)) : 0;
	qsort(out->sorted, out->count, sizeof(*out->sorted), by_value);
}

static void assert_near(double a, double b, double relative)
{
	assert_true(fabs(a - b) <= relative * fabs(b) + 1e-9);
}

static void assert_quantile(uint64_t shown, const struct expected *expected, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)expected->count);
	uint64_t exact = expected->sorted[rank ? rank - 1 : 0];

	assert_true(fabs((double)shown - (double)exact) <= 0.0055 * (double)exact + 1);
}

static void assert_row(
		const struct groups_row *row, const struct expected *expected, uint64_t length_ns)
{
	assert_int_equal(row->count, expected->count);
	assert_int_equal(row->tainted, expected->tainted);
	assert_int_equal(row->partial, expected->partial);
	assert_near(row->rate_per_s, 1e9 * (double)expected->count / (double)length_ns, 1e-12);
	if (row->count) {
		uint64_t bins = 0;

		assert_near(row->mean_ns, expected->mean, 1e-9);
		assert_near(row->sd_ns, expected->sd, 1e-6);
		assert_quantile(row->min_ns, expected, 0);
		assert_quantile(row->p50_ns, expected, 0.5);
		assert_quantile(row->p95_ns, expected, 0.95);
		assert_quantile(row->p99_ns, expected, 0.99);
		assert_quantile(row->max_ns, expected, 1);
		for (uint32_t i = 0; i < GROUPS_SPARK_BINS; i++) {
			bins += row->spark[i];
		}
		assert_int_equal(bins, row->count);
	}
}

/* When the epoch of each group began, by its index; 0: none was begun. */
struct epochs {
	uint64_t of[5], hosts[5], last;
	uint32_t n; /* groups so far */
};

static void assert_fill(struct bench *bench, const struct model *model, enum horizon horizon,
		uint64_t now_ns, const struct epochs *epochs, struct expected *expected)
{
	uint64_t window = (now_ns / QUARTER - 39) * QUARTER;
	uint64_t from_end = horizon == HORIZON_WINDOW ? window : 0;
	uint64_t shortest = UINT64_MAX, longest = 0;
	struct snapshot *snapshot = fill(bench, horizon, 0, now_ns);
	const struct groups_view *rows = &snapshot->groups;
	double share = 0, last = INFINITY;

	for (uint32_t i = 0; i < rows->n; i++) {
		const struct groups_row *row = &rows->rows[i];
		uint64_t epoch = horizon == HORIZON_EPOCH ? epochs->of[row->id - 1] : 0;
		uint64_t begin = horizon == HORIZON_WINDOW && window > START ? window : START;
		double weight = row->rate_per_s * row->sd_ns;
		uint64_t length;

		begin = epoch ? epoch : begin;
		length = now_ns - begin;
		shortest = length < shortest ? length : shortest;
		longest = length > longest ? length : longest;
		assert_int_equal(row->since_ns, begin);
		expect(model, row->id - 1, from_end, epoch, expected);
		assert_row(row, expected, length);
		assert_true(row->variation_share <= last);
		assert_true(i == 0 || weight <= rows->rows[i - 1].rate_per_s *
								      rows->rows[i - 1].sd_ns *
								      (1 + 1e-12));
		last = row->variation_share;
		share += row->variation_share;
	}
	assert_true(rows->n == 0 || share == 0 || fabs(share - 1) < 1e-9);
	if (rows->n) {
		assert_int_equal(snapshot->horizon_ns, shortest);
		assert_int_equal(snapshot->horizon_longest_ns, longest);
		assert_int_equal(snapshot->group.id, rows->rows[0].id);
		assert_int_equal(snapshot->focus.group_id, rows->rows[0].id);
	}
	snapshot_destroy(snapshot);
}

static const char *const types[5] = {"a", "b", "c", "d", "e"};

/* Returns the host that it visits, as a bit. */
static uint64_t model_add(struct bench *bench, struct model *model, uint64_t now_ns)
{
	uint32_t group = (uint32_t)below(bench, 1 + below(bench, 5));
	uint64_t late = below(bench, 20) ? below(bench, 100 * MS) : below(bench, 30 * S);
	uint64_t end = now_ns - late < START ? START : now_ns - late;
	struct model_request one = {.group = group, .end_ns = end};
	struct request *request;

	one.start_ns = end - lognormal(bench, (group + 1) * 7 * MS, 0.3 * group);
	one.tainted = below(bench, 50) == 0;
	one.state = below(bench, 40) ? REQUEST_COMPLETE : (enum request_state)(1 + below(bench, 3));
	request = request_source_make(
			&bench->source, types[group], end, end - one.start_ns, NULL, 0);
	request->tainted = one.tainted;
	request->state = one.state;
	request->hosts = UINT64_C(1) << group;
	groups_add(bench->groups, request);
	one.group = request->group_id - 1;
	request_drop(&bench->source.pool, request);
	model->items[model->n++] = one;
	return UINT64_C(1) << group;
}

static bool is_on_hosts(void *context, uint32_t type, uint64_t hosts)
{
	const uint64_t *touched = context;

	(void)type;
	return (hosts & *touched) != 0;
}

/* Some hosts are touched: the groups there begin anew, and those that come are of the last epoch.
 */
static void begin_epochs(struct bench *bench, struct epochs *epochs, uint64_t now_ns)
{
	uint64_t hosts = below(bench, 32);

	groups_begin_epoch(bench->groups, now_ns, is_on_hosts, &hosts);
	for (uint32_t i = 0; i < epochs->n; i++) {
		epochs->of[i] = hosts & epochs->hosts[i] ? now_ns : epochs->of[i];
	}
	epochs->last = now_ns;
}

/* Rows are what the definitions give, whatever the order of ends, for every horizon. */
static void test_rows_are_those_of_a_plain_list(void **state)
{
	struct model model = {.items = calloc(MODEL_MAX, sizeof(struct model_request))};
	struct expected expected = {.sorted = calloc(MODEL_MAX, sizeof(uint64_t))};

	(void)state;
	assert_non_null(model.items);
	assert_non_null(expected.sorted);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct epochs epochs = {.n = 0};
		uint64_t now = START, host;
		struct bench bench;

		bench_init(&bench, &usual, seed);
		model.n = 0;
		groups_advance(bench.groups, now);
		for (uint32_t step = 0; step < 3000; step++) {
			now += below(&bench, 100) ? below(&bench, 30 * MS) : below(&bench, 8 * S);
			if (below(&bench, 1000) == 0) {
				begin_epochs(&bench, &epochs, now++);
			}
			host = model_add(&bench, &model, now);
			if (model.items[model.n - 1].group == epochs.n) {
				epochs.hosts[epochs.n] = host;
				epochs.of[epochs.n++] = epochs.last;
			}
			if (below(&bench, 40) == 0) {
				groups_advance(bench.groups, now);
				assert_fill(&bench, &model, (enum horizon)below(&bench, 3), now,
						&epochs, &expected);
			}
		}
		bench_release(&bench);
	}
	free(model.items);
	free(expected.sorted);
}

/* Before an epoch is begun by hand, `epoch` and `all` are the same. */
static void test_first_epoch_is_all(void **state)
{
	struct bench bench;
	char *all, *epoch;

	(void)state;
	bench_init(&bench, &usual, 7);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 500; i++) {
		add(&bench, types[i % 3], START + i * 50 * MS, lognormal(&bench, MS, 1));
	}
	all = fill_text(&bench, HORIZON_ALL, START + 25 * S, true);
	epoch = fill_text(&bench, HORIZON_EPOCH, START + 25 * S, true);
	assert_string_equal(all, epoch);
	free(all);
	free(epoch);
	bench_release(&bench);
}

/* ---- the pin ---- */

/* A second of traffic of three groups, one of them busy. */
static void traffic(struct bench *bench, uint64_t from_ns, uint64_t length_ns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = from_ns + (i + 1) * length_ns / (n + 1);
		uint32_t type = below(bench, 8) ? 0 : 1 + (uint32_t)below(bench, 2);

		add(bench, types[type], end, lognormal(bench, (type + 1) * 20 * MS, 0.5));
	}
}

static void test_pinned_views_stay_byte_for_byte(void **state)
{
	uint64_t at = START + 31 * S + 77 * MS;
	char *before[HORIZON_COUNT * 3];
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 8);
	groups_advance(bench.groups, START);
	traffic(&bench, START, 12 * S, 3000);
	groups_begin_epoch(bench.groups, START + 12 * S, NULL, NULL);
	traffic(&bench, START + 12 * S, 19 * S + 77 * MS, 9000);
	for (uint32_t i = 0; i < HORIZON_COUNT; i++) {
		before[i] = fill_text(&bench, (enum horizon)i, at, true);
	}
	groups_pin(bench.groups, at);
	for (uint32_t i = 0; i < HORIZON_COUNT; i++) {
		before[3 + i] = fill_text(&bench, (enum horizon)i, at - 3 * S, true);
		before[6 + i] = fill_text(&bench, (enum horizon)i, at - 10 * S, true);
	}
	for (uint32_t round = 0; round < 60; round++) {
		uint64_t now = at + round * S;
		uint64_t id = add(&bench, round % 2 ? "new" : types[0], now, 5 * S);

		assert_null(groups_find_request(bench.groups, id)); /* later than the pin */
		traffic(&bench, now, S, 400);
		add(&bench, types[1], at - 100 * MS, 7 * S); /* late: ended before the pin */
		if (round == 30) {
			groups_begin_epoch(bench.groups, now + S, NULL, NULL);
		}
		for (uint32_t i = 0; i < 9; i++) {
			static const uint64_t back[3] = {0, 3 * S, 10 * S};
			char *text = fill_text(
					&bench, (enum horizon)(i % 3), at - back[i / 3], true);

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

/* The first epoch of all may begin while the screen is frozen. */
static void test_epoch_begun_while_pinned(void **state)
{
	uint64_t at = START + 5 * S;
	struct snapshot *snapshot;
	struct bench bench;
	char *before, *after;

	(void)state;
	bench_init(&bench, &usual, 22);
	groups_advance(bench.groups, START);
	traffic(&bench, START, 5 * S, 300);
	before = fill_text(&bench, HORIZON_EPOCH, at, true);
	groups_pin(bench.groups, at);
	groups_begin_epoch(bench.groups, at + S, NULL, NULL);
	free(fill_text(&bench, HORIZON_ALL, at, true)); /* lets go of cached rows */
	after = fill_text(&bench, HORIZON_EPOCH, at, true);
	assert_string_equal(before, after);
	free(before);
	free(after);
	groups_unpin(bench.groups);
	snapshot = fill(&bench, HORIZON_EPOCH, 0, at + 2 * S);
	assert_int_equal(snapshot->horizon_ns, S);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		assert_int_equal(snapshot->groups.rows[i].count, 0);
		assert_int_equal(snapshot->groups.rows[i].worst_request, 0);
	}
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* A console that froze for a while shows afterwards what one shows that did not. */
static void test_unpinning_catches_up(void **state)
{
	struct bench frozen, running;
	uint64_t now = START;

	(void)state;
	bench_init(&frozen, &usual, 9);
	bench_init(&running, &usual, 9);
	for (uint32_t round = 0; round < 50; round++, now += S) {
		if (round % 17 == 5) {
			groups_pin(frozen.groups, now);
		}
		if (round % 17 == 12) {
			groups_unpin(frozen.groups);
		}
		if (round == 24) {
			groups_begin_epoch(frozen.groups, now, NULL, NULL);
			groups_begin_epoch(running.groups, now, NULL, NULL);
		}
		groups_advance(frozen.groups, now);
		groups_advance(running.groups, now);
		traffic(&frozen, now, S, 100);
		traffic(&running, now, S, 100);
	}
	groups_unpin(frozen.groups);
	for (uint32_t i = 0; i < HORIZON_COUNT; i++) {
		char *one = fill_text(&frozen, (enum horizon)i, now, false);
		char *other = fill_text(&running, (enum horizon)i, now, false);

		assert_string_equal(one, other);
		free(one);
		free(other);
	}
	bench_release(&frozen);
	bench_release(&running);
}

/* From the quarter `first` on; with the requests that can be opened, as far as these are kept. */
static void check_stepping_back(uint32_t first, bool requests)
{
	enum { STEPS = 40, MOST = 80 };
	static char *live[STEPS + MOST + 1][HORIZON_COUNT];
	struct bench bench;
	uint64_t now = START;

	bench_init(&bench, &usual, 10);
	groups_advance(bench.groups, START);
	for (uint32_t step = 0; step < STEPS + first; step++, now += QUARTER) {
		for (uint32_t i = 0; step >= first && i < HORIZON_COUNT; i++) {
			live[step][i] = fill_text(&bench, (enum horizon)i, now, requests);
		}
		if (step == first - 10) {
			groups_begin_epoch(bench.groups, now, NULL, NULL);
		}
		if (step == first + 20) {
			add(&bench, "a new group", now + MS, 9 * MS);
		}
		traffic(&bench, now, QUARTER, 5);
		add(&bench, types[step % 3], now + QUARTER - 1,
				6 * S); /* across the epoch's begin */
	}
	groups_pin(bench.groups, now);
	traffic(&bench, now, 30 * S, 3000);
	for (uint32_t step = first; step < STEPS + first; step++) {
		uint64_t back = (STEPS + first - step) * QUARTER;

		for (uint32_t i = 0; i < HORIZON_COUNT; i++) {
			char *text = fill_text(&bench, (enum horizon)i, now - back, requests);

			assert_string_equal(text, live[step][i]);
			free(text);
			free(live[step][i]);
		}
	}
	bench_release(&bench);
}

/* Stepping back shows what was shown then, at every quarter of a second. */
static void test_stepping_back_shows_what_was_shown(void **state)
{
	(void)state;
	check_stepping_back(80, false);
	check_stepping_back(39, true); /* all that ended so far is kept: twice the window */
}

/* The pin gives up its oldest detail, says so, and its statistics stay. */
static void test_pin_bound(void **state)
{
	struct groups_config config = usual;
	struct snapshot *snapshot;
	struct groups_row row;
	struct bench bench;

	(void)state;
	config.max_pin_bytes = 40000;
	bench_init(&bench, &config, 11);
	groups_advance(bench.groups, START);
	traffic(&bench, START, 30 * S, 6000);
	groups_pin(bench.groups, START + 30 * S);
	snapshot = fill(&bench, HORIZON_ALL, 0, START + 30 * S);
	assert_true(snapshot->pinned);
	assert_false(snapshot->pin_trimmed);
	row = snapshot->groups.rows[0];
	snapshot_destroy(snapshot);
	traffic(&bench, START + 30 * S, 60 * S, 12000);
	snapshot = fill(&bench, HORIZON_ALL, 0, START + 30 * S);
	assert_true(snapshot->pin_trimmed);
	assert_int_equal(snapshot->groups.rows[0].count, row.count);
	assert_true(snapshot->groups.rows[0].sd_ns == row.sd_ns);
	assert_int_equal(snapshot->groups.rows[0].p99_ns, row.p99_ns);
	snapshot_destroy(snapshot);
	/* Back where buckets have gone: a shorter window, and says so. */
	snapshot = fill(&bench, HORIZON_WINDOW, 0, START + 25 * S);
	assert_true(snapshot->horizon_ns > 2 * S && snapshot->horizon_ns < 9 * S);
	assert_true(fabs(snapshot->groups.rate_per_s - 200) < 5);
	snapshot_destroy(snapshot);
	groups_unpin(bench.groups);
	snapshot = fill(&bench, HORIZON_ALL, 0, START + 90 * S);
	assert_false(snapshot->pinned || snapshot->pin_trimmed);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* ---- kept requests ---- */

static bool is_listed(const struct group_view *group, uint64_t id)
{
	for (uint32_t i = 0; i < group->n_requests; i++) {
		if (group->requests[i].id == id) {
			return true;
		}
	}
	return false;
}

/* From a cell, from the slowest and from the list: there is a request to open. */
static void test_drill_down_leads_to_requests(void **state)
{
	uint64_t slowest_id = 0, slowest_ns = 0, now = START + 25 * S;
	struct snapshot *snapshot;
	struct group_view *group;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 12);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 100000; i++) { /* 4,000/s: more than the sample takes */
		uint64_t ns = lognormal(&bench, 20 * MS, 0.7);
		uint64_t id = add(&bench, "busy", START + i * (25 * S / 100000), ns);

		if (ns > slowest_ns) {
			slowest_ns = ns;
			slowest_id = id;
		}
	}
	snapshot = fill(&bench, HORIZON_ALL, 0, now);
	assert_int_equal(snapshot->groups.rows[0].worst_request, slowest_id);
	assert_int_equal(snapshot->focus.request_id, slowest_id);
	assert_int_equal(groups_find_request(bench.groups, slowest_id)->end_ns -
					 groups_find_request(bench.groups, slowest_id)->start_ns,
			slowest_ns);
	group = &snapshot->group;
	assert_int_equal(group->heat_cols, 40);
	for (uint32_t i = 0; i < group->heat_rows * group->heat_cols; i++) {
		struct request *request;

		assert_true((group->heat[i] == 0) == (group->heat_request[i] == 0));
		if (!group->heat_request[i]) {
			continue;
		}
		request = groups_find_request(bench.groups, group->heat_request[i]);
		assert_non_null(request);
		assert_true(is_listed(group, request->id));
		assert_int_equal((request->end_ns - group->heat_start_ns) / group->heat_cell_ns,
				i % group->heat_cols);
		assert_int_equal(
				(int)floor(8 * log2((double)(request->end_ns - request->start_ns))),
				group->heat_low + (int)(i / group->heat_cols));
	}
	assert_true(group->sampled_share > 0.4 && group->sampled_share < 0.51);
	assert_true(group->n_requests >= 1024);
	for (uint32_t i = 1; i < group->n_requests; i++) {
		assert_true(group->requests[i].id < group->requests[i - 1].id);
	}
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* The window's slowest changes as it slides; it is always one that is kept. */
static void test_worst_of_the_window(void **state)
{
	enum { N = 4000 };
	static uint64_t ends[N], durations[N];
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 13);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < N; i++) {
		ends[i] = START + i * 10 * MS;
		durations[i] = (1 + below(&bench, 30)) *
			       MS; /* many are equal: the first one counts */
		add(&bench, "a", ends[i], durations[i]);
		if (i % 97 == 0) {
			uint64_t from = (ends[i] / QUARTER - 39) * QUARTER, slowest = 0;
			struct snapshot *snapshot = fill(&bench, HORIZON_WINDOW, 1, ends[i]);

			for (uint32_t k = 0; k <= i; k++) {
				if (ends[k] >= from &&
						(slowest == 0 ||
								durations[k] > durations[slowest -
											       1])) {
					slowest = k + 1;
				}
			}
			assert_int_equal(snapshot->groups.rows[0].worst_request, slowest);
			assert_non_null(groups_find_request(bench.groups, slowest));
			snapshot_destroy(snapshot);
		}
	}
	bench_release(&bench);
}

static void add_many(struct bench *bench, uint64_t from_ns)
{
	for (uint32_t i = 0; i < 1500; i++) {
		add(bench, types[i % 5], from_ns + i * MS, lognormal(bench, 20 * MS, 0.4));
		assert_true(request_source_bytes(&bench->source) <= 300000);
	}
}

/* Kept requests stay within their bytes; the slowest go last. */
static void test_bound_on_kept_bytes(void **state)
{
	struct groups_config config = usual;
	struct bench bench;
	uint64_t slowest;

	(void)state;
	config.max_kept_bytes = 220000;
	bench_init(&bench, &config, 14);
	groups_advance(bench.groups, START);
	slowest = add(&bench, "a", START + MS, 20 * S);
	add_many(&bench, START);
	assert_non_null(groups_find_request(bench.groups, slowest));
	assert_null(groups_find_request(bench.groups, 2));
	bench_release(&bench);
}

/* What a person looks at stays for as long as they do, and no longer. */
static void test_what_is_shown_stays(void **state)
{
	struct groups_config config = usual;
	struct bench bench;
	uint64_t shown;

	(void)state;
	config.max_kept_bytes = 220000;
	bench_init(&bench, &config, 15);
	groups_advance(bench.groups, START);
	add(&bench, "a", START, 40 * MS);
	shown = add(&bench, "a", START + MS, 20 * MS);
	groups_show(bench.groups, (uint64_t[]){shown, shown});
	add_many(&bench, START + 2 * MS);
	assert_non_null(groups_find_request(bench.groups, shown));
	groups_show(bench.groups, (uint64_t[]){shown, 0}); /* asked for once more */
	add_many(&bench, START + 2 * S);
	assert_non_null(groups_find_request(bench.groups, shown));
	groups_show(bench.groups, (uint64_t[]){0, 0});
	add_many(&bench, START + 4 * S);
	assert_null(groups_find_request(bench.groups, shown));
	bench_release(&bench);
}

/* A sudden load is sampled up to the limit of the second; from the next second on by share. */
static void test_sample_of_a_sudden_load(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 20);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 10; i++) {
		add(&bench, "a", START + i * 100 * MS, MS);
	}
	for (uint32_t i = 0; i < 20000; i++) { /* 10,000/s */
		add(&bench, "a", START + S + i * (S / 10000), MS);
	}
	snapshot = fill(&bench, HORIZON_WINDOW, 0, START + 3 * S);
	assert_true(fabs(snapshot->group.sampled_share * 20010 - 4010) < 150);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* When the sampled requests of a group began, of 40,000 in four seconds. */
static uint32_t sample_after(uint64_t earlier, uint64_t *starts, uint32_t max)
{
	const struct request *kept[5000];
	struct bench bench;
	uint32_t n;

	bench_init(&bench, &usual, 21);
	bench.source.next_id += earlier;
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 40000; i++) {
		add(&bench, "a", START + i * (S / 10000), lognormal(&bench, MS, 0.5));
	}
	n = groups_newest(bench.groups, 1, HORIZON_WINDOW, kept, max);
	for (uint32_t i = 0; i < n; i++) {
		starts[i] = kept[i]->start_ns;
	}
	bench_release(&bench);
	return n;
}

/* A replay sees more of the first moment than its live run did, and nothing else is to differ. */
static void test_sample_whatever_was_before(void **state)
{
	static uint64_t starts[5000], others[5000];
	uint32_t n = sample_after(0, starts, 5000);

	(void)state;
	assert_true(n > 1000 && n < 5000);
	assert_int_equal(sample_after(1, others, 5000), n);
	assert_memory_equal(starts, others, n * sizeof(*starts));
}

/* What the pin shows stays open to drill-down although newer requests fill the bytes. */
static void test_pin_keeps_requests_beyond_the_bound(void **state)
{
	struct groups_config config = usual;
	struct snapshot *snapshot;
	struct bench bench;
	char *before, *after;

	(void)state;
	config.max_kept_bytes = 60000;
	bench_init(&bench, &config, 21);
	groups_advance(bench.groups, START);
	traffic(&bench, START, 2 * S, 200);
	add(&bench, types[0], START + 2 * S - MS, 1900 * MS); /* slowest of all */
	groups_pin(bench.groups, START + 2 * S);
	before = fill_text(&bench, HORIZON_ALL, START + 2 * S, true);
	traffic(&bench, START + 2 * S, 2 * S, 5000);
	after = fill_text(&bench, HORIZON_ALL, START + 2 * S, true);
	assert_string_equal(before, after);
	snapshot = fill(&bench, HORIZON_ALL, 0, START + 2 * S);
	assert_false(snapshot->pin_trimmed);
	assert_true(snapshot->group.n_requests > 50);
	for (uint32_t i = 0; i < snapshot->group.n_requests; i++) {
		assert_non_null(groups_find_request(bench.groups, snapshot->group.requests[i].id));
	}
	snapshot_destroy(snapshot);
	groups_unpin(bench.groups);
	assert_true(request_source_bytes(&bench.source) <= 2 * config.max_kept_bytes);
	snapshot = fill(&bench, HORIZON_WINDOW, 0, START + 4 * S);
	assert_non_null(groups_find_request(bench.groups, snapshot->focus.request_id));
	snapshot_destroy(snapshot);
	free(before);
	free(after);
	bench_release(&bench);
}

/* Buckets stay within their bytes: the window gets shorter, says so, and its rows still hold. */
static void test_bound_on_buckets(void **state)
{
	struct groups_config config = usual;
	struct snapshot *snapshot;
	struct bench bench;
	uint64_t first, count = 0;

	(void)state;
	config.max_bucket_bytes = 100000;
	bench_init(&bench, &config, 19);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 20000; i++) { /* 20 groups */
		char type[8];

		snprintf(type, sizeof(type), "%u", i % 20);
		add(&bench, type, START + i * MS, lognormal(&bench, 20 * MS, 0.4));
	}
	snapshot = fill(&bench, HORIZON_WINDOW, 0, START + 20 * S);
	assert_true(snapshot->horizon_ns > QUARTER && snapshot->horizon_ns < 9 * S);
	first = START + 20 * S - snapshot->horizon_ns;
	assert_int_equal(first % QUARTER, 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(fabs(snapshot->groups.rows[i].rate_per_s - 50) < 5);
		count += snapshot->groups.rows[i].count;
	}
	assert_int_equal(count, (START + 20 * S - first) / MS);
	for (uint32_t i = 0; i < snapshot->group.heat_rows * snapshot->group.heat_cols; i++) {
		assert_true(snapshot->group.heat[i] == 0 ||
				snapshot->group.heat_start_ns + i % 40 * QUARTER >= first);
	}
	snapshot_destroy(snapshot);
	snapshot = fill(&bench, HORIZON_ALL, 0, START + 20 * S);
	assert_int_equal(snapshot->groups.rows[0].count, 1000);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* ---- groups ---- */

static void assert_path(struct bench *bench, uint32_t id, const char *type, const char *path)
{
	struct snapshot *snapshot = fill(bench, HORIZON_ALL, id, START + S);

	assert_int_equal(snapshot->group.id, id);
	assert_string_equal(snapshot->group.row.type, type);
	assert_string_equal(snapshot->group.row.path, path);
	snapshot_destroy(snapshot);
}

static uint32_t add_path(
		struct bench *bench, const char *type, const uint32_t *path, uint32_t n_path)
{
	struct request *request = request_source_make(
			&bench->source, type, START + 500 * MS, MS, path, n_path);
	uint32_t id;

	groups_add(bench->groups, request);
	id = request->group_id;
	request_drop(&bench->source.pool, request);
	return id;
}

static void test_keys_and_labels(void **state)
{
	struct groups_config config = usual;
	struct snapshot *snapshot;
	struct bench bench;
	uint32_t c[8];

	(void)state;
	config.max_groups = 7;
	bench_init(&bench, &config, 15);
	groups_advance(bench.groups, START);
	c[0] = request_source_context(&bench.source, 0, "api", "server_create");
	c[1] = request_source_context(&bench.source, c[0], "sched", "select_host");
	c[2] = request_source_context(&bench.source, c[1], "compute", "build");
	c[3] = request_source_context(&bench.source, c[2], "compute", "image_fetch");
	c[4] = request_source_context(&bench.source, c[2], "compute", "image_cached");
	c[5] = request_source_context(&bench.source, 0, "", "sys_read");
	c[6] = request_source_context(&bench.source, c[0], "volume", "attach");
	c[7] = request_source_context(&bench.source, c[0], "network", "plug");
	assert_int_equal(add_path(&bench, "create", (uint32_t[]){c[0], c[1], c[2], c[3]}, 4), 1);
	assert_int_equal(add_path(&bench, "create", (uint32_t[]){c[0], c[1], c[2], c[4]}, 4), 2);
	assert_int_equal(add_path(&bench, "create", (uint32_t[]){c[0], c[1], c[2]}, 3), 3);
	assert_int_equal(add_path(&bench, "delete", (uint32_t[]){c[0], c[1], c[2]}, 3), 4);
	assert_int_equal(add_path(&bench, "sys_read", (uint32_t[]){c[5]}, 1), 5);
	assert_int_equal(add_path(&bench, "create", NULL, 0), 6);
	assert_int_equal(add_path(&bench, "create", (uint32_t[]){c[0], c[1], c[2], c[4]}, 4), 2);
	assert_int_equal(add_path(&bench, "plug", (uint32_t[]){c[0], c[2], c[6], c[7]}, 4), 7);
	assert_int_equal(add_path(&bench, "too many", NULL, 0), 0);
	assert_path(&bench, 1, "create", "api\u203asched\u203acompute +image_fetch");
	assert_path(&bench, 2, "create", "api\u203asched\u203acompute +image_cached");
	assert_path(&bench, 3, "create", "api\u203asched\u203acompute");
	assert_path(&bench, 4, "delete", "api\u203asched\u203acompute");
	assert_path(&bench, 5, "sys_read", "");
	assert_path(&bench, 6, "create", "");
	assert_path(&bench, 7, "plug", "api\u203anetwork\u203avolume\u203acompute");
	/* A function gets its name: paths follow. */
	assert_true(names_show(bench.source.names, contexts_get(bench.source.contexts, c[3])->name,
			"img:fetch"));
	assert_true(names_show(bench.source.names, contexts_get(bench.source.contexts, c[4])->name,
			"img:cached"));
	groups_renamed(bench.groups);
	assert_path(&bench, 1, "create", "api\u203asched\u203acompute +img:fetch");
	assert_path(&bench, 2, "create", "api\u203asched\u203acompute +img:cached");
	assert_path(&bench, 3, "create", "api\u203asched\u203acompute");
	assert_path(&bench, 4, "delete", "api\u203asched\u203acompute");
	snapshot = fill(&bench, HORIZON_ALL, 8, START + S);
	assert_int_equal(snapshot->group.id, 0); /* no such group */
	assert_int_equal(snapshot->groups.n, 7);
	assert_int_equal(snapshot->groups.folded, 1);
	assert_int_equal(snapshot->groups.need_more, 7);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Requests of no use to statistics are counted, and can still be opened. */
static void test_tainted_and_partial_are_left_out(void **state)
{
	struct request *request;
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 16);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 4; i++) {
		request = request_source_make(&bench.source, "a", START + S, 900 * MS, NULL, 0);
		request->state = (enum request_state)i;
		request->tainted = i == 0;
		groups_add(bench.groups, request);
		request_drop(&bench.source.pool, request);
	}
	snapshot = fill(&bench, HORIZON_WINDOW, 0, START + 2 * S);
	assert_int_equal(snapshot->groups.rows[0].count, 0);
	assert_int_equal(snapshot->groups.rows[0].tainted, 1);
	assert_int_equal(snapshot->groups.rows[0].partial, 3);
	assert_int_equal(snapshot->groups.rows[0].worst_request, 0);
	assert_int_equal(snapshot->group.n_requests, 4);
	assert_int_equal(snapshot->group.heat_rows, 0);
	assert_int_equal(snapshot->group.requests[0].state, REQUEST_MERGED);
	assert_int_equal(snapshot->group.requests[3].tainted, 1);
	assert_int_equal(snapshot->focus.request_id, 4);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Nothing seen so far, nothing asked for, nothing to say: no error. */
static void test_empty(void **state)
{
	struct focus focus = {.parts = FOCUS_SOURCES};
	struct snapshot *snapshot = snapshot_create();
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 17);
	assert_int_equal(groups_fill(bench.groups, &focus, 0, snapshot), STATUS_OK);
	focus.parts = FOCUS_ALL;
	assert_int_equal(groups_fill(bench.groups, &focus, 0, snapshot), STATUS_OK);
	assert_int_equal(snapshot->groups.n, 0);
	assert_int_equal(snapshot->group.id, 0);
	assert_null(groups_find_request(bench.groups, 1));
	groups_pin(bench.groups, 0);
	groups_unpin(bench.groups);
	snapshot_destroy(snapshot);
	bench_release(&bench);
}

/* Memory is flat once the window has filled, however long it runs, and through pins. */
static void test_memory_is_flat(void **state)
{
	uint64_t kept = 0;
	struct bench bench;
	size_t filled = 0;

	(void)state;
	bench_init(&bench, &usual, 18);
	groups_advance(bench.groups, START);
	for (uint32_t second = 0; second < 400; second++) {
		uint64_t now = START + second * S;

		traffic(&bench, now, S, 300);
		if (second % 100 == 50) {
			groups_pin(bench.groups, now + S);
		}
		if (second % 100 == 80) {
			groups_unpin(bench.groups);
		}
		if (second == 199) {
			filled = mallinfo2().uordblks; /* 0 where a sanitizer brings its malloc */
			kept = request_source_bytes(&bench.source);
		}
	}
	assert_true((double)request_source_bytes(&bench.source) < 1.05 * (double)kept);
	assert_true((double)mallinfo2().uordblks <= 1.05 * (double)filled);
	bench_release(&bench);
}

static uint64_t any_duration(struct bench *bench, uint64_t end_ns)
{
	switch (below(bench, 6)) {
	case 0:
		return 0;
	case 1:
		return end_ns; /* since time began */
	case 2:
		return below(bench, 100);
	default:
		return lognormal(bench, 30 * MS, 1);
	}
}

/* Any order of calls, with bounds that are reached all the time: counts hold, nothing is leaked. */
static void test_any_order_of_calls(void **state)
{
	(void)state;
	for (uint64_t seed = 100; seed < 130; seed++) {
		const struct groups_config tight = {.window_ns = 1 + seed % 3 * 700 * MS,
				.max_groups = 4,
				.max_kept_bytes = seed % 2 ? 3000 : 100000,
				.max_pin_bytes = seed % 5 * 1000,
				.max_bucket_bytes = seed % 7 * 4000 + 1};
		uint64_t now = START, added = 0, pinned = 0, pin_ns = 0;
		struct snapshot *snapshot;
		struct bench bench;

		bench_init(&bench, &tight, seed);
		for (uint32_t step = 0; step < 3000; step++) {
			uint64_t end = now - below(&bench, below(&bench, 9) ? 300 * MS : 9 * S);

			now += below(&bench, 50) ? below(&bench, 20 * MS) : below(&bench, 5 * S);
			switch (below(&bench, 40)) {
			case 0:
				groups_pin(bench.groups, now);
				pinned = added;
				pin_ns = now;
				break;
			case 1:
				groups_unpin(bench.groups);
				pin_ns = 0;
				break;
			case 2:
				groups_begin_epoch(bench.groups, now, NULL, NULL);
				break;
			case 3:
				groups_advance(bench.groups, now);
				break;
			case 4:
				groups_find_request(bench.groups, below(&bench, step + 1));
				break;
			case 5:
			case 6:
				free(fill_text(&bench, (enum horizon)below(&bench, 3),
						pin_ns ? pin_ns - below(&bench, 3 * S) : now,
						true));
				break;
			default:
				add(&bench, types[below(&bench, 4)], end,
						any_duration(&bench, end));
				added++;
				break;
			}
		}
		snapshot = fill(&bench, HORIZON_ALL, 0, pin_ns ? pin_ns : now);
		for (uint32_t i = 0; i < snapshot->groups.n; i++) {
			added -= pin_ns ? 0 : snapshot->groups.rows[i].count;
			pinned -= pin_ns ? snapshot->groups.rows[i].count : 0;
		}
		assert_int_equal(pin_ns ? pinned : added, 0);
		snapshot_destroy(snapshot);
		bench_release(&bench);
	}
}

/* The root calls 11 after 10 ms, 12 at the end: what is left of its time lies between these. */
static bool walk_made_up(void *context, const struct request *request, struct walked *out)
{
	static struct walked_span spans[3];
	static struct walked_piece pieces[5];
	uint64_t total = request->end_ns - request->start_ns, at = request->start_ns;
	const uint64_t ns[5] = {10 * MS, 10 * MS, total - 35 * MS, 10 * MS, 5 * MS};
	const uint32_t of[5] = {0, 1, 0, 2, 0};

	(void)context;
	for (uint32_t i = 0; i < 3; i++) {
		spans[i] = (struct walked_span){.context = 10 + i,
				.parent = i ? 0 : WALKED_NONE,
				.host = i,
				.tid = 100,
				.whole = true,
				.start_ns = request->start_ns};
	}
	for (uint32_t i = 0; i < 5; i++) {
		spans[of[i]].start_ns = of[i] ? at : spans[0].start_ns;
		pieces[i] = (struct walked_piece){
				.span = of[i], .own = true, .start_ns = at, .ns = ns[i]};
		at += ns[i];
	}
	*out = (struct walked){.total_ns = total,
			.n_spans = 3,
			.spans = spans,
			.n_pieces = 5,
			.pieces = pieces};
	return true;
}

/* The order of things in a span: when its children begin, between which it varies, on what. */
static void test_time_within_a_span(void **state)
{
	const struct tree_row rows[] = {{.context = 10}, {.context = 11}, {.context = 12}};
	const struct tree_view tree = {.n = 3, .rows = rows};
	struct groups_config config = usual;
	struct group_thread threads[8];
	struct group_gap gaps[4];
	double offsets[3];
	struct bench bench;

	(void)state;
	config.walk = walk_made_up;
	bench_init(&bench, &config, 5);
	groups_advance(bench.groups, START);
	for (uint32_t i = 0; i < 40; i++) {
		add(&bench, "a", START + i * 50 * MS, 50 * MS + lognormal(&bench, 30 * MS, 0.5));
	}
	assert_int_equal(groups_gaps(bench.groups, 1, 0, 10, gaps, 4), 0); /* too few */
	for (uint32_t i = 40; i < 100; i++) {
		add(&bench, "a", START + i * 50 * MS, 50 * MS + lognormal(&bench, 30 * MS, 0.5));
	}
	assert_int_equal(groups_gaps(bench.groups, 1, 0, 10, gaps, 4), 3);
	assert_int_equal(gaps[0].after, 11);
	assert_int_equal(gaps[0].before, 12);
	assert_true(gaps[0].lag_ns == 10.0 * MS);
	assert_true(fabs(gaps[0].phi - 1) < 1e-6);
	assert_true(fabs(gaps[1].phi) < 1e-6 && fabs(gaps[2].phi) < 1e-6);
	assert_int_equal(groups_gaps(bench.groups, 1, START + 4 * S, 10, gaps, 4), 0);
	assert_int_equal(groups_gaps(bench.groups, 2, 0, 10, gaps, 4), 0); /* no such group */
	assert_true(groups_offsets(bench.groups, 1, HORIZON_ALL, &tree, offsets));
	assert_true(offsets[0] < 0);
	assert_true(fabs(offsets[1] - 10.0 * MS) < 1);
	assert_true(offsets[2] > 20.0 * MS);
	assert_int_equal(groups_threads(bench.groups, 1, 0, threads, 8), 3);
	assert_int_equal(groups_threads(bench.groups, 1, 0, threads, 2), 2);
	bench_release(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_rows_are_those_of_a_plain_list),
			cmocka_unit_test(test_first_epoch_is_all),
			cmocka_unit_test(test_time_within_a_span),
			cmocka_unit_test(test_pinned_views_stay_byte_for_byte),
			cmocka_unit_test(test_epoch_begun_while_pinned),
			cmocka_unit_test(test_unpinning_catches_up),
			cmocka_unit_test(test_stepping_back_shows_what_was_shown),
			cmocka_unit_test(test_pin_bound),
			cmocka_unit_test(test_drill_down_leads_to_requests),
			cmocka_unit_test(test_worst_of_the_window),
			cmocka_unit_test(test_bound_on_kept_bytes),
			cmocka_unit_test(test_what_is_shown_stays),
			cmocka_unit_test(test_sample_of_a_sudden_load),
			cmocka_unit_test(test_sample_whatever_was_before),
			cmocka_unit_test(test_pin_keeps_requests_beyond_the_bound),
			cmocka_unit_test(test_bound_on_buckets),
			cmocka_unit_test(test_keys_and_labels),
			cmocka_unit_test(test_tainted_and_partial_are_left_out),
			cmocka_unit_test(test_empty),
			cmocka_unit_test(test_memory_is_flat),
			cmocka_unit_test(test_any_order_of_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
