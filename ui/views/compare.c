/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "views/view.h"
#include "widgets/bar.h"
#include "widgets/outline.h"
#include "widgets/table.h"

/* One request laid over another: where the one took longer, and which values differ. */

#define NONE          UINT32_MAX
#define SIGNED_BYTES  (FORMAT_BYTES + 2)
#define SHARE_COLUMNS 5

enum pane { PANE_TREE, PANE_RANKED, PANE_VALUES, PANE_COUNT };

struct compare_screen {
	enum pane pane;
	const struct compare_view *compare;
	const struct request_view *request; /* for the way that led here */
	bool present;                       /* the snapshot has a comparison at all */
	bool placed;                        /* the cursor was put on the largest difference */
	struct outline outline;
	struct table tree, ranked, values;
	uint64_t a_id, b_id; /* that cursors and folds are of */
	uint64_t median_id;  /* was chosen as the one nearest to the median */
	double all_ns;       /* absolute differences together */
};

static const struct compare_screen *screen_of(const void *data)
{
	return data;
}

/* "+1.31s": who took longer must not be told by a colour alone. */
static char *signed_text(char out[SIGNED_BYTES], int64_t ns)
{
	char text[FORMAT_BYTES];

	format_duration(text, (double)ns);
	snprintf(out, SIGNED_BYTES, "%s%s", ns > 0 ? "+" : "", text);
	return out;
}

static enum role difference_role(int64_t ns)
{
	return ns > 0 ? ROLE_BAD : ns < 0 ? ROLE_GOOD : ROLE_DIM;
}

static double share_of(const struct compare_screen *screen, int64_t ns)
{
	return screen->all_ns > 0 ? (double)(ns < 0 ? -ns : ns) / screen->all_ns : 0;
}

/* ---- both trees, aligned ---- */

enum tree_column { T_CONTEXT, T_A_COUNT, T_B_COUNT, T_A_ALL, T_B_ALL, T_A, T_B, T_BY, T_BAR };

static const struct table_column tree_columns[] = {
		[T_CONTEXT] = {"CONTEXT", 30, 0, TABLE_FLEX | TABLE_NAME, 64},
		[T_A_COUNT] = {"A SPANS", 7, 7, TABLE_RIGHT, 0},
		[T_B_COUNT] = {"B SPANS", 7, 7, TABLE_RIGHT, 0},
		[T_A_ALL] = {"A TOTAL", 7, 6, TABLE_RIGHT, 0},
		[T_B_ALL] = {"B TOTAL", 7, 6, TABLE_RIGHT, 0},
		[T_A] = {"A PATH", 7, 1, TABLE_RIGHT, 0},
		[T_B] = {"B PATH", 7, 1, TABLE_RIGHT, 0},
		[T_BY] = {"A-B", 8, 0, TABLE_RIGHT, 0},
		[T_BAR] = {"OF ALL DIFFERENCES", 18, 0, TABLE_FLEX | TABLE_UNSORTED | TABLE_GRAPHIC,
				40},
};

static uint64_t line_key(const void *data, uint32_t line)
{
	return screen_of(data)->outline.line[line].key;
}

static void times_cell(const struct compare_row *row, int column, char *text)
{
	bool a = column == T_A || column == T_A_ALL;
	uint64_t path_ns = a ? row->a_path_ns : row->b_path_ns;

	if ((a ? row->a_count : row->b_count) == 0 && path_ns == 0) {
		strcpy(text, "-");
	} else if (column == T_A || column == T_B) {
		format_duration(text, (double)path_ns);
	} else {
		format_duration(text, (double)(a ? row->a_ns : row->b_ns));
	}
}

static void tree_cell(const void *data, uint32_t line, int column, struct table_cell *cell)
{
	const struct compare_screen *screen = screen_of(data);
	const struct outline_line *at = &screen->outline.line[line];
	const struct compare_row *row = &screen->compare->rows[at->row];
	const char *fold = at->open                                       ? "▾ "
			   : outline_is_parent(&screen->outline, at->row) ? "▸ "
									  : "  ";

	switch (column) {
	case T_CONTEXT:
		snprintf(cell->text, sizeof(cell->text), "%s%s", fold, row->name);
		cell->indent = row->depth < 20 ? (int)row->depth : 20;
		break;
	case T_A_COUNT:
	case T_B_COUNT:
		format_count(cell->text, column == T_A_COUNT ? row->a_count : row->b_count);
		break;
	case T_BY:
		signed_text(cell->text, row->difference_ns);
		cell->role = difference_role(row->difference_ns);
		break;
	default:
		times_cell(row, column, cell->text);
		break;
	}
}

static void paint_share(const struct compare_screen *screen, int64_t ns, struct canvas *canvas,
		struct area area)
{
	char text[FORMAT_BYTES];

	if (ns == 0) {
		return;
	}
	format_share(text, share_of(screen, ns));
	canvas_text_right(canvas, area.y, area.x, SHARE_COLUMNS - 1, ROLE_TEXT, text);
	bar_share(canvas, area.y, area.x + SHARE_COLUMNS, area.width - SHARE_COLUMNS,
			share_of(screen, ns));
}

static bool tree_paint(const void *data, uint32_t line, int column, struct canvas *canvas,
		struct area area)
{
	const struct compare_screen *screen = screen_of(data);

	if (column != T_BAR) {
		return false;
	}
	paint_share(screen, screen->compare->rows[screen->outline.line[line].row].difference_ns,
			canvas, area);
	return true;
}

static const struct table_source tree_source = {
		.columns = tree_columns,
		.n_columns = TABLE_COUNT(tree_columns),
		.what = "contexts",
		.key = line_key,
		.cell = tree_cell,
		.paint = tree_paint,
};

static uint32_t row_parent(const void *data, uint32_t row)
{
	return screen_of(data)->compare->rows[row].parent;
}

static uint64_t row_key(const void *data, uint32_t row, uint64_t parent)
{
	const struct compare_row *at = &screen_of(data)->compare->rows[row];

	return view_chain_key(at->provider, at->name, parent);
}

static const struct outline_source rows = {.parent = row_parent, .key = row_key};

/* ---- differences by size ---- */

static const struct table_column ranked_columns[] = {
		{"LARGEST DIFFERENCES", 20, 0, TABLE_FLEX, 0},
		{"A-B", 8, 0, TABLE_RIGHT, 0},
		{"", 5, 1, TABLE_RIGHT, 0},
};

static const struct compare_row *ranked_row(const void *data, uint32_t place)
{
	const struct compare_view *compare = screen_of(data)->compare;

	return &compare->rows[compare->ranked[place]];
}

static uint64_t ranked_key(const void *data, uint32_t place)
{
	return outline_key(&screen_of(data)->outline, screen_of(data)->compare->ranked[place]);
}

static void ranked_cell(const void *data, uint32_t place, int column, struct table_cell *cell)
{
	const struct compare_row *row = ranked_row(data, place);

	if (column == 0) {
		text_copy(cell->text, sizeof(cell->text), row->name);
	} else if (column == 1) {
		signed_text(cell->text, row->difference_ns);
		cell->role = difference_role(row->difference_ns);
	} else {
		format_share(cell->text, share_of(screen_of(data), row->difference_ns));
	}
}

static const struct table_source ranked_source = {
		.columns = ranked_columns,
		.n_columns = TABLE_COUNT(ranked_columns),
		.what = "differences",
		.key = ranked_key,
		.cell = ranked_cell,
};

/* ---- values that differ ---- */

static const struct table_column value_columns[] = {
		{"VALUE", 8, 0, TABLE_FLEX, 24},
		{"OF SPAN", 10, 2, TABLE_FLEX, 30},
		{"A", 8, 0, TABLE_FLEX, 0},
		{"B", 8, 0, TABLE_FLEX, 0},
};

static uint64_t value_key(const void *data, uint32_t row)
{
	const struct compare_value *value = &screen_of(data)->compare->values[row];

	return view_chain_key(value->span, value->name, 0);
}

static void value_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct compare_value *value = &screen_of(data)->compare->values[row];
	const char *const texts[] = {value->name, value->span, value->a, value->b};

	text_copy(cell->text, sizeof(cell->text), texts[column][0] ? texts[column] : "-");
	cell->role = column == 1 ? ROLE_DIM : ROLE_TEXT;
}

static const struct table_source value_source = {
		.columns = value_columns,
		.n_columns = TABLE_COUNT(value_columns),
		.what = "values",
		.key = value_key,
		.cell = value_cell,
};

/* ---- the screen ---- */

static void *compare_create(void)
{
	struct compare_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		outline_init(&screen->outline, &rows);
		table_init(&screen->tree, &tree_source);
		table_init(&screen->ranked, &ranked_source);
		table_init(&screen->values, &value_source);
	}
	return screen;
}

static void compare_destroy(void *view)
{
	struct compare_screen *screen = view;

	outline_release(&screen->outline);
	table_release(&screen->tree);
	table_release(&screen->ranked);
	table_release(&screen->values);
	free(screen);
}

static uint32_t compare_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_REQUEST | FOCUS_COMPARE;
}

static void arrange(struct compare_screen *screen)
{
	outline_update(&screen->outline, screen, screen->compare->n, NULL, screen->tree.filter.set);
	table_update(&screen->tree, screen, screen->outline.lines);
}

static void select_row(struct compare_screen *screen, uint32_t row)
{
	outline_reveal(&screen->outline, row);
	arrange(screen);
	table_select(&screen->tree, outline_key(&screen->outline, row));
}

static void compare_enter(void *view, const struct view_call *call)
{
	struct compare_screen *screen = view;

	(void)call;
	screen->pane = PANE_TREE;
}

static void compare_update(void *view, const struct snapshot *snapshot)
{
	struct compare_screen *screen = view;
	const struct compare_view *compare = &snapshot->compare;
	uint32_t i;

	screen->compare = compare;
	screen->request = &snapshot->request;
	screen->present = snapshot->focus.parts & FOCUS_COMPARE;
	if (compare->b_is_median) {
		screen->median_id = compare->b.id;
	}
	if (compare->a.id != screen->a_id || compare->b.id != screen->b_id) {
		screen->a_id = compare->a.id;
		screen->b_id = compare->b.id;
		screen->tree.cursor_key = screen->ranked.cursor_key = screen->values.cursor_key = 0;
		screen->tree.cursor = screen->ranked.cursor = screen->values.cursor = 0;
		outline_restart(&screen->outline);
		screen->placed = false;
	}
	screen->all_ns = 0;
	for (i = 0; i < compare->n; i++) {
		int64_t ns = compare->rows[i].difference_ns;

		screen->all_ns += (double)(ns < 0 ? -ns : ns);
	}
	arrange(screen);
	table_update(&screen->ranked, screen, compare->n_ranked);
	table_update(&screen->values, screen, compare->n_values);
	if (!screen->placed && compare->n_ranked > 0) {
		screen->placed = true;
		select_row(screen, compare->ranked[0]);
	}
}

static void draw_breadcrumbs(const struct compare_screen *screen, const struct view_frame *frame,
		struct area line)
{
	char group[512];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (screen->request->id == 0) {
		view_breadcrumbs(frame, line, "request", "compared", "");
		return;
	}
	view_group_name(group, sizeof(group), screen->request->type, screen->request->path);
	view_breadcrumbs(frame, line, group, "request compared", "");
}

static void side_text(const struct compare_screen *screen, const struct compare_side *side,
		char letter, char *out, size_t size)
{
	char duration[FORMAT_BYTES], clock[FORMAT_BYTES];
	bool median = letter == 'B' && side->id == screen->median_id;

	snprintf(out, size, "%c %-7s %s at %s%s%s", letter,
			format_duration(duration, (double)side->duration_ns),
			view_state_name(side->state), format_clock(clock, side->start_ns),
			side->tainted ? " ~ events lost" : "",
			letter == 'A' ? ""
			: median      ? "   nearest to its group's median"
				      : "   tagged");
}

static void draw_sides(const struct compare_screen *screen, const struct view_frame *frame,
		struct area area)
{
	const struct compare_view *compare = screen->compare;
	int64_t by_ns = (int64_t)(compare->a.duration_ns - compare->b.duration_ns);
	char text[256], by[SIGNED_BYTES];
	int keep;

	layout_cut_columns(&area, 1);
	snprintf(text, sizeof(text), "  A-B %s", signed_text(by, by_ns));
	keep = (int)strlen(text) + 1;
	canvas_text_right(frame->canvas, area.y, area.x, area.width - 1, difference_role(by_ns),
			text);
	side_text(screen, &compare->a, 'A', text, sizeof(text));
	canvas_text(frame->canvas, area.y, area.x, area.width - keep, ROLE_TEXT, text);
	side_text(screen, &compare->b, 'B', text, sizeof(text));
	canvas_text(frame->canvas, area.y + 1, area.x, area.width, ROLE_TEXT, text);
}

static void draw_below(
		struct compare_screen *screen, const struct view_frame *frame, struct area area)
{
	struct area ranked = layout_cut_columns(&area, area.width * 9 / 20);
	char text[64];

	layout_cut_columns(&ranked, -1);
	snprintf(text, sizeof(text), "%" PRIu32 " context%s", screen->compare->n_ranked,
			screen->compare->n_ranked == 1 ? " differs" : "s differ");
	view_pane(frame, layout_cut_rows(&ranked, 1), text, "", screen->pane == PANE_RANKED);
	table_draw(&screen->ranked, frame->canvas, ranked, screen->pane == PANE_RANKED,
			frame->search);
	snprintf(text, sizeof(text), "%" PRIu32 " value%s", screen->compare->n_values,
			screen->compare->n_values == 1 ? " differs" : "s differ");
	view_pane(frame, layout_cut_rows(&area, 1), text, "", screen->pane == PANE_VALUES);
	table_draw(&screen->values, frame->canvas, area, screen->pane == PANE_VALUES,
			frame->search);
}

static void draw_nothing(const struct compare_screen *screen, const struct view_frame *frame,
		struct area area)
{
	const char *text = "…";

	if (screen->present && view_answers(frame)) {
		text = screen->compare->a.id == 0
				       ? "this request is not kept (any more); Esc goes back"
		       : frame->tagged != 0 ? "the tagged request is not kept (any more): c "
					      "compares with the median one, Space tags another"
					    : "no other request of its group is kept";
	}
	canvas_text(frame->canvas, area.y + 2, area.x + 3, area.width - 6, ROLE_DIM, text);
}

static void compare_draw(void *view, const struct view_frame *frame)
{
	struct compare_screen *screen = view;
	struct area area = frame->area, below;

	arrange(screen); /* a filter may have been set meanwhile */
	draw_breadcrumbs(screen, frame, layout_cut_rows(&area, 1));
	if (screen->compare->a.id == 0 || screen->compare->b.id == 0 ||
			screen->compare->a.id != frame->focus->request_id) {
		draw_nothing(screen, frame, area);
		return;
	}
	draw_sides(screen, frame, layout_cut_rows(&area, 2));
	below = layout_cut_rows(&area, area.height >= 12 ? -(area.height * 9 / 20) : 0);
	if (below.height == 0 && screen->pane != PANE_TREE) {
		below = layout_cut_rows(&area, area.height);
	}
	table_draw(&screen->tree, frame->canvas, area, screen->pane == PANE_TREE, frame->search);
	if (below.height > 0) {
		draw_below(screen, frame, below);
	}
}

static uint32_t selected(const struct compare_screen *screen)
{
	uint32_t line = table_row(&screen->tree);

	return line == NONE ? NONE : screen->outline.line[line].row;
}

static bool fold(struct compare_screen *screen, bool fold)
{
	uint32_t row = selected(screen);

	if (row == NONE) {
		return false;
	}
	if (outline_fold(&screen->outline, table_row(&screen->tree), fold)) {
		arrange(screen);
		return true;
	}
	if (fold && screen->compare->rows[row].parent < row) {
		select_row(screen, screen->compare->rows[row].parent);
		return true;
	}
	return false;
}

/* To the request that took longer there, at the span. */
static bool enter_row(const struct compare_screen *screen, struct view_call *call)
{
	uint32_t row = selected(screen);

	if (row == NONE) {
		return false;
	}
	call->go = SCREEN_REQUEST;
	call->group_id = screen->request->group_id;
	call->request_id = screen->compare->rows[row].difference_ns < 0 ? screen->compare->b.id
									: screen->compare->a.id;
	call->chain = outline_key(&screen->outline, row);
	return true;
}

static bool act_on_tree(struct compare_screen *screen, enum action action, struct view_call *call)
{
	switch (action) {
	case ACTION_ENTER:
		return enter_row(screen, call);
	case ACTION_LEFT:
		return fold(screen, true);
	case ACTION_RIGHT:
		return fold(screen, false);
	default:
		return table_act(&screen->tree, action);
	}
}

static struct table *compare_table(void *view)
{
	struct compare_screen *screen = view;

	return screen->pane == PANE_TREE     ? &screen->tree
	       : screen->pane == PANE_RANKED ? &screen->ranked
					     : &screen->values;
}

static bool compare_act(void *view, enum action action, struct view_call *call)
{
	struct compare_screen *screen = view;
	uint32_t place;

	switch (action) {
	case ACTION_PANE:
		screen->pane = (enum pane)((screen->pane + 1) % PANE_COUNT);
		return true;
	case ACTION_PANE_BACK:
		screen->pane = (enum pane)((screen->pane + PANE_COUNT - 1) % PANE_COUNT);
		return true;
	case ACTION_WORST:
		screen->pane = PANE_TREE;
		if (screen->compare->n_ranked > 0) {
			select_row(screen, screen->compare->ranked[0]);
		}
		return true;
	case ACTION_COMPARE:
		/* With the other one: the tagged request, or the median. */
		call->go = SCREEN_COMPARE;
		call->group_id = screen->request->group_id;
		call->request_id = screen->compare->a.id;
		call->median = screen->compare->b.id != screen->median_id;
		return call->request_id != 0;
	case ACTION_ENTER:
		place = table_row(&screen->ranked);
		if (screen->pane == PANE_RANKED && place != NONE) {
			screen->pane = PANE_TREE;
			select_row(screen, screen->compare->ranked[place]);
			return true;
		}
		break;
	default:
		break;
	}
	return screen->pane == PANE_TREE ? act_on_tree(screen, action, call)
					 : table_act(compare_table(screen), action);
}

const struct view_ops view_compare = {
		.screen = SCREEN_COMPARE,
		.key = ACTION_NONE,
		.up = SCREEN_GROUP,
		.back_to = SCREEN_BIT(SCREEN_REQUEST),
		.up_from = SCREEN_BITS_ALL &
			   ~(SCREEN_BIT(SCREEN_REQUEST) | SCREEN_BIT(SCREEN_COMPARE)),
		.about = "Two requests of a kind, their trees laid over each other. PATH is a "
			 "context's own part of the critical path: the differences add up to that "
			 "of the durations. B is the tagged request, else the one nearest to the "
			 "group's median; c changes between the two. w: the largest difference. "
			 "Enter: the request that took longer there.",
		.create = compare_create,
		.destroy = compare_destroy,
		.parts = compare_parts,
		.enter = compare_enter,
		.update = compare_update,
		.draw = compare_draw,
		.act = compare_act,
		.table = compare_table,
};
