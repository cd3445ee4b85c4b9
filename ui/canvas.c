/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "canvas.h"

#include <stdlib.h>
#include <string.h>

/* A terminal says it is larger than this only by mistake. */
#define MAX_ROWS    1000
#define MAX_COLUMNS 2000

void canvas_init(struct canvas *canvas, bool ascii)
{
	memset(canvas, 0, sizeof(*canvas));
	canvas->ascii = ascii;
}

void canvas_release(struct canvas *canvas)
{
	free(canvas->cells);
	memset(canvas, 0, sizeof(*canvas));
}

bool canvas_resize(struct canvas *canvas, int rows, int columns)
{
	struct canvas_cell *cells;

	rows = rows < 1 ? 1 : rows > MAX_ROWS ? MAX_ROWS : rows;
	columns = columns < 1 ? 1 : columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
	if (rows != canvas->rows || columns != canvas->columns) {
		cells = calloc((size_t)rows * (size_t)columns, sizeof(*cells));
		if (!cells) {
			return false;
		}
		free(canvas->cells);
		canvas->cells = cells;
		canvas->rows = rows;
		canvas->columns = columns;
	}
	canvas_clear(canvas);
	return true;
}

static size_t cell_count(const struct canvas *canvas)
{
	return (size_t)canvas->rows * (size_t)canvas->columns;
}

static void cell_set(struct canvas_cell *cell, const char *glyph, uint8_t width, enum role role)
{
	/* The rest is zeroed too, so that cells compare by their bytes. */
	memset(cell, 0, sizeof(*cell));
	memcpy(cell->glyph, glyph, strnlen(glyph, sizeof(cell->glyph) - 1));
	cell->width = width;
	cell->role = (uint8_t)role;
}

void canvas_clear(struct canvas *canvas)
{
	size_t i;

	for (i = 0; i < cell_count(canvas); i++) {
		cell_set(&canvas->cells[i], " ", 1, ROLE_TEXT);
	}
}

bool canvas_equal(const struct canvas *a, const struct canvas *b)
{
	return a->rows == b->rows && a->columns == b->columns &&
	       (cell_count(a) == 0 ||
			       memcmp(a->cells, b->cells, cell_count(a) * sizeof(*a->cells)) == 0);
}

bool canvas_copy(struct canvas *to, const struct canvas *from)
{
	if (!canvas_resize(to, from->rows, from->columns)) {
		return false;
	}
	memcpy(to->cells, from->cells, cell_count(from) * sizeof(*from->cells));
	return true;
}

struct canvas_cell *canvas_at(const struct canvas *canvas, int y, int x)
{
	if (y < 0 || x < 0 || y >= canvas->rows || x >= canvas->columns) {
		return NULL;
	}
	return &canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x];
}

/* What is written over half of a wide character blanks its other half. */
static void unsplit(struct canvas *canvas, int y, int x)
{
	struct canvas_cell *cell = canvas_at(canvas, y, x);
	struct canvas_cell *other;

	if (cell && cell->width == 0) {
		other = canvas_at(canvas, y, x - 1);
	} else if (cell && cell->width == 2) {
		other = canvas_at(canvas, y, x + 1);
	} else {
		return;
	}
	if (other) {
		cell_set(other, " ", 1, (enum role)other->role);
	}
}

static void put(struct canvas *canvas, int y, int x, const char *glyph, uint8_t width,
		enum role role)
{
	struct canvas_cell *cell = canvas_at(canvas, y, x);
	struct canvas_cell *right = width == 2 ? canvas_at(canvas, y, x + 1) : NULL;

	if (!cell || (width == 2 && !right)) {
		return;
	}
	unsplit(canvas, y, x);
	if (right) {
		unsplit(canvas, y, x + 1);
		cell_set(right, "", 0, role);
	}
	cell_set(cell, glyph, width, role);
}

static void put_piece(
		struct canvas *canvas, int y, int x, const struct text_piece *piece, enum role role)
{
	char glyph[2] = "";
	int i;

	if (!piece->plain) {
		put(canvas, y, x, piece->bytes, piece->width, role);
		return;
	}
	for (i = 0; i < piece->length; i++) {
		glyph[0] = piece->bytes[i];
		put(canvas, y, x + i, glyph, 1, role);
	}
}

int canvas_text(struct canvas *canvas, int y, int x, int width, enum role role, const char *text)
{
	struct text_piece piece, ellipsis;
	const char *dots = "…";
	int used = 0, room;
	bool fits;

	if (width <= 0) {
		return 0;
	}
	fits = text_fits(text, canvas->ascii, width);
	text_next(&dots, canvas->ascii, &ellipsis);
	room = fits ? width : width - ellipsis.width;
	while (text_next(&text, canvas->ascii, &piece) && used + piece.width <= room) {
		put_piece(canvas, y, x + used, &piece, role);
		used += piece.width;
	}
	if (!fits && ellipsis.width <= width) {
		put_piece(canvas, y, x + used, &ellipsis, role);
		used += ellipsis.width;
	}
	return used;
}

int canvas_text_middle(
		struct canvas *canvas, int y, int x, int width, enum role role, const char *text)
{
	int dots = text_width("…", canvas->ascii), head, left, used = 0;
	struct text_piece piece;

	if (width < dots + 2 || text_fits(text, canvas->ascii, width)) {
		return canvas_text(canvas, y, x, width, role, text);
	}
	left = text_width(text, canvas->ascii);
	head = (width - dots + 1) / 2;
	while (text_next(&text, canvas->ascii, &piece) && used + piece.width <= head) {
		put_piece(canvas, y, x + used, &piece, role);
		used += piece.width;
		left -= piece.width;
	}
	used += canvas_text(canvas, y, x + used, dots, role, "…");
	left -= piece.width; /* the one that did not fit */
	while (left > width - used && text_next(&text, canvas->ascii, &piece)) {
		left -= piece.width;
	}
	return used + canvas_text(canvas, y, x + used, width - used, role, text);
}

void canvas_text_right(
		struct canvas *canvas, int y, int x, int width, enum role role, const char *text)
{
	int needed = text_width(text, canvas->ascii);
	int shift = needed < width ? width - needed : 0;

	canvas_text(canvas, y, x + shift, width - shift, role, text);
}

void canvas_fill(struct canvas *canvas, int y, int x, int width, enum role role, const char *text)
{
	struct text_piece piece;
	int i;

	if (!text_next(&text, canvas->ascii, &piece) || piece.width != 1) {
		return;
	}
	for (i = 0; i < width; i++) {
		put_piece(canvas, y, x + i, &piece, role);
	}
}

void canvas_paint(struct canvas *canvas, int y, int x, int width, enum role role)
{
	struct canvas_cell *cell;
	int i;

	for (i = 0; i < width; i++) {
		cell = canvas_at(canvas, y, x + i);
		if (cell) {
			cell->role = (uint8_t)role;
		}
	}
}
