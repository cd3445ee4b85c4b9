/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_HEAT_H
#define UI_HEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "pythiatop/action.h"
#include "pythiatop/snapshot/group.h"

/*
 * Latency over time as a heat map, and beside it the histogram on the same axis: x is time, y the
 * logarithm of latency, glyph and colour how many. Columns and rows are put together, or widened,
 * to fit the room.
 *
 * The cursor stays on its instant and latency while the window moves on.
 */
struct heat {
	const struct group_view *group; /* set by heat_update() */
	bool placed;
	uint64_t cursor_ns; /* end time: the start of its column */
	int32_t cursor_log; /* latency: 2^(cursor_log / 8) ns */
	/* How the cells were laid out last time. */
	int32_t low;         /* of the lowest line, in 1/8 octaves */
	int lines, per_line; /* lines drawn; 1/8 octaves in each */
	int columns, per_column, cell_width;
};

/* What is under the cursor. */
struct heat_cell {
	uint64_t count;
	uint64_t request; /* a kept one, the slowest of the cell; 0: none */
	double low_ns, high_ns;
	uint64_t start_ns, end_ns;
};

void heat_update(struct heat *heat, const struct group_view *group);

/* Moves the cursor; ACTION_WORST to the slowest kept request. False: none of its actions. */
bool heat_act(struct heat *heat, enum action action);

/* False: there is no cell. */
bool heat_cursor(const struct heat *heat, struct heat_cell *cell);

/* Fits the map into the room, time axis left out; the lines it needs of them. */
int heat_arrange(struct heat *heat, int lines, int width);

/* Draws axis, map, time axis and, where there is room, the histogram to the right. */
void heat_draw(struct heat *heat, struct canvas *canvas, struct area area, bool active);

#endif
