/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "change_text.h"
#include "explain_text.h"
#include "format.h"
#include "layout.h"
#include "pythiatop/snapshot/fields.h"
#include "step_text.h"
#include "views/first_run.h"
#include "views/view.h"
#include "widgets/bar.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Screen 1: the groups of requests, what varies most on top, and what to do next. */

struct groups_screen {
	struct table table;
	const struct groups_view *groups;
	const struct group_view *group; /* the one under the cursor, or the one before it */
	const struct tree_view *tree;   /* of the same */
	const struct steps_view *steps;
	const struct changes_view *changes;
	struct first_run first_run;
	bool empty; /* no group so far */
	bool fails; /* some request has failed: there is a column of it from then on */
};

#define NAME_COLUMN  0
#define GROUP(field) &group_fields[FIELD_GROUP_##field]

static const struct table_column columns[] = {
		{"GROUP", 29, 0, TABLE_FLEX | TABLE_NAME, 52, NULL},
		{"N", 5, 1, TABLE_RIGHT, 0, GROUP(COUNT)},
		{"RATE", 6, 3, TABLE_RIGHT, 0, GROUP(RATE)},
		{"P50", 7, 2, TABLE_RIGHT, 0, GROUP(P50)},
		{"P95", 6, 4, TABLE_RIGHT, 0, GROUP(P95)},
		{"P99", 6, 2, TABLE_RIGHT, 0, GROUP(P99)},
		{"MEAN", 6, 8, TABLE_RIGHT, 0, GROUP(MEAN)},
		{"SD", 6, 5, TABLE_RIGHT, 0, GROUP(SD)},
		{"TAIL", 5, 6, TABLE_RIGHT, 0, GROUP(TAIL)},
		{"COV", 5, 1, TABLE_RIGHT, 0, GROUP(COV)},
		{"MODES", 6, 1, TABLE_RIGHT, 0, GROUP(MODES)},
		{"MIN", 6, 9, TABLE_RIGHT, 0, GROUP(MIN)},
		{"MAX", 6, 8, TABLE_RIGHT, 0, GROUP(MAX)},
		{"LEFT OUT", 9, 10, TABLE_RIGHT, 0, GROUP(LEFT_OUT)},
		{"LATENCY", GROUPS_SPARK_BINS + 1, 7, TABLE_UNSORTED | TABLE_GRAPHIC, 0, NULL},
		{"SHARE", 7, 0, TABLE_RIGHT | TABLE_FLEX | TABLE_GRAPHIC, 34, GROUP(SHARE)},
		{"FAILED", 7, 1, TABLE_RIGHT, 0, GROUP(FAILED_SHARE)},
};
#define WITHOUT_FAILED (TABLE_COUNT(columns) - 1) /* the last is shown only where there is any */

static const struct groups_row *row_at(const void *data, uint32_t row)
{
	const struct groups_screen *screen = data;

	return &screen->groups->rows[row];
}

static const void *row_data(const void *data, uint32_t row)
{
	return row_at(data, row);
}

static uint64_t row_key(const void *data, uint32_t row)
{
	return row_at(data, row)->id;
}

/* The figure that is the reason why a group is flagged stands out, by a sign and a colour. */
static void flag_cell(bool flagged, const char *sign, struct table_cell *cell)
{
	if (flagged) {
		text_add(cell->text, sizeof(cell->text), "%s", sign);
		cell->role = ROLE_BAD;
	}
}

static void row_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct groups_row *row = row_at(data, index);
	const struct row_field *field = columns[column].field;
	uint32_t why = groups_row_is_judged(row) ? row->detection : 0;

	if (column == NAME_COLUMN) {
		view_group_name(cell->text, sizeof(cell->text), row->type, row->path);
	} else if (field == GROUP(P50) && why & DETECTION_SLOW) {
		flag_cell(true, "!", cell);
	} else if (field == GROUP(P50)) {
		flag_cell(why & DETECTION_SHIFTED, row->shift < 1 ? "↓" : "↑", cell);
	} else if (field == GROUP(COV)) {
		flag_cell(why & DETECTION_VARIES, "!", cell);
	} else if (field == GROUP(MODES)) {
		flag_cell(why & DETECTION_MODES, "!", cell);
	} else if (field == GROUP(LEFT_OUT)) {
		cell->role = row->tainted > 0 ? ROLE_TAINTED : ROLE_DIM;
	} else if (field == GROUP(SHARE) && row->count > 1) {
		cell->bar = row->variation_share;
	} else if (field == GROUP(FAILED_SHARE)) {
		cell->role = row->failed > 0 ? ROLE_BAD : ROLE_DIM;
	}
}

/* By name: all other columns have fields. */
static int row_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct groups_row *row_a = row_at(data, a), *row_b = row_at(data, b);
	int order = strcmp(row_a->type, row_b->type);

	(void)column;
	return order ? order : strcmp(row_a->path, row_b->path);
}

/* What was found for it, or that it is searched. */
static int paint_finding(const struct steps_view *steps, uint32_t group_id, struct canvas *canvas,
		struct area area)
{
	const struct steps_finding *finding = step_finding(steps, group_id);

	if (finding && finding->rule != STOP_HEALTHY) {
		canvas_text(canvas, area.y, area.x, area.width,
				finding->rule == STOP_NONE ? ROLE_DIM : ROLE_NEXT,
				finding->rule == STOP_NONE ? "◇" : "◆");
	}
	return steps->n_findings > 0 ? 2 : 0;
}

/* The name has two voices: what the request is, and where it went. */
static bool row_paint(const void *data, uint32_t index, int column, struct canvas *canvas,
		struct area area)
{
	const struct groups_screen *screen = data;
	const struct groups_row *row = row_at(data, index);

	if (!columns[column].field && column != NAME_COLUMN) {
		bar_spark(canvas, area.y, area.x, area.width, ROLE_BAR, row->spark,
				GROUPS_SPARK_BINS);
		return true;
	}
	if (column != NAME_COLUMN) {
		return false;
	}
	layout_cut_columns(&area, paint_finding(screen->steps, row->id, canvas, area));
	view_draw_group(canvas, area.y, area.x, area.width, row->type, row->path);
	return true;
}

static const char *row_mark(const void *data, uint32_t row)
{
	return row_at(data, row)->tainted > 0 ? "~" : NULL;
}

#define SOURCE(n)                                                                                  \
	{                                                                                          \
		.columns = columns, .n_columns = n, .what = "groups", .key = row_key,              \
		.row = row_data, .cell = row_cell, .compare = row_compare, .paint = row_paint,     \
		.mark = row_mark                                                                   \
	}
static const struct table_source source = SOURCE(WITHOUT_FAILED);
static const struct table_source failed_source = SOURCE(TABLE_COUNT(columns));

static void *groups_create(void)
{
	struct groups_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->table, &source);
		table_stay_on_top(&screen->table);
	}
	return screen;
}

static void groups_destroy(void *view)
{
	struct groups_screen *screen = view;

	table_release(&screen->table);
	free(screen);
}

static uint32_t groups_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	if (snapshot->groups.n == 0) {
		return FOCUS_GROUPS | FOCUS_SOURCES | FOCUS_UNMATCHED;
	}
	return FOCUS_GROUPS | FOCUS_GROUP | FOCUS_TREE | FOCUS_CHANGES;
}

static const struct groups_row *selected(const struct groups_screen *screen)
{
	uint32_t row = table_row(&screen->table);

	return row == UINT32_MAX ? NULL : &screen->groups->rows[row];
}

/* Where the group under the cursor varies is shown below the list. */
static void groups_focus(const void *view, struct focus *focus)
{
	const struct groups_row *row = selected(view);

	if (row) {
		focus->group_id = row->id;
	}
}

static void groups_update(void *view, const struct snapshot *snapshot)
{
	static const struct row_field *const metric_fields[METRIC_COUNT] = {
			[METRIC_VARIANCE] = GROUP(SHARE),
			[METRIC_COV] = GROUP(COV),
			[METRIC_MODES] = GROUP(MODES)};
	struct groups_screen *screen = view;

	screen->groups = &snapshot->groups;
	screen->group = &snapshot->group;
	screen->tree = &snapshot->tree;
	screen->steps = &snapshot->steps;
	screen->changes = &snapshot->changes;
	table_give_order(&screen->table, metric_fields[snapshot->focus.metric]);
	/* A snapshot made for another screen says nothing of groups. */
	screen->empty = snapshot->groups.n == 0 &&
			(snapshot->focus.parts == 0 || (snapshot->focus.parts & FOCUS_GROUPS));
	for (uint32_t i = 0; i < screen->groups->n && !screen->fails; i++) {
		screen->fails = screen->groups->rows[i].failed > 0;
	}
	screen->table.source = screen->fails ? &failed_source : &source;
	table_update(&screen->table, screen, screen->groups->n);
	if (screen->empty) {
		first_run_compose(&screen->first_run, snapshot);
	}
}

static void draw_first_run(const struct groups_screen *screen, const struct view_frame *frame)
{
	struct area area = frame->area;
	int i, used;

	layout_cut_rows(&area, area.height / 4);
	layout_cut_columns(&area, 3);
	layout_cut_columns(&area, -3);
	for (i = 0; i < screen->first_run.n && area.height > 0; i++) {
		used = paragraph_draw(frame->canvas, area, screen->first_run.lines[i].role,
				screen->first_run.lines[i].text);
		layout_cut_rows(&area, used + 1);
	}
}

/* "0.31s ▁▃█▇▂▁  ▁▄▃▁  3.0s   mean 812ms sd 740ms" */
static void draw_distribution(
		const struct groups_row *row, const struct view_frame *frame, struct area line)
{
	char low[FORMAT_BYTES], high[FORMAT_BYTES], mean[FORMAT_BYTES], sd[FORMAT_BYTES];
	char text[256];
	int x = line.x, end = line.x + line.width;

	if (row->count == 0) {
		canvas_text(frame->canvas, line.y, x, line.width, ROLE_DIM,
				"no complete request within this horizon");
		return;
	}
	format_duration(low, (double)row->spark_lo_ns);
	format_duration(high, (double)row->spark_hi_ns);
	format_duration(mean, row->mean_ns);
	x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_DIM, low);
	bar_spark(frame->canvas, line.y, x + 1, end - x - 1, ROLE_BAR, row->spark,
			GROUPS_SPARK_BINS);
	x += GROUPS_SPARK_BINS + 2;
	x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_DIM, high);
	if (row->count > 1) {
		snprintf(text, sizeof(text), "mean %s, sd %s, of %" PRIu64 " requests", mean,
				format_duration(sd, row->sd_ns), row->count);
	} else {
		snprintf(text, sizeof(text), "a single request");
	}
	canvas_text(frame->canvas, line.y, x + 3, end - x - 3, ROLE_TEXT, text);
}

/* "varies: CoV ≥ 0.86; three latencies: 412ms 61%  1.20s 27%  2.10s 12%", or that nothing is said.
 */
static void draw_verdict(
		const struct groups_row *row, const struct view_frame *frame, struct area line)
{
	char text[512];

	view_verdict(text, sizeof(text), row);
	canvas_text(frame->canvas, line.y, line.x, line.width,
			!groups_row_is_judged(row) ? ROLE_DIM
			: row->detection           ? ROLE_BAD
						   : ROLE_TEXT,
			text);
}

/* Where it varies, in one sentence. */
static void draw_location(const struct groups_screen *screen, const struct groups_row *row,
		const struct view_frame *frame, struct area line)
{
	char text[1024];

	if (!groups_row_is_judged(row) || screen->group->id != row->id) {
		return;
	}
	view_location(text, sizeof(text), &screen->group->location, screen->tree);
	canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_TEXT, text);
}

/* What the statistics leave out, or which groups have too few requests. */
static void draw_caveat(const struct groups_screen *screen, const struct groups_row *row,
		const struct view_frame *frame, struct area line)
{
	char tainted[FORMAT_BYTES], partial[FORMAT_BYTES], text[FIRST_RUN_BYTES];

	if (row->failed > 0) {
		view_failed(text, sizeof(text), row);
		canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_BAD, text);
		return;
	}
	if (row->tainted > 0 || row->partial > 0) {
		snprintf(text, sizeof(text),
				"left out: %s tainted by lost events, %s partial (timed out, cut "
				"off, "
				"merged)",
				format_count(tainted, row->tainted),
				format_count(partial, row->partial));
		canvas_text(frame->canvas, line.y, line.x, line.width,
				row->tainted > 0 ? ROLE_TAINTED : ROLE_DIM, text);
		return;
	}
	first_run_need_more(text, sizeof(text), screen->groups);
	canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_DIM, text);
}

static void draw_next(
		const struct groups_row *row, const struct view_frame *frame, struct area line)
{
	static const struct {
		enum action action;
		const char *text;
	} next[] = {{ACTION_ENTER, "latency over time"}, {ACTION_TREE, "where it varies"},
			{ACTION_REQUEST, "its slowest request"}};
	int x = line.x, end = line.x + line.width;
	char keys[64], text[128];
	size_t i;

	x += canvas_text(frame->canvas, line.y, x, line.width, ROLE_NEXT, "NEXT ");
	for (i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		if (next[i].action == ACTION_REQUEST && !row->worst_request) {
			continue;
		}
		keymap_text(frame->keymap, next[i].action, keys, sizeof(keys));
		snprintf(text, sizeof(text), "%s  %s   ", keys, next[i].text);
		x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_TEXT, text);
	}
}

/*
 * What is known, or supposed, of it; or why nothing can be found out; "" if all is well. What
 * explains it has a line of its own; where nothing does, it is told why the search ended.
 */
static void finding_text(const struct groups_screen *screen, const struct steps_finding *finding,
		bool explained, char *out, size_t size)
{
	char text[768], rule[128];

	if (finding && finding->rule != STOP_NONE && explained) {
		verdict_text_without_key(text, sizeof(text), &finding->verdict);
		snprintf(out, size, "VERDICT %s", text[0] ? text : finding->text);
	} else if (finding && finding->rule != STOP_NONE) {
		step_rule(rule, sizeof(rule), finding->rule);
		snprintf(out, size, "VERDICT %.600s; %s", finding->text, rule);
	} else {
		text_copy(out, size, finding ? finding->text : step_control_trouble(screen->steps));
	}
}

/* "explained by queue_len: 0 -> 400ms, ...   p <= 0.001, held out" */
static void draw_explained(const struct explanation *explanation, const struct view_frame *frame,
		struct area line)
{
	char text[512], evidence[64] = "";
	int keep;

	explain_sentence(text, sizeof(text), explanation);
	if (explain_found(explanation)) {
		explain_p(evidence, sizeof(evidence) - 10, &explanation->keys[0]);
		strcat(evidence, ", held out");
	}
	keep = text_width(evidence, frame->canvas->ascii) + 2;
	keep = text_fits(text, frame->canvas->ascii, line.width - 1 - keep) ? keep : 0;
	canvas_text(frame->canvas, line.y, line.x, line.width - keep,
			explain_found(explanation) ? ROLE_NEXT : ROLE_DIM, text);
	if (keep) {
		canvas_text_right(
				frame->canvas, line.y, line.x, line.width - 1, ROLE_TEXT, evidence);
	}
}

/* Takes one or two lines off the end of the area, and one for the variable. */
static void draw_finding(const struct groups_screen *screen, const struct groups_row *row,
		const struct view_frame *frame, struct area *area)
{
	const struct steps_finding *finding = step_finding(screen->steps, row->id);
	bool explained = finding && step_tells_variable(finding), two;
	char text[1024];

	finding_text(screen, finding, explained, text, sizeof(text));
	if (!text[0] || area->height < 3) {
		return;
	}
	if (explained) {
		draw_explained(finding->explanation, frame, layout_cut_rows(area, -1));
	}
	two = area->height > 3 && !text_fits(text, frame->canvas->ascii, area->width);
	paragraph_draw(frame->canvas, layout_cut_rows(area, two ? -2 : -1),
			!finding                     ? ROLE_WARN
			: finding->rule == STOP_NONE ? ROLE_TEXT
						     : ROLE_STRONG,
			text);
}

static void draw_step_keys(const struct groups_screen *screen, const struct view_frame *frame,
		struct area line)
{
	static const enum action actions[] = {
			ACTION_APPROVE, ACTION_REJECT, ACTION_EDIT, ACTION_MODE};
	int used = view_keys(frame, line, actions, sizeof(actions) / sizeof(actions[0]));
	char text[64];

	snprintf(text, sizeof(text), "mode: %s", step_mode_name(screen->steps->mode));
	canvas_text_right(frame->canvas, line.y, line.x + used, line.width - used - 1, ROLE_DIM,
			text);
}

/* The step that waits: what, where, what it costs, why. At most three lines. */
static void draw_step(const struct groups_screen *screen, const struct step_row *step,
		const struct view_frame *frame, struct area area)
{
	struct area line = layout_cut_rows(&area, 1), keys = layout_cut_rows(&area, -1);
	char text[1024], cost[128], hosts[512], points[512];
	int keep, x;

	step_rate(cost, sizeof(cost), step);
	step_hosts(hosts, sizeof(hosts), step);
	keep = text_width(cost, frame->canvas->ascii) + 2;
	x = canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_NEXT, "NEXT ");
	snprintf(text, sizeof(text), "%.300s%s%.400s", step->title, hosts[0] ? " on " : "", hosts);
	canvas_text(frame->canvas, line.y, line.x + x, line.width - x - keep, ROLE_STRONG, text);
	canvas_text_right(frame->canvas, line.y, line.x, line.width - 1, ROLE_TEXT, cost);
	draw_step_keys(screen, frame, keys);
	if (area.height > 0) {
		step_budget(cost, sizeof(cost), screen->steps);
		snprintf(text, sizeof(text), "budget %s", cost);
		keep = text_width(text, frame->canvas->ascii) + 2;
		canvas_text_right(frame->canvas, area.y, area.x, area.width - 1,
				step->share_of_budget > 1 ? ROLE_BAD : ROLE_DIM, text);
		step_points(points, sizeof(points), step);
		snprintf(text, sizeof(text), "%s%s%.400s", points, points[0] ? ": " : "",
				step->why);
		canvas_text(frame->canvas, area.y, area.x + x, area.width - x - keep, ROLE_TEXT,
				text);
	}
}

/* The group under the cursor: the more lines there are the more is told, what to do next always. */
static void draw_detail(const struct groups_screen *screen, const struct view_frame *frame,
		struct area area)
{
	const struct groups_row *row = selected(screen);
	const struct step_row *step = step_next(screen->steps);
	char name[512];

	if (!row || area.height < 4) {
		return;
	}
	view_group_name(name, sizeof(name), row->type, row->path);
	view_pane(frame, layout_cut_rows(&area, 1), name, "", false);
	layout_cut_columns(&area, 2);
	if (step) {
		draw_step(screen, step, frame, layout_cut_rows(&area, area.height >= 5 ? -3 : -2));
	} else {
		draw_next(row, frame, layout_cut_rows(&area, -1));
	}
	draw_finding(screen, row, frame, &area);
	draw_verdict(row, frame, layout_cut_rows(&area, 1));
	if (area.height > 0) {
		draw_location(screen, row, frame, layout_cut_rows(&area, 1));
	}
	if (area.height > 0) {
		draw_distribution(row, frame, layout_cut_rows(&area, 1));
	}
	if (area.height > 0) {
		draw_caveat(screen, row, frame, layout_cut_rows(&area, 1));
	}
}

/* Whether any verdict has a line on its variable: the cursor may come there. */
static bool tells_variable(const struct groups_screen *screen)
{
	for (uint32_t i = 0; i < screen->steps->n_findings; i++) {
		if (step_tells_variable(&screen->steps->findings[i])) {
			return true;
		}
	}
	return false;
}

/* With a baseline, the largest change in a line, and the key of all. */
static void draw_changed(const struct groups_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	char text[1024], key[64], more[128];
	struct area line;
	int keep;

	change_headline(text, sizeof(text), screen->changes);
	if (!text[0] || area->height < 4) {
		return;
	}
	line = layout_cut_rows(area, 1);
	keymap_text(frame->keymap, ACTION_CHANGES, key, sizeof(key));
	snprintf(more, sizeof(more), "%s shows all", key);
	keep = text_width(more, frame->canvas->ascii) + 2;
	canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2 - keep,
			change_is_sure(screen->changes) ? ROLE_STRONG : ROLE_DIM, text);
	canvas_text_right(frame->canvas, line.y, line.x, line.width - 1, ROLE_NEXT, more);
}

static void groups_draw(void *view, const struct view_frame *frame)
{
	struct groups_screen *screen = view;
	struct area area = frame->area, detail;
	int rows;

	if (screen->empty) {
		draw_first_run(screen, frame);
		return;
	}
	view_warning(frame, &area);
	draw_changed(screen, frame, &area);
	rows = (step_next(screen->steps)                       ? 8
			       : screen->steps->n_findings > 0 ? 7
							       : 6) +
	       tells_variable(screen);
	detail = layout_cut_rows(&area, area.height >= 16 ? -rows : area.height >= 12 ? -4 : 0);
	table_draw(&screen->table, frame->canvas, area, true, frame->search);
	draw_detail(screen, frame, detail);
}

static bool groups_act(void *view, enum action action, struct view_call *call)
{
	struct groups_screen *screen = view;
	const struct groups_row *row = selected(screen);

	switch (action) {
	case ACTION_ENTER:
		if (screen->empty) {
			call->go = SCREEN_SOURCES;
			call->unmatched = screen->first_run.unmatched && !screen->first_run.pick;
			return true;
		}
		/* fall through */
	case ACTION_GROUP:
		call->go = SCREEN_GROUP;
		call->group_id = row ? row->id : 0;
		return true;
	case ACTION_TREE:
		call->go = SCREEN_TREE;
		call->group_id = row ? row->id : 0;
		return true;
	case ACTION_SHAPES:
		call->go = SCREEN_SHAPES;
		call->group_id = row ? row->id : 0;
		return true;
	case ACTION_REQUEST:
		call->go = SCREEN_REQUEST;
		call->group_id = row ? row->id : 0;
		call->request_id = row ? row->worst_request : 0;
		return true;
	case ACTION_WORST:
		/* The analysis orders them by the metric chosen. */
		return screen->groups->n > 0 &&
		       table_select(&screen->table, screen->groups->rows[0].id);
	default:
		return table_act(&screen->table, action);
	}
}

static struct table *groups_table(void *view)
{
	struct groups_screen *screen = view;

	return screen->empty ? NULL : &screen->table;
}

const struct view_ops view_groups = {
		.screen = SCREEN_GROUPS,
		.key = ACTION_GROUPS,
		.about = "Requests that should perform alike, grouped by what they are and where "
			 "they went. On top: what varies most by the metric (v): SHARE of all "
			 "variation (rate × standard deviation), COV standard deviation / mean, "
			 "MODES latencies that stand apart. TAIL is P99 / P50, N requests within "
			 "the horizon. A figure with ! is why its group is flagged. ◆: a verdict "
			 "was reached, ◇: it is searched. NEXT: the step that is proposed.",
		.create = groups_create,
		.destroy = groups_destroy,
		.parts = groups_parts,
		.focus = groups_focus,
		.update = groups_update,
		.draw = groups_draw,
		.act = groups_act,
		.table = groups_table,
};
