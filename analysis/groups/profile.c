/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "stats/moments.h"

#define FIRST_ROOM 4u
#define NO_NODE    UINT32_MAX
#define CACHE_LINE 64

__extension__ typedef __int128 signed_int128;

void profile_release(struct profile *profile)
{
	free(profile->nodes);
	free(profile->table);
	memset(profile, 0, sizeof(*profile));
}

void profile_items_release(struct profile_items *items)
{
	free(items->items);
	memset(items, 0, sizeof(*items));
}

static uint32_t node_find(const struct profile *profile, uint32_t context)
{
	uint32_t at = (uint32_t)hash_u64(context);

	if (!profile->n) {
		return NO_NODE;
	}
	for (;; at++) {
		uint32_t found = profile->table[at & (profile->table_room - 1)];

		if (!found) {
			return NO_NODE;
		}
		if (profile->nodes[found - 1].context == context) {
			return found - 1;
		}
	}
}

static void table_put(uint32_t *table, uint32_t room, uint32_t context, uint32_t node)
{
	uint32_t at = (uint32_t)hash_u64(context);

	while (table[at & (room - 1)]) {
		at++;
	}
	table[at & (room - 1)] = node + 1;
}

static bool table_grow(struct profile *profile)
{
	uint32_t room = profile->table_room ? profile->table_room * 2 : 4 * FIRST_ROOM;
	uint32_t *table = calloc(room, sizeof(*table));

	if (!table) {
		return false;
	}
	for (uint32_t i = 0; i < profile->n; i++) {
		table_put(table, room, profile->nodes[i].context, i);
	}
	free(profile->table);
	profile->table = table;
	profile->table_room = room;
	return true;
}

static bool nodes_grow(struct profile *profile)
{
	uint32_t room = profile->room < FIRST_ROOM ? FIRST_ROOM : profile->room + profile->room / 2;
	struct profile_node *nodes = realloc(profile->nodes, room * sizeof(*nodes));

	if (!nodes) {
		return false;
	}
	profile->nodes = nodes;
	profile->room = room;
	return true;
}

static uint32_t node_add(struct profile *profile, uint32_t context)
{
	struct profile_node *node;

	if ((profile->n == profile->room && !nodes_grow(profile)) ||
			(2 * (profile->n + 1) > profile->table_room && !table_grow(profile))) {
		return NO_NODE;
	}
	node = &profile->nodes[profile->n];
	memset(node, 0, sizeof(*node));
	node->context = context;
	table_put(profile->table, profile->table_room, context, profile->n);
	return profile->n++;
}

/* The node of a context, or of its nearest ancestor that has room. NO_NODE if out of memory. */
static uint32_t node_of(struct profile *profile, struct profile_bound *bound,
		const struct contexts *contexts, uint32_t context, bool *folded)
{
	uint32_t node;

	*folded = false;
	while (contexts_get(contexts, context)->depth > PROFILE_MAX_DEPTH) {
		context = contexts_get(contexts, context)->parent;
		*folded = true;
	}
	node = node_find(profile, context);
	if (node == NO_NODE && bound->n < bound->max) {
		node = node_add(profile, context);
		bound->n += node != NO_NODE;
		return node;
	}
	while (node == NO_NODE) {
		context = contexts_get(contexts, context)->parent;
		*folded = true;
		node = node_find(profile, context);
	}
	return node;
}

static struct profile_item *item_of(
		struct profile *profile, struct profile_items *out, uint32_t node)
{
	struct profile_node *at = &profile->nodes[node];

	if (at->mark == out->mark) {
		return &out->items[at->place];
	}
	if (!array_reserve(&out->items, &out->room, out->n + 1)) {
		return NULL;
	}
	at->mark = out->mark;
	at->place = out->n;
	out->items[out->n] = (struct profile_item){.node = node};
	return &out->items[out->n++];
}

/* Of many groups the sums are no longer in a cache: all are asked for before the first is used. */
static void list_prefetch(const struct profile *profile, const struct profile_items *items)
{
	for (uint32_t i = 0; i < items->n; i++) {
		const char *at = (const char *)&profile->nodes[items->items[i].node];

		for (size_t offset = 0; offset < sizeof(struct profile_node);
				offset += CACHE_LINE) {
			__builtin_prefetch(at + offset);
		}
	}
}

bool profile_list(struct profile *profile, struct profile_bound *bound,
		const struct contexts *contexts, const struct measured *measured,
		struct profile_items *out)
{
	struct profile_item *item;
	uint32_t node;
	bool folded;

	out->mark++;
	out->n = 0;
	out->folded_spans = measured->folded;
	if (!profile->n && node_add(profile, 0) == NO_NODE) {
		return false;
	}
	for (uint32_t i = 0; i < measured->n_visits; i++) {
		const struct measured_visit *visit = &measured->visits[i];

		node = node_of(profile, bound, contexts, visit->context, &folded);
		item = node != NO_NODE ? item_of(profile, out, node) : NULL;
		if (!item) {
			return false;
		}
		item->self_ns += visit->self_ns;
		if (folded) { /* the ancestor's span holds this time already */
			out->folded_spans += visit->count;
			continue;
		}
		item->spans += visit->count;
		item->failed += visit->failed;
		item->total_ns += visit->total_ns;
		item->squares += visit->squares;
	}
	for (uint32_t i = 0; i < measured->n_segments; i++) {
		node = node_of(profile, bound, contexts, measured->segments[i].context, &folded);
		item = node != NO_NODE ? item_of(profile, out, node) : NULL;
		if (!item) {
			return false;
		}
		item->segment_ns += measured->segments[i].ns;
	}
	for (uint32_t i = 0; i < measured->n_lags; i++) {
		node = node_of(profile, bound, contexts, measured->lags[i].context, &folded);
		item = node != NO_NODE && !folded ? item_of(profile, out, node) : NULL;
		if (node == NO_NODE || (!folded && !item)) {
			return false;
		}
		if (item) { /* what has no room is nobody's own time */
			item->self_ns += measured->lags[i].ns;
		}
	}
	list_prefetch(profile, out);
	return true;
}

/* Unsigned sums wrap, so that adding the negative is taking away. */
static measured_uint128 signed_by(measured_uint128 value, bool away)
{
	return away ? -value : value;
}

void profile_count_item(struct profile *profile, enum horizon horizon,
		const struct profile_request *request, const struct profile_item *item, bool away)
{
	struct profile_sums *sums = &profile->nodes[item->node].sums[horizon];
	measured_uint128 segment = item->segment_ns;

	if (request->counted && segment) {
		measured_uint128 weighed = segment * request->weight;

		sums->segment += signed_by(weighed, away);
		sums->segment_squares += signed_by(weighed * segment, away);
		sums->product += signed_by(weighed * request->duration_ns, away);
	}
	if (request->added) {
		return;
	}
	if (item->spans) {
		sums->spans += away ? -(uint64_t)item->spans : item->spans;
		sums->failed += away ? -(uint64_t)item->failed : item->failed;
		sums->requests += away ? UINT64_MAX : 1;
		sums->total += signed_by(item->total_ns, away);
		sums->squares += signed_by(item->squares, away);
	}
	sums->self += signed_by(item->self_ns, away);
	sums->self_squares += signed_by((measured_uint128)item->self_ns * item->self_ns, away);
}

void profile_count_request(struct profile *profile, enum horizon horizon,
		const struct profile_request *request, bool away)
{
	struct profile_counts *counts = &profile->counts[horizon];
	measured_uint128 duration = request->duration_ns;
	uint64_t one = away ? UINT64_MAX : 1;

	if (request->counted) {
		counts->weight += away ? -(uint64_t)request->weight : request->weight;
		counts->total += signed_by(duration * request->weight, away);
		counts->squares += signed_by(duration * duration * request->weight, away);
	}
	if (request->added) {
		counts->added += one;
		return;
	}
	counts->requests += one;
	counts->folded_spans += away ? -request->folded_spans : request->folded_spans;
	if (request->skewed) {
		counts->skewed += one;
	}
	if (request->counted) {
		counts->counted += one;
	}
}

void profile_clear(struct profile *profile, enum horizon horizon)
{
	memset(&profile->counts[horizon], 0, sizeof(profile->counts[horizon]));
	for (uint32_t i = 0; i < profile->n; i++) {
		memset(&profile->nodes[i].sums[horizon], 0, sizeof(struct profile_sums));
	}
}

bool profile_copy(struct profile *copy, const struct profile *profile)
{
	memset(copy, 0, sizeof(*copy));
	if (!profile->n) {
		return true;
	}
	copy->nodes = malloc(profile->n * sizeof(*copy->nodes));
	copy->table = malloc(profile->table_room * sizeof(*copy->table));
	if (!copy->nodes || !copy->table) {
		profile_release(copy);
		return false;
	}
	memcpy(copy->nodes, profile->nodes, profile->n * sizeof(*copy->nodes));
	memcpy(copy->table, profile->table, profile->table_room * sizeof(*copy->table));
	memcpy(copy->counts, profile->counts, sizeof(copy->counts));
	copy->n = copy->room = profile->n;
	copy->table_room = profile->table_room;
	return true;
}

/*
 * With a = floor(A / n), b = floor(B / n) and rests ra, rb, the products of the distances from a
 * and b add up to AB - a B - b A + n a b = AB - a B - b ra, and those from the means to that less
 * ra rb / n. The first is below 2^127, as durations are below 2^48 and are 33 million such at
 * most, so that arithmetic modulo 2^128 gives it exactly even where its terms wrap. (See
 * moments_sd().) Here n is the weight of all, and PROFILE_WEIGHT that of one.
 */
static double covariance(uint64_t n, measured_uint128 sum_a, measured_uint128 sum_b,
		measured_uint128 products)
{
	measured_uint128 a, b, rest_a, rest_b;
	signed_int128 distances;

	if (n < 2 * PROFILE_WEIGHT) {
		return 0;
	}
	a = sum_a / n;
	b = sum_b / n;
	rest_a = sum_a - n * a;
	rest_b = sum_b - n * b;
	distances = (signed_int128)(products - a * sum_b - b * rest_a);
	return (double)(((long double)distances - (long double)rest_a * (long double)rest_b /
								  (long double)n) /
			(long double)(n - PROFILE_WEIGHT));
}

double profile_variance(const struct profile_counts *counts)
{
	return covariance(counts->weight, counts->total, counts->total, counts->squares);
}

double profile_covariance(const struct profile_counts *counts, const struct profile_sums *sums)
{
	return covariance(counts->weight, sums->segment, counts->total, sums->product);
}

double profile_segment_sd(const struct profile_counts *counts, const struct profile_sums *sums)
{
	double variance = covariance(
			counts->weight, sums->segment, sums->segment, sums->segment_squares);

	return variance > 0 ? sqrt(variance) : 0;
}
