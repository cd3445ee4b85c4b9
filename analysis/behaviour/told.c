/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/told.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour/reading.h"
#include "behaviour/words.h"
#include "stats/share.h"

/* What one call works on; the arrays have room for all. */
struct telling {
	const struct behaviour *behaviour;
	enum horizon horizon;
	struct arena *arena;
	struct shape_row *rows;
	struct improbable_row *improbable;
	struct shapes_type *types;
	uint32_t n, n_improbable, n_types;
};

/* Quantiles over the strings of a shape. */
static bool tell_demands(struct telling *telling, const struct reading *reading, uint32_t i,
		struct shape_row *row)
{
	struct demands_part *parts = arena_alloc(telling->arena, (reading->n + 1) * sizeof(*parts));
	uint32_t n = 0;
	bool done = parts != NULL;

	for (uint32_t j = 0; done && j < reading->n; j++) {
		if (reading->strings[j].shape == i) {
			parts[n++] = (struct demands_part){
					.demands = &reading->strings[j].string->demands,
					.count = reading->strings[j].count};
		}
	}
	for (int j = 0; done && j < DEMAND_COUNT; j++) {
		done = demands_quantiles(parts, n, (enum shape_demand)j, &row->demands[j]);
	}
	return done;
}

/* The leader, if a request of it is still kept; else the string that a later one is kept of. */
static const struct behaviour_string *example_of(
		const struct telling *telling, const struct reading *reading, uint32_t i)
{
	const struct behaviour_string *leader = reading->strings[reading->shapes[i].leader].string,
				      *example = leader;

	for (uint32_t j = 0; !behaviour_request(telling->behaviour, leader) && j < reading->n;
			j++) {
		const struct behaviour_string *string = reading->strings[j].string;

		if (reading->strings[j].shape == i &&
				behaviour_request(telling->behaviour, string) &&
				(example == leader ||
						string->request_end_ns > example->request_end_ns)) {
			example = string;
		}
	}
	return example;
}

static bool tell_shape(struct telling *telling, const struct reading *reading, uint32_t i)
{
	const struct reading_shape *shape = &reading->shapes[i];
	const struct reading_string *leader = &reading->strings[shape->leader];
	const struct reading_string *usual = &reading->strings[reading->shapes[0].leader];
	const struct behaviour_string *example = example_of(telling, reading, i);
	struct shape_row *row = &telling->rows[telling->n++];

	*row = (struct shape_row){.type = names_text(reading->names, reading->type->type),
			.type_index = telling->n_types,
			.group_id = example->group_id,
			.number = i + 1,
			.count = shape->count,
			.of = reading->total,
			.share = (double)shape->count / (double)reading->total,
			.differs = i ? words_of_difference(reading, usual, leader, telling->arena)
				     : "",
			.request = behaviour_request(telling->behaviour, example),
			.steps = leader->n,
			.variants = shape->strings,
			.mean_ns = shape->duration_ns / (double)shape->count,
			.measured = shape->resources.known,
			.cpu_ns = shape->resources.amount[RESOURCE_CPU],
			.wait_ns = shape->resources.amount[RESOURCE_WAIT],
			.bytes = shape->resources.amount[RESOURCE_BYTES]};
	share_bounds(row->count, row->of, SHARE_95, &row->share_low, &row->share_high);
	return row->differs != NULL && tell_demands(telling, reading, i, row);
}

static bool is_improbable(const struct reading *reading, const struct reading_string *string)
{
	return reading->total >= TOLD_LEAST && string->tail <= TOLD_TAIL &&
	       string->walk.step_probability * AUTOMATON_ODDS <= string->walk.expected_probability;
}

static bool tell_improbable(struct telling *telling, const struct reading *reading,
		const struct reading_string *string)
{
	const struct automaton_walk *walk = &string->walk;
	struct improbable_row *row = &telling->improbable[telling->n_improbable++];
	uint32_t rank = walk->step < string->n ? string->ranks[walk->step] : AUTOMATON_END;

	*row = (struct improbable_row){.type = names_text(reading->names, reading->type->type),
			.group_id = string->string->group_id,
			.request = behaviour_request(telling->behaviour, string->string),
			.count = string->count,
			.probability = exp(walk->log_probability),
			.surprise = -walk->log_probability / log(2),
			.tail = string->tail,
			.step = walk->step + 1,
			.at = words_of_step(reading, rank, telling->arena),
			.expected = words_of_step(reading, walk->expected, telling->arena),
			.at_probability = walk->step_probability,
			.expected_probability = walk->expected_probability};
	return row->at && row->expected;
}

static int by_log_probability(const void *a, const void *b)
{
	const struct reading_string *x = *(const struct reading_string *const *)a;
	const struct reading_string *y = *(const struct reading_string *const *)b;

	if (x->walk.log_probability != y->walk.log_probability) {
		return x->walk.log_probability < y->walk.log_probability ? -1 : 1;
	}
	return (x > y) - (x < y);
}

static bool tell_all_improbable(struct telling *telling, const struct reading *reading)
{
	const struct reading_string **found =
			arena_alloc(telling->arena, (reading->n + 1) * sizeof(*found));
	uint32_t n = 0;
	bool done = found != NULL;

	for (uint32_t i = 0; done && i < reading->n; i++) {
		if (is_improbable(reading, &reading->strings[i])) {
			found[n++] = &reading->strings[i];
		}
	}
	if (n > 1) {
		qsort(found, n, sizeof(const struct reading_string *), by_log_probability);
	}
	for (uint32_t i = 0; done && i < n && i < TOLD_IMPROBABLE; i++) {
		done = tell_improbable(telling, reading, found[i]);
	}
	return done;
}

static bool tell_type(struct telling *telling, const struct behaviour_type *type)
{
	struct shapes_type *about = &telling->types[telling->n_types];
	struct arrivals_view arrivals;
	struct reading reading;

	if (!reading_make(&reading, telling->behaviour, type, telling->horizon, telling->arena)) {
		return false;
	}
	if (reading.n == 0) {
		return true;
	}
	if (!reading_follow(&reading, telling->arena)) {
		return false;
	}
	for (uint32_t i = 0; i < reading.n_shapes; i++) {
		if (!tell_shape(telling, &reading, i)) {
			return false;
		}
	}
	arrivals_read(&type->arrivals, &arrivals);
	*about = (struct shapes_type){.type = names_text(reading.names, type->type),
			.index = telling->n_types++,
			.requests = behaviour_count(
					telling->behaviour, type, &type->seen, telling->horizon)
						    .n,
			.looked_at = reading.total,
			.seconds = arrivals.seconds,
			.rate_per_s = arrivals.rate_per_s,
			.dispersion = arrivals.seconds > 1 && arrivals.rate_per_s > 0
						      ? arrivals.dispersion
						      : -1,
			.states = reading.states,
			.coarseness = type->coarseness,
			.cut = reading.cut};
	return tell_all_improbable(telling, &reading);
}

static int by_type(const void *a, const void *b)
{
	const struct shape_row *x = a, *y = b;
	int order = strcmp(x->type, y->type);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_type_name(const void *a, const void *b)
{
	return strcmp(((const struct shapes_type *)a)->type, ((const struct shapes_type *)b)->type);
}

static int by_least(const void *a, const void *b)
{
	const struct improbable_row *x = a, *y = b;
	int order = (x->surprise < y->surprise) - (x->surprise > y->surprise);

	order = order ? order : strcmp(x->type, y->type);
	return order ? order : (x->request > y->request) - (x->request < y->request);
}

static bool make_room(struct telling *telling, uint32_t types)
{
	telling->rows = arena_alloc(
			telling->arena, types * READING_SHAPES * sizeof(*telling->rows));
	telling->improbable = arena_alloc(
			telling->arena, types * TOLD_IMPROBABLE * sizeof(*telling->improbable));
	telling->types = arena_alloc(telling->arena, types * sizeof(*telling->types));
	return telling->rows && telling->improbable && telling->types;
}

bool behaviour_tell(const struct behaviour *behaviour, uint32_t type, enum horizon horizon,
		struct arena *arena, struct shapes_view *out)
{
	struct telling telling = {.behaviour = behaviour, .horizon = horizon, .arena = arena};
	const struct behaviour_type *one = type ? behaviour_find(behaviour, type) : NULL;
	uint32_t n = type ? one != NULL : behaviour_types(behaviour);

	*out = (struct shapes_view){.n = 0};
	if (!make_room(&telling, n + 1)) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!tell_type(&telling, one ? one : behaviour_type_at(behaviour, i))) {
			return false;
		}
	}
	qsort(telling.rows, telling.n, sizeof(*telling.rows), by_type);
	qsort(telling.improbable, telling.n_improbable, sizeof(*telling.improbable), by_least);
	qsort(telling.types, telling.n_types, sizeof(*telling.types), by_type_name);
	*out = (struct shapes_view){.n = telling.n,
			.n_improbable = telling.n_improbable,
			.n_types = telling.n_types,
			.rows = telling.rows,
			.improbable = telling.improbable,
			.types = telling.types};
	return true;
}
