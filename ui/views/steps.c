/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_text.h"
#include "format.h"
#include "layout.h"
#include "step_text.h"
#include "views/steps_tables.h"
#include "views/verdict.h"
#include "views/view.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Screen 5: what was found and why the search ended; steps proposed and done; the hosts. */

#define LINE_BYTES    1024
#define LEAST_STEPS   6   /* lines of the pane below the verdict */
#define LEAST_NOTHING 4   /* of one without steps, which says why in two */
#define LEAST_HOSTS   8   /* what is missing, in words */
#define ALL_PANES     24  /* lines below the verdict from which on all panes have room */
#define SIDE_BY_SIDE  140 /* columns from which on two panes stand in a line */

enum pane { PANE_FINDINGS, PANE_STEPS, PANE_EVIDENCE, PANE_HOSTS, PANE_COUNT };

struct steps_screen {
	enum pane pane;
	enum pane below; /* the pane shown where there is no room for all */
	const struct snapshot *snapshot;
	struct table findings, steps, evidence, hosts;
	struct verdict brief, whole; /* of the finding under the cursor, as drawn last */
	uint32_t evidence_of;        /* the group that the cursor is of */
};

static void *steps_create(void)
{
	struct steps_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		screen->pane = screen->below = PANE_STEPS;
		table_init(&screen->findings, &steps_findings);
		table_init(&screen->steps, &steps_rows);
		table_stay_on_top(&screen->steps);
		table_init(&screen->evidence, &steps_evidence);
		table_init(&screen->hosts, &steps_hosts);
	}
	return screen;
}

static void steps_destroy(void *view)
{
	struct steps_screen *screen = view;

	table_release(&screen->findings);
	table_release(&screen->steps);
	table_release(&screen->evidence);
	table_release(&screen->hosts);
	free(screen);
}

static uint32_t steps_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_STEPS | FOCUS_GROUPS;
}

static const struct steps_view *steps(const struct steps_screen *screen)
{
	return &screen->snapshot->steps;
}

static const struct steps_finding *finding_here(const struct steps_screen *screen)
{
	uint32_t row = table_row(&screen->findings);

	return row == UINT32_MAX ? NULL : &steps(screen)->findings[row];
}

static const struct step_row *step_here(const struct steps_screen *screen)
{
	uint32_t row = table_row(&screen->steps);

	return row == UINT32_MAX ? NULL : &steps(screen)->rows[row];
}

/* The lines point into the snapshot, so they are made anew with each, for the width as it was. */
static void update_evidence(struct steps_screen *screen, int width, bool ascii)
{
	const struct steps_finding *finding = finding_here(screen);

	screen->whole.n = 0;
	if (finding) {
		verdict_whole(&screen->whole, finding, steps(screen)->known, width, ascii);
	}
	if (finding && finding->group_id != screen->evidence_of) {
		screen->evidence_of = finding->group_id;
		screen->evidence.cursor_key = 0;
		screen->evidence.cursor = screen->evidence.top = 0;
	}
	table_update(&screen->evidence, &screen->whole, screen->whole.n);
}

static void steps_update(void *view, const struct snapshot *snapshot)
{
	struct steps_screen *screen = view;

	screen->snapshot = snapshot;
	table_update(&screen->findings, &snapshot->steps, snapshot->steps.n_findings);
	table_update(&screen->steps, &snapshot->steps, snapshot->steps.n);
	table_update(&screen->hosts, &snapshot->steps, snapshot->steps.n_controls);
	update_evidence(screen, screen->whole.width, screen->whole.ascii);
}

/*
 * "mode: approve   hybrid   310 of 5000 ev/s, 0.02% of 2% CPU   18+3 of 271 points": those of the
 * skeleton and those that steps enabled.
 */
static void draw_terms(
		const struct steps_screen *screen, const struct view_frame *frame, struct area line)
{
	const struct steps_view *view = steps(screen);
	char text[LINE_BYTES], budget[128], spent[FORMAT_BYTES], cpu[FORMAT_BYTES];
	int x;

	snprintf(text, sizeof(text), "mode: %s  ", step_mode_name(view->mode));
	x = canvas_text(frame->canvas, line.y, line.x, line.width,
			view->mode == MODE_OBSERVE ? ROLE_TEXT : ROLE_NEXT, text);
	step_budget(budget, sizeof(budget), view);
	step_cpu(spent, sizeof(spent), view->spent.cpu_share);
	step_cpu(cpu, sizeof(cpu), view->budget.cpu_share > 0 ? view->budget.cpu_share : -1);
	snprintf(text, sizeof(text),
			"%s  %s, %s of %s CPU  %" PRIu32 "+%" PRIu32 " of %" PRIu32 " points",
			view->strategy ? view->strategy : "", budget, spent, cpu, view->skeleton,
			view->enabled, view->known);
	canvas_text(frame->canvas, line.y, line.x + x, line.width - x, ROLE_DIM, text);
}

/* Makes the lines about the finding under the cursor; how many it takes in short. */
static int compose(struct steps_screen *screen, const struct view_frame *frame, int width)
{
	const struct steps_finding *finding = finding_here(screen);

	screen->brief.n = 0;
	if (finding) {
		verdict_brief(&screen->brief, finding, steps(screen)->known, width - 3,
				frame->canvas->ascii);
	}
	return (int)screen->brief.n;
}

/* Why there is none. */
static void no_verdict(const struct steps_screen *screen, char *out, size_t size)
{
	uint32_t n = steps(screen)->n_flagged;

	if (n == 0) {
		snprintf(out, size, "no verdict: no group was flagged so far");
	} else {
		snprintf(out, size,
				"no verdict so far: %" PRIu32
				" group%s flagged; it takes 50 requests "
				"of one within ten seconds",
				n, n == 1 ? " is" : "s are");
	}
}

static void draw_findings(struct steps_screen *screen, const struct view_frame *frame,
		struct area area, int rows)
{
	char text[160];

	if (steps(screen)->n_findings == 0) {
		layout_cut_columns(&area, 2);
		no_verdict(screen, text, sizeof(text));
		canvas_text(frame->canvas, area.y, area.x, area.width - 1, ROLE_DIM, text);
		return;
	}
	table_draw(&screen->findings, frame->canvas, layout_cut_rows(&area, rows),
			screen->pane == PANE_FINDINGS, frame->search);
	layout_cut_columns(&area, 2);
	layout_cut_columns(&area, -1);
	verdict_draw(&screen->brief, frame->canvas, area);
}

/* What the columns of a step have no room for. */
static void draw_step(
		const struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	const struct step_row *row = step_here(screen);
	char text[LINE_BYTES], hosts[512];

	if (!row || area.height == 0) {
		return;
	}
	layout_cut_columns(&area, 2);
	step_hosts(hosts, sizeof(hosts), row);
	snprintf(text, sizeof(text), "%.400s%s%.500s", row->why, hosts[0] ? "; on " : "", hosts);
	canvas_text(frame->canvas, area.y, area.x, area.width - 1, ROLE_TEXT, text);
	layout_cut_rows(&area, 1);
	if (area.height > 0 && row->effect[0]) {
		snprintf(text, sizeof(text), "effect: %.900s", row->effect);
		canvas_text(frame->canvas, area.y, area.x, area.width - 1,
				row->state == STEP_FAILED ? ROLE_BAD : ROLE_STRONG, text);
	} else if (area.height > 0) {
		step_cost(text, sizeof(text), row);
		canvas_text(frame->canvas, area.y, area.x, area.width - 1, ROLE_STRONG, text);
	}
}

static void draw_nothing(const struct view_frame *frame, struct area area, const char *text)
{
	layout_cut_columns(&area, 2);
	layout_cut_columns(&area, -1);
	paragraph_draw(frame->canvas, area, ROLE_DIM, text);
}

static void draw_steps(
		struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	static const enum action actions[] = {ACTION_APPROVE, ACTION_REJECT, ACTION_EDIT,
			ACTION_UNDO, ACTION_UNDO_ALL, ACTION_MODE};
	const char *lacks = steps(screen)->lacks ? steps(screen)->lacks : "";
	int rows = steps(screen)->n == 0 ? 2 : 4; /* before there is room for keys */
	struct area detail, keys = layout_cut_rows(&area, area.height > rows ? -1 : 0);
	char text[LINE_BYTES];

	layout_cut_columns(&keys, 2);
	if (keys.height > 0) {
		view_keys(frame, keys, actions, sizeof(actions) / sizeof(actions[0]));
	}
	if (steps(screen)->n == 0) {
		snprintf(text, sizeof(text), "no step so far%s%.900s", lacks[0] ? ": " : "", lacks);
		draw_nothing(frame, area, text);
		return;
	}
	detail = layout_cut_rows(&area, area.height >= 6 ? -2 : 0);
	table_draw(&screen->steps, frame->canvas, area, screen->pane == PANE_STEPS, frame->search);
	draw_step(screen, frame, detail);
}

static void draw_evidence(
		struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	char text[160];

	if (!finding_here(screen)) {
		no_verdict(screen, text, sizeof(text));
		draw_nothing(frame, area, text);
		return;
	}
	update_evidence(screen, area.width - 3, frame->canvas->ascii);
	table_draw_rows(&screen->evidence, frame->canvas, area, screen->pane == PANE_EVIDENCE,
			frame->search);
}

static void draw_hosts(
		struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	uint32_t row = table_row(&screen->hosts);
	struct area detail;

	if (steps(screen)->n_controls == 0) {
		draw_nothing(frame, area,
				"Control off: no helper for any host. Try: pythiatop --control "
				"HOST=ssh://HOST");
		return;
	}
	detail = layout_cut_rows(&area, area.height >= 7 ? -3 : 0);
	table_draw(&screen->hosts, frame->canvas, area, screen->pane == PANE_HOSTS, frame->search);
	if (row != UINT32_MAX) {
		layout_cut_columns(&detail, 2);
		layout_cut_columns(&detail, -1);
		paragraph_draw(frame->canvas, detail, ROLE_STRONG,
				steps(screen)->controls[row].text);
	}
}

static void draw_pane(struct steps_screen *screen, const struct view_frame *frame, enum pane pane,
		struct area area)
{
	static const char *const titles[] = {[PANE_FINDINGS] = "verdicts",
			[PANE_STEPS] = "steps",
			[PANE_EVIDENCE] = "evidence",
			[PANE_HOSTS] = "control of hosts"};
	const struct steps_finding *finding = finding_here(screen);
	char title[LINE_BYTES], name[512];
	const char *lacks = steps(screen)->lacks ? steps(screen)->lacks : "";

	text_copy(title, sizeof(title), titles[pane]);
	if (pane == PANE_EVIDENCE && finding) {
		view_group_name(name, sizeof(name), finding->type, finding->path);
		snprintf(title, sizeof(title), "evidence: %s", name);
	} else if (pane == PANE_STEPS && lacks[0] && steps(screen)->n > 0) {
		snprintf(title, sizeof(title), "steps   lacks: %.900s", lacks);
	}
	view_pane(frame, layout_cut_rows(&area, 1), title, "", screen->pane == pane);
	if (pane == PANE_STEPS) {
		draw_steps(screen, frame, area);
	} else if (pane == PANE_EVIDENCE) {
		draw_evidence(screen, frame, area);
	} else {
		draw_hosts(screen, frame, area);
	}
}

/* Steps, evidence and hosts, whatever room each of them needs. */
static void draw_panes(
		struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	int hosts = (int)steps(screen)->n_controls + 4;
	struct area left;

	hosts = hosts < area.height / 4 ? hosts : area.height / 4;
	draw_pane(screen, frame, PANE_HOSTS, layout_cut_rows(&area, -hosts));
	if (area.width >= SIDE_BY_SIDE) {
		left = layout_cut_columns(&area, area.width / 2);
		layout_cut_columns(&left, -1);
		draw_pane(screen, frame, PANE_STEPS, left);
		draw_pane(screen, frame, PANE_EVIDENCE, area);
		return;
	}
	draw_pane(screen, frame, PANE_EVIDENCE, layout_cut_rows(&area, -(area.height / 2)));
	draw_pane(screen, frame, PANE_STEPS, area);
}

/* The verdict under the cursor in a line: the variable, or what was found. */
static void draw_line(
		const struct steps_screen *screen, const struct view_frame *frame, struct area line)
{
	const struct steps_finding *finding = finding_here(screen);
	char text[LINE_BYTES];

	if (!finding) {
		return;
	}
	if (explain_found(finding->explanation)) {
		explain_sentence(text, sizeof(text), finding->explanation);
	} else {
		text_copy(text, sizeof(text), finding->text);
	}
	layout_cut_columns(&line, 1);
	canvas_text(frame->canvas, line.y, line.x, line.width,
			finding->rule == STOP_NONE ? ROLE_DIM : ROLE_NEXT, text);
}

/* Without room for more: the verdict alone, then whichever pane was used last. */
static void draw_small(
		struct steps_screen *screen, const struct view_frame *frame, struct area area)
{
	if (screen->pane != PANE_FINDINGS) {
		if (area.height >= LEAST_STEPS) {
			draw_line(screen, frame, layout_cut_rows(&area, 1));
		}
		draw_pane(screen, frame, screen->below, area);
		return;
	}
	compose(screen, frame, area.width);
	draw_findings(screen, frame, area, area.height > 5 ? 2 : 0);
}

/* Lines that the pane below the verdict cannot do without. */
static int least_below(const struct steps_screen *screen)
{
	if (screen->below == PANE_STEPS && steps(screen)->n == 0) {
		return LEAST_NOTHING;
	}
	return screen->below == PANE_HOSTS ? LEAST_HOSTS : LEAST_STEPS;
}

/* The verdict has what it needs, but for these. */
static void steps_draw(void *view, const struct view_frame *frame)
{
	struct steps_screen *screen = view;
	struct area area = frame->area, line = layout_cut_rows(&area, 1), top;
	int n = (int)steps(screen)->n_findings, rows, need;
	int least = least_below(screen);

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	draw_terms(screen, frame, line);
	if (area.height < 14) {
		draw_small(screen, frame, area);
		return;
	}
	rows = n > area.height / 4 - 2 ? area.height / 4 - 2 : n;
	rows = n == 0 ? 1 : (rows < 2 && n > 1 ? 2 : rows) + 1;
	need = rows + compose(screen, frame, area.width);
	if (area.height < ALL_PANES + LEAST_STEPS && screen->below == PANE_EVIDENCE) {
		need = rows; /* all of it is told below */
	} else if (need > area.height - least) {
		need = area.height - least;
	}
	top = layout_cut_rows(&area, need);
	draw_findings(screen, frame, top, rows);
	if (area.height >= ALL_PANES) {
		draw_panes(screen, frame, area);
	} else {
		draw_pane(screen, frame, screen->below, area);
	}
}

static struct table *steps_table(void *view)
{
	struct steps_screen *screen = view;

	return screen->pane == PANE_FINDINGS   ? &screen->findings
	       : screen->pane == PANE_STEPS    ? &screen->steps
	       : screen->pane == PANE_EVIDENCE ? &screen->evidence
					       : &screen->hosts;
}

static void set_pane(struct steps_screen *screen, int pane)
{
	screen->pane = (enum pane)((pane + PANE_COUNT) % PANE_COUNT);
	if (screen->pane == PANE_FINDINGS && steps(screen)->n_findings == 0) {
		screen->pane = pane < (int)PANE_FINDINGS ? PANE_HOSTS : PANE_STEPS;
	}
	if (screen->pane != PANE_FINDINGS) {
		screen->below = screen->pane;
	}
}

/* To all that is known of a group, or of a step. */
static bool enter(struct steps_screen *screen, struct view_call *call)
{
	const struct step_row *row = step_here(screen);

	if (screen->pane == PANE_FINDINGS) {
		set_pane(screen, PANE_EVIDENCE);
		return true;
	}
	if (screen->pane == PANE_STEPS && row) {
		call->step = row->id;
		return true;
	}
	return false;
}

/* Decides on the step under the cursor. */
static bool decide(const struct steps_screen *screen, enum step_decision decision,
		struct view_call *call)
{
	const struct step_row *row = step_here(screen);

	if (!row || screen->pane != PANE_STEPS ||
			(decision != STEP_UNDO && row->state != STEP_PROPOSED)) {
		return false; /* it is about the one that waits, or is the newest */
	}
	call->step = row->id;
	call->ask = true;
	call->decision = decision;
	return true;
}

static bool steps_act(void *view, enum action action, struct view_call *call)
{
	struct steps_screen *screen = view;

	switch (action) {
	case ACTION_PANE:
		set_pane(screen, (int)screen->pane + 1);
		return true;
	case ACTION_PANE_BACK:
		set_pane(screen, (int)screen->pane - 1);
		return true;
	case ACTION_BACK:
		if (screen->pane != PANE_EVIDENCE) {
			return false;
		}
		screen->below = PANE_STEPS;
		screen->pane = PANE_FINDINGS;
		return true;
	case ACTION_ENTER:
		return enter(screen, call);
	case ACTION_APPROVE:
		return decide(screen, STEP_APPROVE, call);
	case ACTION_REJECT:
		return decide(screen, STEP_REJECT, call);
	case ACTION_UNDO:
		return decide(screen, STEP_UNDO, call);
	default:
		return table_act(steps_table(screen), action);
	}
}

const struct view_ops view_steps = {
		.screen = SCREEN_STEPS,
		.key = ACTION_STEPS,
		.up = SCREEN_GROUPS,
		.back_to = SCREEN_BITS_ALL &
			   ~(SCREEN_BIT(SCREEN_STEPS) | SCREEN_BIT(SCREEN_SOURCES) |
					   SCREEN_BIT(SCREEN_HELP)),
		.about = "What was found, and what was done about it. On top the verdicts: why the "
			 "search for a group ended; the variable, with latency by its values: HELD "
			 "OUT is the share of the variance that goes with it in requests that it "
			 "was not found in; Enter tells all that is known. Below (Tab): steps, "
			 "with what they were predicted to cost and what all steps together cost "
			 "then, Enter shows the events; the evidence; which hosts can be "
			 "controlled. a, r and u decide on a step, after showing what that does. "
			 ":report DIR writes it all down.",
		.create = steps_create,
		.destroy = steps_destroy,
		.parts = steps_parts,
		.update = steps_update,
		.draw = steps_draw,
		.act = steps_act,
		.table = steps_table,
};
