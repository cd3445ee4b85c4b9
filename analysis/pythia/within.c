/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "pythia/state.h"

/* Code with all that it calls: what is known where no single place holds most. */

static bool is_code(const struct tree_row *row)
{
	return row->mark != TREE_NO_POINT && row->parent != UINT32_MAX && row->provider[0];
}

/* The first row of that code is below another one of it: that has counted what is below. */
static bool is_counted(const struct tree_view *tree, uint32_t at)
{
	uint32_t above = tree->rows[at].parent;

	while (above != UINT32_MAX && !pythia_is_same_code(&tree->rows[above], &tree->rows[at])) {
		above = tree->rows[above].parent;
	}
	return above != UINT32_MAX;
}

static void add_below(
		const struct tree_view *tree, uint32_t at, struct within *sum, double *squares)
{
	for (uint32_t i = at; i <= at + tree->rows[at].n_below && i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];

		if (pythia_waits_for_nobody(row)) {
			continue;
		}
		sum->phi += row->phi;
		*squares += (row->phi - row->phi_low) * (row->phi - row->phi_low);
	}
}

/* Of the code of a row, in all its contexts. */
static struct within inside(const struct tree_view *tree, uint32_t code)
{
	struct within sum = {.row = code, .phi = 0};
	double squares = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		if (pythia_is_same_code(&tree->rows[i], &tree->rows[code]) &&
				!is_counted(tree, i)) {
			add_below(tree, i, &sum, &squares);
		}
	}
	sum.low = sum.phi - sqrt(squares);
	sum.high = fmin(sum.phi + sqrt(squares), 1);
	return sum;
}

bool within_of(const struct tree_view *tree, double least, struct within *out)
{
	bool found = false;

	for (uint32_t i = 0; i < tree->n; i++) {
		bool deeper = !found || tree->rows[i].depth > tree->rows[out->row].depth;
		struct within here;

		if (!is_code(&tree->rows[i]) || !deeper) {
			continue;
		}
		here = inside(tree, i);
		if (here.low >= least) {
			*out = here;
			found = true;
		}
	}
	return found;
}
