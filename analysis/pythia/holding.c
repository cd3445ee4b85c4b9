/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythia/state.h"

/*
 * The search goes on from a wait to what is done where it is held: points in the span of whoever is
 * waited for are enabled as those in a request's own spans are, so that the deepest one is named.
 */

/* It is in a span, of a request that is known, for a good part of the wait. */
static bool is_worth(const struct group_holder *holder)
{
	return holder->share >= HOLDER_SHARE && holder->name[0] && holder->type[0];
}

static uint32_t point_of(struct pythia *pythia, const struct group_holder *holder)
{
	return points_find(&pythia->points, pythia_intern(pythia, holder->provider),
			pythia_intern(pythia, holder->name));
}

/* The candidates in a span of requests of that type, in the first of its places that has any. */
static bool find_within(struct pythia *pythia, const struct finding *finding,
		const struct group_holder *holder)
{
	struct space *space = &pythia->space;
	uint32_t root = space_type(space, pythia_intern(pythia, holder->type));
	uint32_t point = point_of(pythia, holder);
	uint32_t at = root == SPACE_NONE ? SPACE_NONE : space_next(space, root, root, false);

	candidates_clear(&pythia->planning);
	while (at != SPACE_NONE && point != POINT_NONE && !pythia->planning.n_candidates) {
		if (space->nodes[at].point == point) {
			candidates_known_within(pythia, finding, at);
		}
		at = space_next(space, root, at, false);
	}
	return pythia->planning.n_candidates > 0;
}

static void set_held(struct pythia *pythia, uint32_t point)
{
	if (point != POINT_NONE) {
		pythia->points.items[point].held_ns = pythia->now_ns;
	}
}

/* A step into one of them. False: nothing can be enabled there, or none fits. */
static bool propose_in(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round, uint32_t row,
		const struct group_holder *holder)
{
	const struct split split = {.row = row, .most = HOLDER_POINTS, .holder = holder};

	if (!find_within(pythia, finding, holder) ||
			!split_propose(pythia, finding, detail, round, &split)) {
		return false;
	}
	for (uint32_t i = 0; i < pythia->planning.n_candidates; i++) {
		set_held(pythia, pythia->planning.candidates[i].point);
	}
	return true;
}

bool holding_propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	const struct group_wait *wait =
			pythia_wait_of(round, detail, &detail->tree->rows[edge->row]);
	bool told = wait && (wait->evidence == WAIT_INFERRED || wait->evidence == WAIT_WOKEN);
	uint32_t n = told ? wait->n : 0, n_excluded = pythia->planning.n_excluded;
	uint32_t most = POINT_NONE, steps;

	for (uint32_t i = n; i > 0; i--) {
		if (is_worth(&wait->holders[i - 1])) {
			most = point_of(pythia, &wait->holders[i - 1]);
			set_held(pythia, most);
		}
	}
	/* In a large program there are always more points to try. */
	steps = finding->holder == most ? finding->holder_steps : 0;
	for (uint32_t i = 0; i < n && steps < HOLDER_STEPS; i++) {
		if (is_worth(&wait->holders[i]) && propose_in(pythia, finding, detail, round,
								   edge->row, &wait->holders[i])) {
			finding->holder = most;
			finding->holder_steps = steps + 1;
			return true;
		}
	}
	/* What the edge itself has left, which is nothing, is what a verdict speaks of. */
	candidates_clear(&pythia->planning);
	pythia->planning.n_excluded = n_excluded;
	return false;
}
