/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "views/view.h"
#include "widgets/table.h"
#include "widgets/waterfall.h"

/* Screen 4: one request. Its spans as a waterfall, what a span carried, its original events. */

/* On a narrower screen the events, when one is among them, have the width for themselves. */
#define BOTH_PANES 120

enum pane { PANE_SPANS, PANE_VALUES, PANE_EVENTS, PANE_COUNT };

struct request_screen {
	enum pane pane;
	const struct request_view *request;
	uint32_t group_id; /* the group that it is, or was, wanted of */
	uint64_t shown_id; /* the request that the cursors are of */
	struct waterfall waterfall;
	struct table spans, values, events;
};

static const struct request_screen *screen_of(const void *data)
{
	return data;
}

/* Host, process and thread, as far as they are known. */
static void track_text(const struct request_view *request, uint32_t track, char *out, size_t size)
{
	const struct request_track *at;
	char process[128] = "", thread[32] = "";

	if (track >= request->n_tracks) {
		snprintf(out, size, "-");
		return;
	}
	at = &request->tracks[track];
	if (at->process[0]) {
		snprintf(process, sizeof(process), " %.100s", at->process);
	} else if (at->pid >= 0) {
		snprintf(process, sizeof(process), " %" PRId64, at->pid);
	}
	if (at->tid >= 0 && at->tid != at->pid) {
		snprintf(thread, sizeof(thread), "/%" PRId64, at->tid);
	} else if (at->tid >= 0 && at->process[0]) {
		snprintf(thread, sizeof(thread), "/%" PRId64, at->tid);
	}
	snprintf(out, size, "%.200s%s%s", at->host, process, thread);
}

static void values_text(const struct request_value *values, uint32_t n, char *out, size_t size)
{
	size_t used = 0;
	uint32_t i;

	out[0] = '\0';
	for (i = 0; i < n && used < size; i++) {
		used += (size_t)snprintf(out + used, size - used, "%s%s=%s", i ? " " : "",
				values[i].name, values[i].text);
	}
}

/* ---- spans ---- */

enum span_column { S_NAME, S_TRACK, S_START, S_SELF, S_DURATION, S_BAR, S_COUNT_OF };

static const struct table_column span_columns[] = {
		[S_NAME] = {"SPAN", 24, 0, TABLE_FLEX, 60},
		[S_TRACK] = {"WHERE", 16, 2, TABLE_FLEX, 28},
		[S_START] = {"START", 7, 4, TABLE_RIGHT, 0},
		[S_SELF] = {"SELF", 6, 3, TABLE_RIGHT, 0},
		[S_DURATION] = {"TOTAL", 6, 0, TABLE_RIGHT, 0},
		[S_BAR] = {"█ itself  ░ below it", 20, 1, TABLE_FLEX | TABLE_GRAPHIC, 0},
};

static uint64_t index_key(const void *data, uint32_t row)
{
	(void)data;
	return row;
}

static void span_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct request_screen *screen = screen_of(data);
	const struct request_span *span = &screen->request->spans[row];
	const char *fold;

	switch (column) {
	case S_NAME:
		fold = screen->waterfall.children[row] == 0 ? "  "
		       : screen->waterfall.folded[row]      ? "▸ "
							    : "▾ ";
		snprintf(cell->text, sizeof(cell->text), "%s%s", fold, span->name);
		cell->indent = span->depth < 20 ? (int)span->depth : 20;
		break;
	case S_TRACK:
		track_text(screen->request, span->track, cell->text, sizeof(cell->text));
		cell->role = waterfall_role(span->track);
		break;
	case S_START:
		format_duration(cell->text, (double)span->start_ns);
		cell->role = ROLE_DIM;
		break;
	case S_SELF:
		if (span->flags & REQUEST_SPAN_POINT) {
			strcpy(cell->text, "-");
		} else {
			format_duration(cell->text, (double)screen->waterfall.self_ns[row]);
		}
		break;
	case S_DURATION:
		if (span->flags & REQUEST_SPAN_POINT) {
			strcpy(cell->text, "-");
		} else {
			format_duration(cell->text, (double)span->duration_ns);
		}
		cell->role = ROLE_STRONG;
		break;
	default:
		break;
	}
}

static bool span_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	if (column != S_BAR) {
		return false;
	}
	waterfall_draw(&screen_of(data)->waterfall, row, canvas, area);
	return true;
}

static const char *span_mark(const void *data, uint32_t row)
{
	uint32_t flags = screen_of(data)->request->spans[row].flags;

	if (flags & (REQUEST_SPAN_UNCLOSED | REQUEST_SPAN_UNOPENED)) {
		return "?";
	}
	return flags & REQUEST_SPAN_SKEWED ? "!" : NULL;
}

static bool span_hidden(const void *data, uint32_t row)
{
	return screen_of(data)->waterfall.hidden[row];
}

static const struct table_source span_source = {
		.columns = span_columns,
		.n_columns = S_COUNT_OF,
		.what = "spans",
		.key = index_key,
		.cell = span_cell,
		.paint = span_paint,
		.mark = span_mark,
		.hidden = span_hidden,
};

/* ---- values of the span under the cursor: first what is known of it, then what it carried ---- */

enum { OWN_NAME, OWN_TRACK, OWN_START, OWN_TOTAL, OWN_SELF, OWN_STATE, OWN_ROWS };

static const struct table_column value_columns[] = {
		{"NAME", 12, 0, 0, 0},
		{"VALUE", 8, 0, TABLE_FLEX, 0},
};

static uint32_t selected_span(const struct request_screen *screen)
{
	uint32_t row = table_row(&screen->spans);

	return row < screen->waterfall.n ? row : UINT32_MAX;
}

static const char *span_state(const struct request_span *span)
{
	if (span->flags & REQUEST_SPAN_UNCLOSED) {
		return "its exit was not seen";
	}
	if (span->flags & REQUEST_SPAN_UNOPENED) {
		return "its entry was not seen";
	}
	if (span->flags & REQUEST_SPAN_SKEWED) {
		return "clocks differ: outside of what caused it";
	}
	return span->flags & REQUEST_SPAN_POINT ? "a single event" : "complete";
}

static void own_cell(const struct request_screen *screen, uint32_t index, uint32_t row, bool name,
		struct table_cell *cell)
{
	static const char *const names[] = {"span", "where", "start", "total", "self", "state"};
	const struct request_span *span = &screen->request->spans[index];

	if (name) {
		strcpy(cell->text, names[row]);
		cell->role = ROLE_DIM;
		return;
	}
	switch (row) {
	case OWN_NAME:
		snprintf(cell->text, sizeof(cell->text), "%s%s%s", span->provider,
				span->provider[0] ? ":" : "", span->name);
		cell->role = ROLE_STRONG;
		break;
	case OWN_TRACK:
		track_text(screen->request, span->track, cell->text, sizeof(cell->text));
		break;
	case OWN_START:
		format_duration(cell->text, (double)span->start_ns);
		break;
	case OWN_TOTAL:
		span_cell(screen, index, S_DURATION, cell);
		break;
	case OWN_SELF:
		span_cell(screen, index, S_SELF, cell);
		break;
	default:
		strcpy(cell->text, span_state(span));
		cell->role = span->flags & ~(uint32_t)REQUEST_SPAN_POINT ? ROLE_WARN : ROLE_DIM;
		break;
	}
}

static void value_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct request_screen *screen = screen_of(data);
	uint32_t span = selected_span(screen);
	const struct request_value *value;

	if (span == UINT32_MAX) {
		return;
	}
	if (row < OWN_ROWS) {
		own_cell(screen, span, row, column == 0, cell);
		return;
	}
	value = &screen->request->spans[span].values[row - OWN_ROWS];
	text_copy(cell->text, sizeof(cell->text), column == 0 ? value->name : value->text);
}

static const struct table_source value_source = {
		.columns = value_columns,
		.n_columns = 2,
		.what = "values",
		.key = index_key,
		.cell = value_cell,
};

/* ---- original events ---- */

enum event_column { E_TIME, E_NAME, E_TRACK, E_CPU, E_VALUES, E_COUNT_OF };

static const struct table_column event_columns[] = {
		[E_TIME] = {"TIME", 7, 0, TABLE_RIGHT, 0},
		[E_NAME] = {"EVENT", 20, 0, TABLE_FLEX, 44},
		[E_TRACK] = {"WHERE", 22, 3, 0, 0},
		[E_CPU] = {"CPU", 3, 2, TABLE_RIGHT, 0},
		[E_VALUES] = {"FIELDS", 14, 1, TABLE_FLEX, 0},
};

static void event_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct request_view *request = screen_of(data)->request;
	const struct request_event *event = &request->events[row];

	switch (column) {
	case E_TIME:
		format_duration(cell->text, (double)(int64_t)(event->ts_ns - request->start_ns));
		cell->role = ROLE_DIM;
		break;
	case E_NAME:
		text_copy(cell->text, sizeof(cell->text), event->name);
		break;
	case E_TRACK:
		track_text(request, event->track, cell->text, sizeof(cell->text));
		cell->role = waterfall_role(event->track);
		break;
	case E_CPU:
		if (event->cpu == UINT32_MAX) {
			strcpy(cell->text, "-");
		} else {
			snprintf(cell->text, sizeof(cell->text), "%" PRIu32, event->cpu);
		}
		cell->role = ROLE_DIM;
		break;
	default:
		values_text(event->values, event->n_values, cell->text, sizeof(cell->text));
		break;
	}
}

static const struct table_source event_source = {
		.columns = event_columns,
		.n_columns = E_COUNT_OF,
		.what = "events",
		.key = index_key,
		.cell = event_cell,
};

/* ---- the screen ---- */

static void *request_create(void)
{
	struct request_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->spans, &span_source);
		table_init(&screen->values, &value_source);
		table_init(&screen->events, &event_source);
	}
	return screen;
}

static void request_destroy(void *view)
{
	struct request_screen *screen = view;

	table_release(&screen->spans);
	table_release(&screen->values);
	table_release(&screen->events);
	waterfall_release(&screen->waterfall);
	free(screen);
}

static uint32_t request_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_REQUEST;
}

static void update_values(struct request_screen *screen)
{
	uint32_t span = selected_span(screen);

	table_update(&screen->values, screen,
			span == UINT32_MAX ? 0 : OWN_ROWS + screen->request->spans[span].n_values);
}

static void request_update(void *view, const struct snapshot *snapshot)
{
	struct request_screen *screen = view;

	screen->request = &snapshot->request;
	screen->group_id = snapshot->focus.group_id;
	if (screen->request->id != 0 && screen->request->id != screen->shown_id) {
		screen->shown_id = screen->request->id;
		screen->pane = PANE_SPANS;
		screen->spans.cursor_key = screen->values.cursor_key = 0;
		screen->events.cursor_key = 0;
	}
	waterfall_update(&screen->waterfall, screen->request);
	table_update(&screen->spans, screen, screen->waterfall.n);
	table_update(&screen->events, screen, screen->request->n_events);
	update_values(screen);
}

static void draw_crumbs(const struct request_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct request_view *request = screen->request;
	char group[512], name[64], right[128], clock[FORMAT_BYTES], duration[FORMAT_BYTES];
	char skew[FORMAT_BYTES];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (request->id == 0) {
		view_crumbs(frame, line, "group", "request", "");
		return;
	}
	view_group_name(group, sizeof(group), request->type, request->path);
	snprintf(name, sizeof(name), "request %s",
			format_duration(duration, (double)request->duration_ns));
	snprintf(right, sizeof(right), "%s  %s%s", format_clock(clock, request->start_ns),
			view_state_name(request->state), request->tainted ? " ~ events lost" : "");
	if (request->skewed) {
		snprintf(right, sizeof(right), "clocks differ by %s or more  %s",
				format_duration(skew, (double)request->skew_ns),
				view_state_name(request->state));
	}
	view_crumbs(frame, line, group, name, right);
}

/* Adds ` name duration` if there is any. */
static void add_time(char *text, size_t size, const char *name, uint64_t ns)
{
	size_t used = strlen(text);
	char duration[FORMAT_BYTES];

	if (ns > 0 && used < size) {
		snprintf(text + used, size - used, "%s %s", name,
				format_duration(duration, (double)ns));
	}
}

/* ` name read/written` if there is any. */
static void add_bytes(char *text, size_t size, const char *name, uint64_t in, uint64_t out)
{
	size_t used = strlen(text);
	char one[FORMAT_BYTES], two[FORMAT_BYTES];

	if (in + out > 0 && used < size) {
		snprintf(text + used, size - used, "%s %s/%s", name, format_bytes(one, in),
				format_bytes(two, out));
	}
}

/* What it used of its hosts, over all of its threads. */
static void draw_resources(const struct request_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct state_resources *used = &screen->request->resources;
	char text[512] = "", cpu[FORMAT_BYTES];

	if (!used->measured) {
		canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_DIM,
				"CPU not measured: no kernel events of its hosts");
		return;
	}
	snprintf(text, sizeof(text), "cpu %s", format_duration(cpu, (double)used->cpu_ns));
	add_time(text, sizeof(text), "  run queue", used->runqueue_ns);
	add_time(text, sizeof(text), "  blocked", used->blocked_ns);
	add_time(text, sizeof(text), ": lock", used->blocked_lock_ns);
	add_time(text, sizeof(text), " disk", used->blocked_disk_ns);
	add_time(text, sizeof(text), " net", used->blocked_net_ns);
	add_time(text, sizeof(text), " timer", used->blocked_timer_ns);
	add_time(text, sizeof(text), " other", used->blocked_other_ns);
	add_time(text, sizeof(text), "  irq", used->irq_ns);
	add_time(text, sizeof(text), "  unknown", used->unknown_ns);
	add_bytes(text, sizeof(text), "  disk", used->disk_read_bytes, used->disk_write_bytes);
	add_bytes(text, sizeof(text), "  net", used->net_read_bytes, used->net_write_bytes);
	canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_TEXT, text);
}

static void draw_spans(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	table_draw(&screen->spans, frame->canvas, area, screen->pane == PANE_SPANS, frame->search);
}

static void draw_below(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	bool alone = screen->pane == PANE_EVENTS && area.width < BOTH_PANES;
	struct area values = layout_cut_columns(&area, alone ? 0 : area.width * 9 / 20), title;
	const struct request_view *request = screen->request;
	uint32_t span = selected_span(screen);
	char text[512], more[64] = "";

	layout_cut_columns(&values, -1);
	title = layout_cut_rows(&values, 1);
	snprintf(text, sizeof(text), "span %.400s",
			span == UINT32_MAX ? "" : request->spans[span].name);
	if (!alone) {
		view_pane(frame, title, text, "", screen->pane == PANE_VALUES);
		table_draw(&screen->values, frame->canvas, values, screen->pane == PANE_VALUES,
				frame->search);
	}
	snprintf(text, sizeof(text), "%" PRIu32 " events", request->n_events);
	if (request->events_left_out > 0) {
		snprintf(more, sizeof(more), "%" PRIu32 " more not kept", request->events_left_out);
	}
	title = layout_cut_rows(&area, 1);
	view_pane(frame, title, text, more, screen->pane == PANE_EVENTS);
	table_draw(&screen->events, frame->canvas, area, screen->pane == PANE_EVENTS,
			frame->search);
}

static void request_draw(void *view, const struct view_frame *frame)
{
	struct request_screen *screen = view;
	const struct request_view *request = screen->request;
	struct area area = frame->area, below;
	bool other = frame->focus->request_id != 0 && request->id != frame->focus->request_id;

	draw_crumbs(screen, frame, layout_cut_rows(&area, 1));
	if (request->id == 0 || other) {
		canvas_text(frame->canvas, area.y + 2, area.x + 3, area.width - 6, ROLE_DIM,
				view_answers(frame) ? "this request is not kept (any more); w "
						      "shows the "
						      "slowest that is"
						    : "…");
		return;
	}
	draw_resources(screen, frame, layout_cut_rows(&area, 1));
	below = layout_cut_rows(&area, area.height >= 14 ? -(area.height * 9 / 20) : 0);
	draw_spans(screen, frame, area);
	if (below.height > 0) {
		draw_below(screen, frame, below);
	}
}

/* Into the events of the span. */
static bool enter_span(struct request_screen *screen, struct view_call *call)
{
	uint32_t span = selected_span(screen), event;

	if (span == UINT32_MAX) {
		return false;
	}
	event = screen->request->spans[span].first_event;
	if (event == UINT32_MAX) {
		event = screen->request->spans[span].last_event;
	}
	if (event == UINT32_MAX || event >= screen->request->n_events) {
		snprintf(call->message, sizeof(call->message),
				"no event of this span was kept; Tab goes to those of the request");
		return true;
	}
	screen->pane = PANE_EVENTS;
	table_select(&screen->events, event);
	return true;
}

/* Left folds, or goes to the parent; right unfolds. */
static bool fold(struct request_screen *screen, bool folded)
{
	uint32_t span = selected_span(screen);

	if (span == UINT32_MAX) {
		return false;
	}
	if (waterfall_fold(&screen->waterfall, span, folded)) {
		table_update(&screen->spans, screen, screen->waterfall.n);
		return true;
	}
	if (folded && screen->request->spans[span].parent < span) {
		return table_select(&screen->spans, screen->request->spans[span].parent);
	}
	return false;
}

/* To the thread that the span ran in, as it was when the span began. */
static bool go_to_thread(const struct request_screen *screen, struct view_call *call)
{
	const struct request_view *request = screen->request;
	uint32_t span = selected_span(screen);
	const struct request_track *track;

	if (span == UINT32_MAX || request->spans[span].track >= request->n_tracks) {
		return false;
	}
	track = &request->tracks[request->spans[span].track];
	if (track->tid < 0) {
		snprintf(call->message, sizeof(call->message),
				"the thread of this span is not known: add the context vtid to its "
				"channel");
		return true;
	}
	call->go = SCREEN_STATE;
	call->group_id = request->group_id;
	call->request_id = request->id;
	text_copy(call->moment.host, sizeof(call->moment.host), track->host);
	call->moment.pid = track->pid;
	call->moment.tid = track->tid;
	call->moment.at_ns = request->start_ns + (uint64_t)request->spans[span].start_ns;
	return true;
}

static bool act_on_spans(struct request_screen *screen, enum action action, struct view_call *call)
{
	uint32_t worst;

	switch (action) {
	case ACTION_ENTER:
		return enter_span(screen, call);
	case ACTION_LEFT:
		return fold(screen, true);
	case ACTION_RIGHT:
		return fold(screen, false);
	case ACTION_WORST:
		if (screen->request->id == 0) {
			call->go = SCREEN_REQUEST;
			call->group_id = screen->group_id;
			return true;
		}
		worst = waterfall_worst(&screen->waterfall);
		return worst != UINT32_MAX && table_select(&screen->spans, worst);
	default:
		return table_act(&screen->spans, action);
	}
}

static struct table *request_table(void *view)
{
	struct request_screen *screen = view;

	return screen->pane == PANE_SPANS    ? &screen->spans
	       : screen->pane == PANE_VALUES ? &screen->values
					     : &screen->events;
}

static bool request_act(void *view, enum action action, struct view_call *call)
{
	struct request_screen *screen = view;
	bool done;

	switch (action) {
	case ACTION_THREAD:
		return go_to_thread(screen, call);
	case ACTION_PANE:
		screen->pane = (enum pane)((screen->pane + 1) % PANE_COUNT);
		return true;
	case ACTION_PANE_BACK:
		screen->pane = (enum pane)((screen->pane + PANE_COUNT - 1) % PANE_COUNT);
		return true;
	case ACTION_BACK:
		if (screen->pane == PANE_SPANS) {
			return false;
		}
		screen->pane = PANE_SPANS;
		return true;
	default:
		break;
	}
	done = screen->pane == PANE_SPANS ? act_on_spans(screen, action, call)
					  : table_act(request_table(screen), action);
	update_values(screen);
	return done;
}

const struct view_ops view_request = {
		.screen = SCREEN_REQUEST,
		.about = "One request. Its spans, the caller above what it called; colour and "
			 "WHERE tell host, "
			 "process and thread. SELF is the time that no span below it covers. ? "
			 "entry or exit "
			 "was not seen; ! clocks of two hosts differ. Enter: the span's original "
			 "events. o: its thread as it was when the span began.",
		.create = request_create,
		.destroy = request_destroy,
		.parts = request_parts,
		.update = request_update,
		.draw = request_draw,
		.act = request_act,
		.table = request_table,
};
