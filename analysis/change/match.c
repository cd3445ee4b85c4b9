/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "change/match.h"
#include "requests/measured.h"
#include "base/hash.h"

#define CUT_DEVIATIONS 3.0  /* of durations: longer ones are few */
#define CUT_MOST_NS    60e9 /* of a recording's begin */

struct table {
	uint64_t *keys;
	uint32_t *values, room;
};

static bool table_make(struct table *table, struct arena *arena, uint32_t n)
{
	table->room = 16;
	while (table->room < 2 * n + 2) {
		table->room *= 2;
	}
	table->keys = arena_alloc(arena, table->room * sizeof(*table->keys));
	table->values = arena_alloc(arena, table->room * sizeof(*table->values));
	return table->keys && table->values;
}

/* The value of a key + 1; 0: a new one, to be set. Keys are hashes of 64 bits of what they stand
 * for. */
static uint32_t *table_at(const struct table *table, uint64_t key)
{
	uint32_t at;

	key = key ? key : 1;
	for (at = (uint32_t)key & (table->room - 1); table->keys[at] && table->keys[at] != key;) {
		at = (at + 1) & (table->room - 1);
	}
	table->keys[at] = key;
	return &table->values[at];
}

static uint64_t hash_text(const char *text)
{
	return hash_bytes(text, strlen(text));
}

static bool is_span(const struct baseline_node *node)
{
	return node->name[0] != '(' && node->spans;
}

/* How late after the begin a request of the type may begin, if it is cut off: as late as one ends
 * that it is a part of. 0: it is a part of none. */
static double cut_until(const struct baseline *side, const struct baseline_type *type)
{
	double until = 0;

	for (uint32_t i = 0; i < side->n_types; i++) {
		const struct baseline_type *other = &side->types[i];
		double longest = other->mean_ns + CUT_DEVIATIONS * other->sd_ns;
		bool within = false;

		for (uint32_t k = 0; other != type && k < other->n; k++) {
			for (uint32_t r = 0; r < type->n && !within; r++) {
				within = type->nodes[r].parent == UINT32_MAX &&
					 other->nodes[k].parent != UINT32_MAX &&
					 is_span(&type->nodes[r]) &&
					 !strcmp(type->nodes[r].name, other->nodes[k].name) &&
					 !strcmp(type->nodes[r].provider, other->nodes[k].provider);
			}
		}
		until = within && longest > until ? longest : until;
	}
	return until;
}

/*
 * What began before the recording, so that its first spans are missing, begins with a span that is
 * deep within another type, and no other request of that kind begins later.
 */
static bool is_cut(const struct baseline *side, const struct baseline_type *type)
{
	uint64_t begin_ns = side->time_ns > side->length_ns ? side->time_ns - side->length_ns : 0;

	return type->last_start_ns && side->length_ns &&
	       (double)type->last_start_ns <= (double)begin_ns + CUT_MOST_NS &&
	       (double)type->last_start_ns <= (double)begin_ns + cut_until(side, type);
}

static bool add_cut(struct matched *out, const struct baseline_type *type, struct arena *arena)
{
	out->cut_requests += type->all;
	if (out->n_cut++ < NAMES_TOLD) {
		out->cut = arena_printf(arena, "%s%s%s", out->n_cut > 1 ? out->cut : "",
				out->n_cut > 1 ? ", " : "", type->type);
	}
	return out->cut != NULL;
}

static bool add_types(
		struct matched *out, const struct baseline *const sides[2], struct arena *arena)
{
	struct table table;

	if (!table_make(&table, arena, sides[0]->n_types + sides[1]->n_types)) {
		return false;
	}
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < sides[side]->n_types; i++) {
			const struct baseline_type *type = &sides[side]->types[i];
			uint32_t *at;

			if (is_cut(sides[side], type)) {
				if (!add_cut(out, type, arena)) {
					return false;
				}
				continue;
			}
			at = table_at(&table, hash_text(type->type));
			if (!*at) {
				*at = ++out->n_types;
			}
			out->types[*at - 1].sides[side] = type;
		}
	}
	return true;
}

/* Contexts are the same if the chains of names and providers are. */
static bool add_pairs(struct matched *out, uint32_t index, struct arena *arena)
{
	const struct matched_type *type = &out->types[index];
	uint32_t most = 0;
	struct table table;
	uint64_t *hashes;
	uint32_t *pair_of;

	for (uint32_t side = 0; side < 2; side++) {
		most += type->sides[side] ? type->sides[side]->n : 0;
	}
	hashes = arena_alloc(arena, (most + 1u) * sizeof(*hashes));
	pair_of = arena_alloc(arena, (most + 1u) * sizeof(*pair_of));
	if (!hashes || !pair_of || !table_make(&table, arena, most)) {
		return false;
	}
	for (uint32_t side = 0; side < 2; side++) {
		const struct baseline_type *it = type->sides[side];

		for (uint32_t i = 0; it && i < it->n; i++) {
			const struct baseline_node *node = &it->nodes[i];
			bool root = node->parent == UINT32_MAX;
			uint32_t *at;

			hashes[i] = hash_pair(root ? 0 : hashes[node->parent],
					hash_pair(hash_text(node->name),
							hash_text(node->provider)));
			at = table_at(&table, hashes[i]);
			if (!*at) {
				out->pairs[out->n] = (struct pair){.type = index,
						.parent = root ? NO_PAIR : pair_of[node->parent]};
				*at = ++out->n;
			}
			pair_of[i] = *at - 1;
			out->pairs[pair_of[i]].sides[side] = node;
		}
	}
	return true;
}

static const struct baseline_node *either(const struct pair *pair)
{
	return pair->sides[1] ? pair->sides[1] : pair->sides[0];
}

static const char *service_of(const struct matched *out, const struct pair *pair)
{
	for (uint32_t side = 2; side-- > 0;) {
		if (pair->sides[side] && pair->sides[side]->process[0]) {
			return pair->sides[side]->process;
		}
	}
	if (pair->part && pair->parent != NO_PAIR) {
		return out->pairs[pair->parent].service;
	}
	return either(pair)->provider;
}

static void tell_services(struct matched *out)
{
	for (uint32_t i = 0; i < out->n; i++) {
		struct pair *pair = &out->pairs[i];
		const struct baseline_node *node = either(pair);

		pair->part = node->name[0] == '(' && (!pair->sides[0] || !pair->sides[0]->spans) &&
			     (!pair->sides[1] || !pair->sides[1]->spans);
		pair->lag = pair->part && strcmp(node->name, MEASURED_LAG) == 0;
		pair->service = service_of(out, pair);
	}
}

static void add_callee(struct pair *pair, const char *service)
{
	for (uint32_t i = 0; i < pair->n_callees; i++) {
		if (strcmp(pair->callees[i], service) == 0) {
			return;
		}
	}
	if (pair->n_callees < MAX_CALLEES) {
		pair->callees[pair->n_callees++] = service;
	}
}

/* A span that does nothing but call another service is on the way there. */
static void tell_calls(struct matched *out, struct arena *arena)
{
	uint32_t *own = arena_alloc(arena, (out->n + 1u) * sizeof(*own));

	for (uint32_t i = 0; own && i < out->n; i++) {
		const struct pair *pair = &out->pairs[i];
		struct pair *parent = pair->parent == NO_PAIR ? NULL : &out->pairs[pair->parent];

		if (!parent || pair->part) {
			continue;
		}
		if (strcmp(parent->service, pair->service) == 0) {
			own[pair->parent]++;
		} else {
			parent->calls = true;
			add_callee(parent, pair->service);
		}
	}
	for (uint32_t i = 0; own && i < out->n; i++) {
		struct pair *pair = &out->pairs[i];
		const struct pair *parent =
				pair->parent == NO_PAIR ? NULL : &out->pairs[pair->parent];
		const char *name = either(pair)->name;

		if (!pair->part) {
			pair->caller = pair->calls && !own[i] && parent ? pair->service : NULL;
			continue;
		}
		if (strcmp(name, "(transit)") == 0 && parent && parent->n_callees) {
			pair->caller = parent->service;
			memcpy(pair->callees, parent->callees, sizeof(pair->callees));
			pair->n_callees = parent->n_callees;
		} else if ((pair->lag || strcmp(name, "(wait)") == 0) && parent &&
				parent->parent != NO_PAIR) {
			const struct pair *above = &out->pairs[parent->parent];

			if (strcmp(above->service, parent->service) != 0) {
				pair->caller = above->service;
				add_callee(pair, parent->service);
			}
		}
	}
}

static void add_below(struct matched *out)
{
	for (uint32_t i = out->n; i-- > 0;) {
		struct pair *pair = &out->pairs[i];
		const struct baseline_node *node = pair->sides[0] ? pair->sides[0] : pair->sides[1];

		pair->below += node->segment_ns * (double)node->requests;
		if (pair->parent != NO_PAIR) {
			out->pairs[pair->parent].below += pair->below;
		}
		if (node->spans) {
			pair->below /= (double)node->spans;
		}
	}
}

/* The same whatever the order in which they are called. */
static uint64_t hash_callees(const struct pair *pair)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < pair->n_callees; i++) {
		sum += hash_text(pair->callees[i]);
	}
	return sum;
}

static struct place place_of(const struct pair *pair, struct arena *arena)
{
	const struct baseline_node *node = either(pair);
	struct place place = {.service = pair->service,
			.provider = node->provider,
			.name = node->name,
			.caller = pair->caller,
			.name_of_callees = "",
			.n_callees = pair->n_callees,
			.first = NO_PAIR};

	if (!pair->caller || !pair->n_callees) {
		return place;
	}
	memcpy(place.callees, pair->callees, sizeof(place.callees));
	place.lag = pair->lag;
	place.service = pair->callees[0];
	place.provider = "";
	place.name = "(transit)";
	for (uint32_t i = 0; i < pair->n_callees; i++) {
		const char *longer = arena_printf(arena, "%s%s%s", place.name_of_callees,
				i ? ", " : "", pair->callees[i]);

		place.name_of_callees = longer ? longer : place.name_of_callees;
	}
	return place;
}

static bool add_places(struct matched *out, struct arena *arena)
{
	struct table table;

	if (!table_make(&table, arena, out->n)) {
		return false;
	}
	for (uint32_t i = 0; i < out->n; i++) {
		struct pair *pair = &out->pairs[i];
		const struct baseline_node *node = either(pair);
		bool way = pair->caller != NULL;
		uint64_t key = way ? hash_pair(hash_text(pair->caller),
						     hash_pair(hash_callees(pair),
								     pair->lag ? 2 : 1))
				   : hash_pair(hash_pair(hash_text(pair->service),
							       hash_text(node->provider)),
						     hash_text(node->name));
		uint32_t *at = table_at(&table, key);

		if (!*at) {
			out->places[out->n_places] = place_of(pair, arena);
			*at = ++out->n_places;
		}
		pair->place = *at - 1;
		out->next[i] = out->places[pair->place].first;
		out->places[pair->place].first = i;
	}
	return true;
}

const struct baseline_node *pair_either(const struct pair *pair)
{
	return pair->sides[1] ? pair->sides[1] : pair->sides[0];
}

double matched_seconds(const struct matched *matched, uint32_t type, uint32_t side)
{
	const struct baseline_type *of = matched->types[type].sides[side];
	double seconds = matched->seconds[side], rest = of ? (double)of->unrecorded_ns / 1e9 : 0;

	return seconds > rest ? seconds - rest : seconds;
}

bool match_baselines(struct matched *out, const struct baseline *before,
		const struct baseline *after, struct arena *arena)
{
	const struct baseline *sides[2] = {before, after};
	uint32_t most = 1;

	*out = (struct matched){.cut = ""};
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < sides[side]->n_types; i++) {
			most += sides[side]->types[i].n;
		}
		out->seconds[side] =
				sides[side]->length_ns ? (double)sides[side]->length_ns / 1e9 : 1;
	}
	out->types = arena_alloc(
			arena, (before->n_types + after->n_types + 1u) * sizeof(*out->types));
	out->pairs = arena_alloc(arena, most * sizeof(*out->pairs));
	out->next = arena_alloc(arena, most * sizeof(*out->next));
	out->places = arena_alloc(arena, most * sizeof(*out->places));
	if (!out->types || !out->pairs || !out->next || !out->places ||
			!add_types(out, sides, arena)) {
		return false;
	}
	for (uint32_t i = 0; i < out->n_types; i++) {
		if (!add_pairs(out, i, arena)) {
			return false;
		}
	}
	tell_services(out);
	tell_calls(out, arena);
	add_below(out);
	return add_places(out, arena);
}
