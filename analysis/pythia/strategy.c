/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "pythia/strategy.h"
#include "pythia/thresholds.h"
#include "pythiatop/step.h"

/* --- the order of candidates ------------------------------------------------------------------ */

/*
 * Puts all into the lists of their containers, by time: they are nearly in this order, as code was
 * seen to run. What has no begin comes first, so that the first tells whether all have one.
 */
static uint32_t link_in_time(struct candidate *candidates, uint32_t n)
{
	uint32_t first = CANDIDATE_NONE;

	for (uint32_t i = 0; i < n; i++) {
		candidates[i].first = CANDIDATE_NONE;
	}
	for (uint32_t i = n; i > 0; i--) {
		struct candidate *at = &candidates[i - 1];
		uint32_t *link =
				at->above == CANDIDATE_NONE ? &first : &candidates[at->above].first;

		while (*link != CANDIDATE_NONE && candidates[*link].begin_ns < at->begin_ns) {
			link = &candidates[*link].next;
		}
		at->next = *link;
		*link = i - 1;
	}
	return first;
}

/* Where those of a container lie in the edge's time, one behind the other: first their begins. */
static void set_begins(struct candidate *candidates, uint32_t first, double begin)
{
	for (uint32_t at = first; at != CANDIDATE_NONE; at = candidates[at].next) {
		candidates[at].position = begin;
		candidates[at].ordered = candidates[first].begin_ns >= 0;
		begin += fmax(0, candidates[at].share);
	}
}

uint32_t candidates_order(struct candidate *candidates, uint32_t n)
{
	uint32_t first = link_in_time(candidates, n);

	set_begins(candidates, first, 0);
	for (uint32_t i = 0; i < n; i++) {
		set_begins(candidates, candidates[i].first, candidates[i].position);
		candidates[i].position += fmax(0, candidates[i].share) / 2;
	}
	return first;
}

/* --- strategies ------------------------------------------------------------------------------- */

/* The same point at another place is on with it. */
static bool is_on(const struct choice *choice, uint32_t n, uint32_t at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (choice->candidates[choice->chosen[i]].point == choice->candidates[at].point) {
			return true;
		}
	}
	return false;
}

/* Takes the candidates by falling rank while they fit; rank < 0: never. */
static uint32_t take_best(struct choice *choice, uint32_t max, const double *rank)
{
	uint32_t n = 0;
	double spent = 0;

	while (n < max) {
		uint32_t best = CANDIDATE_NONE;

		for (uint32_t i = 0; i < choice->n; i++) {
			if (rank[i] >= 0 && !is_on(choice, n, i) && choice_fits(choice, i, spent) &&
					(best == CANDIDATE_NONE || rank[i] > rank[best])) {
				best = i;
			}
		}
		if (best == CANDIDATE_NONE) {
			break;
		}
		choice->chosen[n++] = best;
		spent += choice->candidates[best].events_per_s;
	}
	return n;
}

/* What edges each strategy looks at. */
enum {
	EDGES_hybrid = EDGE_BY_PHI,
	EDGES_hierarchical = EDGE_BY_PHI,
	EDGES_flat = EDGE_BY_PHI,
	EDGES_historic = EDGE_BY_PHI,
	EDGES_cross_layer = EDGE_BY_PHI,
	EDGES_random = EDGE_BY_PHI,
	EDGES_all = EDGE_BY_PHI,
	EDGES_pythia = EDGE_BY_VARIANCE,
};

/* Which take what lies anywhere in the edge, as their names say. */
enum {
	WHOLE_hybrid = false,
	WHOLE_hierarchical = false,
	WHOLE_flat = false,
	WHOLE_historic = false,
	WHOLE_cross_layer = false,
	WHOLE_random = true,
	WHOLE_all = true,
	WHOLE_pythia = true,
};

static uint32_t choose_hierarchical(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		const struct candidate *candidate = &choice->candidates[i];

		choice->ranks[i] = candidate->depth != 1  ? -1
				   : candidate->share < 0 ? 0
							  : candidate->share;
	}
	return take_best(choice, choice->max, choice->ranks);
}

/* Evenly through the edge's time: with max = 1 its middle, hence binary search. */
static uint32_t choose_flat(struct choice *choice)
{
	uint32_t n = 0;
	double spent = 0;

	for (uint32_t k = 1; k <= choice->max; k++) {
		double target = (double)k / (choice->max + 1);
		uint32_t best = CANDIDATE_NONE;
		double best_distance = 2;

		for (uint32_t i = 0; i < choice->n; i++) {
			double distance = choice->candidates[i].position - target;

			distance = distance < 0 ? -distance : distance;
			if (distance < best_distance && !is_on(choice, n, i) &&
					choice_fits(choice, i, spent)) {
				best_distance = distance;
				best = i;
			}
		}
		if (best != CANDIDATE_NONE) {
			choice->chosen[n++] = best;
			spent += choice->candidates[best].events_per_s;
		}
	}
	return n;
}

/* What explained before, anywhere; else as hybrid. */
static uint32_t choose_historic(struct choice *choice)
{
	uint32_t n;

	for (uint32_t i = 0; i < choice->n; i++) {
		uint32_t explained = choice->candidates[i].explained;

		choice->ranks[i] = explained ? (double)explained : -1;
	}
	n = take_best(choice, choice->max, choice->ranks);
	return n ? n : choose_hybrid(choice);
}

static uint32_t choose_cross_layer(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->ranks[i] = choice->candidates[i].kernel ? 1 : -1;
	}
	return take_best(choice, choice->n, choice->ranks);
}

static uint32_t choose_random(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->ranks[i] = (double)(hash_pair(choice->seed, i) >> 11);
	}
	return take_best(choice, choice->max, choice->ranks);
}

static uint32_t choose_all(struct choice *choice)
{
	memset(choice->ranks, 0, choice->n * sizeof(*choice->ranks));
	return take_best(choice, choice->n, choice->ranks);
}

/* The prototype's rule: all that lies directly in the edge of the largest variance. */
static uint32_t choose_pythia(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->ranks[i] = choice->candidates[i].depth == 1 ? 0 : -1;
	}
	return take_best(choice, choice->n, choice->ranks);
}

static const struct strategy table[] = {
#define X(id, title, says)                                                                         \
	{.name = title,                                                                            \
			.edges = (enum edge_rule)EDGES_##id,                                       \
			.whole = WHOLE_##id,                                                       \
			.choose = choose_##id},
		PYTHIATOP_STRATEGIES(X)
#undef X
};

const struct strategy *strategies(uint32_t *n)
{
	*n = sizeof(table) / sizeof(table[0]);
	return table;
}

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) == 0) {
			return &table[i];
		}
	}
	return NULL;
}
