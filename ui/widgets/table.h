/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_TABLE_H
#define UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "canvas.h"
#include "pattern.h"
#include "pythiatop/action.h"
#include "pythiatop/snapshot/row_field.h"

/*
 * A list of rows with columns: cursor, scrolling, sorting, filter, search.
 *
 * The cursor stays on its ITEM, known by a key, when rows come, go and change places.
 *
 * Memory: 4 bytes a row. Threads: one.
 */
#define TABLE_CELL_BYTES 512
#define TABLE_COLUMNS    32 /* bits of `visible_columns` */
#define TABLE_EXTRA      6  /* a column of this priority and above is good to have, no more */

enum table_column_flag {
	TABLE_RIGHT = 1u << 0,    /* numbers: to the right, sorted largest first */
	TABLE_FLEX = 1u << 1,     /* takes the room that is left; `width` is the least */
	TABLE_UNSORTED = 1u << 2, /* sorting by it says nothing */
	TABLE_GRAPHIC = 1u << 3,  /* bars keep their colours under the cursor */
	TABLE_NAME = 1u << 4,     /* has `most` before columns of TABLE_EXTRA have anything */
};

struct table_column {
	const char *title;
	uint8_t width;
	uint8_t priority; /* 0: always shown; of the others the largest is left out first */
	uint8_t flags;    /* enum table_column_flag */
	uint8_t most;     /* of a flexible one: no wider than this; 0: no limit */
	const struct row_field *field; /* optional: what it shows and is sorted by */
	enum role role;                /* of a field's cell */
};

/* How many columns an array has; more than there may be are an error of the compiler. */
#define TABLE_COUNT(columns)                                                                       \
	((int)(sizeof(columns) / sizeof((columns)[0]) +                                            \
			0 * sizeof(char[sizeof(columns) / sizeof((columns)[0]) <= TABLE_COLUMNS    \
							    ? 1                                    \
							    : -1])))

/* A cell as text. `bar` in 0..1 draws a heat bar before it; negative: none. */
struct table_cell {
	char text[TABLE_CELL_BYTES]; /* as it came: it is escaped when drawn */
	enum role role;
	int indent;
	double bar;
};

/* Where the rows come from: rows 0 .. n - 1 in their own order. */
struct table_source {
	const struct table_column *columns;
	int n_columns;
	const char *what; /* "groups": for messages */
	uint64_t (*key)(const void *data, uint32_t row);
	/* Where the row is, for columns with a field; else NULL. */
	const void *(*row)(const void *data, uint32_t row);
	/* What a field does not tell: columns without one, another role. Optional if all have one.
	 */
	void (*cell)(const void *data, uint32_t row, int column, struct table_cell *cell);
	/* Order by a column without a field, ascending. NULL: by their cells' text; without a `row`
	 * the rows cannot be sorted. */
	int (*compare)(const void *data, uint32_t a, uint32_t b, int column);
	/* Optional. How much the row is by what the table is about: until it is sorted by a column
	 * those of most come first, equal ones as they come. */
	double (*most)(const void *data, uint32_t row);
	/* Optional. Draws a cell itself; false: draw it as text. */
	bool (*paint)(const void *data, uint32_t row, int column, struct canvas *canvas,
			struct area area);
	/* Optional. A sign before the row, or NULL: "~" for tainted. */
	const char *(*mark)(const void *data, uint32_t row);
	/* Optional. Whether the row is hidden, as in a folded tree. */
	bool (*hidden)(const void *data, uint32_t row);
};

struct table {
	const struct table_source *source;
	const void *data;
	uint32_t n;      /* rows of the source */
	uint32_t *order; /* rows shown, in the order shown */
	uint32_t shown;
	uint32_t room; /* allocated */
	uint64_t cursor_key;
	uint32_t cursor; /* place in `order` */
	bool on_top;     /* nothing was selected so far: the cursor keeps to the first row */
	uint32_t top;
	int page;        /* rows drawn last time */
	int sort_column; /* -1: as they come */
	bool reverse;
	int default_column;       /* the one that rows come ordered by, for the header; -1: none */
	bool default_reverse;     /* its smallest ones come first */
	uint32_t visible_columns; /* bits: drawn last time */
	struct pattern filter;
};

void table_init(struct table *table, const struct table_source *source);
void table_release(struct table *table);

/* Until the cursor is moved it is on the first row, whichever that is. */
void table_stay_on_top(struct table *table);

/* The rows come ordered by this field, largest first. */
void table_give_order(struct table *table, const struct row_field *field);

/* Takes new rows, which must stay as they are until the next call. */
void table_update(struct table *table, const void *data, uint32_t n);

/* The row under the cursor, or UINT32_MAX if there is none. */
uint32_t table_row(const struct table *table);

/* Puts the cursor on the item, if it is shown. */
bool table_select(struct table *table, uint64_t key);

/* Puts the cursor on the `place`-th row shown. */
void table_move(struct table *table, uint32_t place);

/* Moves, sorts. False: the action is none of a table's. */
bool table_act(struct table *table, enum action action);

/* Puts the cursor on the next (-1: previous) row that matches, from the cursor on; around the end.
 */
bool table_search(struct table *table, const struct pattern *pattern, int step);

/* Rows shown that match. */
uint32_t table_count(const struct table *table, const struct pattern *pattern);

/* Draws header and rows. `active`: the keys go here. */
void table_draw(struct table *table, struct canvas *canvas, struct area area, bool active,
		const struct pattern *search);

/* Draws rows alone, where columns need no names. */
void table_draw_rows(struct table *table, struct canvas *canvas, struct area area, bool active,
		const struct pattern *search);

#endif
