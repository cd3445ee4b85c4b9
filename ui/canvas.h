/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "role.h"
#include "text.h"

/*
 * A screen in memory: cells of one visible character and one role each. Views draw here;
 * ui/curses.c copies it to the terminal, tests compare it with a file.
 *
 * All text passes text_next(), so nothing drawn can be a control sequence. Whatever falls outside
 * of the canvas or the given width is left out; a wide character is never cut in half.
 *
 * Memory: 16 bytes a cell. Threads: one.
 */
struct canvas_cell {
	char glyph[TEXT_PIECE_BYTES + 1]; /* UTF-8; "" in the right half of a wide character */
	uint8_t width;                    /* columns; 0 in the right half of a wide character */
	uint8_t role;                     /* enum role */
};

struct canvas {
	int rows, columns;
	bool ascii;
	struct canvas_cell *cells; /* row by row */
};

/* A part of the canvas. */
struct area {
	int y, x, height, width;
};

/* An empty canvas; it must be given a size before it is drawn on. */
void canvas_init(struct canvas *canvas, bool ascii);

/* Makes it that large, and blank. False if out of memory: it is as before. */
bool canvas_resize(struct canvas *canvas, int rows, int columns);
void canvas_release(struct canvas *canvas);

/* Everything blank. */
void canvas_clear(struct canvas *canvas);

/* Whether two canvases look the same. */
bool canvas_equal(const struct canvas *a, const struct canvas *b);

/* Makes *to a copy of *from. False if out of memory. */
bool canvas_copy(struct canvas *to, const struct canvas *from);

/*
 * Draws text within `width` columns, ending in an ellipsis where it does not fit. Returns the
 * columns used.
 */
int canvas_text(struct canvas *canvas, int y, int x, int width, enum role role, const char *text);

/* The same, but its middle gives way to the ellipsis: where names differ is at either end. */
int canvas_text_middle(
		struct canvas *canvas, int y, int x, int width, enum role role, const char *text);

/* As canvas_text(), at the right end of the `width` columns. */
void canvas_text_right(
		struct canvas *canvas, int y, int x, int width, enum role role, const char *text);

/* Repeats a character of one column. */
void canvas_fill(struct canvas *canvas, int y, int x, int width, enum role role, const char *text);

/* Gives cells another role. */
void canvas_paint(struct canvas *canvas, int y, int x, int width, enum role role);

/* The cell, or NULL outside. */
struct canvas_cell *canvas_at(const struct canvas *canvas, int y, int x);

#endif
