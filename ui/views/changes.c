/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "change_text.h"
#include "format.h"
#include "layout.h"
#include "pythiatop/snapshot/fields.h"
#include "views/view.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Screen 8: what has changed since the baseline, and types of requests side by side. */

#define TEXT_BYTES 1024
#define DETAIL     4 /* lines of the change under the cursor, with its title */

enum pane { PANE_CHANGES, PANE_TYPES, PANE_COUNT };

struct changes_screen {
	enum pane pane;
	struct table rows, types;
	const struct changes_view *changes;
	bool present; /* the snapshot was asked for them */
};

static const struct changes_screen *screen_of(const void *data)
{
	return data;
}

/* ---- changes ---- */

enum column { C_KIND, C_PLACE, C_BEFORE, C_AFTER, C_ADDED, C_INTERVAL, C_REQUESTS };

static const struct table_column row_columns[] = {
		[C_KIND] = {"CHANGE", 7, 0, 0, 0},
		[C_PLACE] = {"PLACE", 14, 0, TABLE_FLEX | TABLE_NAME, 60},
		[C_BEFORE] = {"BEFORE", 7, 2, TABLE_RIGHT, 0},
		[C_AFTER] = {"NOW", 7, 2, TABLE_RIGHT, 0},
		[C_ADDED] = {"ADDS/S", 7, 0, TABLE_RIGHT, 0},
		[C_INTERVAL] = {"95% INTERVAL", 18, 1, TABLE_RIGHT | TABLE_UNSORTED, 0},
		[C_REQUESTS] = {"REQUESTS", 13, 7, TABLE_RIGHT | TABLE_UNSORTED, 0},
};

static const struct change_row *row_at(const void *data, uint32_t row)
{
	return &screen_of(data)->changes->rows[row];
}

/* What it is and where, however its figures go on. */
static uint64_t row_key(const void *data, uint32_t index)
{
	const struct change_row *row = row_at(data, index);
	uint64_t key = view_chain_key(row->service, change_kind(row->kind), 0);

	return view_chain_key(row->where, row->type, view_chain_key(row->provider, row->name, key));
}

/* What costs requests time is bad, what saves it good, and what is not sure is neither. */
static enum role role_of(const struct change_row *row)
{
	return !row->sure || row->kind == CHANGE_RATE || row->kind == CHANGE_SPLIT ||
					       row->kind == CHANGE_MERGE
			       ? ROLE_DIM
	       : row->path_unknown       ? ROLE_WARN
	       : row->added_ns_per_s > 0 ? ROLE_BAD
					 : ROLE_GOOD;
}

static void row_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct change_row *row = row_at(data, index);
	char count[2][FORMAT_BYTES];

	switch (column) {
	case C_KIND:
		text_copy(cell->text, sizeof(cell->text), change_kind(row->kind));
		cell->role = role_of(row);
		break;
	case C_PLACE:
		change_place(cell->text, sizeof(cell->text), row);
		cell->role = row->sure ? ROLE_NAME : ROLE_DIM;
		break;
	case C_BEFORE:
		change_value(cell->text, sizeof(cell->text), row, row->before);
		break;
	case C_AFTER:
		change_value(cell->text, sizeof(cell->text), row, row->after);
		break;
	case C_REQUESTS:
		snprintf(cell->text, sizeof(cell->text), "%s, %s",
				format_count(count[0], row->requests_before),
				format_count(count[1], row->requests_after));
		break;
	default:
		if (row->kind == CHANGE_RATE || row->path_unknown) { /* nor is what load adds */
			strcpy(cell->text, "-");
		} else if (column == C_ADDED) {
			change_signed(cell->text, sizeof(cell->text), row->added_ns_per_s);
			cell->role = role_of(row);
		} else {
			change_interval(cell->text, sizeof(cell->text), row);
		}
		break;
	}
}

static int row_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct change_row *rows[2] = {row_at(data, a), row_at(data, b)};
	char text[2][TABLE_CELL_BYTES];
	double number[2] = {0, 0};

	if (column == C_KIND) {
		return (rows[0]->kind > rows[1]->kind) - (rows[0]->kind < rows[1]->kind);
	}
	for (int i = 0; i < 2; i++) {
		change_place(text[i], sizeof(text[i]), rows[i]);
		number[i] = column == C_BEFORE  ? rows[i]->before
			    : column == C_AFTER ? rows[i]->after
						: rows[i]->added_ns_per_s;
	}
	return column == C_PLACE ? strcmp(text[0], text[1])
				 : (number[0] > number[1]) - (number[0] < number[1]);
}

static const char *row_mark(const void *data, uint32_t row)
{
	return row_at(data, row)->sure ? NULL : "?";
}

static const struct table_source row_source = {
		.columns = row_columns,
		.n_columns = TABLE_COUNT(row_columns),
		.what = "changes",
		.key = row_key,
		.cell = row_cell,
		.compare = row_compare,
		.mark = row_mark,
};

/* ---- types of requests ---- */

#define TYPE(field) &change_type_fields[FIELD_TYPE_##field]

static const struct table_column type_columns[] = {
		{"TYPE OF REQUEST", 15, 0, TABLE_FLEX | TABLE_NAME, 60, TYPE(TYPE), ROLE_NAME},
		{"N", 5, 4, TABLE_RIGHT, 0, TYPE(N)},
		{"NOW", 5, 4, TABLE_RIGHT, 0, TYPE(N_NOW)},
		{"RATE", 6, 3, TABLE_RIGHT, 0, TYPE(RATE)},
		{"NOW", 6, 3, TABLE_RIGHT, 0, TYPE(RATE_NOW)},
		{"MEAN", 7, 1, TABLE_RIGHT, 0, TYPE(MEAN)},
		{"NOW", 7, 1, TABLE_RIGHT, 0, TYPE(MEAN_NOW)},
		{"ADDS/S", 8, 0, TABLE_RIGHT, 0, TYPE(ADDED)},
};

static const struct change_type *type_at(const void *data, uint32_t row)
{
	return &screen_of(data)->changes->all_types[row];
}

static uint64_t type_key(const void *data, uint32_t row)
{
	return view_text_key(type_at(data, row)->type, 0);
}

static const void *type_data(const void *data, uint32_t row)
{
	return type_at(data, row);
}

static void type_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct row_field *field = type_columns[column].field;
	const struct change_type *type = type_at(data, row);
	struct row_value added = row_read(TYPE(ADDED), type);

	if (field == TYPE(ADDED) && added.known) {
		change_signed(cell->text, sizeof(cell->text), added.real);
	} else if (field == TYPE(TYPE) && !type->type[0]) {
		strcpy(cell->text, "(no name)");
	}
}

static const struct table_source type_source = {
		.columns = type_columns,
		.n_columns = TABLE_COUNT(type_columns),
		.what = "types",
		.key = type_key,
		.row = type_data,
		.cell = type_cell,
};

/* ---- the screen ---- */

static void *changes_create(void)
{
	struct changes_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->rows, &row_source);
		table_init(&screen->types, &type_source);
		table_stay_on_top(&screen->rows);
		table_stay_on_top(&screen->types);
	}
	return screen;
}

static void changes_destroy(void *view)
{
	struct changes_screen *screen = view;

	table_release(&screen->rows);
	table_release(&screen->types);
	free(screen);
}

static uint32_t changes_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_CHANGES;
}

static void changes_update(void *view, const struct snapshot *snapshot)
{
	struct changes_screen *screen = view;

	screen->changes = &snapshot->changes;
	screen->present = snapshot->focus.parts & FOCUS_CHANGES;
	table_update(&screen->rows, screen, screen->changes->n);
	table_update(&screen->types, screen, screen->changes->n_all_types);
}

static char *whole_seconds(char out[FORMAT_BYTES], uint64_t length_ns)
{
	return format_period(out, (double)(length_ns - length_ns % 1000000000u));
}

static void draw_head(const struct changes_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct changes_view *changes = screen->changes;
	char text[128], since[TEXT_BYTES], before[FORMAT_BYTES], after[FORMAT_BYTES];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	snprintf(text, sizeof(text), "%s against %s",
			whole_seconds(after, changes->after_length_ns),
			whole_seconds(before, changes->before_length_ns));
	if (change_is_sure(changes)) {
		text_add(text, sizeof(text), "  %" PRIu32 " of %" PRIu32 " differences", changes->n,
				changes->tests);
	}
	snprintf(since, sizeof(since), "changes since %.900s",
			changes->baseline[0] ? changes->baseline : ":baseline now");
	view_breadcrumbs(frame, line, since, NULL, text);
}

static void draw_nothing(const struct changes_screen *screen, const struct view_frame *frame,
		struct area area)
{
	const char *text = "…";

	if (screen->present && view_answers(frame)) {
		text = "Nothing to compare with: there is no baseline, or no request so far on "
		       "either side. Give one by --baseline=FILE or a recording, by `pythiatop "
		       "compare BEFORE AFTER`, or by :baseline now, which makes one of what is "
		       "shown.";
	}
	layout_cut_rows(&area, 2);
	layout_cut_columns(&area, 3);
	layout_cut_columns(&area, -3);
	paragraph_draw(frame->canvas, area, ROLE_DIM, text);
}

/* The change under the cursor. */
static void draw_detail(const struct changes_screen *screen, const struct view_frame *frame,
		struct area area)
{
	uint32_t at = table_row(&screen->rows);
	char text[TEXT_BYTES];

	if (at == UINT32_MAX || area.height < 2) {
		return;
	}
	change_place(text, sizeof(text), &screen->changes->rows[at]);
	view_pane(frame, layout_cut_rows(&area, 1), text, "", false);
	layout_cut_columns(&area, 2);
	layout_cut_columns(&area, -1);
	change_sentence(text, sizeof(text), &screen->changes->rows[at]);
	paragraph_draw(frame->canvas, area, ROLE_TEXT, text);
}

/* What could not be compared is not silent; types that are on one side alone are in the list. */
static void unmatched_text(const struct changes_view *changes, char *out, size_t size)
{
	snprintf(out, size,
			"gone, new: %" PRIu32 ", %" PRIu32 " groups; %" PRIu32 ", %" PRIu32
			" contexts",
			changes->n_groups_gone, changes->n_groups_new, changes->n_contexts_gone,
			changes->n_contexts_new);
	if (changes->n_cut) {
		text_add(out, size, "; cut off: %" PRIu64, changes->cut_requests);
	}
}

static void draw_types(
		struct changes_screen *screen, const struct view_frame *frame, struct area area)
{
	char text[256];

	unmatched_text(screen->changes, text, sizeof(text));
	view_pane(frame, layout_cut_rows(&area, 1), "types", text, screen->pane == PANE_TYPES);
	table_draw(&screen->types, frame->canvas, area, screen->pane == PANE_TYPES, frame->search);
}

static void draw_changes(
		struct changes_screen *screen, const struct view_frame *frame, struct area area)
{
	char text[128];

	if (!change_is_sure(screen->changes)) {
		struct area line = layout_cut_rows(&area, 1);

		snprintf(text, sizeof(text),
				"nothing that chance would not make of %" PRIu32 " differences%s",
				screen->changes->tests,
				screen->changes->n ? "; the largest, not sure:" : "");
		canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_STRONG, text);
	}
	if (screen->changes->n > 0) {
		struct area detail = layout_cut_rows(&area, area.height >= 9 ? -DETAIL : 0);

		table_draw(&screen->rows, frame->canvas, area, screen->pane == PANE_CHANGES,
				frame->search);
		draw_detail(screen, frame, detail);
	}
}

static void changes_draw(void *view, const struct view_frame *frame)
{
	struct changes_screen *screen = view;
	struct area area = frame->area, types;
	int wanted, most;

	if (!screen->changes->compared) {
		draw_nothing(screen, frame, area);
		return;
	}
	draw_head(screen, frame, layout_cut_rows(&area, 1));
	wanted = (int)(screen->changes->n_all_types < 64 ? screen->changes->n_all_types : 64) + 2;
	most = screen->changes->n > 0 ? area.height * 9 / 20 : area.height - 2;
	wanted = wanted < most ? wanted : most;
	if (area.height < 12) { /* one of them at a time */
		wanted = screen->pane == PANE_TYPES ? area.height : 0;
	}
	types = layout_cut_rows(&area, -wanted);
	if (area.height > 0) {
		draw_changes(screen, frame, area);
	}
	if (types.height > 0) {
		draw_types(screen, frame, types);
	}
}

/* Where the change is: the span's row in the tree, its group, or that group's slowest request. */
static bool go_there(const struct change_row *row, enum screen screen, struct view_call *call)
{
	uint64_t chain = 0;

	if (!row->group_id) {
		snprintf(call->message, sizeof(call->message),
				"no request of this horizon is in it: it was there before");
		return true;
	}
	for (uint32_t i = 0; i < row->n_steps; i++) {
		chain = view_chain_key(row->steps[i].provider, row->steps[i].name, chain);
	}
	call->go = screen == SCREEN_TREE && row->n_steps == 0 ? SCREEN_GROUP : screen;
	call->group_id = row->group_id;
	call->chain = chain;
	return true;
}

static bool go_to_type(const struct change_type *type, enum screen screen, struct view_call *call)
{
	call->go = screen;
	call->group_id = type->group_id;
	if (!type->group_id) {
		call->go = 0;
		snprintf(call->message, sizeof(call->message),
				"no request of this type is in this horizon: it was there before");
	}
	return true;
}

static bool act_on_row(struct changes_screen *screen, enum action action, struct view_call *call)
{
	bool types = screen->pane == PANE_TYPES;
	uint32_t at = table_row(types ? &screen->types : &screen->rows);
	enum screen to = action == ACTION_GROUP     ? SCREEN_GROUP
			 : action == ACTION_REQUEST ? SCREEN_REQUEST
			 : action == ACTION_TREE    ? SCREEN_TREE
			 : types                    ? SCREEN_GROUP
						    : SCREEN_TREE;

	if (at == UINT32_MAX) {
		return false;
	}
	return types ? go_to_type(&screen->changes->all_types[at], to, call)
		     : go_there(&screen->changes->rows[at], to, call);
}

static bool changes_act(void *view, enum action action, struct view_call *call)
{
	struct changes_screen *screen = view;

	switch (action) {
	case ACTION_PANE:
	case ACTION_PANE_BACK:
		screen->pane = (screen->pane + 1) % PANE_COUNT;
		return true;
	case ACTION_ENTER:
	case ACTION_GROUP:
	case ACTION_TREE:
	case ACTION_REQUEST:
		return screen->changes->compared && act_on_row(screen, action, call);
	case ACTION_WORST: /* they come ranked */
		return screen->changes->n > 0 && table_select(&screen->rows, row_key(screen, 0));
	default:
		return table_act(screen->pane == PANE_TYPES ? &screen->types : &screen->rows,
				action);
	}
}

static struct table *changes_table(void *view)
{
	struct changes_screen *screen = view;

	return !screen->changes->compared   ? NULL
	       : screen->pane == PANE_TYPES ? &screen->types
					    : &screen->rows;
}

const struct view_ops view_changes = {
		.screen = SCREEN_CHANGES,
		.key = ACTION_CHANGES,
		.up = SCREEN_GROUPS,
		.back_to = SCREEN_BIT(SCREEN_GROUPS) | SCREEN_BIT(SCREEN_GROUP) |
			   SCREEN_BIT(SCREEN_TREE) | SCREEN_BIT(SCREEN_REQUEST),
		.about = "What is otherwise than in the baseline, what adds most time to all "
			 "requests first: ADDS/S is ns a second, with its 95 % interval; BEFORE "
			 "and NOW are means a span (of calls: calls a span). transit: the way "
			 "between two services, or the wait for one; the one named first is slow "
			 "to reach. ?: not sure. Enter: its calling context; 2 its group, 4 the "
			 "slowest request. Below, types of requests before and now.",
		.create = changes_create,
		.destroy = changes_destroy,
		.parts = changes_parts,
		.update = changes_update,
		.draw = changes_draw,
		.act = changes_act,
		.table = changes_table,
};
