/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols by their texts ---- */

struct ranked {
	const struct alphabet *alphabet;
	const struct names *names;
	uint32_t symbol;
};

static int by_text(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return alphabet_compare(x->alphabet, x->names, x->symbol, y->symbol);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Lists the symbols that the strings have, each once. */
static uint32_t list_symbols(const struct reading *reading, uint32_t *rank_of, struct ranked *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < reading->n; i++) {
		const struct behaviour_string *string = reading->strings[i].string;

		for (uint32_t j = 0; j < string->n; j++) {
			if (!rank_of[string->symbols[j]]) {
				rank_of[string->symbols[j]] = 1;
				out[n++] = (struct ranked){.alphabet = reading->alphabet,
						.names = reading->names,
						.symbol = string->symbols[j]};
			}
		}
	}
	return n;
}

static bool rank_string(struct reading_string *string, const uint32_t *rank_of, bool unordered,
		struct arena *arena)
{
	string->n = string->string->n;
	string->ranks = arena_alloc(arena, (string->n + 1) * sizeof(*string->ranks));
	if (!string->ranks) {
		return false;
	}
	for (uint32_t i = 0; i < string->n; i++) {
		string->ranks[i] = rank_of[string->string->symbols[i]];
	}
	if (unordered) {
		qsort(string->ranks, string->n, sizeof(*string->ranks), by_number);
	}
	sketch_make(&string->sketch, string->ranks, string->n);
	return true;
}

static bool rank_all(struct reading *reading, struct arena *arena)
{
	uint32_t all = reading->alphabet->n ? reading->alphabet->n : 1;
	uint32_t *rank_of = calloc(all, sizeof(*rank_of));
	struct ranked *ranked = malloc((all + 1) * sizeof(*ranked));
	bool done = rank_of && ranked;

	if (done) {
		reading->n_ranks = list_symbols(reading, rank_of, ranked);
		qsort(ranked, reading->n_ranks, sizeof(*ranked), by_text);
		reading->symbol_of = arena_alloc(
				arena, (reading->n_ranks + 1) * sizeof(*reading->symbol_of));
		done = reading->symbol_of != NULL;
	}
	for (uint32_t i = 0; done && i < reading->n_ranks; i++) {
		reading->symbol_of[i] = ranked[i].symbol;
		rank_of[ranked[i].symbol] = i;
	}
	for (uint32_t i = 0; done && i < reading->n; i++) {
		done = rank_string(&reading->strings[i], rank_of, reading->type->unordered, arena);
	}
	free(rank_of);
	free(ranked);
	return done;
}

/* ---- strings ---- */

static struct resources mean_of(const struct behaviour_string *string)
{
	struct resources mean = {.known = string->measured > 0};

	for (int i = 0; mean.known && i < RESOURCE_COUNT; i++) {
		mean.amount[i] = string->resources.amount[i] / (double)string->measured;
	}
	return mean;
}

static bool take_strings(struct reading *reading, const struct behaviour *behaviour,
		enum horizon horizon, struct arena *arena)
{
	const struct behaviour_string *string;

	reading->strings = arena_alloc(arena, (reading->type->n + 1) * sizeof(*reading->strings));
	if (!reading->strings) {
		return false;
	}
	for (string = reading->type->first; string; string = string->next) {
		struct behaviour_tally tally = behaviour_count(
				behaviour, reading->type, &string->tallies, horizon);

		if (tally.n > 0) {
			reading->strings[reading->n++] = (struct reading_string){.string = string,
					.count = tally.n,
					.duration_ns = tally.duration_ns,
					.resources = mean_of(string)};
			reading->total += tally.n;
			reading->cut |= string->cut;
		}
	}
	return true;
}

static int by_frequency(const void *a, const void *b)
{
	const struct reading_string *x = a, *y = b;

	if (x->count != y->count) {
		return x->count < y->count ? 1 : -1;
	}
	if (x->n != y->n) {
		return x->n < y->n ? -1 : 1;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->ranks[i] != y->ranks[i]) {
			return x->ranks[i] < y->ranks[i] ? -1 : 1;
		}
	}
	return (x->string->level > y->string->level) - (x->string->level < y->string->level);
}

/* ---- shapes ---- */

double reading_distance(const struct reading_string *a, const struct reading_string *b, double most)
{
	double resources = distance_resources(&a->resources, &b->resources);
	double length = a->n > b->n ? a->n : b->n;
	uint32_t edits;

	if (resources > most || length == 0) {
		return resources;
	}
	edits = distance_edits(a->ranks, a->n, b->ranks, b->n,
			(uint32_t)floor((most - resources) * length + 1e-9));
	return edits == UINT32_MAX ? 2 : edits / length + resources;
}

static bool is_common(const struct reading *reading, const struct reading_string *string)
{
	return string->count >= READING_LEAST &&
	       (double)string->count >= READING_SHARE * (double)reading->total;
}

/* The shapes whose sketches have most in common with a string's, those before first among equals.
 */
static uint32_t find_candidates(
		const struct reading *reading, const struct reading_string *string, uint32_t *out)
{
	uint32_t common[READING_CANDIDATES], n = 0;

	for (uint32_t i = 0; i < reading->n_shapes; i++) {
		const struct reading_string *leader = &reading->strings[reading->shapes[i].leader];
		uint32_t has = sketch_common(&leader->sketch, &string->sketch), at = n;

		while (at > 0 && common[at - 1] < has) {
			at--;
		}
		if (at == READING_CANDIDATES) {
			continue;
		}
		n += n < READING_CANDIDATES;
		for (uint32_t j = n - 1; j > at; j--) {
			common[j] = common[j - 1];
			out[j] = out[j - 1];
		}
		common[at] = has;
		out[at] = i;
	}
	return n;
}

/* The nearest shape within `most`; n_shapes: none is. */
static uint32_t find_shape(
		const struct reading *reading, const struct reading_string *string, double most)
{
	uint32_t candidates[READING_CANDIDATES], n = find_candidates(reading, string, candidates);
	uint32_t best = reading->n_shapes;

	for (uint32_t i = 0; i < n; i++) {
		const struct reading_shape *shape = &reading->shapes[candidates[i]];
		double distance = reading_distance(string, &reading->strings[shape->leader], most);

		if (distance < most ||
				(distance <= most && (best == reading->n_shapes ||
								     candidates[i] < best))) {
			most = distance;
			best = candidates[i];
		}
	}
	return best;
}

static void add_to(struct reading_shape *shape, const struct reading_string *string)
{
	shape->strings++;
	shape->count += string->count;
	shape->duration_ns += string->duration_ns;
	shape->measured += string->string->measured;
	for (int i = 0; i < RESOURCE_COUNT; i++) {
		shape->resources.amount[i] += string->string->resources.amount[i];
	}
}

static bool find_shapes(struct reading *reading, struct arena *arena)
{
	reading->shapes = arena_alloc(arena, READING_SHAPES * sizeof(*reading->shapes));
	if (!reading->shapes) {
		return false;
	}
	for (uint32_t i = 0; i < reading->n; i++) {
		struct reading_string *string = &reading->strings[i];
		uint32_t shape = find_shape(
				reading, string, is_common(reading, string) ? 0 : READING_NEAR);

		if (shape == reading->n_shapes && shape == READING_SHAPES) {
			shape = find_shape(reading, string, 2);
		} else if (shape == reading->n_shapes) {
			reading->shapes[reading->n_shapes++] = (struct reading_shape){.leader = i};
		}
		string->shape = shape;
		add_to(&reading->shapes[shape], string);
	}
	return true;
}

struct ordered {
	struct reading_shape shape;
	uint32_t number;
};

static int by_count(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->shape.count != y->shape.count) {
		return x->shape.count < y->shape.count ? 1 : -1;
	}
	return (x->shape.leader > y->shape.leader) - (x->shape.leader < y->shape.leader);
}

/* The most frequent first; what they took as means. */
static void order_shapes(struct reading *reading)
{
	struct ordered all[READING_SHAPES];
	uint32_t now[READING_SHAPES] = {0};

	for (uint32_t i = 0; i < reading->n_shapes; i++) {
		all[i] = (struct ordered){.shape = reading->shapes[i], .number = i};
	}
	qsort(all, reading->n_shapes, sizeof(*all), by_count);
	for (uint32_t i = 0; i < reading->n_shapes; i++) {
		struct reading_shape *shape = &reading->shapes[i];

		*shape = all[i].shape;
		now[all[i].number] = i;
		shape->resources.known = shape->measured > 0;
		for (int j = 0; shape->measured && j < RESOURCE_COUNT; j++) {
			shape->resources.amount[j] /= (double)shape->measured;
		}
	}
	for (uint32_t i = 0; i < reading->n; i++) {
		reading->strings[i].shape = now[reading->strings[i].shape];
	}
}

bool reading_make(struct reading *reading, const struct behaviour *behaviour,
		const struct behaviour_type *type, enum horizon horizon, struct arena *arena)
{
	*reading = (struct reading){.type = type,
			.alphabet = behaviour_alphabet(behaviour),
			.names = behaviour_names(behaviour)};
	if (!take_strings(reading, behaviour, horizon, arena) || !rank_all(reading, arena)) {
		return false;
	}
	qsort(reading->strings, reading->n, sizeof(*reading->strings), by_frequency);
	if (!find_shapes(reading, arena)) {
		return false;
	}
	order_shapes(reading);
	return true;
}

/* ---- probabilities ---- */

struct weighed {
	double log_probability;
	uint32_t string;
};

static int by_probability(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->log_probability != y->log_probability) {
		return x->log_probability < y->log_probability ? -1 : 1;
	}
	return (x->string > y->string) - (x->string < y->string);
}

/* Which share of requests did what is as improbable, or more so. */
static void find_tails(struct reading *reading, struct weighed *order)
{
	uint64_t sum = 0;

	qsort(order, reading->n, sizeof(*order), by_probability);
	for (uint32_t i = 0, j; i < reading->n; i = j) {
		for (j = i; j < reading->n && order[j].log_probability == order[i].log_probability;
				j++) {
			sum += reading->strings[order[j].string].count;
		}
		for (uint32_t k = i; k < j; k++) {
			reading->strings[order[k].string].tail =
					(double)sum / (double)reading->total;
		}
	}
}

bool reading_follow(struct reading *reading, struct arena *arena)
{
	struct automaton_string *strings = arena_alloc(arena, (reading->n + 1) * sizeof(*strings));
	struct weighed *order = arena_alloc(arena, (reading->n + 1) * sizeof(*order));
	struct automaton *automaton;

	if (!strings || !order) {
		return false;
	}
	for (uint32_t i = 0; i < reading->n; i++) {
		strings[i] = (struct automaton_string){.symbols = reading->strings[i].ranks,
				.n = reading->strings[i].n,
				.count = reading->strings[i].count};
	}
	automaton = automaton_learn(strings, reading->n, AUTOMATON_ALPHA);
	if (!automaton) {
		return false;
	}
	for (uint32_t i = 0; i < reading->n; i++) {
		struct reading_string *string = &reading->strings[i];

		automaton_follow(automaton, string->ranks, string->n, &string->walk);
		order[i] = (struct weighed){
				.log_probability = string->walk.log_probability, .string = i};
	}
	reading->states = automaton_states(automaton);
	automaton_destroy(automaton);
	find_tails(reading, order);
	return true;
}
