/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "layout.h"
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

static int compare_double(double a, double b)
{
	return a < b ? -1 : a > b;
}

/* ---- sources ---- */

enum source_column {
	C_STATE,
	C_SOURCE,
	C_EVENTS,
	C_RATE,
	C_LAG,
	C_LOST,
	C_LATE,
	C_GAPS,
	C_COPIES,
	C_STREAMS,
	C_VIEWERS,
	C_TIMER,
	C_COUNT_OF
};

static const struct table_column source_columns[] = {
		[C_STATE] = {"STATE", 10, 0, 0, 0},
		[C_SOURCE] = {"SOURCE", 20, 0, TABLE_FLEX, 72},
		[C_EVENTS] = {"EVENTS", 7, 1, TABLE_RIGHT, 0},
		[C_RATE] = {"RATE", 6, 1, TABLE_RIGHT, 0},
		[C_LAG] = {"LAG", 6, 2, TABLE_RIGHT, 0},
		[C_LOST] = {"LOST", 5, 0, TABLE_RIGHT, 0},
		[C_LATE] = {"LATE", 5, 3, TABLE_RIGHT, 0},
		[C_GAPS] = {"GAPS", 5, 4, TABLE_RIGHT, 0},
		[C_COPIES] = {"COPIES", 7, 6, TABLE_RIGHT, 0},
		[C_STREAMS] = {"STREAMS", 8, 5, TABLE_RIGHT, 0},
		[C_VIEWERS] = {"VIEWERS", 8, 8, TABLE_RIGHT, 0},
		[C_TIMER] = {"TIMER", 6, 7, TABLE_RIGHT, 0},
};

static const struct {
	const char *name;
	enum role role;
} states[] = {
		[SOURCE_STARTING] = {"starting", ROLE_DIM},
		[SOURCE_CONNECTING] = {"connecting", ROLE_WARN},
		[SOURCE_WAITING] = {"waiting", ROLE_WARN},
		[SOURCE_ATTACHED] = {"attached", ROLE_GOOD},
		[SOURCE_ACTIVE] = {"active", ROLE_GOOD},
		[SOURCE_STALLED] = {"stalled", ROLE_WARN},
		[SOURCE_BROKEN] = {"broken", ROLE_BAD},
		[SOURCE_ENDED] = {"ended", ROLE_DIM},
		[SOURCE_REFUSED] = {"refused", ROLE_BAD},
		[SOURCE_OFFERED] = {"offered", ROLE_STRONG},
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

/* Lost, late and so on: nothing is dim, something is not to be overlooked. */
static void loss_cell(uint64_t count, struct table_cell *cell)
{
	format_count(cell->text, count);
	cell->role = count > 0 ? ROLE_WARN : ROLE_DIM;
}

/* What a source that was never attached could not have measured. */
static bool measured(const struct source_row *row)
{
	return !row->is_relay && row->state != SOURCE_OFFERED &&
	       (row->events > 0 || row->state >= SOURCE_ATTACHED) && row->state != SOURCE_REFUSED;
}

static void source_number(const struct source_row *row, int column, struct table_cell *cell)
{
	switch (column) {
	case C_EVENTS:
		format_count(cell->text, row->events);
		break;
	case C_RATE:
		format_rate(cell->text, row->events_per_s);
		break;
	case C_LOST:
		loss_cell(row->discarded, cell);
		cell->role = row->discarded > 0 ? ROLE_LOST : ROLE_DIM;
		break;
	case C_LATE:
		loss_cell(row->late, cell);
		break;
	case C_GAPS:
		loss_cell(row->gaps, cell);
		break;
	case C_COPIES:
		format_count(cell->text, row->duplicates);
		cell->role = ROLE_DIM;
		break;
	default:
		format_count(cell->text, row->n_streams);
		break;
	}
}

static void source_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct source_row *row = source_at(data, index);

	strcpy(cell->text, "-");
	switch (column) {
	case C_STATE:
		strcpy(cell->text, states[row->state].name);
		cell->role = states[row->state].role;
		break;
	case C_SOURCE:
		if (row->is_relay || !row->session[0]) {
			text_copy(cell->text, sizeof(cell->text), row->url);
		} else {
			snprintf(cell->text, sizeof(cell->text), "%s %s", row->host, row->session);
		}
		break;
	case C_LAG:
		/* A lag is known only of what is being read. */
		if (row->live && measured(row) &&
				(row->state == SOURCE_ACTIVE || row->state == SOURCE_STALLED)) {
			format_duration(cell->text, (double)row->lag_ns);
		}
		break;
	case C_VIEWERS:
		if (row->live && !row->is_relay) {
			format_count(cell->text, row->viewers);
		}
		break;
	case C_TIMER:
		if (row->live_timer_us > 0) {
			format_period(cell->text, (double)row->live_timer_us * 1e3);
		}
		break;
	default:
		if (measured(row)) {
			source_number(row, column, cell);
		}
		break;
	}
}

static double source_figure(const struct source_row *row, int column)
{
	switch (column) {
	case C_EVENTS:
		return (double)row->events;
	case C_RATE:
		return row->events_per_s;
	case C_LAG:
		return (double)row->lag_ns;
	case C_LOST:
		return (double)row->discarded;
	case C_LATE:
		return (double)row->late;
	case C_GAPS:
		return row->gaps;
	case C_COPIES:
		return (double)row->duplicates;
	case C_STREAMS:
		return row->n_streams;
	case C_VIEWERS:
		return row->viewers;
	default:
		return (double)row->live_timer_us;
	}
}

static int source_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct source_row *one = source_at(data, a), *other = source_at(data, b);

	if (column == C_STATE) {
		return (int)one->state - (int)other->state;
	}
	if (column == C_SOURCE) {
		return strcmp(one->url, other->url);
	}
	return compare_double(source_figure(one, column), source_figure(other, column));
}

static const char *source_mark(const void *data, uint32_t row)
{
	return source_at(data, row)->discarded > 0 ? "~" : NULL;
}

static const struct table_source source_source = {
		.columns = source_columns,
		.n_columns = C_COUNT_OF,
		.what = "sources",
		.key = source_key,
		.cell = source_cell,
		.compare = source_compare,
		.mark = source_mark,
};

/* ---- events that belong to no request ---- */

enum unmatched_column { U_EVENT, U_UNMATCHED, U_TOTAL, U_RATE, U_ROLE, U_WHY, U_COUNT_OF };

static const struct table_column unmatched_columns[] = {
		[U_EVENT] = {"EVENT", 18, 0, TABLE_FLEX, 60},
		[U_UNMATCHED] = {"UNMATCHED", 10, 2, TABLE_RIGHT, 0},
		[U_TOTAL] = {"OF", 6, 3, TABLE_RIGHT, 0},
		[U_RATE] = {"RATE", 6, 0, TABLE_RIGHT, 0},
		[U_ROLE] = {"TAKEN FOR", 14, 1, TABLE_FLEX, 40},
		[U_WHY] = {"WHY", 22, 0, TABLE_FLEX, 0},
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

static void unmatched_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct unmatched_row *row = unmatched_at(data, index);

	switch (column) {
	case U_EVENT:
		text_copy(cell->text, sizeof(cell->text), row->event);
		break;
	case U_UNMATCHED:
		format_count(cell->text, row->unmatched);
		cell->role = row->unmatched > 0 ? ROLE_STRONG : ROLE_DIM;
		break;
	case U_TOTAL:
		format_count(cell->text, row->total);
		break;
	case U_RATE:
		format_rate(cell->text, row->rate_per_s);
		break;
	case U_ROLE:
		text_copy(cell->text, sizeof(cell->text), row->role);
		cell->role = ROLE_DIM;
		break;
	default:
		text_copy(cell->text, sizeof(cell->text), row->why);
		break;
	}
}

static int unmatched_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct unmatched_row *one = unmatched_at(data, a), *other = unmatched_at(data, b);

	switch (column) {
	case U_EVENT:
		return strcmp(one->event, other->event);
	case U_UNMATCHED:
		return compare_double((double)one->unmatched, (double)other->unmatched);
	case U_TOTAL:
		return compare_double((double)one->total, (double)other->total);
	case U_RATE:
		return compare_double(one->rate_per_s, other->rate_per_s);
	case U_ROLE:
		return strcmp(one->role, other->role);
	default:
		return strcmp(one->why, other->why);
	}
}

static const struct table_source unmatched_source = {
		.columns = unmatched_columns,
		.n_columns = U_COUNT_OF,
		.what = "event names",
		.key = unmatched_key,
		.cell = unmatched_cell,
		.compare = unmatched_compare,
};

/* ---- streams of the source under the cursor ---- */

enum stream_column { T_CHANNEL, T_DOMAIN, T_CPU, T_EVENTS, T_LOST, T_COUNT_OF };

static const struct table_column stream_columns[] = {
		[T_CHANNEL] = {"CHANNEL", 16, 0, TABLE_FLEX, 60},
		[T_DOMAIN] = {"DOMAIN", 7, 1, 0, 0},
		[T_CPU] = {"CPU", 4, 0, TABLE_RIGHT, 0},
		[T_EVENTS] = {"EVENTS", 7, 0, TABLE_RIGHT, 0},
		[T_LOST] = {"LOST", 7, 0, TABLE_RIGHT, 0},
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

static void stream_cell(const void *data, uint32_t index, int column, struct table_cell *cell)
{
	const struct source_stream *stream = stream_at(data, index);

	switch (column) {
	case T_CHANNEL:
		text_copy(cell->text, sizeof(cell->text), stream->channel);
		break;
	case T_DOMAIN:
		text_copy(cell->text, sizeof(cell->text), stream->domain);
		cell->role = ROLE_DIM;
		break;
	case T_CPU:
		strcpy(cell->text, "-");
		if (stream->cpu != UINT32_MAX) {
			format_count(cell->text, stream->cpu);
		}
		break;
	case T_EVENTS:
		format_count(cell->text, stream->events);
		break;
	default:
		format_count(cell->text, stream->discarded);
		cell->role = stream->discarded > 0 ? ROLE_LOST : ROLE_DIM;
		break;
	}
}

static int stream_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct source_stream *one = stream_at(data, a), *other = stream_at(data, b);

	switch (column) {
	case T_CHANNEL:
		return strcmp(one->channel, other->channel);
	case T_DOMAIN:
		return strcmp(one->domain, other->domain);
	case T_CPU:
		return compare_double(one->cpu, other->cpu);
	case T_EVENTS:
		return compare_double((double)one->events, (double)other->events);
	default:
		return compare_double((double)one->discarded, (double)other->discarded);
	}
}

static const struct table_source stream_source = {
		.columns = stream_columns,
		.n_columns = T_COUNT_OF,
		.what = "streams",
		.key = stream_key,
		.cell = stream_cell,
		.compare = stream_compare,
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
	size_t used, i;

	used = (size_t)snprintf(text, sizeof(text), "%s events", format_count(count, a->in));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].count > 0) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", sign,
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
	paragraph_draw(frame->canvas, area, states[row->state].role, text);
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
		.about = "Where events come from. LOST by the tracer, LATE for the analysis, GAPS: "
			 "times it broke "
			 "and came back, COPIES: of its events another session told, too. Below (Tab): "
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
