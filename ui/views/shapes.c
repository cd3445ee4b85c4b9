/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "layout.h"
#include "views/view.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Key b: what requests of a type did: its shapes, and those that did what was not to be expected.
 */

#define TEXT_BYTES 1024
#define DETAIL     4 /* lines of what is under the cursor, with its title */

enum pane { PANE_SHAPES, PANE_IMPROBABLE, PANE_COUNT };

struct shapes_screen {
	enum pane pane;
	struct table shapes, improbable;
	const struct shapes_view *view;
	const struct group_view *group;
	uint32_t shown_id; /* the group that the cursors are of */
};

static const struct shapes_screen *screen_of(const void *data)
{
	return data;
}

/* ---- shapes ---- */

enum column { C_NUMBER, C_SHARE, C_INTERVAL, C_COUNT, C_MEAN, C_DIFFERS };

static const struct table_column shape_columns[] = {
		[C_NUMBER] = {"SHAPE", 5, 4, TABLE_RIGHT, 0},
		[C_SHARE] = {"SHARE", 5, 0, TABLE_RIGHT, 0},
		[C_INTERVAL] = {"95% INTERVAL", 12, 3, TABLE_RIGHT | TABLE_UNSORTED, 0},
		[C_COUNT] = {"N", 5, 2, TABLE_RIGHT, 0},
		[C_MEAN] = {"MEAN", 6, 1, TABLE_RIGHT, 0},
		[C_DIFFERS] = {"WHAT IS OTHERWISE", 14, 0, TABLE_FLEX | TABLE_NAME, 120},
};

static const struct shape_row *shape_at(const void *data, uint32_t row)
{
	return &screen_of(data)->view->rows[row];
}

/* By what it did: its number changes with its share. */
static uint64_t shape_key(const void *data, uint32_t row)
{
	return view_text_key(shape_at(data, row)->differs, row == 0);
}

static const char *differs(const struct shape_row *row)
{
	return row->differs[0]    ? row->differs
	       : row->number == 1 ? "(the most frequent)"
				  : "(otherwise than by steps)";
}

static void interval(char *out, size_t size, const struct shape_row *row)
{
	char low[FORMAT_BYTES], high[FORMAT_BYTES];

	snprintf(out, size, "%s to %s", format_share(low, row->share_low),
			format_share(high, row->share_high));
}

static void shape_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct shape_row *row = shape_at(data, index);
	char text[FORMAT_BYTES];

	switch (column) {
	case C_NUMBER:
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32, row->number);
		break;
	case C_SHARE:
		text_copy(cell->text, sizeof(cell->text), format_share(text, row->share));
		break;
	case C_INTERVAL:
		interval(cell->text, sizeof(cell->text), row);
		cell->role = ROLE_DIM;
		break;
	case C_COUNT:
		text_copy(cell->text, sizeof(cell->text), format_count(text, row->count));
		break;
	case C_MEAN:
		text_copy(cell->text, sizeof(cell->text), format_duration(text, row->mean_ns));
		break;
	default:
		text_copy(cell->text, sizeof(cell->text), differs(row));
		cell->role = row->differs[0] ? ROLE_NAME : ROLE_DIM;
		break;
	}
}

static int order_of(double a, double b)
{
	return (a > b) - (a < b);
}

static int shape_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct shape_row *x = shape_at(data, a), *y = shape_at(data, b);

	return column == C_NUMBER    ? order_of(x->number, y->number)
	       : column == C_MEAN    ? order_of(x->mean_ns, y->mean_ns)
	       : column == C_DIFFERS ? strcmp(x->differs, y->differs)
				     : order_of((double)x->count, (double)y->count);
}

static const struct table_source shape_source = {
		.columns = shape_columns,
		.n_columns = TABLE_COUNT(shape_columns),
		.what = "shapes",
		.key = shape_key,
		.cell = shape_cell,
		.compare = shape_compare,
};

/* ---- improbable requests ---- */

enum odd_column { O_SURPRISE, O_COUNT, O_STEP, O_AT, O_EXPECTED };

static const struct table_column odd_columns[] = {
		[O_SURPRISE] = {"BITS", 5, 0, TABLE_RIGHT, 0},
		[O_COUNT] = {"N", 4, 2, TABLE_RIGHT, 0},
		[O_STEP] = {"STEP", 4, 3, TABLE_RIGHT, 0},
		[O_AT] = {"WHAT IT DID THERE", 14, 0, TABLE_FLEX | TABLE_NAME, 60},
		[O_EXPECTED] = {"EXPECTED", 24, 1, 0, 0},
};

static const struct improbable_row *odd_at(const void *data, uint32_t row)
{
	return &screen_of(data)->view->improbable[row];
}

static uint64_t odd_key(const void *data, uint32_t row)
{
	return odd_at(data, row)->request ? odd_at(data, row)->request : UINT64_MAX - row;
}

static void odd_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct improbable_row *row = odd_at(data, index);
	char text[FORMAT_BYTES];

	switch (column) {
	case O_SURPRISE:
		snprintf(cell->text, sizeof(cell->text), "%.1f", row->surprise);
		break;
	case O_COUNT:
		text_copy(cell->text, sizeof(cell->text), format_count(text, row->count));
		break;
	case O_STEP:
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32, row->step);
		break;
	case O_AT:
		text_copy(cell->text, sizeof(cell->text), row->at);
		cell->role = ROLE_NAME;
		break;
	default:
		text_copy(cell->text, sizeof(cell->text), row->expected);
		break;
	}
}

static int odd_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct improbable_row *x = odd_at(data, a), *y = odd_at(data, b);

	return column == O_SURPRISE   ? order_of(x->surprise, y->surprise)
	       : column == O_COUNT    ? order_of((double)x->count, (double)y->count)
	       : column == O_STEP     ? order_of(x->step, y->step)
	       : column == O_EXPECTED ? strcmp(x->expected, y->expected)
				      : strcmp(x->at, y->at);
}

static const struct table_source odd_source = {
		.columns = odd_columns,
		.n_columns = TABLE_COUNT(odd_columns),
		.what = "requests",
		.key = odd_key,
		.cell = odd_cell,
		.compare = odd_compare,
};

/* ---- the screen ---- */

static void *shapes_create(void)
{
	struct shapes_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->shapes, &shape_source);
		table_init(&screen->improbable, &odd_source);
	}
	return screen;
}

static void shapes_destroy(void *view)
{
	struct shapes_screen *screen = view;

	table_release(&screen->shapes);
	table_release(&screen->improbable);
	free(screen);
}

static uint32_t shapes_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_GROUP | FOCUS_SHAPES;
}

static void shapes_update(void *view, const struct snapshot *snapshot)
{
	struct shapes_screen *screen = view;

	screen->view = &snapshot->shapes;
	screen->group = &snapshot->group;
	table_update(&screen->shapes, screen, screen->view->n);
	table_update(&screen->improbable, screen, screen->view->n_improbable);
	if (screen->group->id && screen->shown_id != screen->group->id) {
		screen->shown_id = screen->group->id;
		table_act(&screen->shapes, ACTION_FIRST);
		table_act(&screen->improbable, ACTION_FIRST);
	}
	if (screen->view->n_improbable == 0) {
		screen->pane = PANE_SHAPES;
	}
}

static void draw_head(const struct shapes_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct shapes_view *view = screen->view;
	char right[128] = "", count[2][FORMAT_BYTES];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (view->n_types > 0) {
		const struct shapes_type *type = &view->types[0];

		snprintf(right, sizeof(right), "%s of %s requests%s",
				format_count(count[0], type->looked_at),
				format_count(count[1], type->requests),
				type->coarseness ? ", roughly" : "");
	}
	view_breadcrumbs(frame, line, view->n > 0 ? view->rows[0].type : "group", "shapes", right);
}

static void draw_nothing(const struct view_frame *frame, struct area area)
{
	layout_cut_rows(&area, 2);
	layout_cut_columns(&area, 3);
	layout_cut_columns(&area, -3);
	paragraph_draw(frame->canvas, area, ROLE_DIM,
			view_answers(frame) ? "No request of this type has ended in this horizon, "
					      "or none of which all was seen. t changes the "
					      "horizon."
					    : "…");
}

static void shape_sentence(char *out, size_t size, const struct shape_row *row)
{
	char text[4][FORMAT_BYTES], between[64];

	interval(between, sizeof(between), row);
	snprintf(out, size, "%s. %s of %s requests (%s); %" PRIu32 " steps, %" PRIu32 " variant%s",
			differs(row), format_count(text[0], row->count),
			format_count(text[1], row->of), between, row->steps, row->variants,
			row->variants == 1 ? "" : "s");
	if (row->measured) {
		text_add(out, size, "; CPU %s, waits %s, %s on average",
				format_duration(text[0], row->cpu_ns),
				format_duration(text[1], row->wait_ns),
				format_bytes(text[2], (uint64_t)row->bytes));
	}
}

static void odd_sentence(char *out, size_t size, const struct improbable_row *row)
{
	char text[3][FORMAT_BYTES];

	snprintf(out, size,
			"%s request%s did just this. Step %" PRIu32
			": %s, which %s of those do that come there; %s do: %s.",
			format_count(text[0], row->count), row->count == 1 ? "" : "s", row->step,
			row->at, format_share(text[1], row->at_probability),
			format_share(text[2], row->expected_probability), row->expected);
}

static void draw_detail(const struct shapes_screen *screen, const struct view_frame *frame,
		struct area area)
{
	bool shapes = screen->pane == PANE_SHAPES;
	uint32_t at = table_row(shapes ? &screen->shapes : &screen->improbable);
	char text[TEXT_BYTES], title[64];

	if (at == UINT32_MAX || area.height < 2) {
		return;
	}
	if (shapes) {
		snprintf(title, sizeof(title), "shape %" PRIu32, screen->view->rows[at].number);
		shape_sentence(text, sizeof(text), &screen->view->rows[at]);
	} else {
		snprintf(title, sizeof(title), "unlike the others");
		odd_sentence(text, sizeof(text), &screen->view->improbable[at]);
	}
	view_pane(frame, layout_cut_rows(&area, 1), title, "Enter: one of its requests", false);
	layout_cut_columns(&area, 2);
	layout_cut_columns(&area, -1);
	paragraph_draw(frame->canvas, area, ROLE_TEXT, text);
}

static void draw_improbable(
		struct shapes_screen *screen, const struct view_frame *frame, struct area area)
{
	view_pane(frame, layout_cut_rows(&area, 1), "unlike the others",
			screen->pane == PANE_IMPROBABLE ? "" : "Tab",
			screen->pane == PANE_IMPROBABLE);
	table_draw(&screen->improbable, frame->canvas, area, screen->pane == PANE_IMPROBABLE,
			frame->search);
}

static void shapes_draw(void *view, const struct view_frame *frame)
{
	struct shapes_screen *screen = view;
	struct area area = frame->area, improbable, detail;
	int wanted;

	draw_head(screen, frame, layout_cut_rows(&area, 1));
	if (screen->view->n == 0) {
		draw_nothing(frame, area);
		return;
	}
	detail = layout_cut_rows(&area, area.height >= 12 ? -DETAIL : 0);
	wanted = screen->view->n_improbable ? (int)screen->view->n_improbable + 2 : 0;
	wanted = wanted < area.height * 2 / 5 ? wanted : area.height * 2 / 5;
	if (area.height < 9) { /* one of them at a time */
		wanted = screen->pane == PANE_IMPROBABLE ? area.height : 0;
	}
	improbable = layout_cut_rows(&area, -wanted);
	if (area.height > 0) {
		table_draw(&screen->shapes, frame->canvas, area, screen->pane == PANE_SHAPES,
				frame->search);
	}
	if (improbable.height > 1) {
		draw_improbable(screen, frame, improbable);
	}
	draw_detail(screen, frame, detail);
}

/* To the request that is kept of what the cursor is on. */
static bool go_to_request(
		const struct shapes_screen *screen, enum action action, struct view_call *call)
{
	bool shapes = screen->pane == PANE_SHAPES;
	uint32_t at = table_row(shapes ? &screen->shapes : &screen->improbable);

	if (at == UINT32_MAX) {
		return false;
	}
	call->request_id = shapes ? screen->view->rows[at].request
				  : screen->view->improbable[at].request;
	call->group_id = shapes ? screen->view->rows[at].group_id
				: screen->view->improbable[at].group_id;
	if (!call->request_id) {
		snprintf(call->message, sizeof(call->message), "none of its requests is kept");
		return true;
	}
	call->go = action == ACTION_COMPARE ? SCREEN_COMPARE : SCREEN_REQUEST;
	return true;
}

static bool tag(const struct shapes_screen *screen, struct view_call *call)
{
	struct view_call to = {.go = 0};

	if (!go_to_request(screen, ACTION_ENTER, &to)) {
		return false;
	}
	memcpy(call->message, to.message, sizeof(call->message));
	call->tag = to.request_id;
	return true;
}

static bool shapes_act(void *view, enum action action, struct view_call *call)
{
	struct shapes_screen *screen = view;

	switch (action) {
	case ACTION_PANE:
	case ACTION_PANE_BACK:
		screen->pane = screen->view->n_improbable ? (screen->pane + 1) % PANE_COUNT
							  : PANE_SHAPES;
		return true;
	case ACTION_ENTER:
	case ACTION_REQUEST:
	case ACTION_COMPARE:
		return go_to_request(screen, action, call);
	case ACTION_TAG:
		return tag(screen, call);
	case ACTION_WORST: /* they come ranked */
		screen->pane = screen->view->n_improbable ? PANE_IMPROBABLE : screen->pane;
		return screen->view->n_improbable > 0 &&
		       table_select(&screen->improbable, odd_key(screen, 0));
	default:
		return table_act(
				screen->pane == PANE_SHAPES ? &screen->shapes : &screen->improbable,
				action);
	}
}

static struct table *shapes_table(void *view)
{
	struct shapes_screen *screen = view;

	return screen->pane == PANE_SHAPES ? &screen->shapes : &screen->improbable;
}

const struct view_ops view_shapes = {
		.screen = SCREEN_SHAPES,
		.key = ACTION_SHAPES,
		.up = SCREEN_GROUP,
		.back_to = SCREEN_BIT(SCREEN_GROUPS) | SCREEN_BIT(SCREEN_GROUP) |
			   SCREEN_BIT(SCREEN_TREE),
		.about = "What requests of the selected group's type did, all groups of it "
			 "together: requests that did the same, or nearly, are a shape; the most "
			 "frequent first, of others what they did otherwise. Below, those unlike "
			 "the others: how improbable what they did is (BITS, each halves it), and "
			 "the step at which they left what was to be expected. Enter: one of "
			 "these requests; c compares it with the tagged one.",
		.create = shapes_create,
		.destroy = shapes_destroy,
		.parts = shapes_parts,
		.update = shapes_update,
		.draw = shapes_draw,
		.act = shapes_act,
		.table = shapes_table,
};
