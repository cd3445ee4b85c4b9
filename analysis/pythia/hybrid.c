/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythia/strategy.h"
#include "pythia/thresholds.h"

/*
 * Strategy hybrid: by value over cost.
 *
 * Points that are on cut the edge's time into parts: what is in each of them, and, where the order
 * of things is known, what is left of the time around it before, between and after them. The value
 * of parts with shares p_k of the edge's time is 1 - sum p_k^2: the chance that two moments of it
 * fall into different parts. Any point may be chosen, whatever it lies in: one deep in the calls
 * tells as much as what is around it, at the same cost, and more if it is the place.
 *
 * Shares are a quarter of what the profile says and else even over the points, because what varies
 * now need not have taken time when it was learned.
 */

/*
 * What share of the edge each takes: by time (BY_TIME), and by how many of the points in its
 * container are it or lie in it, as each may be where it varies. What is not known by time goes by
 * the latter. Returns what is left of the edge itself, for each gap between those directly in it.
 */
static double set_shares(const struct choice *choice)
{
	const struct candidate *candidates = choice->candidates;
	struct place *places = choice->places;
	uint32_t within_edge = 0, directly = 0;
	double left = 1;

	for (uint32_t i = 0; i < choice->n; i++) {
		places[i] = (struct place){.on = false};
	}
	for (uint32_t i = choice->n; i > 0; i--) {
		uint32_t above = candidates[i - 1].above, with = 1 + places[i - 1].within;

		*(above == CANDIDATE_NONE ? &within_edge : &places[above].within) += with;
		*(above == CANDIDATE_NONE ? &directly : &places[above].directly) += 1;
	}
	for (uint32_t i = 0; i < choice->n; i++) {
		struct place *place = &places[i];
		uint32_t above = candidates[i].above;
		bool top = above == CANDIDATE_NONE;
		double container = top ? 1 : places[above].share,
		       all = top ? within_edge : places[above].within,
		       even = container * (1 + place->within) / (all + 1);

		place->share = candidates[i].share < 0 ? even
						       : BY_TIME * candidates[i].share +
									 (1 - BY_TIME) * even;
		place->gap = place->share;
		*(top ? &left : &places[above].gap) -= place->share;
	}
	for (uint32_t i = 0; i < choice->n; i++) {
		struct place *place = &places[i];

		place->gap = place->gap > 0 ? place->gap / (place->directly + 1) : 0;
	}
	return left > 0 ? left / (directly + 1) : 0;
}

/*
 * Goes through the edge's time from its begin to its end, and sets how much of it is in each part,
 * and in which part, how far into it, each candidate begins and ends.
 */
static void cut(const struct choice *choice, double edge_gap)
{
	const struct candidate *candidates = choice->candidates;
	struct place *places = choice->places;
	double *parts = choice->parts;
	uint32_t n = 1, part = 0, within = CANDIDATE_NONE, at = choice->first;

	parts[0] = edge_gap;
	while (at != CANDIDATE_NONE || within != CANDIDATE_NONE) {
		struct place *place;

		if (at != CANDIDATE_NONE) {
			place = &places[at];
			place->begin_part = part;
			place->begin_at = parts[part];
			if (place->on) {
				part = n++;
				parts[part] = 0;
			}
			parts[part] += place->gap;
			within = at;
			at = candidates[at].first;
			continue;
		}
		place = &places[within];
		if (place->on && candidates[within].ordered) {
			part = n++;
			parts[part] = 0;
		} else if (place->on) {
			part = place->begin_part;
		}
		place->end_part = part;
		place->end_at = parts[part];
		at = candidates[within].next;
		within = candidates[within].above;
		parts[part] += within == CANDIDATE_NONE ? edge_gap : places[within].gap;
	}
}

/* How much of 1 - sum p^2 is gained by cutting a part in two. */
static double gain_of_two(double part, double at)
{
	return 2 * at * (part - at);
}

/* How much is gained by turning on one more. */
static double gain(const struct choice *choice, uint32_t at)
{
	const struct place *place = &choice->places[at];
	double begun = choice->parts[place->begin_part], ended = choice->parts[place->end_part],
	       inside = place->end_at - place->begin_at;

	if (place->begin_part != place->end_part) {
		return gain_of_two(begun, place->begin_at) + gain_of_two(ended, place->end_at);
	}
	return gain_of_two(begun, inside) +
	       (choice->candidates[at].ordered ? 2 * place->begin_at * (begun - place->end_at) : 0);
}

uint32_t choose_hybrid(struct choice *choice)
{
	double edge_gap = set_shares(choice), spent = 0;
	uint32_t n = 0;

	while (n < choice->max) {
		uint32_t best = CANDIDATE_NONE;
		double best_worth = 0;

		cut(choice, edge_gap);
		for (uint32_t i = 0; i < choice->n; i++) {
			double worth;

			if (choice->places[i].on || !choice_fits(choice, i, spent)) {
				continue;
			}
			worth = gain(choice, i) / (choice->candidates[i].events_per_s + COST_FLOOR);
			if (worth > best_worth) {
				best_worth = worth;
				best = i;
			}
		}
		if (best == CANDIDATE_NONE) {
			break;
		}
		choice->chosen[n++] = best;
		spent += choice->candidates[best].events_per_s;
		for (uint32_t i = 0; i < choice->n; i++) { /* it is on wherever it stands */
			choice->places[i].on |= choice->candidates[i].point ==
						choice->candidates[best].point;
		}
	}
	return n;
}
