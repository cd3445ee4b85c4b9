/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/steps_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "step_text.h"
#include "views/verdict.h"
#include "views/view.h"

/* ---- findings ---- */

enum finding_column { F_RULE, F_GROUP, F_SHARE, F_COUNT, F_STEPS, F_TIME, F_COST };

static const struct table_column finding_columns[] = {
		[F_RULE] = {"VERDICT", 9, 0, 0, 0},
		[F_GROUP] = {"GROUP", 20, 0, TABLE_FLEX | TABLE_NAME, 60},
		[F_SHARE] = {"VARIANCE", 8, 1, TABLE_RIGHT, 0},
		[F_COUNT] = {"N", 5, 3, TABLE_RIGHT, 0},
		[F_STEPS] = {"STEPS", 5, 2, TABLE_RIGHT, 0},
		[F_TIME] = {"TIME", 6, 2, TABLE_RIGHT, 0},
		[F_COST] = {"COST", 6, 4, TABLE_RIGHT, 0},
};

static const struct steps_view *steps_of(const void *data)
{
	return data;
}

static uint64_t finding_key(const void *data, uint32_t row)
{
	const struct steps_finding *finding = &steps_of(data)->findings[row];

	/* A group may have a finding of its variance, and some of what fails. */
	return (uint64_t)finding->group_id << 32 | (finding->since_ns >> 20 & UINT32_MAX);
}

static void rate_cell(bool known, double events_per_s, char *text)
{
	if (known) {
		format_rate(text, events_per_s);
	} else {
		strcpy(text, "-");
	}
}

static void finding_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct steps_finding *finding = &steps_of(data)->findings[row];

	switch (column) {
	case F_RULE:
		strcpy(cell->text, finding->rule == STOP_NONE ? "searching" : "healthy");
		if (finding->rule != STOP_NONE && finding->rule != STOP_HEALTHY) {
			snprintf(cell->text, sizeof(cell->text), "rule %d", (int)finding->rule);
		}
		cell->role = finding->rule == STOP_NONE      ? ROLE_DIM
			     : finding->rule == STOP_HEALTHY ? ROLE_GOOD
							     : ROLE_NEXT;
		break;
	case F_GROUP:
		view_group_name(cell->text, sizeof(cell->text), finding->type, finding->path);
		break;
	case F_SHARE:
		strcpy(cell->text, "-");
		if (finding->where[0] && finding->requests > 0) {
			view_share(cell->text, sizeof(cell->text), finding->phi, finding->phi_low,
					finding->phi_high);
		}
		break;
	case F_COUNT:
		if (finding->ended > 0) {
			format_count(cell->text, finding->ended);
			break;
		}
		if (finding->requests == 0 && (finding->rule == STOP_CHANGED || finding->rule == STOP_PEER)) {
			strcpy(cell->text, "-"); /* no shares of a variance */
			break;
		}
		format_count(cell->text, finding->requests);
		break;
	case F_STEPS:
		format_count(cell->text, finding->n_steps);
		break;
	case F_COST:
		rate_cell(finding->n_points > 0 && finding->cost.events_per_s >= 0,
				finding->cost.events_per_s, cell->text);
		break;
	default:
		if (finding->seconds < 1) {
			strcpy(cell->text, "0s");
		} else {
			format_period(cell->text, (double)(int64_t)finding->seconds * 1e9);
		}
		break;
	}
}

/* What tells groups apart is at both ends of their names. */
static bool finding_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	const struct steps_finding *finding = &steps_of(data)->findings[row];

	if (column != F_GROUP) {
		return false;
	}
	view_draw_group(canvas, area.y, area.x, area.width, finding->type, finding->path);
	return true;
}

const struct table_source steps_findings = {
		.columns = finding_columns,
		.n_columns = TABLE_COUNT(finding_columns),
		.what = "findings",
		.key = finding_key,
		.cell = finding_cell,
		.paint = finding_paint,
};

/* ---- steps ---- */

enum step_column { S_ID, S_WHEN, S_STATE, S_STEP, S_WHY, S_PREDICTED, S_ACTUAL, S_BY, S_EFFECT };

static const struct table_column step_columns[] = {
		[S_ID] = {"#", 3, 0, TABLE_RIGHT, 0},
		[S_WHEN] = {"WHEN", 8, 3, 0, 0},
		[S_STATE] = {"STATE", 9, 0, 0, 0},
		[S_STEP] = {"STEP", 20, 0, TABLE_FLEX | TABLE_NAME, 30},
		[S_WHY] = {"WHY", 30, 7, TABLE_FLEX, 0},
		[S_PREDICTED] = {"PREDICTED", 9, 1, TABLE_RIGHT, 0},
		[S_ACTUAL] = {"ACTUAL", 7, 1, TABLE_RIGHT, 0},
		[S_BY] = {"BY", 9, 2, 0, 0},
		[S_EFFECT] = {"EFFECT", 30, 8, TABLE_FLEX, 0},
};

static const struct step_row *step_at(const void *data, uint32_t row)
{
	return &steps_of(data)->rows[row];
}

static uint64_t step_key(const void *data, uint32_t row)
{
	return step_at(data, row)->id;
}

/* When it last became something else. */
static uint64_t when(const struct step_row *row)
{
	return row->ended_ns     ? row->ended_ns
	       : row->done_ns    ? row->done_ns
	       : row->decided_ns ? row->decided_ns
				 : row->proposed_ns;
}

/* Of a step that disables: what is saved. */
static void predicted_cell(const struct step_row *row, char *text)
{
	double events_per_s = row->predicted.events_per_s;

	if (row->kind == STEP_DISABLE && events_per_s < -1) {
		text[0] = '-';
		format_rate(text + 1, -events_per_s);
	} else {
		rate_cell(events_per_s >= 0, events_per_s, text);
	}
}

static void step_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct step_row *row = step_at(data, index);
	char clock[FORMAT_BYTES];

	switch (column) {
	case S_ID:
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32, row->id);
		break;
	case S_WHEN:
		snprintf(cell->text, sizeof(cell->text), "%.8s",
				when(row) ? format_clock(clock, when(row)) : "-");
		break;
	case S_STATE:
		strcpy(cell->text, step_state_name(row));
		cell->role = step_state_role(row->state);
		break;
	case S_STEP:
		text_copy(cell->text, sizeof(cell->text), row->title);
		break;
	case S_WHY:
		text_copy(cell->text, sizeof(cell->text), row->why);
		break;
	case S_PREDICTED:
		predicted_cell(row, cell->text);
		break;
	case S_ACTUAL:
		rate_cell(row->done_ns && row->actual.events_per_s >= 0, row->actual.events_per_s,
				cell->text);
		break;
	case S_BY:
		strcpy(cell->text, step_by_name(row->by));
		break;
	default:
		text_copy(cell->text, sizeof(cell->text), row->effect);
		break;
	}
}

const struct table_source steps_rows = {
		.columns = step_columns,
		.n_columns = TABLE_COUNT(step_columns),
		.what = "steps",
		.key = step_key,
		.cell = step_cell,
};

/* ---- all that is known of the finding under the cursor ---- */

static const struct table_column evidence_columns[] = {
		{"", 20, 0, TABLE_FLEX, 0},
};

static uint64_t line_key(const void *data, uint32_t row)
{
	(void)data;
	return row;
}

/* For search and filter: what stands there. */
static void evidence_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct verdict *verdict = data;
	const struct verdict_line *line = &verdict->lines[row];
	const struct explanation *explanation = verdict->finding->explanation;

	(void)column;
	text_copy(cell->text, sizeof(cell->text),
			line->kind == VERDICT_KEY     ? explanation->keys[line->at].name
			: line->kind == VERDICT_VALUE ? explanation->values[line->at].text
						      : line->text);
}

static bool evidence_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	(void)column;
	verdict_draw_line(data, row, canvas, area);
	return true;
}

const struct table_source steps_evidence = {
		.columns = evidence_columns,
		.n_columns = TABLE_COUNT(evidence_columns),
		.what = "lines",
		.key = line_key,
		.cell = evidence_cell,
		.paint = evidence_paint,
};

/* ---- hosts ---- */

enum host_column { H_HOST, H_READY, H_SESSION, H_TEXT };

static const struct table_column host_columns[] = {
		[H_HOST] = {"HOST", 16, 0, TABLE_FLEX, 40},
		[H_READY] = {"CONTROL", 9, 0, 0, 0},
		[H_SESSION] = {"OUR SESSION", 22, 1, TABLE_FLEX, 40},
		[H_TEXT] = {"WHAT IS MISSING", 20, 2, TABLE_FLEX, 0},
};

static uint64_t host_key(const void *data, uint32_t row)
{
	return view_text_key(steps_of(data)->controls[row].host, 0);
}

static void host_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct steps_control *control = &steps_of(data)->controls[row];

	switch (column) {
	case H_HOST:
		text_copy(cell->text, sizeof(cell->text), control->host);
		break;
	case H_READY:
		strcpy(cell->text, control->ready ? "ready" : "not ready");
		cell->role = control->ready ? ROLE_GOOD : ROLE_WARN;
		break;
	case H_SESSION:
		text_copy(cell->text, sizeof(cell->text),
				control->session[0] ? control->session : "-");
		break;
	default:
		text_copy(cell->text, sizeof(cell->text), control->text);
		break;
	}
}

const struct table_source steps_hosts = {
		.columns = host_columns,
		.n_columns = TABLE_COUNT(host_columns),
		.what = "hosts",
		.key = host_key,
		.cell = host_cell,
};
