/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "pythia/state.h"

/*
 * The search goes on from a wait to what is done where it is held: points in the span of whoever is
 * waited for are enabled as those in a request's own spans are, so that the deepest one is named.
 */

/* Somebody's span, of a request that is known; a stretch of work that all of them are in is no end.
 */
static bool is_worth(const struct group_holder *holder)
{
	return holder->share >= HOLDER_SHARE && holder->name[0] && holder->type[0];
}

/* The candidates in a span of requests of that type, in the first of its places that has any. */
static bool find_within(struct pythia *pythia, const struct finding *finding,
		const struct group_holder *holder)
{
	struct space *space = &pythia->space;
	uint32_t root = space_type(space, pythia_intern(pythia, holder->type));
	uint32_t point = points_find(&pythia->points, pythia_intern(pythia, holder->provider),
			pythia_intern(pythia, holder->name));
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

bool holding_propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	const struct group_wait *wait =
			pythia_wait_of(round, detail, &detail->tree->rows[edge->row]);
	bool told = wait && (wait->evidence == WAIT_INFERRED || wait->evidence == WAIT_WOKEN);

	for (uint32_t i = 0; told && i < wait->n; i++) {
		const struct group_holder *holder = &wait->holders[i];

		if (is_worth(holder) && find_within(pythia, finding, holder) &&
				split_propose(pythia, finding, detail, round,
						&(struct split){.row = edge->row,
								.holder = holder})) {
			return true;
		}
	}
	return false;
}
