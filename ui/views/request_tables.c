/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "views/request_screen.h"

/* The panes of screen 4: spans, the critical path, values of a span, original events. */

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
	out[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		text_add(out, size, "%s%s=%s", i ? " " : "", values[i].name, values[i].text);
	}
}

/* ---- spans ---- */

enum span_column { S_NAME, S_TRACK, S_START, S_SELF, S_PATH, S_DURATION, S_BAR };

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
		if (span->flags & REQUEST_SPAN_FAILED) {
			cell->role = ROLE_BAD;
		}
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

	if (flags & REQUEST_SPAN_FAILED) {
		return "×";
	}
	if (flags & (REQUEST_SPAN_UNCLOSED | REQUEST_SPAN_UNOPENED)) {
		return "?";
	}
	return flags & REQUEST_SPAN_SKEWED ? "!" : NULL;
}

static bool span_hidden(const void *data, uint32_t row)
{
	return screen_of(data)->waterfall.hidden[row];
}

const struct table_source request_spans = {
		.columns = span_columns,
		.n_columns = TABLE_COUNT(span_columns),
		.what = "spans",
		.key = index_key,
		.cell = span_cell,
		.paint = span_paint,
		.mark = span_mark,
		.hidden = span_hidden,
};

/* The same where the critical path is known. */
const struct table_source request_spans_on_path = {
		.columns = path_columns,
		.n_columns = TABLE_COUNT(path_columns),
		.what = "spans",
		.key = index_key,
		.cell = span_cell,
		.paint = span_paint,
		.mark = span_mark,
		.hidden = span_hidden,
};

/* ---- the critical path, piece by piece ---- */

enum piece_column { P_AT, P_FOR, P_SPAN, P_WHAT, P_TRACK, P_SHARE };

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

const struct table_source request_pieces = {
		.columns = piece_columns,
		.n_columns = TABLE_COUNT(piece_columns),
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

uint32_t request_selected_span(const struct request_screen *screen)
{
	uint32_t row = table_row(&screen->spans);

	return row < screen->waterfall.n ? row : UINT32_MAX;
}

uint32_t request_value_rows(const struct request_screen *screen)
{
	uint32_t span = request_selected_span(screen);

	return span == UINT32_MAX ? 0 : OWN_ROWS + screen->request->spans[span].n_values;
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
		if (span->flags & REQUEST_SPAN_FAILED) {
			snprintf(cell->text, sizeof(cell->text), "%.200s%s%s", span->failure,
					span->failure[0] ? ": failed" : "failed",
					span->flags & REQUEST_SPAN_FIRST ? ", the first" : "");
			cell->role = ROLE_BAD;
			break;
		}
		strcpy(cell->text, span_state(span));
		cell->role = span->flags & ~(uint32_t)REQUEST_SPAN_POINT ? ROLE_WARN : ROLE_DIM;
		break;
	}
}

static void value_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct request_screen *screen = screen_of(data);
	uint32_t span = request_selected_span(screen);
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

const struct table_source request_values = {
		.columns = value_columns,
		.n_columns = TABLE_COUNT(value_columns),
		.what = "values",
		.key = index_key,
		.cell = value_cell,
};

/* ---- original events ---- */

enum event_column { E_TIME, E_NAME, E_TRACK, E_CPU, E_VALUES };

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

const struct table_source request_events = {
		.columns = event_columns,
		.n_columns = TABLE_COUNT(event_columns),
		.what = "events",
		.key = index_key,
		.cell = event_cell,
};
