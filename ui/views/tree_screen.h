/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_TREE_SCREEN_H
#define UI_TREE_SCREEN_H

#include "views/view.h"
#include "widgets/outline.h"
#include "widgets/table.h"

/* What the files of screen 3 share. */

/* What siblings are ordered by. */
enum order { BY_SHARE, BY_TIME, BY_SELF, BY_OWN, ORDER_COUNT };

struct tree_screen {
	struct table table;
	struct outline outline;
	const struct tree_view *tree;
	bool all;       /* of all groups together, not of the group in focus */
	bool present;   /* the snapshot has a tree at all */
	uint64_t shown; /* the group that cursor and folds are of; UINT64_MAX: all */
	bool ordered;   /* somebody chose an order */
	enum order order;
	bool reverse;
	bool filtered;    /* lines are those of all rows */
	uint32_t context; /* to put the cursor on when its tree comes; 0: none */
	uint64_t chain;   /* likewise, known by the names that lead there */
	bool fails;       /* some span has failed: there is a column of it from then on */
	bool proposed;    /* likewise on the first row that is proposed */
	double all_ns;    /* own time of all rows together */
	double *self_ns;  /* by row: own time with all below; room rows */
	uint32_t n, room;
};

/* Columns of its lines. */
enum tree_column {
	C_CONTEXT,
	C_COUNT,
	C_REQUESTS,
	C_TOTAL,
	C_SELF,
	C_MEAN,
	C_SD,
	C_OWN,
	C_BELOW,
	C_TAIL,
	C_SHARE,
	C_FAILED /* the last: only where there is any */
};

static inline const struct tree_screen *tree_screen_of(const void *data)
{
	return data;
}

/* How it is shown what is known of a tracepoint, by enum tree_mark. */
struct tree_mark_style {
	const char *sign, *word;
	enum role role;
};
extern const struct tree_mark_style tree_mark_styles[];

const struct tree_row *tree_row_at(const struct tree_screen *screen, uint32_t line);
/* Whether it can have a share of the variance: what never was recorded has none, not zero. */
bool tree_has_share(const struct tree_screen *screen, const struct tree_row *row);

/*
 * tree_rows.c: what stands in its lines, with shares of the variance, or of time where there are none;
 * and what failed, or nothing of it.
 */
const struct table_source *tree_source(bool variance, bool fails);

#endif
