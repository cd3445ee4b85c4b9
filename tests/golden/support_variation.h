/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_VARIATION_H
#define SUPPORT_VARIATION_H

#include "pythiatop/snapshot/snapshot.h"

/*
 * Where the made-up cloud's "server create" varies: 97 % of it waiting at sem.acquire. Figures are
 * consistent with each other: shares of the variance add up to 1, no share exceeds sd_S / sd_T.
 */
struct made_variation {
	uint32_t missing; /* requests missing until anything is said */
	bool lossy;
	bool common;   /* a common cause instead of one place */
	bool hostile;  /* a name that means no good */
	bool moved;    /* siblings come in another order */
	bool folded;   /* spans beyond the bounds, not all requests sampled */
	uint32_t rows; /* of the tree, this many more below its root */
};

/* The part of a group's view that speaks of its variation. */
void made_location_fill(struct snapshot *snapshot, const struct made_variation *made,
		struct group_location *location);

/* snapshot->tree, of a group or of all; `row` tells the group's names. */
void made_tree_fill(struct snapshot *snapshot, const struct made_variation *made, bool all,
		const struct groups_row *row);

/* The critical path of the made-up request, and its part within each span. */
void made_path_fill(struct snapshot *snapshot, struct request_view *request,
		struct request_span *spans, uint32_t n_spans);

/* snapshot->compare: the request in focus with another one; `b_id` 0: the median one. */
void made_compare_fill(struct snapshot *snapshot, const struct made_variation *made, uint64_t a_id,
		uint64_t b_id);

#endif
