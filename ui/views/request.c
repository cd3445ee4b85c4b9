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

/*
 * Screen 4: one request. Its spans as a waterfall with its critical path, what a span carried, its
 * original events.
 */

/* So wide that values, path and events have room side by side, or values and path at least. */
#define THREE_PANES 160
#define TWO_PANES   70

enum pane { PANE_SPANS, PANE_PATH, PANE_VALUES, PANE_EVENTS, PANE_COUNT };

struct request_screen {
	enum pane pane;
	const struct request_view *request;
	uint32_t group_id; /* the group that it is, or was, wanted of */
	uint64_t shown_id; /* the request that the cursors are of */
	struct waterfall waterfall;
	struct table spans, path, values, events;
	/* The span that the person came for, until its request is there. */
	uint64_t chain;       /* 0: none in particular */
	uint64_t chain_of_id; /* 0: whichever request comes */
	bool chain_events;    /* its original events */
	bool chain_missed;    /* the request was not there */
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

enum span_column { S_NAME, S_TRACK, S_START, S_SELF, S_PATH, S_DURATION, S_BAR, S_COUNT_OF };

#define SPAN_COLUMNS(bar)                                                                          \
	[S_NAME] = {"SPAN", 24, 0, TABLE_FLEX, 60}, [S_TRACK] = {"WHERE", 16, 2, TABLE_FLEX, 28},  \
	[S_START] = {"START", 7, 4, TABLE_RIGHT, 0}, [S_SELF] = {"SELF", 6, 3, TABLE_RIGHT, 0},    \
	[S_PATH] = {"PATH", 6, 1, TABLE_RIGHT, 0}, [S_DURATION] = {"TOTAL", 6, 0, TABLE_RIGHT, 0}, \
	[S_BAR] = {bar, 20, 1, TABLE_FLEX | TABLE_GRAPHIC, 0}

static const struct table_column span_columns[] = {SPAN_COLUMNS("█ itself  ░ below it")};
static const struct table_column path_columns[] = {SPAN_COLUMNS("█ path ═ wait ▒ ░")};

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
	case S_PATH:
		strcpy(cell->text, "-");
		if (waterfall_has_path(&screen->waterfall) && !(span->flags & REQUEST_SPAN_POINT)) {
			format_duration(cell->text, (double)span->path_ns);
			cell->role = span->path_ns > 0 ? ROLE_CRITICAL : ROLE_DIM;
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

/* The same where the critical path is known. */
static const struct table_source path_span_source = {
		.columns = path_columns,
		.n_columns = S_COUNT_OF,
		.what = "spans",
		.key = index_key,
		.cell = span_cell,
		.paint = span_paint,
		.mark = span_mark,
		.hidden = span_hidden,
};

/* ---- the critical path, piece by piece ---- */

enum piece_column { P_AT, P_FOR, P_SPAN, P_WHAT, P_TRACK, P_SHARE, P_COUNT_OF };

static const struct table_column piece_columns[] = {
		[P_AT] = {"AT", 7, 1, TABLE_RIGHT, 0},
		[P_FOR] = {"FOR", 7, 0, TABLE_RIGHT, 0},
		[P_SPAN] = {"SPAN", 14, 0, TABLE_FLEX, 40},
		[P_WHAT] = {"WHAT", 12, 0, TABLE_FLEX, 24},
		[P_TRACK] = {"WHERE", 14, 6, TABLE_FLEX, 28},
		[P_SHARE] = {"", 5, 5, TABLE_RIGHT, 0},
};

static void piece_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct request_view *request = screen_of(data)->request;
	const struct request_piece *piece = &request->pieces[row];
	const struct request_span *span =
			piece->span < request->n_spans ? &request->spans[piece->span] : NULL;
	double length_ns = (double)(piece->to_ns - piece->from_ns);

	switch (column) {
	case P_AT:
		format_duration(cell->text, (double)piece->from_ns);
		cell->role = ROLE_DIM;
		break;
	case P_FOR:
		format_duration(cell->text, length_ns);
		cell->role = ROLE_STRONG;
		break;
	case P_SPAN:
		text_copy(cell->text, sizeof(cell->text), span ? span->name : "-");
		break;
	case P_WHAT:
		text_copy(cell->text, sizeof(cell->text), piece->what[0] ? piece->what : "itself");
		cell->role = piece->what[0] ? ROLE_WARN : ROLE_TEXT;
		break;
	case P_TRACK:
		if (span) {
			track_text(request, span->track, cell->text, sizeof(cell->text));
			cell->role = waterfall_role(span->track);
		}
		break;
	default:
		format_share(cell->text, request->duration_ns
							 ? length_ns / (double)request->duration_ns
							 : 0);
		break;
	}
}

static int piece_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	const struct request_piece *one = &screen_of(data)->request->pieces[a];
	const struct request_piece *other = &screen_of(data)->request->pieces[b];
	int64_t one_ns = one->to_ns - one->from_ns, other_ns = other->to_ns - other->from_ns;

	switch (column) {
	case P_AT:
		return one->from_ns < other->from_ns ? -1 : one->from_ns > other->from_ns;
	case P_WHAT:
		return strcmp(one->what, other->what);
	case P_SPAN:
	case P_TRACK:
		return one->span < other->span ? -1 : one->span > other->span;
	default:
		return one_ns < other_ns ? -1 : one_ns > other_ns;
	}
}

static const struct table_source piece_source = {
		.columns = piece_columns,
		.n_columns = P_COUNT_OF,
		.what = "pieces",
		.key = index_key,
		.cell = piece_cell,
		.compare = piece_compare,
};

/* ---- values of the span under the cursor: first what is known of it, then what it carried ---- */

enum { OWN_NAME, OWN_TRACK, OWN_START, OWN_TOTAL, OWN_SELF, OWN_PATH, OWN_STATE, OWN_ROWS };

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
	static const char *const names[] = {
			"span", "where", "start", "total", "self", "path", "state"};
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
	case OWN_PATH:
		span_cell(screen, index, S_PATH, cell);
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
		table_init(&screen->path, &piece_source);
		table_init(&screen->values, &value_source);
		table_init(&screen->events, &event_source);
	}
	return screen;
}

static void request_destroy(void *view)
{
	struct request_screen *screen = view;

	table_release(&screen->spans);
	table_release(&screen->path);
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

/* While the cursor moves over spans, the path shows where each is on it: its longest piece. */
static void follow_span(struct request_screen *screen, uint32_t span)
{
	const struct request_view *request = screen->request;
	const struct waterfall *waterfall = &screen->waterfall;
	uint32_t i, longest = UINT32_MAX;
	int64_t ns, most_ns = -1;

	if (span == UINT32_MAX || screen->pane != PANE_SPANS) {
		return;
	}
	for (i = waterfall->first_piece[span]; i < waterfall->first_piece[span + 1]; i++) {
		ns = request->pieces[waterfall->pieces[i]].to_ns -
		     request->pieces[waterfall->pieces[i]].from_ns;
		if (ns > most_ns) {
			most_ns = ns;
			longest = waterfall->pieces[i];
		}
	}
	if (longest != UINT32_MAX) {
		table_select(&screen->path, longest);
	}
}

static void update_values(struct request_screen *screen)
{
	uint32_t span = selected_span(screen);

	follow_span(screen, span);

	table_update(&screen->values, screen,
			span == UINT32_MAX ? 0 : OWN_ROWS + screen->request->spans[span].n_values);
}

static void request_enter(void *view, const struct view_call *call)
{
	struct request_screen *screen = view;

	screen->chain = call->chain;
	screen->chain_of_id = call->request_id;
	screen->chain_events = call->events;
	screen->chain_missed = false;
}

static uint64_t chain_key(const struct request_view *request, uint32_t span)
{
	const struct request_span *at = &request->spans[span];

	return view_chain_key(at->provider, at->name,
			at->parent < span ? chain_key(request, at->parent) : 0);
}

/* Of the spans of a calling context the one that is most on the critical path, else the longest. */
static uint32_t find_chain(const struct request_view *request, uint64_t chain)
{
	uint32_t i, found = UINT32_MAX;

	for (i = 0; i < request->n_spans; i++) {
		const struct request_span *span = &request->spans[i];
		const struct request_span *best = &request->spans[found < i ? found : i];

		if (chain_key(request, i) == chain &&
				(found == UINT32_MAX || span->path_ns > best->path_ns ||
						(span->path_ns == best->path_ns &&
								span->duration_ns >
										best->duration_ns))) {
			found = i;
		}
	}
	return found;
}

static void show_events(struct request_screen *screen, uint32_t span)
{
	const struct request_span *at = &screen->request->spans[span];
	uint32_t event = at->first_event != UINT32_MAX ? at->first_event : at->last_event;

	if (event < screen->request->n_events) {
		screen->pane = PANE_EVENTS;
		table_select(&screen->events, event);
	}
}

/* The cursor goes where the person came for, once the request is there. */
static void go_to_chain(struct request_screen *screen)
{
	const struct request_view *request = screen->request;
	uint32_t span;

	if (screen->chain == 0 || request->id == 0 ||
			(screen->chain_of_id != 0 && request->id != screen->chain_of_id)) {
		return;
	}
	span = find_chain(request, screen->chain);
	screen->chain = 0;
	screen->chain_missed = span == UINT32_MAX;
	if (!screen->chain_missed && table_select(&screen->spans, span) && screen->chain_events) {
		show_events(screen, span);
	}
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
		screen->events.cursor_key = screen->path.cursor_key = 0;
	}
	waterfall_update(&screen->waterfall, screen->request);
	screen->spans.source =
			waterfall_has_path(&screen->waterfall) ? &path_span_source : &span_source;
	table_update(&screen->spans, screen, screen->waterfall.n);
	table_update(&screen->path, screen, screen->request->n_pieces);
	table_update(&screen->events, screen, screen->request->n_events);
	go_to_chain(screen);
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
				used->no_thread ? "CPU not told: it ran on no thread that is known"
						: "CPU not measured: no kernel events of its "
						  "hosts");
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

static void draw_values(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	uint32_t span = selected_span(screen);
	char text[512];

	snprintf(text, sizeof(text), "span %.400s",
			span == UINT32_MAX ? "" : screen->request->spans[span].name);
	view_pane(frame, layout_cut_rows(&area, 1), text, "", screen->pane == PANE_VALUES);
	table_draw(&screen->values, frame->canvas, area, screen->pane == PANE_VALUES,
			frame->search);
}

static void draw_path(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	const struct request_view *request = screen->request;
	char text[128];

	snprintf(text, sizeof(text), "critical path: %" PRIu32 " piece%s", request->n_pieces,
			request->n_pieces == 1 ? "" : "s");
	view_pane(frame, layout_cut_rows(&area, 1), text, "", screen->pane == PANE_PATH);
	if (request->n_pieces == 0) {
		canvas_text(frame->canvas, area.y + 1, area.x + 3, area.width - 4, ROLE_DIM,
				request->state == REQUEST_COMPLETE
						? "not known"
						: "only complete requests have one");
		return;
	}
	table_draw(&screen->path, frame->canvas, area, screen->pane == PANE_PATH, frame->search);
}

static void draw_events(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	const struct request_view *request = screen->request;
	char text[64], more[64] = "";

	snprintf(text, sizeof(text), "%" PRIu32 " events", request->n_events);
	if (request->events_left_out > 0) {
		snprintf(more, sizeof(more), "%" PRIu32 " more not kept", request->events_left_out);
	}
	view_pane(frame, layout_cut_rows(&area, 1), text, more, screen->pane == PANE_EVENTS);
	table_draw(&screen->events, frame->canvas, area, screen->pane == PANE_EVENTS,
			frame->search);
}

/* The path beside the values; the events take the place of both where all have no room. */
static void draw_below(
		struct request_screen *screen, const struct view_frame *frame, struct area area)
{
	bool three = area.width >= THREE_PANES, two = area.width >= TWO_PANES;
	struct area part;

	if (!three && screen->pane == PANE_EVENTS) {
		draw_events(screen, frame, area);
		return;
	}
	if (!two) {
		if (screen->pane == PANE_VALUES) {
			draw_values(screen, frame, area);
		} else {
			draw_path(screen, frame, area);
		}
		return;
	}
	part = layout_cut_columns(&area, three ? area.width * 3 / 10 : area.width * 12 / 20);
	layout_cut_columns(&part, -1);
	draw_path(screen, frame, part);
	if (three) {
		part = layout_cut_columns(&area, area.width * 2 / 5);
		layout_cut_columns(&part, -1);
		draw_values(screen, frame, part);
		draw_events(screen, frame, area);
	} else {
		draw_values(screen, frame, area);
	}
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
	if (screen->chain_missed) {
		canvas_text(frame->canvas, area.y, area.x + 1, area.width - 2, ROLE_WARN,
				"the slowest request of the group did not pass there");
		layout_cut_rows(&area, 1);
	} else {
		draw_resources(screen, frame, layout_cut_rows(&area, 1));
	}
	below = layout_cut_rows(&area, area.height >= 14 ? -(area.height * 9 / 20) : 0);
	draw_spans(screen, frame, area);
	if (below.height > 0) {
		draw_below(screen, frame, below);
	}
}

/* Into the events of the span. */
static bool enter_span(struct request_screen *screen, struct view_call *call)
{
	uint32_t span = selected_span(screen);

	if (span == UINT32_MAX) {
		return false;
	}
	show_events(screen, span);
	if (screen->pane != PANE_EVENTS) {
		snprintf(call->message, sizeof(call->message),
				"no event of this span was kept; Tab goes to those of the request");
	}
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

/* To the span of a piece; w to the longest piece. */
static bool act_on_path(struct request_screen *screen, enum action action)
{
	const struct request_view *request = screen->request;
	uint32_t row = table_row(&screen->path), i, longest = 0;

	switch (action) {
	case ACTION_ENTER:
		if (row == UINT32_MAX || !table_select(&screen->spans, request->pieces[row].span)) {
			return false;
		}
		screen->pane = PANE_SPANS;
		return true;
	case ACTION_WORST:
		for (i = 1; i < request->n_pieces; i++) {
			const struct request_piece *at = &request->pieces[i];
			const struct request_piece *most = &request->pieces[longest];

			longest = at->to_ns - at->from_ns > most->to_ns - most->from_ns ? i
											: longest;
		}
		return table_select(&screen->path, longest);
	default:
		return table_act(&screen->path, action);
	}
}

/* Another request is laid over this one. */
static bool tag_or_compare(
		const struct request_screen *screen, enum action action, struct view_call *call)
{
	if (screen->request->id == 0) {
		return false;
	}
	if (action == ACTION_TAG) {
		call->tag = screen->request->id;
	} else {
		call->go = SCREEN_COMPARE;
		call->group_id = screen->request->group_id;
		call->request_id = screen->request->id;
	}
	return true;
}

static struct table *request_table(void *view)
{
	struct request_screen *screen = view;

	return screen->pane == PANE_SPANS    ? &screen->spans
	       : screen->pane == PANE_PATH   ? &screen->path
	       : screen->pane == PANE_VALUES ? &screen->values
					     : &screen->events;
}

static bool request_act(void *view, enum action action, struct view_call *call)
{
	struct request_screen *screen = view;
	bool done;

	screen->chain_missed = false; /* it has been said */
	switch (action) {
	case ACTION_TAG:
	case ACTION_COMPARE:
		return tag_or_compare(screen, action, call);
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
	done = screen->pane == PANE_SPANS  ? act_on_spans(screen, action, call)
	       : screen->pane == PANE_PATH ? act_on_path(screen, action)
					   : table_act(request_table(screen), action);
	update_values(screen);
	return done;
}

const struct view_ops view_request = {
		.screen = SCREEN_REQUEST,
		.key = ACTION_REQUEST,
		.up = SCREEN_GROUP,
		.back_to = SCREEN_BIT(SCREEN_TREE),
		.up_from = SCREEN_BIT(SCREEN_GROUPS) | SCREEN_BIT(SCREEN_GROUP),
		.about = "One request. Its spans, the caller above what it called; colour and "
			 "WHERE tell host, "
			 "process and thread. SELF is the time that no span below it covers. ? "
			 "entry or exit "
			 "was not seen; ! clocks of two hosts differ. PATH is the span's part of "
			 "the critical path, which adds up to the request's time: █ work, ═ waits "
			 "on it; ▒ the span itself elsewhere. Enter: the span's original events. "
			 "o: its thread as it was when the span began. Space tags the request, c "
			 "compares it.",
		.create = request_create,
		.destroy = request_destroy,
		.parts = request_parts,
		.enter = request_enter,
		.update = request_update,
		.draw = request_draw,
		.act = request_act,
		.table = request_table,
};
