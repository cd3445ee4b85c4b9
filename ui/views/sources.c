/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "layout.h"
#include "pythiatop/snapshot/fields.h"
#include "views/first_run.h"
#include "views/view.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Screen 7: where events come from, and those that became no request. */

enum pane { PANE_SOURCES, PANE_UNMATCHED, PANE_STREAMS, PANE_COUNT };

struct sources_screen {
	enum pane pane;
	enum pane below; /* the pane shown where there is no room for both */
	const struct snapshot *snapshot;
	struct table sources, unmatched, streams;
};

/* ---- sources ---- */

#define SOURCE(field) &source_fields[FIELD_SOURCE_##field]

static const struct table_column source_columns[] = {
		{"STATE", 10, 0, 0, 0, NULL},
		{"SOURCE", 20, 0, TABLE_FLEX, 72, SOURCE(URL)},
		{"EVENTS", 7, 1, TABLE_RIGHT, 0, SOURCE(EVENTS)},
		{"RATE", 6, 1, TABLE_RIGHT, 0, SOURCE(RATE)},
		{"LAG", 6, 2, TABLE_RIGHT, 0, SOURCE(LAG)},
		{"LOST", 5, 0, TABLE_RIGHT, 0, SOURCE(DISCARDED)},
		{"LATE", 5, 3, TABLE_RIGHT, 0, SOURCE(LATE)},
		{"GAPS", 5, 4, TABLE_RIGHT, 0, SOURCE(GAPS)},
		{"COPIES", 7, 6, TABLE_RIGHT, 0, SOURCE(COPIES), ROLE_DIM},
		{"STREAMS", 8, 5, TABLE_RIGHT, 0, SOURCE(STREAMS)},
		{"VIEWERS", 8, 8, TABLE_RIGHT, 0, SOURCE(VIEWERS)},
		{"TIMER", 6, 7, TABLE_RIGHT, 0, SOURCE(TIMER)},
};

static const enum role state_roles[] = {
		[SOURCE_STARTING] = ROLE_DIM,
		[SOURCE_CONNECTING] = ROLE_WARN,
		[SOURCE_WAITING] = ROLE_WARN,
		[SOURCE_ATTACHED] = ROLE_GOOD,
		[SOURCE_ACTIVE] = ROLE_GOOD,
		[SOURCE_STALLED] = ROLE_WARN,
		[SOURCE_BROKEN] = ROLE_BAD,
		[SOURCE_ENDED] = ROLE_DIM,
		[SOURCE_REFUSED] = ROLE_BAD,
		[SOURCE_OFFERED] = ROLE_STRONG,
};

static const struct source_row *source_at(const void *data, uint32_t row)
{
	const struct sources_view *sources = data;

	return &sources->rows[row];
}

static uint64_t source_key(const void *data, uint32_t row)
{
	return source_at(data, row)->id;
}

static const void *source_data(const void *data, uint32_t row)
{
	return source_at(data, row);
}

/* What a source that was never attached could not have measured. */
static bool measured(const struct source_row *row)
{
	return !row->is_relay && row->state != SOURCE_OFFERED &&
	       (row->events > 0 || row->state >= SOURCE_ATTACHED) && row->state != SOURCE_REFUSED;
}

/* What it is about itself is known, what was read from it where something was. */
static bool tells(const struct source_row *row, const struct row_field *field)
{
	if (field == SOURCE(LAG)) { /* only of what is being read */
		return row->live && measured(row) &&
		       (row->state == SOURCE_ACTIVE || row->state == SOURCE_STALLED);
	}
	return field == SOURCE(VIEWERS) || field == SOURCE(TIMER) || measured(row);
}

/* Nothing lost is dim, something is not to be overlooked. */
static void source_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct source_row *row = source_at(data, index);
	const struct row_field *field = source_columns[column].field;

	if (!field) {
		strcpy(cell->text, source_state_name(row->state));
		cell->role = state_roles[row->state];
	} else if (field == SOURCE(URL)) {
		if (!row->is_relay && row->session[0]) {
			snprintf(cell->text, sizeof(cell->text), "%s %s", row->host, row->session);
		}
	} else if (!tells(row, field)) {
		strcpy(cell->text, "-");
		cell->role = ROLE_TEXT;
	} else if (field == SOURCE(DISCARDED)) {
		cell->role = row->discarded > 0 ? ROLE_LOST : ROLE_DIM;
	} else if (field == SOURCE(LATE)) {
		cell->role = row->late > 0 ? ROLE_WARN : ROLE_DIM;
	} else if (field == SOURCE(GAPS)) {
		cell->role = row->gaps > 0 ? ROLE_WARN : ROLE_DIM;
	} else if (field == SOURCE(TIMER) && row->live_timer_us > 0) {
		format_period(cell->text, (double)row->live_timer_us * 1e3);
	}
}

/* By state: all other columns have fields. */
static int source_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	(void)column;
	return (int)source_at(data, a)->state - (int)source_at(data, b)->state;
}

static const char *source_mark(const void *data, uint32_t row)
{
	return source_at(data, row)->discarded > 0 ? "~" : NULL;
}

static const struct table_source source_source = {
		.columns = source_columns,
		.n_columns = TABLE_COUNT(source_columns),
		.what = "sources",
		.key = source_key,
		.row = source_data,
		.cell = source_cell,
		.compare = source_compare,
		.mark = source_mark,
};

/* ---- events that belong to no request ---- */

#define UNMATCHED(field) &unmatched_fields[FIELD_UNMATCHED_##field]

static const struct table_column unmatched_columns[] = {
		{"EVENT", 18, 0, TABLE_FLEX, 60, UNMATCHED(EVENT)},
		{"UNMATCHED", 10, 2, TABLE_RIGHT, 0, UNMATCHED(UNMATCHED)},
		{"OF", 6, 3, TABLE_RIGHT, 0, UNMATCHED(TOTAL)},
		{"RATE", 6, 0, TABLE_RIGHT, 0, UNMATCHED(RATE)},
		{"TAKEN FOR", 14, 1, TABLE_FLEX, 40, UNMATCHED(ROLE), ROLE_DIM},
		{"WHY", 22, 0, TABLE_FLEX, 0, UNMATCHED(WHY)},
};

static const struct unmatched_row *unmatched_at(const void *data, uint32_t row)
{
	const struct unmatched_view *unmatched = data;

	return &unmatched->rows[row];
}

static uint64_t unmatched_key(const void *data, uint32_t row)
{
	return view_text_key(unmatched_at(data, row)->event, 0);
}

static const void *unmatched_data(const void *data, uint32_t row)
{
	return unmatched_at(data, row);
}

static void unmatched_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	if (unmatched_columns[column].field == UNMATCHED(UNMATCHED)) {
		cell->role = unmatched_at(data, row)->unmatched > 0 ? ROLE_STRONG : ROLE_DIM;
	}
}

static const struct table_source unmatched_source = {
		.columns = unmatched_columns,
		.n_columns = TABLE_COUNT(unmatched_columns),
		.what = "event names",
		.key = unmatched_key,
		.row = unmatched_data,
		.cell = unmatched_cell,
};

/* ---- streams of the source under the cursor ---- */

#define STREAM(field) &stream_fields[FIELD_STREAM_##field]

static const struct table_column stream_columns[] = {
		{"CHANNEL", 16, 0, TABLE_FLEX, 60, STREAM(CHANNEL)},
		{"DOMAIN", 7, 1, 0, 0, STREAM(DOMAIN), ROLE_DIM},
		{"CPU", 4, 0, TABLE_RIGHT, 0, STREAM(CPU)},
		{"EVENTS", 7, 0, TABLE_RIGHT, 0, STREAM(EVENTS)},
		{"LOST", 7, 0, TABLE_RIGHT, 0, STREAM(DISCARDED)},
};

static const struct source_stream *stream_at(const void *data, uint32_t row)
{
	const struct source_row *source = data;

	return &source->streams[row];
}

static uint64_t stream_key(const void *data, uint32_t row)
{
	const struct source_stream *stream = stream_at(data, row);

	return view_text_key(stream->channel, view_text_key(stream->domain, stream->cpu));
}

static const void *stream_data(const void *data, uint32_t row)
{
	return stream_at(data, row);
}

static void stream_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	if (stream_columns[column].field == STREAM(DISCARDED)) {
		cell->role = stream_at(data, row)->discarded > 0 ? ROLE_LOST : ROLE_DIM;
	}
}

static const struct table_source stream_source = {
		.columns = stream_columns,
		.n_columns = TABLE_COUNT(stream_columns),
		.what = "streams",
		.key = stream_key,
		.row = stream_data,
		.cell = stream_cell,
};

/* ---- the screen ---- */

static void *sources_create(void)
{
	struct sources_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		screen->below = PANE_UNMATCHED;
		table_init(&screen->sources, &source_source);
		table_init(&screen->unmatched, &unmatched_source);
		table_init(&screen->streams, &stream_source);
	}
	return screen;
}

static void sources_destroy(void *view)
{
	struct sources_screen *screen = view;

	table_release(&screen->sources);
	table_release(&screen->unmatched);
	table_release(&screen->streams);
	free(screen);
}

static uint32_t sources_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_SOURCES | FOCUS_UNMATCHED;
}

static void set_pane(struct sources_screen *screen, enum pane pane)
{
	screen->pane = pane;
	if (pane != PANE_SOURCES) {
		screen->below = pane;
	}
}

static void sources_enter(void *view, const struct view_call *call)
{
	if (call->from != SCREEN_HELP) {
		set_pane(view, call->unmatched ? PANE_UNMATCHED : PANE_SOURCES);
	}
}

static const struct source_row *selected(const struct sources_screen *screen)
{
	uint32_t row = table_row(&screen->sources);

	return row == UINT32_MAX ? NULL : &screen->snapshot->sources.rows[row];
}

static void update_streams(struct sources_screen *screen)
{
	const struct source_row *row = selected(screen);

	table_update(&screen->streams, row, row ? row->n_stream_rows : 0);
}

static void sources_update(void *view, const struct snapshot *snapshot)
{
	struct sources_screen *screen = view;

	screen->snapshot = snapshot;
	table_update(&screen->sources, &snapshot->sources, snapshot->sources.n);
	table_update(&screen->unmatched, &snapshot->unmatched, snapshot->unmatched.n);
	update_streams(screen);
}

/* Where every event went; the sum is always right, so what is zero may be left out. */
static void draw_accounting(const struct sources_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct accounting *a = &screen->snapshot->accounting;
	const struct {
		const char *name;
		uint64_t count;
	} parts[] = {{"in requests", a->in_request}, {"pending", a->pending},
			{"unmatched", a->unmatched}, {"of the system's state", a->state_only},
			{"late", a->late}, {"dropped", a->dropped}};
	char count[FORMAT_BYTES], text[512];
	const char *sign = " = ";
	size_t i;

	snprintf(text, sizeof(text), "%s events", format_count(count, a->in));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].count > 0) {
			text_add(text, sizeof(text), "%s%s %s", sign,
					format_count(count, parts[i].count), parts[i].name);
			sign = " + ";
		}
	}
	canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_TEXT, text);
}

/* The whole name of the source under the cursor, what is wrong with it, what helps. */
static void draw_detail(const struct sources_screen *screen, const struct view_frame *frame,
		struct area area)
{
	const struct source_row *row = selected(screen);
	char text[FIRST_RUN_BYTES], again[FORMAT_BYTES];
	struct area line = layout_cut_rows(&area, 1);
	int x;

	if (!row) {
		canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_DIM,
				"no source; :attach URL adds one");
		return;
	}
	x = canvas_text(frame->canvas, line.y, line.x, line.width, ROLE_DIM, row->url);
	if (row->state == SOURCE_BROKEN) {
		snprintf(text, sizeof(text), "tried again in %s",
				format_period(again, (double)(row->retry_in_ns / 100000000 *
								     100000000)));
		canvas_text(frame->canvas, line.y, line.x + x + 3, line.width - x - 3, ROLE_WARN,
				text);
	} else if (row->state == SOURCE_OFFERED) {
		canvas_text(frame->canvas, line.y, line.x + x + 3, line.width - x - 3, ROLE_STRONG,
				"Enter attaches it");
	} else if (row->duplicates > 0 && row->duplicates_of) {
		snprintf(text, sizeof(text), "%s of its events session %.100s told, too",
				format_count(again, row->duplicates), row->duplicates_of);
		canvas_text(frame->canvas, line.y, line.x + x + 3, line.width - x - 3, ROLE_DIM,
				text);
	}
	first_run_source(text, sizeof(text), row);
	paragraph_draw(frame->canvas, area, state_roles[row->state], text);
}

static void draw_pane(struct sources_screen *screen, const struct view_frame *frame, enum pane pane,
		struct area area)
{
	struct table *table = pane == PANE_UNMATCHED ? &screen->unmatched : &screen->streams;
	struct area title = layout_cut_rows(&area, 1);
	char text[128];

	if (pane == PANE_UNMATCHED) {
		snprintf(text, sizeof(text),
				"unmatched: events that are in no request, of %" PRIu32 " names",
				screen->snapshot->unmatched.event_names);
	} else {
		snprintf(text, sizeof(text), "streams of the source above");
	}
	view_pane(frame, title, text, "", screen->pane == pane);
	table_draw(table, frame->canvas, area, screen->pane == pane, frame->search);
}

static void sources_draw(void *view, const struct view_frame *frame)
{
	struct sources_screen *screen = view;
	struct area area = frame->area, detail, below, streams, line = layout_cut_rows(&area, 1);
	int rows;

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	draw_accounting(screen, frame, line);
	view_warning(frame, &area);
	if (area.height < 14) {
		table_draw(&screen->sources, frame->canvas, area, true, frame->search);
		return;
	}
	rows = (int)screen->sources.shown + 1;
	rows = rows < 5 ? 5 : rows > area.height / 2 - 3 ? area.height / 2 - 3 : rows;
	table_draw(&screen->sources, frame->canvas, layout_cut_rows(&area, rows),
			screen->pane == PANE_SOURCES, frame->search);
	detail = layout_cut_rows(&area, 3);
	layout_cut_columns(&detail, 2);
	draw_detail(screen, frame, detail);
	below = area;
	if (below.height >= 20) {
		streams = layout_cut_rows(&below, -(below.height * 2 / 5));
		draw_pane(screen, frame, PANE_UNMATCHED, below);
		draw_pane(screen, frame, PANE_STREAMS, streams);
	} else {
		draw_pane(screen, frame, screen->below, below);
	}
}

static struct table *sources_table(void *view)
{
	struct sources_screen *screen = view;

	return screen->pane == PANE_SOURCES     ? &screen->sources
	       : screen->pane == PANE_UNMATCHED ? &screen->unmatched
						: &screen->streams;
}

/* Attaches an offered source; goes into the streams of any other. */
static bool enter_source(struct sources_screen *screen, struct view_call *call)
{
	const struct source_row *row = selected(screen);

	if (!row) {
		return false;
	}
	if (row->state == SOURCE_OFFERED) {
		snprintf(call->command, sizeof(call->command), "attach %s", row->url);
		return true;
	}
	if (row->n_stream_rows == 0) {
		snprintf(call->message, sizeof(call->message), "no streams of it are known (yet)");
		return true;
	}
	set_pane(screen, PANE_STREAMS);
	return true;
}

/* The source that lags, lost or was lost most; without any such, the busiest. */
static bool go_worst(struct sources_screen *screen)
{
	const struct sources_view *sources = &screen->snapshot->sources;
	uint32_t i, worst = UINT32_MAX;
	double rank, most = -1;

	for (i = 0; i < sources->n; i++) {
		const struct source_row *row = &sources->rows[i];

		rank = (row->state == SOURCE_BROKEN || row->state == SOURCE_REFUSED ? 1e30 : 0) +
		       (double)row->discarded * 1e9 + (double)row->late * 1e6 + (double)row->lag_ns;
		if (rank > most) {
			most = rank;
			worst = i;
		}
	}
	return worst != UINT32_MAX && table_select(&screen->sources, sources->rows[worst].id);
}

static bool sources_act(void *view, enum action action, struct view_call *call)
{
	struct sources_screen *screen = view;
	bool done;

	switch (action) {
	case ACTION_PANE:
		set_pane(screen, (enum pane)((screen->pane + 1) % PANE_COUNT));
		return true;
	case ACTION_PANE_BACK:
		set_pane(screen, (enum pane)((screen->pane + PANE_COUNT - 1) % PANE_COUNT));
		return true;
	case ACTION_BACK:
		if (screen->pane != PANE_STREAMS) {
			return false;
		}
		set_pane(screen, PANE_SOURCES);
		return true;
	case ACTION_ENTER:
		return screen->pane == PANE_SOURCES && enter_source(screen, call);
	case ACTION_WORST:
		done = screen->pane == PANE_SOURCES && go_worst(screen);
		break;
	default:
		done = table_act(sources_table(screen), action);
		break;
	}
	update_streams(screen);
	return done;
}

const struct view_ops view_sources = {
		.screen = SCREEN_SOURCES,
		.key = ACTION_SOURCES,
		.up = SCREEN_GROUPS,
		.back_to = SCREEN_BITS_ALL &
			   ~(SCREEN_BIT(SCREEN_SOURCES) | SCREEN_BIT(SCREEN_HELP)),
		.about = "Where events come from. LOST by the tracer, LATE for the analysis, GAPS: "
			 "times it broke "
			 "and came back, COPIES: of its events another session told, too. Below "
			 "(Tab): "
			 "events that are in "
			 "no request and why, and the streams of the source under the cursor. "
			 "Enter attaches an "
			 "offered source.",
		.create = sources_create,
		.destroy = sources_destroy,
		.parts = sources_parts,
		.enter = sources_enter,
		.update = sources_update,
		.draw = sources_draw,
		.act = sources_act,
		.table = sources_table,
};
