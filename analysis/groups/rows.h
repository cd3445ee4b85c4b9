/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_ROWS_H
#define PT_GROUPS_ROWS_H

#include "groups/detect.h"
#include "groups/view.h"

/* Rows of the list of groups: their order, and the verdicts on them. */

/* A row of the groups, in their order. */
struct place {
	bool idle;     /* struct group's: such are last */
	double value;  /* of the metric in focus */
	double weight; /* count x sd; of an idle one 0 */
	uint32_t index;
};

/* Rows of a horizon by group, cached: see rows_valid. */
struct row_cache {
	struct groups_row *rows;
	struct detect_median *medians;
};

/* Gives verdicts on rows that changed, but for SLOW; the rows must be up to date. */
enum status judge_rows(struct groups *groups, const struct view *view, const struct focus *focus,
		const struct place *places, uint32_t n);

#endif
