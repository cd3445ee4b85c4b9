/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include <stdbool.h>

#include "canvas.h"

/*
 * Who gets how much room, apart from drawing.
 */
struct layout_item {
	int width;    /* columns it needs */
	int priority; /* 0: never left out; of the others the largest goes first */
	bool kept;
};

/*
 * Marks the items that fit in `room` columns with `gap` columns between two. Returns the columns
 * that remain, negative if not even those that must stay fit.
 */
int layout_fit(struct layout_item *items, int n, int gap, int room);

/* Columns that the items kept take. */
int layout_width(const struct layout_item *items, int n, int gap);

/* Cuts `height` lines off the top (negative: off the bottom) of *area and returns them. */
struct area layout_cut_rows(struct area *area, int height);

/* The same with columns from the left (negative: from the right). */
struct area layout_cut_columns(struct area *area, int width);

#endif
