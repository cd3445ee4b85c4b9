/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "widgets/bar.h"

#define LABEL_COLUMNS     8  /* "412ms ┤ " */
#define HISTOGRAM_COLUMNS 16 /* least: bar and share */
#define HISTOGRAM_MOST    40
#define MODE_COLUMNS      14 /* "├ 1st mode 61%" */
#define PER_OCTAVE        8
#define BINS_PER_ROW      2 /* the histogram has 16 bins an octave */

static double latency_ns(int32_t eighths)
{
	return exp2(eighths / (double)PER_OCTAVE);
}

static uint32_t heat_count(const struct group_view *group, uint32_t row, uint32_t column)
{
	return group->heat[(size_t)row * group->heat_cols + column];
}

/* Rounds down, also below zero. */
static int32_t floor_div(int32_t value, int32_t by)
{
	return value >= 0 ? value / by : -((-value + by - 1) / by);
}

static bool row_used(const struct group_view *group, uint32_t row)
{
	uint32_t c;

	for (c = 0; c < group->heat_cols; c++) {
		if (heat_count(group, row, c)) {
			return true;
		}
	}
	return false;
}

/* Range of latencies, in 1/8 octaves, that any cell or bin has something in. False: none has. */
static bool used_range(const struct group_view *group, int32_t *low, int32_t *high)
{
	bool any = false;
	uint32_t i;
	int32_t at;

	for (i = 0; i < group->heat_rows; i++) {
		at = group->heat_low + (int32_t)i;
		if (row_used(group, i)) {
			*low = !any || at < *low ? at : *low;
			*high = !any || at > *high ? at : *high;
			any = true;
		}
	}
	for (i = 0; i < group->histogram_bins; i++) {
		at = floor_div(group->histogram_low + (int32_t)i, BINS_PER_ROW);
		if (group->histogram[i]) {
			*low = !any || at < *low ? at : *low;
			*high = !any || at > *high ? at : *high;
			any = true;
		}
	}
	return any;
}

/* Fits the used range and the window into the room. */
static bool arrange(struct heat *heat, int lines, int columns)
{
	const struct group_view *group = heat->group;
	int32_t low = 0, high = 0;
	int total, cols = (int)group->heat_cols;

	if (lines < 1 || columns < 1 || cols == 0 || !used_range(group, &low, &high)) {
		heat->lines = heat->columns = 0;
		return false;
	}
	low = floor_div(low, 2) * 2; /* so that the picture does not move at every request */
	total = high - low + 1 > PER_OCTAVE ? high - low + 1 : PER_OCTAVE;
	heat->per_line = (total + lines - 1) / lines;
	heat->lines = (total + heat->per_line - 1) / heat->per_line;
	heat->low = low;
	heat->per_column = (cols + columns - 1) / columns;
	heat->columns = (cols + heat->per_column - 1) / heat->per_column;
	heat->cell_width = columns / heat->columns;
	return true;
}

int heat_arrange(struct heat *heat, int lines, int width)
{
	int room = width - LABEL_COLUMNS;

	if (room > 2 * HISTOGRAM_COLUMNS) {
		room -= HISTOGRAM_COLUMNS + 2;
	}
	return arrange(heat, lines, room) ? heat->lines : 4;
}

static int cursor_line(const struct heat *heat)
{
	int line = floor_div(heat->cursor_log - heat->low, heat->per_line);

	return line < 0 ? 0 : line >= heat->lines ? heat->lines - 1 : line;
}

static int cursor_column(const struct heat *heat)
{
	uint64_t width_ns = heat->group->heat_cell_ns * (uint64_t)heat->per_column;
	uint64_t column;

	if (heat->cursor_ns < heat->group->heat_start_ns || width_ns == 0) {
		return 0;
	}
	column = (heat->cursor_ns - heat->group->heat_start_ns) / width_ns;
	return column >= (uint64_t)heat->columns ? heat->columns - 1 : (int)column;
}

static void set_cursor(struct heat *heat, int line, int column)
{
	const struct group_view *group = heat->group;

	line = line < 0 ? 0 : line >= heat->lines ? heat->lines - 1 : line;
	column = column < 0 ? 0 : column >= heat->columns ? heat->columns - 1 : column;
	heat->cursor_log = heat->low + line * heat->per_line;
	heat->cursor_ns = group->heat_start_ns +
			  (uint64_t)column * (uint64_t)heat->per_column * group->heat_cell_ns;
	heat->placed = true;
}

/* Sums a cell as drawn. */
static void read_cell(const struct heat *heat, int line, int column, struct heat_cell *cell)
{
	const struct group_view *group = heat->group;
	int32_t from = heat->low + line * heat->per_line - group->heat_low;
	uint32_t first = (uint32_t)(column * heat->per_column);
	int32_t r;
	uint32_t c;

	memset(cell, 0, sizeof(*cell));
	cell->low_ns = latency_ns(heat->low + line * heat->per_line);
	cell->high_ns = latency_ns(heat->low + (line + 1) * heat->per_line);
	cell->start_ns = group->heat_start_ns + first * group->heat_cell_ns;
	cell->end_ns = cell->start_ns + (uint64_t)heat->per_column * group->heat_cell_ns;
	for (r = from; r < from + heat->per_line; r++) {
		if (r < 0 || r >= (int32_t)group->heat_rows) {
			continue;
		}
		for (c = first; c < first + (uint32_t)heat->per_column && c < group->heat_cols;
				c++) {
			size_t at = (size_t)r * group->heat_cols + c;

			cell->count += group->heat[at];
			if (group->heat_request[at]) {
				cell->request = group->heat_request[at];
			}
		}
	}
}

/* The slowest cell that a request is kept of, the newest of them. */
static bool go_worst(struct heat *heat)
{
	struct heat_cell cell;
	int line, column;

	for (line = heat->lines - 1; line >= 0; line--) {
		for (column = heat->columns - 1; column >= 0; column--) {
			read_cell(heat, line, column, &cell);
			if (cell.request) {
				set_cursor(heat, line, column);
				return true;
			}
		}
	}
	return false;
}

void heat_update(struct heat *heat, const struct group_view *group)
{
	heat->group = group;
}

bool heat_act(struct heat *heat, enum action action)
{
	int line, column;

	if (heat->lines == 0) {
		return false;
	}
	line = cursor_line(heat);
	column = cursor_column(heat);
	switch (action) {
	case ACTION_UP:
		line++;
		break;
	case ACTION_DOWN:
		line--;
		break;
	case ACTION_LEFT:
		column--;
		break;
	case ACTION_RIGHT:
		column++;
		break;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		line = action == ACTION_PAGE_UP ? heat->lines - 1 : 0;
		break;
	case ACTION_FIRST:
		column = 0;
		break;
	case ACTION_LAST:
		column = heat->columns - 1;
		break;
	case ACTION_WORST:
		return go_worst(heat);
	default:
		return false;
	}
	set_cursor(heat, line, column);
	return true;
}

bool heat_cursor(const struct heat *heat, struct heat_cell *cell)
{
	if (heat->lines == 0 || !heat->placed) {
		return false;
	}
	read_cell(heat, cursor_line(heat), cursor_column(heat), cell);
	return true;
}

/* Many orders of magnitude fit in five steps only on a logarithmic scale. */
static double intensity(uint64_t count, uint64_t most)
{
	/* One request is never "many", be it the only one. */
	return log1p((double)count) / log1p(most > 4 ? (double)most : 4);
}

static uint64_t largest_cell(const struct heat *heat)
{
	struct heat_cell cell;
	uint64_t most = 0;
	int line, column;

	for (line = 0; line < heat->lines; line++) {
		for (column = 0; column < heat->columns; column++) {
			read_cell(heat, line, column, &cell);
			most = cell.count > most ? cell.count : most;
		}
	}
	return most;
}

static void draw_map(const struct heat *heat, struct canvas *canvas, struct area area, bool active)
{
	uint64_t most = largest_cell(heat);
	struct heat_cell cell;
	int line, column;

	for (line = 0; line < heat->lines; line++) {
		int y = area.y + area.height - 1 - line;

		for (column = 0; column < heat->columns; column++) {
			read_cell(heat, line, column, &cell);
			bar_heat(canvas, y, area.x + column * heat->cell_width, heat->cell_width,
					intensity(cell.count, most));
		}
	}
	if (heat->placed) {
		int y = area.y + area.height - 1 - cursor_line(heat);
		int x = area.x + cursor_column(heat) * heat->cell_width;
		enum role role = active ? ROLE_CURSOR : ROLE_SELECTED_IDLE;

		/* A sign of its own: a dark cell shows no background. */
		canvas_fill(canvas, y, x, heat->cell_width, role, " ");
		canvas_fill(canvas, y, x + heat->cell_width / 2, 1, role, "◆");
	}
}

static void draw_latency_axis(const struct heat *heat, struct canvas *canvas, struct area area)
{
	char text[FORMAT_BYTES];
	int line, every = heat->lines > 5 ? 2 : 1;

	for (line = 0; line < area.height; line++) {
		int y = area.y + area.height - 1 - line;

		if (line % every == 0 && line < heat->lines) {
			format_duration(text, latency_ns(heat->low + line * heat->per_line));
			canvas_text_right(canvas, y, area.x, LABEL_COLUMNS - 2, ROLE_AXIS, text);
		}
		canvas_text(canvas, y, area.x + LABEL_COLUMNS - 1, 1, ROLE_AXIS,
				line % every == 0 && line < heat->lines ? "┤" : "│");
	}
}

static void draw_time_axis(const struct heat *heat, struct canvas *canvas, struct area line)
{
	double window_ns = (double)(heat->group->heat_cell_ns * heat->group->heat_cols);
	int width = heat->columns * heat->cell_width, marks = width / 8, i, x, free_from;
	char text[FORMAT_BYTES];

	canvas_text(canvas, line.y, line.x - 1, 1, ROLE_AXIS, "└");
	canvas_fill(canvas, line.y, line.x, width, ROLE_AXIS, "─");
	marks = marks < 1 ? 1 : marks > 5 ? 5 : marks;
	free_from = line.x;
	for (i = 0; i < marks; i++) {
		x = line.x + width * i / marks;
		if (x >= free_from) {
			format_period(text, window_ns * (marks - i) / marks);
			free_from = x + 1 + canvas_text(canvas, line.y, x, 6, ROLE_AXIS, text);
		}
	}
	canvas_text_right(canvas, line.y, line.x, width, ROLE_AXIS, "now");
}

static uint64_t bins_of_line(const struct heat *heat, int line)
{
	const struct group_view *group = heat->group;
	int32_t first = (heat->low + line * heat->per_line) * BINS_PER_ROW - group->histogram_low;
	int32_t b, last = first + heat->per_line * BINS_PER_ROW;
	uint64_t sum = 0;

	for (b = first < 0 ? 0 : first; b < last && b < (int32_t)group->histogram_bins; b++) {
		sum += group->histogram[b];
	}
	return sum;
}

static bool has_modes(const struct heat *heat)
{
	const struct groups_row *row = &heat->group->row;

	return row->missing == 0 && !row->lossy && row->n_modes > 1;
}

/* The line that a latency is in. */
static int line_of(const struct heat *heat, uint64_t ns)
{
	int32_t eighths = (int32_t)floor(log2(ns > 0 ? (double)ns : 1) * PER_OCTAVE);
	int line = floor_div(eighths - heat->low, heat->per_line);

	return line < 0 ? 0 : line >= heat->lines ? heat->lines - 1 : line;
}

/* A brace for each mode, with its name where its peak is. */
static void draw_modes(const struct heat *heat, struct canvas *canvas, struct area area)
{
	static const char *const names[GROUPS_MAX_MODES] = {"1st", "2nd", "3rd", "4th"};
	const struct groups_row *row = &heat->group->row;
	uint32_t i, n = row->n_modes < GROUPS_MAX_MODES ? row->n_modes : GROUPS_MAX_MODES;
	char text[FORMAT_BYTES], share[FORMAT_BYTES];
	int line, low, high, bottom = area.y + area.height - 1, named = -1;

	for (i = 0; i < n; i++) {
		enum role role = (enum role)((int)ROLE_SPAN_0 + (int)i % UI_SPAN_COLORS);

		low = line_of(heat, row->modes[i].low_ns);
		high = line_of(heat, row->modes[i].high_ns) - (i + 1 < n);
		for (line = low; line <= high; line++) {
			canvas_text(canvas, bottom - line, area.x, 1, role,
					line == high  ? "┌"
					: line == low ? "└"
						      : "│");
		}
		snprintf(text, sizeof(text), "├ %s mode %s", names[i],
				format_share(share, row->modes[i].share));
		/* Of two that share a line the slower one is named above it. */
		line = line_of(heat, row->modes[i].peak_ns);
		named = line > named ? line : named + 1;
		if (named < heat->lines) {
			canvas_text(canvas, bottom - named, area.x, area.width, role, text);
		}
	}
}

static void draw_histogram(const struct heat *heat, struct canvas *canvas, struct area area)
{
	uint64_t total = 0, most = 0, count;
	char text[FORMAT_BYTES];
	int line;

	for (line = 0; line < heat->lines; line++) {
		count = bins_of_line(heat, line);
		total += count;
		most = count > most ? count : most;
	}
	if (area.width < HISTOGRAM_COLUMNS) {
		return;
	}
	if (total > 0 && area.width >= HISTOGRAM_COLUMNS + MODE_COLUMNS && has_modes(heat)) {
		draw_modes(heat, canvas, layout_cut_columns(&area, -MODE_COLUMNS));
	}
	area.width = area.width > HISTOGRAM_MOST ? HISTOGRAM_MOST : area.width;
	for (line = 0; line < heat->lines && total > 0; line++) {
		int y = area.y + area.height - 1 - line;

		count = bins_of_line(heat, line);
		bar_draw(canvas, y, area.x, area.width - 5, ROLE_BAR, (double)count / (double)most);
		if (count > 0) {
			format_share(text, (double)count / (double)total);
			canvas_text_right(canvas, y, area.x, area.width, ROLE_TEXT, text);
		}
	}
}

void heat_draw(struct heat *heat, struct canvas *canvas, struct area area, bool active)
{
	struct area time_line = layout_cut_rows(&area, -1), labels, histogram;

	heat_arrange(heat, area.height, area.width);
	labels = layout_cut_columns(&area, LABEL_COLUMNS);
	if (heat->lines == 0) {
		canvas_text(canvas, area.y + area.height / 2, labels.x + LABEL_COLUMNS, area.width,
				ROLE_DIM, "no request of this group in the window");
		return;
	}
	if (!heat->placed) {
		go_worst(heat);
	}
	draw_latency_axis(heat, canvas, labels);
	histogram = area;
	area = layout_cut_columns(&histogram, heat->columns * heat->cell_width);
	layout_cut_columns(&histogram, 2);
	if (histogram.width > HISTOGRAM_MOST + MODE_COLUMNS) {
		histogram.width = HISTOGRAM_MOST + MODE_COLUMNS;
	}
	draw_map(heat, canvas, area, active);
	draw_histogram(heat, canvas, histogram);
	time_line.x = area.x;
	time_line.width = area.width;
	draw_time_axis(heat, canvas, time_line);
}
