/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "pythia/state.h"

/*
 * Waits of one kind, for one holder, in several contexts: an event loop waits for the same line
 * while it connects, while it sends, and while there is nothing else to do.
 */

/* Who makes half or more of how these waits vary; NULL: nobody. */
static const struct group_holder *find_holder(const struct group_wait *wait)
{
	for (uint32_t i = 0; wait && i < wait->n; i++) {
		if (wait->holders[i].of_variation >= ONE_HOLDER) {
			return &wait->holders[i];
		}
	}
	return NULL;
}

/* Numbers of processes are left out: one may wait for several of a kind. */
static bool is_one_holder(const struct group_holder *a, const struct group_holder *b)
{
	return a->interrupt == b->interrupt && a->idle == b->idle &&
	       strcmp(a->process, b->process) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->provider, b->provider) == 0;
}

/* With the later ones of its kind that are for the same holder. */
static void add_up(const struct tree_row *rows, const struct edge *edges,
		const struct group_holder *const *holders, uint32_t n, uint32_t first,
		struct waiting *waiting)
{
	double squares = 0;

	*waiting = (struct waiting){.edge = first};
	for (uint32_t i = first; i < n; i++) {
		const struct tree_row *row = &rows[edges[i].row];

		if (holders[i] && is_one_holder(holders[i], holders[first]) &&
				strcmp(row->name, rows[edges[first].row].name) == 0) {
			waiting->places++;
			waiting->load.phi += row->phi;
			squares += (row->phi - row->phi_low) * (row->phi - row->phi_low);
		}
	}
	waiting->load.low = waiting->load.phi - sqrt(squares);
	waiting->load.high = fmin(waiting->load.phi + sqrt(squares), 1);
}

bool waiting_of(const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n, struct waiting *out)
{
	const struct tree_row *rows = detail->tree->rows;
	const struct group_holder *holders[MAX_EDGES];
	struct waiting waiting;

	*out = (struct waiting){.places = 0};
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *row = &rows[edges[i].row];
		bool waits = row->mark == TREE_NO_POINT && !tree_row_interrupts(row);

		holders[i] = waits ? find_holder(pythia_wait_of(round, detail, row)) : NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (holders[i]) {
			add_up(rows, edges, holders, n, i, &waiting);
			*out = waiting.load.low > out->load.low ? waiting : *out;
		}
	}
	return out->places > 1;
}
