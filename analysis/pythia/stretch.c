/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "pythia/state.h"
#include "pythia/stretch.h"

#define MAX_GAPS 64u

/* Of one span of it; of a node that not all requests have, when it is there. */
static double duration_of(const struct space_node *node)
{
	return node->total_ns / (node->count > 0 && node->count < 1 ? node->count : 1);
}

double stretch_overlap(const struct space *space, uint32_t node, uint32_t edge,
		const struct stretch *stretch)
{
	const struct space_node *at = &space->nodes[node];
	double begin = space_offset(space, node, edge), takes = duration_of(at), both;

	if (begin < 0 || takes <= 0) {
		return at->total_ns;
	}
	both = fmin(begin + takes, stretch->to_ns) - fmax(begin, stretch->from_ns);
	return both > 0 ? at->total_ns * (both / takes) : 0;
}

bool stretch_has(const struct space *space, uint32_t node, uint32_t edge,
		const struct stretch *stretch)
{
	double begin = space_offset(space, node, edge);

	return begin < 0 || (begin <= stretch->to_ns && begin + duration_of(&space->nodes[node]) >=
									stretch->from_ns);
}

/* The row of a context that is directly below another row; UINT32_MAX: there is none. */
static uint32_t child_row(const struct tree_view *tree, uint32_t parent, uint32_t context)
{
	for (uint32_t i = parent + 1; i <= parent + tree->rows[parent].n_below; i++) {
		if (tree->rows[i].parent == parent && tree->rows[i].context == context) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* When a child of the edge begins, by the profile; otherwise: it is not known. */
static double begin_of_child(const struct pythia *pythia, const struct tree_view *tree,
		const struct edge *edge, uint32_t context, double otherwise)
{
	uint32_t row = context ? child_row(tree, edge->row, context) : UINT32_MAX,
		 node = row == UINT32_MAX ? SPACE_NONE : pythia->locating.nodes[row];
	double begin = node == SPACE_NONE ? -1 : space_offset(&pythia->space, node, edge->node);

	return begin < 0 ? otherwise : begin;
}

bool stretch_find(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, const struct edge *edge, struct stretch *out)
{
	const struct tree_view *tree = detail->tree;
	const struct tree_row *row = &tree->rows[edge->row];
	const struct space_node *node = &pythia->space.nodes[edge->node];
	struct pythia_gap gaps[MAX_GAPS];
	struct stretch stretches[MAX_GAPS];
	double end = node->total_ns / (node->count > 0 ? node->count : 1), most = 0;
	uint32_t n = round->gaps ? round->gaps(round->callback_context, detail->row->id,
						   detail->row->since_ns, row->context, gaps,
						   MAX_GAPS)
				 : 0;

	for (uint32_t i = 0; i < n; i++) {
		double after = begin_of_child(pythia, tree, edge, gaps[i].after, 0);

		stretches[i].from_ns = after + (after > 0 ? gaps[i].lag_ns : 0);
		stretches[i].to_ns = begin_of_child(pythia, tree, edge, gaps[i].before, end);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct stretch common = {stretches[i].from_ns, HUGE_VAL};
		double phi = 0;

		for (uint32_t k = 0; k < n; k++) {
			if (gaps[k].phi > 0 && stretches[k].from_ns <= common.from_ns &&
					stretches[k].to_ns > common.from_ns) {
				phi += gaps[k].phi;
				common.to_ns = fmin(common.to_ns, stretches[k].to_ns);
			}
		}
		if (phi > most) {
			most = phi;
			*out = common;
		}
	}
	return most > 0 && most >= GAP_SHARE * row->phi && (out->from_ns > 0 || out->to_ns < end);
}
