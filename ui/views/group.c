/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_text.h"
#include "format.h"
#include "layout.h"
#include "pythiatop/snapshot/fields.h"
#include "step_text.h"
#include "views/segments.h"
#include "views/view.h"
#include "widgets/bar.h"
#include "widgets/heat.h"
#include "widgets/table.h"

/* Screen 2: one group. Latency over time, its histogram, where it varies, the requests kept of it.
 */

/* On a narrower screen segments and requests share their place: the one last used has it. */
#define BOTH_PANES 140

enum pane { PANE_HEAT, PANE_SEGMENTS, PANE_REQUESTS, PANE_COUNT };

struct group_screen {
	enum pane pane;
	struct heat heat;
	bool requests; /* of the lower panes, that of the requests was used last */
	struct segments segments;
	struct table table;
	uint64_t tagged;
	const struct group_view *group;
	uint32_t shown_id; /* the group that cursor and list are of */
};

#define KEPT(field) &kept_fields[FIELD_KEPT_##field]

static const struct table_column columns[] = {
		{"START", 12, 1, 0, 0, KEPT(START)},
		{"DURATION", 9, 0, TABLE_RIGHT, 0, KEPT(DURATION), ROLE_STRONG},
		{"SPANS", 6, 2, TABLE_RIGHT, 0, KEPT(SPANS)},
		{"HOSTS", 6, 3, TABLE_RIGHT, 0, KEPT(HOSTS)},
		{"STATE", 9, 0, 0, 0, NULL},
		{"", 4, 0, TABLE_FLEX | TABLE_UNSORTED | TABLE_GRAPHIC, 60, NULL},
};

static const struct group_screen *screen_of(const void *data)
{
	return data;
}

static const struct group_request *request_at(const void *data, uint32_t row)
{
	return &screen_of(data)->group->requests[row];
}

static uint64_t request_key(const void *data, uint32_t row)
{
	return request_at(data, row)->id;
}

static const void *request_data(const void *data, uint32_t row)
{
	return request_at(data, row);
}

/* The state, as the bar is drawn. */
static void request_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct group_request *request = request_at(data, row);

	if (!columns[column].field) {
		strcpy(cell->text, request->failed ? "failed" : view_state_name(request->state));
		cell->role = request->failed                      ? ROLE_BAD
			     : request->state == REQUEST_COMPLETE ? ROLE_DIM
								  : ROLE_WARN;
	}
}

static int request_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	(void)column;
	return (int)request_at(data, a)->state - (int)request_at(data, b)->state;
}

static uint32_t slowest(const struct group_view *group)
{
	uint32_t i, worst = 0;

	for (i = 1; i < group->n_requests; i++) {
		if (group->requests[i].duration_ns > group->requests[worst].duration_ns) {
			worst = i;
		}
	}
	return worst;
}

static bool request_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	const struct group_view *group = screen_of(data)->group;
	uint64_t most_ns;

	if (!(columns[column].flags & TABLE_GRAPHIC)) {
		return false;
	}
	most_ns = group->requests[slowest(group)].duration_ns;
	if (most_ns > 0) {
		bar_draw(canvas, area.y, area.x, area.width, ROLE_BAR,
				(double)request_at(data, row)->duration_ns / (double)most_ns);
	}
	return true;
}

static const char *request_mark(const void *data, uint32_t row)
{
	if (request_at(data, row)->id == screen_of(data)->tagged) {
		return "◆";
	}
	return request_at(data, row)->tainted ? "~" : NULL;
}

static const struct table_source source = {
		.columns = columns,
		.n_columns = TABLE_COUNT(columns),
		.what = "requests",
		.key = request_key,
		.row = request_data,
		.cell = request_cell,
		.compare = request_compare,
		.paint = request_paint,
		.mark = request_mark,
};

static void *group_create(void)
{
	struct group_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->table, &source);
		segments_init(&screen->segments);
	}
	return screen;
}

static void group_destroy(void *view)
{
	struct group_screen *screen = view;

	table_release(&screen->table);
	segments_release(&screen->segments);
	free(screen);
}

static uint32_t group_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_GROUP | FOCUS_WAITS;
}

static void group_update(void *view, const struct snapshot *snapshot)
{
	struct group_screen *screen = view;

	screen->group = &snapshot->group;
	if (snapshot->group.id != 0 && snapshot->group.id != screen->shown_id) {
		screen->shown_id = snapshot->group.id;
		screen->heat.placed = false;
		screen->table.cursor = 0;
		screen->table.cursor_key = 0;
	}
	heat_update(&screen->heat, screen->group);
	segments_update(&screen->segments, screen->group);
	table_update(&screen->table, screen, screen->group->n_requests);
}

/* The figures of the group, the more telling first: as many as have room. */
static void draw_figures(
		const struct groups_row *row, const struct view_frame *frame, struct area line)
{
	const struct {
		const char *name;
		double duration_ns;
		uint64_t least; /* requests it takes to be valid */
	} durations[] = {{"p50", (double)row->p50_ns, 1}, {"p95", (double)row->p95_ns, 1},
			{"p99", (double)row->p99_ns, 1}, {"max", (double)row->max_ns, 1},
			{"mean", row->mean_ns, 1}, {"sd", row->sd_ns, 2}};
	char text[128], n[FORMAT_BYTES], rate[FORMAT_BYTES], cov[FORMAT_BYTES];
	int x = line.x, end = line.x + line.width;
	size_t i;

	if (row->count == 0) {
		canvas_text(frame->canvas, line.y, x, line.width, ROLE_DIM,
				"no complete request within this horizon");
		return;
	}
	snprintf(text, sizeof(text), "n %s  %s  cov %s", format_count(n, row->count),
			format_rate(rate, row->rate_per_s),
			row->count > 1 && row->mean_ns > 0 ? format_ratio(cov, row->cov) : "-");
	x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_TEXT, text);
	if (row->failed > 0) {
		snprintf(text, sizeof(text), "  failed %s",
				format_share(n, (double)row->failed / (double)row->ended));
		x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_BAD, text);
	}
	for (i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		snprintf(text, sizeof(text), "  %s %s", durations[i].name,
				row->count >= durations[i].least
						? format_duration(n, durations[i].duration_ns)
						: "-");
		if (x + (int)strlen(text) <= end) {
			x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_TEXT, text);
		}
	}
}

static void draw_verdict(
		const struct groups_row *row, const struct view_frame *frame, struct area line)
{
	char text[512];
	enum role role = row->missing > 0 || row->lossy ? ROLE_DIM
			 : row->detection               ? ROLE_BAD
							: ROLE_TEXT;

	view_verdict(text, sizeof(text), row);
	canvas_text(frame->canvas, line.y, line.x, line.width, role, text);
}

/* What the search has found: the variable, or the place. */
static void draw_finding(const struct steps_finding *finding, const struct view_frame *frame,
		struct area line)
{
	char text[1024];

	if (explain_found(finding->explanation)) {
		explain_sentence(text, sizeof(text), finding->explanation);
	} else {
		text_copy(text, sizeof(text), finding->text);
	}
	line.x += canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_NEXT, "VERDICT ");
	canvas_text(frame->canvas, line.y, line.x, frame->area.width - line.x - 1, ROLE_STRONG,
			text);
}

/* What is under the cursor, in the title of the heat's pane. */
static void describe_cell(const struct group_screen *screen, char *out, size_t size)
{
	char low[FORMAT_BYTES], high[FORMAT_BYTES], count[FORMAT_BYTES];
	struct heat_cell cell;

	out[0] = '\0';
	if (heat_cursor(&screen->heat, &cell)) {
		snprintf(out, size, "%s of %s..%s%s", format_count(count, cell.count),
				format_duration(low, cell.low_ns),
				format_duration(high, cell.high_ns),
				cell.request ? "  Enter: one of them" : "");
	}
}

static void draw_heat(struct group_screen *screen, const struct view_frame *frame, struct area area)
{
	struct area title = layout_cut_rows(&area, 1);
	char cell[128];

	heat_draw(&screen->heat, frame->canvas, area, screen->pane == PANE_HEAT);
	describe_cell(screen, cell, sizeof(cell));
	view_pane(frame, title, "latency over time, histogram", cell, screen->pane == PANE_HEAT);
}

static void draw_requests(
		struct group_screen *screen, const struct view_frame *frame, struct area area)
{
	struct area title = layout_cut_rows(&area, 1);
	char text[128], share[FORMAT_BYTES];

	screen->tagged = frame->tagged;

	snprintf(text, sizeof(text), "requests kept: %s of the window",
			format_share(share, screen->group->sampled_share));
	view_pane(frame, title, text, "", screen->pane == PANE_REQUESTS);
	table_draw(&screen->table, frame->canvas, area, screen->pane == PANE_REQUESTS,
			frame->search);
}

static void draw_below(
		struct group_screen *screen, const struct view_frame *frame, struct area area)
{
	struct area left;

	if (area.width < BOTH_PANES) {
		if (screen->requests) {
			draw_requests(screen, frame, area);
		} else {
			segments_draw(&screen->segments, frame, area,
					screen->pane == PANE_SEGMENTS);
		}
		return;
	}
	left = layout_cut_columns(&area, area.width / 2);
	layout_cut_columns(&left, -1);
	segments_draw(&screen->segments, frame, left, screen->pane == PANE_SEGMENTS);
	draw_requests(screen, frame, area);
}

/* What a cell of the heat map stands for. */
static void describe_scale(const struct group_screen *screen, char *out, size_t size)
{
	char width[FORMAT_BYTES];

	out[0] = '\0';
	if (screen->heat.lines > 0) {
		format_period(width, (double)screen->group->heat_cell_ns * screen->heat.per_column);
		if (screen->heat.per_line % 8 == 0) {
			snprintf(out, size, "cell %s × %d octave%s", width,
					screen->heat.per_line / 8,
					screen->heat.per_line == 8 ? "" : "s");
		} else {
			snprintf(out, size, "cell %s × %d/8 octave", width, screen->heat.per_line);
		}
	}
}

static void group_draw(void *view, const struct view_frame *frame)
{
	struct group_screen *screen = view;
	const struct group_view *group = screen->group;
	struct area area = frame->area, breadcrumbs = layout_cut_rows(&area, 1), figures, heat;
	const struct steps_finding *finding;
	char name[512], scale[64];

	layout_cut_columns(&breadcrumbs, 1);
	layout_cut_columns(&breadcrumbs, -1);
	if (group->id == 0 ||
			(frame->focus->group_id != 0 && group->id != frame->focus->group_id)) {
		view_breadcrumbs(frame, breadcrumbs, "group", NULL, "");
		canvas_text(frame->canvas, area.y + 2, area.x + 3, area.width - 6, ROLE_DIM,
				view_answers(frame)
						? "there is no such group (any more); Esc goes back"
						: "…");
		return;
	}
	view_group_name(name, sizeof(name), group->row.type, group->row.path);
	figures = layout_cut_rows(&area, 1);
	layout_cut_columns(&figures, 1);
	draw_figures(&group->row, frame, figures);
	if (area.height >= 18) {
		figures = layout_cut_rows(&area, 1);
		layout_cut_columns(&figures, 1);
		draw_verdict(&group->row, frame, figures);
	}
	finding = step_finding(&frame->snapshot->steps, group->id);
	if (finding && finding->rule != STOP_NONE && area.height >= 14) {
		figures = layout_cut_rows(&area, 1);
		layout_cut_columns(&figures, 1);
		draw_finding(finding, frame, figures);
	}
	/* What the heat map has no use for, the list gets. */
	heat = layout_cut_rows(&area,
			heat_arrange(&screen->heat, area.height * 3 / 5 - 2, area.width) + 2);
	draw_heat(screen, frame, heat);
	draw_below(screen, frame, area);
	describe_scale(screen, scale, sizeof(scale));
	view_breadcrumbs(frame, breadcrumbs, name, NULL, scale);
}

static bool enter_heat(const struct group_screen *screen, struct view_call *call)
{
	struct heat_cell cell;

	if (!heat_cursor(&screen->heat, &cell)) {
		return false;
	}
	if (cell.request == 0) {
		snprintf(call->message, sizeof(call->message),
				cell.count ? "no request of this cell was kept; w goes to the "
					     "slowest that was"
					   : "this cell is empty; w goes to the slowest request "
					     "kept");
		return true;
	}
	call->go = SCREEN_REQUEST;
	call->group_id = screen->group->id;
	call->request_id = cell.request;
	return true;
}

static bool enter_row(const struct group_screen *screen, struct view_call *call)
{
	uint32_t row = table_row(&screen->table);

	if (row == UINT32_MAX) {
		return false;
	}
	call->go = SCREEN_REQUEST;
	call->group_id = screen->group->id;
	call->request_id = screen->group->requests[row].id;
	return true;
}

/* The request under the cursor, be it of a cell or of the list; 0: none. */
static uint64_t request_here(const struct group_screen *screen)
{
	uint32_t row = table_row(&screen->table);
	struct heat_cell cell;

	switch (screen->pane) {
	case PANE_HEAT:
		return heat_cursor(&screen->heat, &cell) ? cell.request : 0;
	case PANE_REQUESTS:
		return row == UINT32_MAX ? 0 : screen->group->requests[row].id;
	default:
		return 0;
	}
}

static bool tag_or_compare(
		const struct group_screen *screen, enum action action, struct view_call *call)
{
	uint64_t request_id = request_here(screen);

	if (request_id == 0) {
		snprintf(call->message, sizeof(call->message),
				"no request is selected: Tab goes to the list of them");
	} else if (action == ACTION_TAG) {
		call->tag = request_id;
	} else {
		call->go = SCREEN_COMPARE;
		call->group_id = screen->group->id;
		call->request_id = request_id;
	}
	return true;
}

static void change_pane(struct group_screen *screen, int step)
{
	screen->pane = (enum pane)(((int)screen->pane + PANE_COUNT + step) % PANE_COUNT);
	if (screen->pane != PANE_HEAT) {
		screen->requests = screen->pane == PANE_REQUESTS;
	}
}

static bool act_on_pane(struct group_screen *screen, enum action action, struct view_call *call)
{
	const struct group_view *group = screen->group;

	if (screen->pane == PANE_SEGMENTS) {
		return segments_act(&screen->segments, action, call);
	}
	if (action == ACTION_ENTER) {
		return screen->pane == PANE_HEAT ? enter_heat(screen, call)
						 : enter_row(screen, call);
	}
	if (screen->pane == PANE_HEAT) {
		return heat_act(&screen->heat, action);
	}
	if (action == ACTION_WORST) {
		return group->n_requests > 0 &&
		       table_select(&screen->table, group->requests[slowest(group)].id);
	}
	return table_act(&screen->table, action);
}

static bool group_act(void *view, enum action action, struct view_call *call)
{
	struct group_screen *screen = view;

	switch (action) {
	case ACTION_PANE:
		change_pane(screen, 1);
		return true;
	case ACTION_PANE_BACK:
		change_pane(screen, -1);
		return true;
	case ACTION_TAG:
	case ACTION_COMPARE:
		return tag_or_compare(screen, action, call);
	case ACTION_REQUEST:
		call->go = SCREEN_REQUEST;
		call->group_id = screen->group->id;
		call->request_id = screen->group->row.worst_request;
		return true;
	default:
		return act_on_pane(screen, action, call);
	}
}

static struct table *group_table(void *view)
{
	struct group_screen *screen = view;

	return screen->pane == PANE_REQUESTS   ? &screen->table
	       : screen->pane == PANE_SEGMENTS ? &screen->segments.table
					       : NULL;
}

const struct view_ops view_group = {
		.screen = SCREEN_GROUP,
		.key = ACTION_GROUP,
		.up = SCREEN_GROUPS,
		.about = "One group. Latency over the window: to the right is later, higher is "
			 "slower, darker is "
			 "more requests, on a logarithmic scale. On the same axis the histogram of "
			 "the horizon. "
			 "and its modes. Below, where it varies: segments of the critical path as "
			 "100% of the variance (± half of the 90% interval, TAIL of the slowest "
			 "requests' excess, ≠ where the two disagree); and the requests kept. "
			 "Space tags one, c compares.",
		.create = group_create,
		.destroy = group_destroy,
		.parts = group_parts,
		.update = group_update,
		.draw = group_draw,
		.act = group_act,
		.table = group_table,
};
