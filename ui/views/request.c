/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "layout.h"
#include "views/request_screen.h"

/*
 * Screen 4: one request. Its spans as a waterfall with its critical path, what a span carried, its
 * original events.
 */

/* So wide that values, path and events have room side by side, or values and path at least. */
#define THREE_PANES 160
#define TWO_PANES   70

static void *request_create(void)
{
	struct request_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->spans, &request_spans);
		table_init(&screen->path, &request_pieces);
		table_init(&screen->values, &request_values);
		table_init(&screen->events, &request_events);
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
	follow_span(screen, request_selected_span(screen));
	table_update(&screen->values, screen, request_value_rows(screen));
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
	screen->spans.source = waterfall_has_path(&screen->waterfall) ? &request_spans_on_path
								      : &request_spans;
	table_update(&screen->spans, screen, screen->waterfall.n);
	table_update(&screen->path, screen, screen->request->n_pieces);
	table_update(&screen->events, screen, screen->request->n_events);
	go_to_chain(screen);
	update_values(screen);
}

static void draw_breadcrumbs(const struct request_screen *screen, const struct view_frame *frame,
		struct area line)
{
	const struct request_view *request = screen->request;
	char group[512], name[64], right[128], clock[FORMAT_BYTES], duration[FORMAT_BYTES];
	char skew[FORMAT_BYTES];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (request->id == 0) {
		view_breadcrumbs(frame, line, "group", "request", "");
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
	if (request->failure[0]) {
		text_add(right, sizeof(right), "  failed: %.20s", request->failure);
	}
	view_breadcrumbs(frame, line, group, name, right);
}

/* Adds ` name duration` if there is any. */
static void add_time(char *text, size_t size, const char *name, uint64_t ns)
{
	char duration[FORMAT_BYTES];

	if (ns > 0) {
		text_add(text, size, "%s %s", name, format_duration(duration, (double)ns));
	}
}

/* ` name read/written` if there is any. */
static void add_bytes(char *text, size_t size, const char *name, uint64_t in, uint64_t out)
{
	char one[FORMAT_BYTES], two[FORMAT_BYTES];

	if (in + out > 0) {
		text_add(text, size, "%s %s/%s", name, format_bytes(one, in),
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
	uint32_t span = request_selected_span(screen);
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

	draw_breadcrumbs(screen, frame, layout_cut_rows(&area, 1));
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
	uint32_t span = request_selected_span(screen);

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
	uint32_t span = request_selected_span(screen);

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
	uint32_t span = request_selected_span(screen);
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
		.back_to = SCREEN_BIT(SCREEN_TREE) | SCREEN_BIT(SCREEN_SHAPES),
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
