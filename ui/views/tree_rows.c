/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "views/tree_screen.h"
#include "widgets/bar.h"

/* The lines of screen 3: calling contexts with their figures. */

#define SHARE_COLUMNS 9 /* "100% ±12" */

#define COLUMNS(share)                                                                             \
	[C_CONTEXT] = {"CONTEXT", 29, 0, TABLE_FLEX | TABLE_NAME, 64},                             \
	[C_COUNT] = {"COUNT", 5, 1, TABLE_RIGHT, 0},                                               \
	[C_REQUESTS] = {"REQUESTS", 8, 9, TABLE_RIGHT, 0},                                         \
	[C_TOTAL] = {"TOTAL", 6, 7, TABLE_RIGHT, 0}, [C_SELF] = {"SELF", 6, 2, TABLE_RIGHT, 0},    \
	[C_MEAN] = {"MEAN", 6, 1, TABLE_RIGHT, 0}, [C_SD] = {"SD", 6, 3, TABLE_RIGHT, 0},          \
	[C_OWN] = {"OWN SD", 7, 6, TABLE_RIGHT, 0}, [C_BELOW] = {"BELOW", 6, 8, TABLE_RIGHT, 0},   \
	[C_TAIL] = {"TAIL", 5, 6, TABLE_RIGHT, 0},                                                 \
	[C_SHARE] = {share, 16, 0, TABLE_FLEX | TABLE_UNSORTED | TABLE_GRAPHIC, 40},               \
	[C_FAILED] = {"FAILED", 7, 1, TABLE_RIGHT | TABLE_UNSORTED, 0}

static const struct table_column variance_columns[] = {COLUMNS("OF VARIANCE")};
static const struct table_column time_columns[] = {COLUMNS("OF TIME")};

const struct tree_row *tree_row_at(const struct tree_screen *screen, uint32_t line)
{
	return &screen->tree->rows[screen->outline.line[line].row];
}

static uint64_t line_key(const void *data, uint32_t line)
{
	return tree_screen_of(data)->outline.line[line].key;
}

/* It stands for all below it. */
static bool is_folded(const struct tree_screen *screen, uint32_t line)
{
	const struct outline_line *at = &screen->outline.line[line];

	return !at->open && outline_is_parent(&screen->outline, at->row);
}

const struct tree_mark_style tree_mark_styles[] = {
		[TREE_ON] = {"●", "", ROLE_GOOD},
		[TREE_OFF] = {"○", "off", ROLE_DIM},
		[TREE_NEVER_SEEN] = {"·", "never seen", ROLE_DIM},
		[TREE_PROPOSED] = {"+", "proposed", ROLE_NEXT},
		[TREE_NO_POINT] = {" ", "", ROLE_DIM},
};

static void time_cell(char *text, bool valid, double ns)
{
	if (valid) {
		format_duration(text, ns);
	} else {
		strcpy(text, "-");
	}
}

static void share_cell(char *text, bool valid, double share)
{
	if (valid) {
		format_share(text, share);
	} else {
		strcpy(text, "-");
	}
}

/* Spans, that is, not single events, which take no time. */
static bool has_times(const struct tree_row *row)
{
	return row->count > 0 && row->total_ns > 0;
}

bool tree_has_share(const struct tree_screen *screen, const struct tree_row *row)
{
	return screen->tree->located &&
	       (has_times(row) || row->segment_mean_ns > 0 || row->mark == TREE_NO_POINT);
}

/* Own time of a span; of a part that no tracepoint tells, on the critical path of a request. */
static void self_cell(const struct tree_screen *screen, const struct tree_row *row, char *text)
{
	if (row->mark == TREE_NO_POINT && row->count == 0) {
		time_cell(text, screen->tree->located, row->segment_mean_ns);
	} else {
		time_cell(text, has_times(row), row->self_ns / (double)row->count);
	}
}

static void row_cell(const void *data, uint32_t line, int column, struct table_cell *cell)
{
	const struct tree_screen *screen = tree_screen_of(data);
	const struct tree_row *row = tree_row_at(screen, line);
	bool located = tree_has_share(screen, row);

	switch (column) {
	case C_CONTEXT:
		text_copy(cell->text, sizeof(cell->text), row->name);
		break;
	case C_COUNT:
	case C_REQUESTS:
		strcpy(cell->text, "-");
		if (row->count > 0) {
			format_count(cell->text, column == C_COUNT ? row->count : row->requests);
		}
		break;
	case C_TOTAL:
		time_cell(cell->text, has_times(row), row->total_ns);
		break;
	case C_SELF:
		self_cell(screen, row, cell->text);
		break;
	case C_MEAN:
		time_cell(cell->text, has_times(row), row->mean_ns);
		break;
	case C_SD:
		time_cell(cell->text, has_times(row) && row->count > 1, row->sd_ns);
		break;
	case C_OWN:
		time_cell(cell->text, located, row->segment_sd_ns);
		break;
	case C_BELOW:
		share_cell(cell->text, located, row->phi_below);
		break;
	case C_TAIL:
		share_cell(cell->text, located, row->tail_share);
		break;
	case C_FAILED:
		share_cell(cell->text, has_times(row),
				row->count ? (double)row->failed / (double)row->count : 0);
		cell->role = row->failed > 0 ? ROLE_BAD : ROLE_DIM;
		break;
	default:
		break;
	}
}

/* Two voices: what is known of its tracepoint, and its name. */
static void paint_context(const struct tree_screen *screen, uint32_t line, struct canvas *canvas,
		struct area area)
{
	const struct outline_line *at = &screen->outline.line[line];
	const struct tree_row *row = &screen->tree->rows[at->row];
	int most = area.width / 2, x = area.x, end = area.x + area.width;
	const char *fold = at->open ? "▾ " : is_folded(screen, line) ? "▸ " : "  ";

	x += (int)row->depth < most ? (int)row->depth : most;
	x += canvas_text(canvas, area.y, x, end - x, ROLE_DIM, fold);
	x += canvas_text(canvas, area.y, x, end - x, tree_mark_styles[row->mark].role,
			tree_mark_styles[row->mark].sign);
	x += 1 + canvas_text(canvas, area.y, x + 1, end - x - 1,
				 row->count > 0 ? ROLE_TEXT : ROLE_DIM, row->name);
	if (tree_mark_styles[row->mark].word[0] &&
			text_fits(tree_mark_styles[row->mark].word, true, end - x - 2)) {
		canvas_text(canvas, area.y, x + 2, end - x - 2, tree_mark_styles[row->mark].role,
				tree_mark_styles[row->mark].word);
	}
}

static double time_share(const struct tree_screen *screen, uint32_t line)
{
	uint32_t row = screen->outline.line[line].row;
	double ns = is_folded(screen, line) ? screen->self_ns[row]
					    : screen->tree->rows[row].self_ns;

	return screen->all_ns > 0 ? ns / screen->all_ns : 0;
}

/* "97% ±2 ████"; of a folded one with all below it, of which no interval is known. */
static void paint_share(const struct tree_screen *screen, uint32_t line, struct canvas *canvas,
		struct area area)
{
	const struct tree_row *row = tree_row_at(screen, line);
	bool located = tree_has_share(screen, row), folded = is_folded(screen, line);
	double share = !located ? time_share(screen, line) : folded ? row->phi_below : row->phi;
	char text[FORMAT_BYTES], shown[2 * FORMAT_BYTES];

	if (!located && (!has_times(row) || screen->tree->located)) {
		canvas_text_right(canvas, area.y, area.x, SHARE_COLUMNS, ROLE_TEXT, "-");
		return;
	}
	if (folded) {
		snprintf(shown, sizeof(shown), "%s all", format_share(text, share));
	} else if (located) {
		view_share(shown, sizeof(shown), share, row->phi_low, row->phi_high);
	} else {
		format_share(shown, share);
	}
	canvas_text_right(canvas, area.y, area.x, SHARE_COLUMNS, ROLE_TEXT, shown);
	bar_share(canvas, area.y, area.x + SHARE_COLUMNS + 1, area.width - SHARE_COLUMNS - 1,
			share);
}

static bool row_paint(const void *data, uint32_t line, int column, struct canvas *canvas,
		struct area area)
{
	if (column == C_CONTEXT) {
		paint_context(tree_screen_of(data), line, canvas, area);
	} else if (column == C_SHARE) {
		paint_share(tree_screen_of(data), line, canvas, area);
	}
	return column == C_CONTEXT || column == C_SHARE;
}

#define SOURCE(view_columns, n)                                                                    \
	{                                                                                          \
		.columns = view_columns, .n_columns = n, .what = "contexts", .key = line_key,      \
		.cell = row_cell, .paint = row_paint                                               \
	}

const struct table_source *tree_source(bool variance, bool fails)
{
	/* Without shares of the variance heat is own time. */
	static const struct table_source sources[2][2] = {
			{SOURCE(time_columns, C_FAILED),
					SOURCE(time_columns, TABLE_COUNT(time_columns))},
			{SOURCE(variance_columns, C_FAILED),
					SOURCE(variance_columns, TABLE_COUNT(variance_columns))}};

	return &sources[variance][fails];
}
