/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explaining.h"
#include "stats/kruskal.h"
#include "stats/ranks.h"

#define FOUND_P   0.05 /* what is found is looked for in the half held out */
#define CONFIRM_P 0.05
#define BELIEVE_P 0.01 /* rule 2 */
#define BELIEVE   0.8
#define MOST_KEYS EXPLANATION_KEYS /* that are confirmed, since no others are shown */

/* ---- what is explained ---- */

static double *copy_values(struct arena *arena, const double *values, uint32_t n)
{
	double *copy = arena_alloc(arena, (n + 1) * sizeof(*copy));

	if (copy && values && n) {
		memcpy(copy, values, n * sizeof(*copy));
	}
	return copy;
}

static bool copy_key(struct explain *explain, struct key *key, const struct explain_key *from)
{
	const char **texts = arena_alloc(&explain->arena, (from->n_texts + 1) * sizeof(*texts));

	*key = (struct key){.name = arena_text(&explain->arena, from->name),
			.where = arena_text(&explain->arena, from->where ? from->where : ""),
			.source = from->source,
			.numeric = from->numeric,
			.done = from->done,
			.told = from->told,
			.values = copy_values(&explain->rows, from->values, explain->n),
			.n_texts = from->n_texts,
			.texts = texts,
			.p = 1,
			.stands_for = NOT_TOGETHER};
	if (!texts || !key->name || !key->where || !key->values) {
		return false;
	}
	for (uint32_t i = 0; i < from->n_texts; i++) {
		texts[i] = arena_text(&explain->arena, from->texts[i]);
		if (!texts[i]) {
			return false;
		}
	}
	for (uint32_t i = 0; i < explain->n; i++) {
		double value = key->values[i];

		/* A category is an index; a number that is none cannot be ranked. */
		if (key->numeric ? !isfinite(value) : !(value >= 0 && value < from->n_texts)) {
			key->values[i] = NAN;
		}
		key->missing |= isnan(key->values[i]);
	}
	return true;
}

/* Its scores. */
static bool rank(struct explain *explain, struct ranked *series)
{
	series->scores = copy_values(&explain->rows, NULL, explain->n);
	if (!series->scores || !ranks_make(series->values, explain->n, series->scores)) {
		return false;
	}
	ranks_normalize(series->scores, explain->n);
	return true;
}

static bool copy_table(struct explain *explain, const struct explain_table *table)
{
	struct arena *arena = &explain->arena, *rows = &explain->rows;
	uint32_t n = table->n_rows;

	explain->n = n;
	explain->half = n / 2;
	explain->durations = copy_values(rows, table->duration_ns, n);
	explain->durations_ranked.values = explain->durations;
	explain->starts.values = copy_values(rows, table->start_ns, n);
	explain->positions.values = copy_values(rows, NULL, n);
	explain->log_durations = copy_values(rows, NULL, n);
	explain->n_keys = table->n_keys < EXPLAIN_MAX_KEYS ? table->n_keys : EXPLAIN_MAX_KEYS;
	explain->keys = arena_alloc(arena, (explain->n_keys + 1) * sizeof(*explain->keys));
	explain->tested = arena_alloc(arena, (explain->n_keys + 1) * sizeof(*explain->tested));
	explain->ordered = arena_alloc(arena, (explain->n_keys + 1) * sizeof(*explain->ordered));
	explain->n_segments = table->n_segments;
	explain->segments = arena_alloc(arena, (table->n_segments + 1) * sizeof(double *));
	if (!explain->durations || !explain->starts.values || !explain->positions.values ||
			!explain->log_durations || !explain->keys || !explain->tested ||
			!explain->ordered || !explain->segments) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		explain->positions.values[i] = i;
		explain->log_durations[i] = log(fmax(1, explain->durations[i]));
	}
	if (!rank(explain, &explain->durations_ranked) || !rank(explain, &explain->starts) ||
			!rank(explain, &explain->positions)) {
		return false;
	}
	for (uint32_t i = 0; i < explain->n_keys; i++) {
		if (!copy_key(explain, &explain->keys[i], &table->keys[i])) {
			return false;
		}
	}
	for (uint32_t i = 0; i < table->n_segments; i++) {
		explain->segments[i] = copy_values(rows, table->segments_ns[i], n);
		if (!explain->segments[i]) {
			return false;
		}
	}
	return true;
}

/* All that is told is known: what it was made of goes. */
static void finish(struct explain *explain)
{
	for (uint32_t i = 0; i < explain->n_keys && explain->keys; i++) {
		levels_release(&explain->keys[i].levels);
		explain->keys[i].values = NULL;
	}
	shift_test_destroy(explain->test);
	explain->test = NULL;
	basis_release(&explain->x);
	basis_release(&explain->y);
	arena_release(&explain->rows);
	explain->phase = PHASE_DONE;
}

struct explain *explain_start(const struct explain_table *table)
{
	struct explain *explain = calloc(1, sizeof(*explain));

	if (!explain) {
		return NULL;
	}
	if (!copy_table(explain, table)) {
		explain_destroy(explain);
		return NULL;
	}
	if (explain->n < EXPLAIN_ENOUGH) {
		finish(explain);
	}
	return explain;
}

void explain_destroy(struct explain *explain)
{
	if (explain) {
		finish(explain);
		arena_release(&explain->arena);
		free(explain);
	}
}

/* ---- phases; each call is a piece of work, and tells about how many us that takes ---- */

static uint64_t fail(struct explain *explain)
{
	explain->failed = true;
	finish(explain);
	return 1;
}

static void turn_to(struct explain *explain, enum phase phase)
{
	explain->phase = phase;
	explain->at = 0;
}

/* Its effect, in the half that levels were chosen by, and in the other. */
static void measure(struct explain *explain, struct key *key, const struct levels *levels)
{
	uint32_t half = explain->half, n = explain->n;

	key->omega2 = kruskal_omega2(explain->durations, levels->of_row, half, levels->n);
	key->omega2_held = kruskal_omega2(
			explain->durations + half, levels->of_row + half, n - half, levels->n);
}

/* Ranges by value instead, if the half that is explored is told better by these. */
static bool measure_by_value(struct explain *explain, struct key *key)
{
	struct levels levels;
	double by_count = key->omega2, by_count_held = key->omega2_held;

	if (!levels_of_number(&levels, LEVELS_BY_VALUE, key->values, explain->n, explain->half,
			    LEVELS_RANGES)) {
		return false;
	}
	measure(explain, key, &levels);
	levels_release(&levels);
	key->by = LEVELS_BY_VALUE;
	if (key->omega2 <= by_count) {
		key->by = LEVELS_BY_COUNT;
		key->omega2 = by_count;
		key->omega2_held = by_count_held;
	}
	return true;
}

static bool take_key(struct explain *explain, struct key *key)
{
	if (!key->numeric) {
		if (!levels_of_category(&key->levels, key->values, explain->n, explain->half,
				    key->n_texts, LEVELS_FEW)) {
			return false;
		}
		measure(explain, key, &key->levels);
		return true;
	}
	if (!levels_of_number(&key->levels, LEVELS_BY_COUNT, key->values, explain->n, explain->half,
			    LEVELS_RANGES)) {
		return false;
	}
	measure(explain, key, &key->levels);
	return measure_by_value(explain, key) &&
	       key_rho(explain, key, &explain->durations_ranked, &key->rho);
}

static uint64_t work_key(struct explain *explain)
{
	struct key *key;

	if (explain->at == explain->n_keys) {
		turn_to(explain, PHASE_SHIFTS);
		if (explain->n_tested == 0) {
			finish(explain);
		}
		return 1;
	}
	key = &explain->keys[explain->at];
	if (key->numeric) {
		struct ranked ranked = {.values = key->values};

		if (!rank(explain, &ranked)) {
			return fail(explain);
		}
		key->scores = ranked.scores;
	}
	if (!derived_judge(explain, key, &key->why_out)) {
		return fail(explain);
	}
	if (!key->why_out) {
		if (!take_key(explain, key)) {
			return fail(explain);
		}
		explain->tested[explain->n_tested++] = explain->at;
	}
	explain->at++;
	return explain->n / 2 + 1;
}

static struct shift_key shift_key_of(const struct key *key, uint32_t from)
{
	return (struct shift_key){.values = key->numeric ? key->values + from : NULL,
			.levels = key->levels.of_row + from,
			.n_levels = key->levels.n};
}

/* The keys, one after the other: to rank them all at once would be a long slice. */
static uint64_t add_tested(struct explain *explain)
{
	struct shift_key key = shift_key_of(&explain->keys[explain->tested[explain->n_added]], 0);

	explain->n_added++;
	return shift_test_add(explain->test, &key) ? explain->n / 5 + 1 : fail(explain);
}

static uint64_t work_shifts(struct explain *explain)
{
	if (!explain->test) {
		explain->test = shift_test_create(
				explain->durations, explain->n, explain->n_tested);
		return explain->test ? explain->n / 5 + 1 : fail(explain);
	}
	if (explain->n_added < explain->n_tested) {
		return add_tested(explain);
	}
	explain->at++;
	if (!shift_test_step(explain->test)) {
		for (uint32_t i = 0; i < explain->n_tested; i++) {
			struct key *key = &explain->keys[explain->tested[i]];

			key->p = shift_test_p(explain->test, i);
			key->shifts = shift_test_shifts(explain->test);
		}
		shift_test_destroy(explain->test);
		explain->test = NULL;
		order_keys(explain);
		turn_to(explain, PHASE_ORDER);
	}
	return (uint64_t)explain->n * explain->n_tested / 250 + 1;
}

static uint64_t work_order(struct explain *explain)
{
	uint64_t pairs = explain->n_ordered;

	if (explain->at == explain->n_tested) {
		turn_to(explain, PHASE_CONFIRM);
		return 1;
	}
	order_place(explain, explain->at++);
	return pairs * explain->n / 8 + 1;
}

/* One key alone: does it hold in the half that it was not found in? */
static uint64_t work_confirm(struct explain *explain)
{
	uint32_t held = explain->n - explain->half;
	struct shift_key one;
	struct key *key;

	if (explain->at == explain->n_ordered || explain->at == MOST_KEYS) {
		turn_to(explain, PHASE_VALUES);
		return 1;
	}
	key = &explain->keys[explain->ordered[explain->at]];
	if (key->p > FOUND_P || key->omega2_held <= 0) {
		explain->at++;
		return 1;
	}
	if (!explain->test) {
		one = shift_key_of(key, explain->half);
		explain->test = shift_test_create(explain->durations + explain->half, held, 1);
		return explain->test && shift_test_add(explain->test, &one) ? held / 3 + 1
									    : fail(explain);
	}
	if (!shift_test_step(explain->test)) {
		key->confirmed = shift_test_p(explain->test, 0) <= CONFIRM_P;
		shift_test_destroy(explain->test);
		explain->test = NULL;
		explain->at++;
	}
	return held / 250 + 1;
}

static uint64_t work_values(struct explain *explain)
{
	if (!values_make(explain) || !joint_begin(explain)) {
		return fail(explain);
	}
	turn_to(explain, PHASE_COLUMNS);
	return explain->n / 4 + 1;
}

static uint64_t work_columns(struct explain *explain)
{
	uint64_t columns = explain->x.n;

	if (explain->at < explain->n_ordered) {
		if (!joint_add_key(explain, explain->ordered[explain->at++])) {
			return fail(explain);
		}
		columns = (explain->x.n - columns + 1) * (explain->x.n + 1);
		return explain->n / 5 + columns * explain->n / 400 + 1;
	}
	if (!basis_multiple(&explain->x, explain->log_durations, &explain->multiple)) {
		return fail(explain);
	}
	turn_to(explain, PHASE_SEGMENTS);
	return columns * explain->n / 1000 + 1;
}

static uint64_t work_segments(struct explain *explain)
{
	if (explain->at == explain->n_segments) {
		turn_to(explain, PHASE_CANONICAL);
		return 1;
	}
	if (!joint_add_segment(explain, explain->at++)) {
		return fail(explain);
	}
	return explain->n / 5 + (uint64_t)explain->n * explain->y.n / 400 + 1;
}

static uint64_t work_canonical(struct explain *explain)
{
	uint64_t p = explain->x.n, q = explain->y.n, least = p < q ? p : q;

	if (!basis_canonical(&explain->x, &explain->y, &explain->canonical)) {
		return fail(explain);
	}
	explain->n_correlated = explain->y.n;
	finish(explain);
	return p * q * (explain->n + 30 * least) / 1000 + 1;
}

static uint64_t work_piece(struct explain *explain)
{
	switch (explain->phase) {
	case PHASE_KEYS:
		return work_key(explain);
	case PHASE_SHIFTS:
		return work_shifts(explain);
	case PHASE_ORDER:
		return work_order(explain);
	case PHASE_CONFIRM:
		return work_confirm(explain);
	case PHASE_VALUES:
		return work_values(explain);
	case PHASE_COLUMNS:
		return work_columns(explain);
	case PHASE_SEGMENTS:
		return work_segments(explain);
	case PHASE_CANONICAL:
		return work_canonical(explain);
	case PHASE_DONE:
		break;
	}
	return 0;
}

bool explain_work(struct explain *explain, uint64_t units)
{
	uint64_t done = 0;

	while (explain->phase != PHASE_DONE && done < units) {
		done += work_piece(explain);
	}
	return explain->phase == PHASE_DONE;
}

bool explain_is_sure(const struct explain *explain, struct explain_verdict *out)
{
	const struct key *key;
	uint32_t held = explain->n - explain->half;

	if (explain->phase != PHASE_DONE || explain->failed || explain->n_ordered == 0 ||
			explain->half < EXPLAIN_BELIEVE || held < EXPLAIN_BELIEVE) {
		return false;
	}
	key = &explain->keys[explain->ordered[0]];
	if (key->done || !key->confirmed || key->omega2_held < BELIEVE || key->p >= BELIEVE_P) {
		return false;
	}
	*out = (struct explain_verdict){.name = key->name,
			.where = key->where,
			.omega2_held = key->omega2_held,
			.p = key->p,
			.n = explain->half,
			.n_held = held};
	return true;
}
