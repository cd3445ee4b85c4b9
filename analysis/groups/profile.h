/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_PROFILE_H
#define PT_GROUPS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/focus.h"
#include "requests/contexts.h"
#include "requests/measured.h"

/*
 * Where the time of one group's sampled requests went: sums for each calling context and horizon.
 *
 * All sums are exact integers, so that what was added can be taken away again, in any order, and
 * shares of the variance, phi = Cov(S, T) / Var(T), add up to 1 over all contexts with no more than
 * the rounding of the last division.
 *
 * Shares are of a stratified sample: slow requests are all measured, of others some, each of which
 * weighs as many as it stands for (Horvitz & Thompson 1952). Everything else is of the sample that
 * is uniform, one request as much as another.
 *
 * Contexts deeper than PROFILE_MAX_DEPTH, and those that have no room, count as their nearest
 * ancestor that has: their own time becomes its own time, and their spans are counted as folded.
 * Context 0, the rest, always has room. What is no span has no own time, but for lags, of which it is
 * all there is: a lag without room is left out.
 *
 * Units: ns, ns^2. Memory: 430 bytes a context and group, at most 1.5 times that with what it grows
 * into; the number of all groups together is bounded by struct profile_bound. Threads: the
 * caller's.
 */
#define PROFILE_MAX_DEPTH 128
#define PROFILE_WEIGHT    64u /* of a request that stands for itself alone */

/* What one request, or all requests of a horizon, did in a context. */
struct profile_sums {
	uint64_t spans, requests; /* requests with one span at least */
	uint64_t failed;          /* of the spans */
	measured_uint128 total, squares, self;
	measured_uint128 self_squares; /* of each request's own time */
	/* Of requests that count in shares: own part S of the critical path, with T their duration;
	 * times their weights. */
	measured_uint128 segment, segment_squares, product; /* S, S^2, S T */
};

struct profile_node {
	uint32_t context;
	uint32_t place; /* in the list of items that is being made */
	uint64_t mark;  /* which list that is */
	struct profile_sums sums[HORIZON_COUNT];
};

/* Of one horizon. */
struct profile_counts {
	uint64_t requests; /* measured */
	uint64_t counted;  /* of which shares of the variance speak */
	uint64_t skewed;   /* complete, but left out of these */
	uint64_t added;    /* slow ones, of which only shares speak */
	uint64_t weight;   /* of those that shares speak of, counted and added */
	uint64_t folded_spans;
	measured_uint128 total, squares; /* of their durations, times their weights */
};

struct profile {
	struct profile_node *nodes; /* the first is that of context 0 */
	uint32_t n, room;
	uint32_t *table, table_room; /* node + 1 by hash of its context; at most half full */
	struct profile_counts counts[HORIZON_COUNT];
};

/* Nodes of all groups together. */
struct profile_bound {
	uint64_t n, max;
};

/* What a request did in a node. */
struct profile_item {
	uint32_t node, spans, failed;
	uint64_t total_ns, self_ns, segment_ns;
	measured_uint128 squares;
};

struct profile_items {
	struct profile_item *items;
	uint32_t n, room;
	uint64_t mark; /* counts up */
	uint64_t folded_spans;
};

/* What is counted with the items of a request. */
struct profile_request {
	uint64_t duration_ns, folded_spans;
	uint32_t weight; /* in shares of the variance, PROFILE_WEIGHT or more */
	bool counted, skewed;
	bool added; /* it is measured for shares of the variance alone: see keep.c */
};

void profile_release(struct profile *profile);

/*
 * Lists what a measured request did, one item a node, making nodes as need be. Amortised O(contexts
 * of the request). False if out of memory: then nothing is to be counted.
 */
bool profile_list(struct profile *profile, struct profile_bound *bound,
		const struct contexts *contexts, const struct measured *measured,
		struct profile_items *out);
void profile_items_release(struct profile_items *items);

/* Counts a request in a horizon, or takes it away again: all that is of one item, or of none. */
void profile_count_item(struct profile *profile, enum horizon horizon,
		const struct profile_request *request, const struct profile_item *item, bool away);
void profile_count_request(struct profile *profile, enum horizon horizon,
		const struct profile_request *request, bool away);

void profile_clear(struct profile *profile, enum horizon horizon);

/* False if out of memory: *copy is empty then. */
bool profile_copy(struct profile *copy, const struct profile *profile);

/* Exact but for the last rounding; 0 where fewer than two requests count. */
double profile_variance(const struct profile_counts *counts);
double profile_covariance(const struct profile_counts *counts, const struct profile_sums *sums);
double profile_segment_sd(const struct profile_counts *counts, const struct profile_sums *sums);

#endif
