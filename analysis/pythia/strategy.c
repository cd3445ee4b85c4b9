/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "pythia/strategy.h"
#include "pythia/thresholds.h"
#include "pythiatop/step.h"

static bool is_chosen(const struct choice *choice, uint32_t n, uint32_t at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (choice->chosen[i] == at) {
			return true;
		}
	}
	return false;
}

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

static bool fits(const struct choice *choice, uint32_t at, double spent)
{
	return choice->events_left < 0 ||
	       spent + choice->candidates[at].events_per_s <= choice->events_left;
}

/* Takes the candidates by falling rank while they fit; rank < 0: never. */
static uint32_t take_best(struct choice *choice, uint32_t max, const double *rank)
{
	uint32_t n = 0;
	double spent = 0;

	while (n < max) {
		uint32_t best = CANDIDATE_NONE;

		for (uint32_t i = 0; i < choice->n; i++) {
			if (rank[i] >= 0 && !is_on(choice, n, i) && fits(choice, i, spent) &&
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

/* --- hybrid ---------------------------------------------------------------------------------- */

/*
 * What share of the edge each takes: half by time, half by how many of the points in its container
 * are it or lie in it, as each may be where it varies. What is not known by time goes by the
 * latter. `within` is scratch, a number for each candidate.
 */
static void set_shares(const struct choice *choice, double *share, double *within)
{
	double of_edge = 0;

	for (uint32_t i = 0; i < choice->n; i++) {
		within[i] = 0;
	}
	for (uint32_t i = choice->n; i > 0; i--) {
		uint32_t above = choice->candidates[i - 1].above;

		*(above == CANDIDATE_NONE ? &of_edge : &within[above]) += 1 + within[i - 1];
	}
	for (uint32_t i = 0; i < choice->n; i++) {
		const struct candidate *candidate = &choice->candidates[i];
		double all = candidate->above == CANDIDATE_NONE ? of_edge
								: within[candidate->above];
		double container = candidate->above == CANDIDATE_NONE ? 1 : share[candidate->above];
		double even = container * (1 + within[i]) / (all + 1);

		share[i] = candidate->share < 0 ? even : 0.5 * candidate->share + 0.5 * even;
	}
}

/* One past the last, in time, of those in the same container. */
static uint32_t end_of_container(const struct choice *choice, uint32_t from)
{
	uint32_t end = from + 1;

	while (end < choice->n && choice->candidates[choice->in_time[end]].above ==
						  choice->candidates[choice->in_time[from]].above) {
		end++;
	}
	return end;
}

/*
 * Of each candidate, the shares of what is off around it in time, up to the next that is chosen; an
 * even share of the container's own time lies around each.
 */
static void set_beside(const struct choice *choice, uint32_t n, const double *share, double *before,
		double *after)
{
	for (uint32_t from = 0, end; from < choice->n; from = end) {
		uint32_t above = choice->candidates[choice->in_time[from]].above;
		double own = above == CANDIDATE_NONE ? 1 : share[above], run;

		end = end_of_container(choice, from);
		own /= (end - from + 1.0) * (end - from + 1.0);
		run = own;
		for (uint32_t k = from; k < end; k++) {
			uint32_t at = choice->in_time[k];

			before[at] = run;
			run = own + (is_chosen(choice, n, at) ? 0 : run + share[at]);
		}
		run = own;
		for (uint32_t k = end; k > from; k--) {
			uint32_t at = choice->in_time[k - 1];

			after[at] = run;
			run = own + (is_chosen(choice, n, at) ? 0 : run + share[at]);
		}
	}
}

/*
 * Greedy by value over cost. Candidates are those directly in the edge, then also those in what was
 * just chosen. Splitting share s off a part c gains 2 s (c - s) of 1 - sum p^2; where it also tells
 * what is before it, b, from what is after, a, that is 2 (s a + s b + a b).
 */
static uint32_t choose_hybrid(struct choice *choice)
{
	double *share = choice->scratch, *left = share + choice->n, *before = left + choice->n,
	       *after = before + choice->n;
	double edge = 1, spent = 0;
	uint32_t n = 0;

	set_shares(choice, share, left);
	memcpy(left, share, choice->n * sizeof(*left));
	while (n < choice->max) {
		uint32_t best = CANDIDATE_NONE;
		double best_worth = 0;

		set_beside(choice, n, share, before, after);
		for (uint32_t i = 0; i < choice->n; i++) {
			uint32_t above = choice->candidates[i].above;
			double part, cut, worth;

			if (is_on(choice, n, i) || !fits(choice, i, spent) ||
					(above != CANDIDATE_NONE && !is_chosen(choice, n, above))) {
				continue;
			}
			part = above == CANDIDATE_NONE ? edge : left[above];
			cut = share[i] < part ? share[i] : part / 2;
			worth = choice->candidates[i].ordered ? share[i] * (before[i] + after[i]) +
										before[i] * after[i]
							      : cut * (part - cut);
			worth /= choice->candidates[i].events_per_s + COST_FLOOR;
			if (worth > best_worth) {
				best_worth = worth;
				best = i;
			}
		}
		if (best == CANDIDATE_NONE) {
			break;
		}
		if (choice->candidates[best].above == CANDIDATE_NONE) {
			edge = edge > share[best] ? edge - share[best] : 0;
		} else {
			left[choice->candidates[best].above] -= share[best];
		}
		choice->chosen[n++] = best;
		spent += choice->candidates[best].events_per_s;
	}
	return n;
}

/* --- the others ------------------------------------------------------------------------------ */

static uint32_t choose_hierarchical(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		const struct candidate *candidate = &choice->candidates[i];

		choice->scratch[i] = candidate->depth != 1  ? -1
				     : candidate->share < 0 ? 0
							    : candidate->share;
	}
	return take_best(choice, choice->max, choice->scratch);
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
					fits(choice, i, spent)) {
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

		choice->scratch[i] = explained ? (double)explained : -1;
	}
	n = take_best(choice, choice->max, choice->scratch);
	return n ? n : choose_hybrid(choice);
}

static uint32_t choose_cross_layer(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->scratch[i] = choice->candidates[i].kernel ? 1 : -1;
	}
	return take_best(choice, choice->n, choice->scratch);
}

static uint32_t choose_random(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->scratch[i] = (double)(hash_pair(choice->seed, i) >> 11);
	}
	return take_best(choice, choice->max, choice->scratch);
}

static uint32_t choose_all(struct choice *choice)
{
	memset(choice->scratch, 0, choice->n * sizeof(*choice->scratch));
	return take_best(choice, choice->n, choice->scratch);
}

/* The prototype's rule: all that lies directly in the edge of the largest variance. */
static uint32_t choose_pythia(struct choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->scratch[i] = choice->candidates[i].depth == 1 ? 0 : -1;
	}
	return take_best(choice, choice->n, choice->scratch);
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
