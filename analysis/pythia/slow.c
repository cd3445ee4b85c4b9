/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/*
 * Requests that are all slower, and differ no more than they did, have no variance that would lead
 * anywhere. Where they go is then told by what each place takes more than was learned of it: its
 * share of all that is taken more, in the place of phi, with an interval of the normal distribution
 * from the sd of its own part.
 */

bool slow_is(const struct pythia *pythia, const struct pythia_detail *detail)
{
	const struct groups_row *row = detail->row;

	return norms_shifted(pythia, row) ||
	       ((row->detection & (DETECTION_SLOW | DETECTION_SHIFTED)) &&
			       !(row->detection & (DETECTION_VARIES | DETECTION_MODES)));
}

double slow_own_time(const struct tree_view *tree, uint32_t at)
{
	double ns = tree->rows[at].segment_mean_ns;

	for (uint32_t i = at + 1; i <= at + tree->rows[at].n_below; i++) {
		if (tree->rows[i].parent == at && tree->rows[i].mark == TREE_NO_POINT) {
			ns += tree->rows[i].segment_mean_ns;
		}
	}
	return ns;
}

struct tree_row *slow_rows(const struct pythia *pythia, const struct tree_view *tree)
{
	struct tree_row *rows = malloc((tree->n + 1) * sizeof(*rows));
	double more_ns = 0;

	if (!rows) {
		return NULL;
	}
	memcpy(rows, tree->rows, tree->n * sizeof(*rows));
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t node = pythia->locating.nodes[i];
		double grown = 0;

		if (rows[i].mark != TREE_NO_POINT && node != SPACE_NONE) {
			grown = slow_own_time(tree, i) - space_own_time(pythia, node);
		} else if (rows[i].mark != TREE_NO_POINT) {
			grown = slow_own_time(tree, i);
		}
		rows[i].phi = grown;
		more_ns += fmax(grown, 0);
	}
	for (uint32_t i = 0; i < tree->n; i++) {
		double share = more_ns > 0 ? rows[i].phi / more_ns : 0;
		double error = more_ns > 0 ? Z90 * tree->rows[i].segment_sd_ns / more_ns /
							       sqrt((double)tree->counted + 1)
					   : 0;

		rows[i].phi = share;
		rows[i].phi_low = share - error;
		rows[i].phi_high = share + error;
	}
	return rows;
}

double slow_surest(struct pythia *pythia, const struct pythia_detail *detail)
{
	const struct tree_view *tree = detail->tree;
	struct tree_row *rows;
	double surest = 0;

	if (!tree->located || !locating_reserve(&pythia->locating, tree->n)) {
		return 0;
	}
	space_look_up(&pythia->space, &pythia->points, pythia_intern(pythia, detail->row->type),
			tree, pythia->locating.nodes);
	rows = slow_rows(pythia, tree);
	for (uint32_t i = 0; i < tree->n && rows; i++) {
		surest = fmax(surest, rows[i].phi_low);
	}
	free(rows);
	return surest;
}
