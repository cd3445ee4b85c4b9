/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "layout.h"
#include "pythiatop/text.h"
#include "widgets/bar.h"
#include "widgets/field_cell.h"

#define GUTTER        2 /* columns before the first: cursor, mark */
#define SHARE_COLUMNS 4 /* "100%" behind a heat bar */

void table_init(struct table *table, const struct table_source *source)
{
	memset(table, 0, sizeof(*table));
	table->source = source;
	table->sort_column = table->default_column = -1;
	table->page = 1;
	table->visible_columns = UINT32_MAX;
}

void table_stay_on_top(struct table *table)
{
	table->on_top = true;
}

void table_give_order(struct table *table, const struct row_field *field)
{
	for (int c = 0; c < table->source->n_columns; c++) {
		if (table->source->columns[c].field == field) {
			table->default_column = c;
		}
	}
}

void table_release(struct table *table)
{
	pattern_release(&table->filter);
	free(table->order);
	table->order = NULL;
	table->shown = table->n = table->room = 0;
}

/* Names are searched, numbers and bars are not. */
static bool is_searched(const struct table_column *column)
{
	return !(column->flags & (TABLE_RIGHT | TABLE_GRAPHIC));
}

static void read_cell(const struct table *table, uint32_t row, int c, struct table_cell *cell)
{
	const struct table_source *source = table->source;
	const struct table_column *column = &source->columns[c];

	cell->text[0] = '\0';
	cell->role = column->role;
	cell->indent = 0;
	cell->bar = -1;
	if (column->field) {
		field_print(cell->text, sizeof(cell->text), column->field,
				source->row(table->data, row));
	}
	if (source->cell) {
		source->cell(table->data, row, c, cell);
	}
}

static int compare_cells(const struct table *table, uint32_t a, uint32_t b, int c)
{
	const struct table_source *source = table->source;
	const struct row_field *field = source->columns[c].field;
	struct table_cell cell_a, cell_b;

	if (field) {
		return field_compare(
				field, source->row(table->data, a), source->row(table->data, b));
	}
	if (source->compare) {
		return source->compare(table->data, a, b, c);
	}
	read_cell(table, a, c, &cell_a);
	read_cell(table, b, c, &cell_b);
	return strcmp(cell_a.text, cell_b.text);
}

/* Whether a cell of the row matches, as it is shown; or none does, if the pattern is negated. */
static bool row_matches(const struct table *table, uint32_t row, const struct pattern *pattern)
{
	char visible[2 * TABLE_CELL_BYTES];
	struct table_cell cell;
	int c;

	for (c = 0; c < table->source->n_columns; c++) {
		if (!is_searched(&table->source->columns[c])) {
			continue;
		}
		read_cell(table, row, c, &cell);
		text_escape(visible, sizeof(visible), cell.text);
		if (pattern_finds(pattern, visible)) {
			return !pattern->negated;
		}
	}
	return pattern->negated;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct table *table = context;
	uint32_t row_a = *(const uint32_t *)a, row_b = *(const uint32_t *)b;
	bool down = false;
	int order = 0;

	if (table->sort_column >= 0) {
		order = compare_cells(table, row_a, row_b, table->sort_column);
		down = table->source->columns[table->sort_column].flags & TABLE_RIGHT;
	} else if (table->source->most) {
		double most_a = table->source->most(table->data, row_a);
		double most_b = table->source->most(table->data, row_b);

		order = most_a > most_b ? -1 : most_a < most_b;
	}
	if (order == 0) {
		/* Equal ones keep the order they come in, so that rows do not jump about. */
		order = row_a < row_b ? -1 : row_a > row_b;
		down = false;
	}
	return down != table->reverse ? -order : order;
}

static void follow_cursor(struct table *table)
{
	uint32_t i;

	if (table->shown == 0) {
		table->cursor = table->top = 0;
		return;
	}
	for (i = 0; i < table->shown && !table->on_top; i++) {
		if (table->source->key(table->data, table->order[i]) == table->cursor_key) {
			table->cursor = i;
			return;
		}
	}
	/* The item has gone: the one in its place takes over. */
	if (table->cursor >= table->shown) {
		table->cursor = table->shown - 1;
	}
	table->cursor_key = table->source->key(table->data, table->order[table->cursor]);
}

static void arrange(struct table *table)
{
	uint32_t row;

	table->shown = 0;
	for (row = 0; row < table->n; row++) {
		if (table->source->hidden && table->source->hidden(table->data, row)) {
			continue;
		}
		if (table->filter.set && !row_matches(table, row, &table->filter)) {
			continue;
		}
		table->order[table->shown++] = row;
	}
	if (table->shown > 1 &&
			(table->sort_column >= 0 || table->reverse || table->source->most)) {
		qsort_r(table->order, table->shown, sizeof(table->order[0]), compare_rows, table);
	}
	follow_cursor(table);
}

void table_update(struct table *table, const void *data, uint32_t n)
{
	if (!array_reserve(&table->order, &table->room, n)) {
		n = table->room; /* shows the first ones */
	}
	table->data = data;
	table->n = n;
	arrange(table);
}

uint32_t table_row(const struct table *table)
{
	return table->cursor < table->shown ? table->order[table->cursor] : UINT32_MAX;
}

void table_move(struct table *table, uint32_t place)
{
	if (table->shown == 0) {
		return;
	}
	table->on_top = false;
	table->cursor = place < table->shown ? place : table->shown - 1;
	table->cursor_key = table->source->key(table->data, table->order[table->cursor]);
}

bool table_select(struct table *table, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < table->shown; i++) {
		if (table->source->key(table->data, table->order[i]) == key) {
			table_move(table, i);
			return true;
		}
	}
	return false;
}

static bool is_sortable(const struct table_source *source)
{
	for (int c = 0; source->row && c < source->n_columns; c++) {
		if (!(source->columns[c].flags & TABLE_UNSORTED)) {
			return true;
		}
	}
	return source->compare;
}

/* The next column that can be sorted by and is in sight; after the last, the order they come in. */
static void next_sort(struct table *table)
{
	int c;

	for (c = table->sort_column + 1; c < table->source->n_columns; c++) {
		if (!(table->source->columns[c].flags & TABLE_UNSORTED) &&
				(table->visible_columns & 1u << c)) {
			break;
		}
	}
	table->sort_column = c < table->source->n_columns ? c : -1;
	table->reverse = false;
	arrange(table);
}

bool table_act(struct table *table, enum action action)
{
	uint32_t page = table->page > 1 ? (uint32_t)table->page - 1 : 1;
	uint32_t at = table->cursor;

	switch (action) {
	case ACTION_UP:
		table_move(table, at > 0 ? at - 1 : 0);
		return true;
	case ACTION_DOWN:
		table_move(table, at + 1);
		return true;
	case ACTION_PAGE_UP:
		table_move(table, at > page ? at - page : 0);
		return true;
	case ACTION_PAGE_DOWN:
		table_move(table, at + page);
		return true;
	case ACTION_FIRST:
		table_move(table, 0);
		return true;
	case ACTION_LAST:
		table_move(table, UINT32_MAX);
		return true;
	case ACTION_SORT:
		if (!is_sortable(table->source)) {
			return false;
		}
		next_sort(table);
		return true;
	case ACTION_REVERSE:
		if (!is_sortable(table->source)) {
			return false;
		}
		table->reverse = !table->reverse;
		arrange(table);
		return true;
	default:
		return false;
	}
}

bool table_search(struct table *table, const struct pattern *pattern, int step)
{
	uint32_t i, place;

	for (i = 1; i <= table->shown; i++) {
		place = (table->cursor + (step > 0 ? i : table->shown - i)) % table->shown;
		if (row_matches(table, table->order[place], pattern)) {
			table_move(table, place);
			return true;
		}
	}
	return false;
}

uint32_t table_count(const struct table *table, const struct pattern *pattern)
{
	uint32_t i, n = 0;

	for (i = 0; i < table->shown; i++) {
		n += row_matches(table, table->order[i], pattern);
	}
	return n;
}

/* Which columns are shown, how wide, from where. */
struct columns {
	int x[TABLE_COLUMNS], width[TABLE_COLUMNS];
	uint32_t visible;
};

/*
 * Which columns fit. Names come first: extra columns are shown only where names have all the room
 * they may want.
 */
static int fit_columns(const struct table_source *source, int width,
		struct layout_item items[TABLE_COLUMNS])
{
	const struct table_column *columns = source->columns;
	bool extra[TABLE_COLUMNS];
	int c, used = 0;

	for (c = 0; c < source->n_columns; c++) {
		items[c].width = columns[c].flags & TABLE_NAME ? columns[c].most : columns[c].width;
		items[c].priority = columns[c].priority;
	}
	layout_fit(items, source->n_columns, 1, width);
	for (c = 0; c < source->n_columns; c++) {
		extra[c] = items[c].kept && columns[c].priority >= TABLE_EXTRA;
		used += extra[c] ? columns[c].width + 1 : 0;
	}
	/* Again for the others, in the room that the extra ones leave, which are left out here. */
	for (c = 0; c < source->n_columns; c++) {
		items[c].width = columns[c].priority < TABLE_EXTRA ? columns[c].width : width + 1;
	}
	layout_fit(items, source->n_columns, 1, width - used);
	for (c = 0; c < source->n_columns; c++) {
		if (columns[c].priority >= TABLE_EXTRA) {
			items[c].width = columns[c].width;
			items[c].kept = extra[c];
		}
	}
	return width - layout_width(items, source->n_columns, 1);
}

static void place_columns(const struct table_source *source, struct area area, struct columns *out)
{
	struct layout_item items[TABLE_COLUMNS];
	int c, left, flex = 0, x = area.x + GUTTER;

	left = fit_columns(source, area.width - GUTTER, items);
	for (c = 0; c < source->n_columns; c++) {
		flex += items[c].kept && (source->columns[c].flags & TABLE_FLEX);
	}
	out->visible = 0;
	for (c = 0; c < source->n_columns; c++) {
		out->x[c] = x;
		out->width[c] = items[c].width;
		if (!items[c].kept) {
			continue;
		}
		if ((source->columns[c].flags & TABLE_FLEX) && left > 0) {
			int share = left / flex--, most = source->columns[c].most;

			if (most && out->width[c] + share > most) {
				share = most - out->width[c];
			}
			out->width[c] += share;
			left -= share;
		} else if (left < 0 && (source->columns[c].flags & TABLE_FLEX)) {
			out->width[c] = out->width[c] + left > 4 ? out->width[c] + left : 4;
			left = 0;
		}
		out->visible |= 1u << c;
		x += out->width[c] + 1;
	}
}

static void draw_header(const struct table *table, struct canvas *canvas, struct area area,
		const struct columns *columns)
{
	bool by_default = table->sort_column < 0;
	int order = by_default ? table->default_column : table->sort_column;
	const struct table_column *column;
	char title[64];
	int c;

	canvas_fill(canvas, area.y, area.x, area.width, ROLE_HEADER, " ");
	for (c = 0; c < table->source->n_columns; c++) {
		bool sorted = c == order, down, falls;
		enum role role = sorted ? ROLE_HEADER_SORT : ROLE_HEADER;

		if (!(columns->visible & 1u << c)) {
			continue;
		}
		column = &table->source->columns[c];
		down = (column->flags & TABLE_RIGHT) != 0;
		falls = (by_default ? !table->default_reverse : down) != table->reverse;
		snprintf(title, sizeof(title), "%s%s", column->title,
				!sorted ? ""
				: falls ? "▼"
					: "▲");
		if (down) {
			canvas_text_right(canvas, area.y, columns->x[c], columns->width[c], role,
					title);
		} else {
			canvas_text(canvas, area.y, columns->x[c], columns->width[c], role, title);
		}
	}
}

static void draw_cell(const struct table *table, uint32_t row, int c, struct canvas *canvas,
		struct area area)
{
	const struct table_source *source = table->source;
	struct table_cell cell;

	if (source->paint && source->paint(table->data, row, c, canvas, area)) {
		return;
	}
	read_cell(table, row, c, &cell);
	if (cell.bar >= 0 && area.width > SHARE_COLUMNS) {
		bar_share(canvas, area.y, area.x, area.width - SHARE_COLUMNS, cell.bar);
	}
	if (source->columns[c].flags & TABLE_RIGHT) {
		canvas_text_right(canvas, area.y, area.x, area.width, cell.role, cell.text);
	} else {
		canvas_text(canvas, area.y, area.x + cell.indent, area.width - cell.indent,
				cell.role, cell.text);
	}
}

/* The row under the cursor stands out, but for bars, whose colour says something. */
static void select_row(const struct table *table, struct canvas *canvas, struct area area,
		const struct columns *columns, bool active)
{
	const struct table_source *source = table->source;
	enum role role = active ? ROLE_SELECTED : ROLE_SELECTED_IDLE;
	const struct canvas_cell *cell;
	int c = 0, x;

	canvas_text(canvas, area.y, area.x, 1, ROLE_TEXT, active ? ">" : " ");
	for (x = area.x; x < area.x + area.width; x++) {
		while (c < source->n_columns &&
				(!(columns->visible & 1u << c) ||
						x >= columns->x[c] + columns->width[c])) {
			c++;
		}
		cell = canvas_at(canvas, area.y, x);
		if (cell && c < source->n_columns && x >= columns->x[c] &&
				source->columns[c].flags & TABLE_GRAPHIC &&
				cell->role >= ROLE_HEAT_0) {
			continue;
		}
		canvas_paint(canvas, area.y, x, 1, role);
	}
}

static void draw_row(const struct table *table, uint32_t place, struct canvas *canvas,
		struct area area, const struct columns *columns, bool active,
		const struct pattern *search)
{
	uint32_t row = table->order[place];
	const char *mark = table->source->mark ? table->source->mark(table->data, row) : NULL;
	bool here = place == table->cursor;
	int c;

	for (c = 0; c < table->source->n_columns; c++) {
		if (columns->visible & 1u << c) {
			struct area cell = {area.y, columns->x[c], 1, columns->width[c]};

			draw_cell(table, row, c, canvas, cell);
		}
	}
	if (mark) {
		canvas_text(canvas, area.y, area.x + 1, 1, ROLE_TAINTED, mark);
	}
	if (here) {
		select_row(table, canvas, area, columns, active);
	}
	for (c = 0; c < table->source->n_columns; c++) {
		if (columns->visible & 1u << c && is_searched(&table->source->columns[c])) {
			pattern_highlight(search, canvas, area.y, columns->x[c], columns->width[c]);
		}
	}
}

static void draw_rows(struct table *table, struct canvas *canvas, struct area area,
		const struct columns *columns, bool active, const struct pattern *search)
{
	uint32_t i, rows = (uint32_t)area.height;

	table->visible_columns = columns->visible;
	table->page = area.height;
	if (table->cursor < table->top) {
		table->top = table->cursor;
	}
	if (table->cursor >= table->top + rows) {
		table->top = table->cursor - rows + 1;
	}
	if (table->top + rows > table->shown) {
		table->top = table->shown > rows ? table->shown - rows : 0;
	}
	for (i = 0; i < rows && table->top + i < table->shown; i++) {
		draw_row(table, table->top + i, canvas, layout_cut_rows(&area, 1), columns, active,
				search);
	}
}

void table_draw(struct table *table, struct canvas *canvas, struct area area, bool active,
		const struct pattern *search)
{
	struct columns columns;

	if (area.height < 2) {
		return;
	}
	place_columns(table->source, area, &columns);
	draw_header(table, canvas, layout_cut_rows(&area, 1), &columns);
	draw_rows(table, canvas, area, &columns, active, search);
}

void table_draw_rows(struct table *table, struct canvas *canvas, struct area area, bool active,
		const struct pattern *search)
{
	struct columns columns;

	if (area.height > 0) {
		place_columns(table->source, area, &columns);
		draw_rows(table, canvas, area, &columns, active, search);
	}
}
