/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "views/state_screen.h"

/*
 * Screen 6: the systems at an instant, and what they did in the window before it. A pane at a time,
 * which has the screen for itself; Enter leads from a thread to its process, from there to an fd,
 * from there to the original events.
 */

const struct state_screen *state_screen_of(const void *data)
{
	return data;
}

const struct state_pane_ops *const state_panes[STATE_PANES] = {
		[STATE_CPU] = &state_pane_cpu,
		[STATE_IO] = &state_pane_io,
		[STATE_PERF] = &state_pane_perf,
		[STATE_PROCESS] = &state_pane_process,
		[STATE_EVENTS] = &state_pane_events,
		[STATE_CALLS] = &state_pane_calls,
		[STATE_CALLERS] = &state_pane_callers,
		[STATE_IRQS] = &state_pane_irqs,
		[STATE_DISKS] = &state_pane_disks,
		[STATE_NETS] = &state_pane_nets,
		[STATE_HOSTS] = &state_pane_hosts,
};

static void *create(void)
{
	struct state_screen *screen = calloc(1, sizeof(*screen));
	int i;

	for (i = 0; screen && i < STATE_PANES; i++) {
		table_init(&screen->tables[i], state_panes[i]->source);
		table_stay_on_top(&screen->tables[i]);
	}
	if (screen) {
		screen->perf_source = *state_pane_perf.source;
		screen->tables[STATE_PERF].source = &screen->perf_source;
		screen->tables[STATE_EVENTS].on_top = false;
	}
	return screen;
}

static void destroy(void *view)
{
	struct state_screen *screen = view;
	int i;

	for (i = 0; i < STATE_PANES; i++) {
		table_release(&screen->tables[i]);
	}
	state_tree_release(&screen->tree);
	free(screen);
}

static uint32_t parts(const void *view, const struct snapshot *snapshot)
{
	const struct state_screen *screen = view;

	(void)snapshot;
	switch (screen->pane) {
	case STATE_CPU:
	case STATE_IO:
	case STATE_PERF:
	case STATE_HOSTS:
		return FOCUS_STATE | FOCUS_BRIEF;
	case STATE_EVENTS:
		return FOCUS_STATE | FOCUS_EVENTS;
	default:
		return FOCUS_STATE;
	}
}

static void want(const void *view, struct focus *focus)
{
	const struct state_screen *screen = view;

	if (screen->pane == STATE_PROCESS || screen->pane == STATE_EVENTS) {
		focus->thread_id = screen->thread_id;
	}
	if (screen->pane == STATE_EVENTS) {
		focus->fd_id = screen->fd_id;
	}
}

/* ---- snapshots ---- */

/* The thread that a request knows by the ids its events carry, which may be of a namespace. */
static uint64_t find_moment(const struct state_screen *screen)
{
	const struct view_moment *moment = &screen->moment;
	const struct state_thread *thread;
	uint64_t inside = 0;
	uint32_t i;

	for (i = 0; i < screen->state->n_threads; i++) {
		thread = &screen->state->threads[i];
		if (strcmp(thread->host, moment->host) != 0) {
			continue;
		}
		if (thread->tid == moment->tid && (moment->pid < 0 || thread->pid == moment->pid)) {
			return thread->id;
		}
		if (thread->vtid == moment->tid &&
				(moment->pid < 0 || thread->vpid == moment->pid)) {
			inside = thread->id;
		}
	}
	return inside;
}

static void look_at_calls(struct state_screen *screen)
{
	uint32_t i;

	screen->summed_calls = false;
	for (i = 0; i < screen->state->n_syscalls && !screen->summed_calls; i++) {
		screen->summed_calls = screen->state->syscalls[i].summed;
	}
}

/* The rows of the pane that is shown; those of the others are not looked at meanwhile. */
static void take_rows(struct state_screen *screen)
{
	table_update(&screen->tables[screen->pane], screen,
			state_panes[screen->pane]->count(screen));
}

static void update(void *view, const struct snapshot *snapshot)
{
	struct state_screen *screen = view;

	screen->snapshot = snapshot;
	screen->state = &snapshot->state;
	if (screen->moment.host[0] && screen->state->n_threads > 0) {
		screen->thread_id = find_moment(screen);
	}
	look_at_calls(screen);
	state_perf_update(screen);
	state_tree_update(screen);
	if (screen->pane == STATE_PERF && screen->perf_source.n_columns <= 3 &&
			screen->state->n_threads > 0) {
		screen->pane = STATE_CPU; /* there are no counters any more */
	}
	take_rows(screen);
}

/* ---- drawing ---- */

static bool is_stop(const struct state_screen *screen, enum state_pane pane)
{
	return pane != STATE_CALLERS && (pane != STATE_PERF || screen->perf_source.n_columns > 3);
}

/* The names of the panes, and to the right of which instant and window all of it is. */
static void draw_tabs(
		const struct state_screen *screen, const struct view_frame *frame, struct area line)
{
	const struct state_view *state = screen->state;
	char text[128] = "", at[FORMAT_BYTES], window[FORMAT_BYTES];
	int x = line.x, end = line.x + line.width, i;
	bool here;

	if (state->at_ns > 0) {
		snprintf(text, sizeof(text), "%s%s %s", state->trimmed ? "~trimmed " : "",
				format_clock(at, state->at_ns),
				format_period(window,
						(double)(state->window_ns / 10000000 * 10000000)));
		canvas_text_right(frame->canvas, line.y, line.x, line.width - 1,
				state->trimmed ? ROLE_TAINTED : ROLE_HORIZON, text);
		end -= text_width(text, frame->canvas->ascii) + 2;
	}
	for (i = 0; i < STATE_PANES; i++) {
		if (!is_stop(screen, (enum state_pane)i)) {
			continue;
		}
		here = screen->pane == (enum state_pane)i ||
		       (screen->pane == STATE_CALLERS && i == STATE_CALLS);
		x += canvas_text(frame->canvas, line.y, x, end - x, ROLE_PANE_ACTIVE,
				here ? "▸" : " ");
		x += canvas_text(frame->canvas, line.y, x, end - x,
				here ? ROLE_PANE_ACTIVE : ROLE_PANE, state_panes[i]->name);
	}
}

static void draw_callers_of(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	struct area line = layout_cut_rows(area, 1);
	char text[512];

	snprintf(text, sizeof(text), "who calls %s on %s", screen->call, screen->call_host);
	canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_STRONG, text);
}

/* Why a table has no row. */
static void draw_nothing(
		const struct state_screen *screen, const struct view_frame *frame, struct area area)
{
	const struct state_view *state = screen->state;
	const char *text = "nothing of this kind in the window";

	if (!view_answers(frame) || state->at_ns == 0) {
		text = "…";
	} else if (!state->measured) {
		text = "not measured: no kernel events. On its host: "
		       "lttng enable-event -k --all";
	} else if (screen->pane == STATE_EVENTS) {
		text = "no event of it in the window";
	}
	if (area.height > 2 && screen->tables[screen->pane].shown == 0 &&
			!screen->tables[screen->pane].filter.set) {
		canvas_text(frame->canvas, area.y + 2, area.x + 3, area.width - 6, ROLE_DIM, text);
	}
}

static void draw(void *view, const struct view_frame *frame)
{
	struct state_screen *screen = view;
	struct area area = frame->area;

	draw_tabs(screen, frame, layout_cut_rows(&area, 1));
	switch (screen->pane) {
	case STATE_CPU:
		state_draw_cpus(screen, frame, &area);
		break;
	case STATE_PROCESS:
		state_draw_process(screen, frame, &area);
		break;
	case STATE_EVENTS:
		state_draw_events_of(screen, frame, &area);
		break;
	case STATE_CALLERS:
		draw_callers_of(screen, frame, &area);
		break;
	default:
		break;
	}
	table_draw(&screen->tables[screen->pane], frame->canvas, area, true, frame->search);
	draw_nothing(screen, frame, area);
}

/* ---- keys ---- */

static struct table *table(void *view)
{
	struct state_screen *screen = view;

	return &screen->tables[screen->pane];
}

static void choose_thread(struct state_screen *screen, const struct state_thread *thread)
{
	screen->thread_id = thread ? thread->id : 0;
	screen->fd_id = 0;
	screen->moment.host[0] = '\0';
}

static const struct state_thread *thread_under_cursor(const struct state_screen *screen)
{
	uint32_t row = table_row(&screen->tables[screen->pane]);

	if (row == UINT32_MAX) {
		return NULL;
	}
	return screen->pane == STATE_CPU ? state_cpu_thread(screen, row)
					 : &screen->state->threads[row];
}

static bool enter_thread(struct state_screen *screen)
{
	const struct state_thread *thread = thread_under_cursor(screen);

	if (!thread) {
		return false;
	}
	choose_thread(screen, thread);
	screen->thread_from = screen->pane;
	screen->pane = STATE_PROCESS;
	return true;
}

static bool enter_call(struct state_screen *screen, uint32_t row)
{
	const struct state_syscall *call = &screen->state->syscalls[row];

	text_copy(screen->call, sizeof(screen->call), call->name);
	text_copy(screen->call_host, sizeof(screen->call_host), call->host);
	screen->pane = STATE_CALLERS;
	take_rows(screen);
	table_move(&screen->tables[STATE_CALLERS], 0);
	return true;
}

/* From a system call's caller to that thread. */
static bool enter_caller(struct state_screen *screen, uint32_t row)
{
	const struct state_syscall *call = &screen->state->syscalls[row];
	uint32_t i;

	for (i = 0; i < screen->state->n_threads; i++) {
		const struct state_thread *thread = &screen->state->threads[i];

		if (thread->tid == call->tid && strcmp(thread->host, call->host) == 0) {
			choose_thread(screen, thread);
			screen->thread_from = STATE_CALLERS;
			screen->pane = STATE_PROCESS;
			return true;
		}
	}
	return false;
}

static bool enter_row(struct state_screen *screen)
{
	uint32_t row = table_row(&screen->tables[screen->pane]);

	if (row == UINT32_MAX) {
		return false;
	}
	switch (screen->pane) {
	case STATE_CPU:
	case STATE_IO:
	case STATE_PERF:
		return enter_thread(screen);
	case STATE_PROCESS:
		screen->fd_id = screen->state->fds[row].id;
		screen->pane = STATE_EVENTS;
		return true;
	case STATE_CALLS:
		return enter_call(screen, row);
	case STATE_CALLERS:
		return enter_caller(screen, row);
	default:
		return false;
	}
}

static bool back(struct state_screen *screen)
{
	switch (screen->pane) {
	case STATE_EVENTS:
		screen->pane = STATE_PROCESS;
		screen->fd_id = 0;
		return true;
	case STATE_PROCESS:
		if (screen->moment.host[0]) {
			return false; /* back to the request */
		}
		screen->pane = screen->thread_from;
		return true;
	case STATE_CALLERS:
		screen->pane = STATE_CALLS;
		return true;
	default:
		return false;
	}
}

/* The next pane. Into the process' goes the thread under the cursor, if none was chosen. */
static void next_pane(struct state_screen *screen, int step)
{
	int pane = (int)screen->pane;

	do {
		pane = (pane + step + STATE_PANES) % STATE_PANES;
	} while (!is_stop(screen, (enum state_pane)pane));
	if (!screen->thread_id && !screen->moment.host[0] && screen->pane <= STATE_PERF) {
		choose_thread(screen, thread_under_cursor(screen));
	}
	screen->pane = (enum state_pane)pane;
}

static bool go_worst(struct state_screen *screen)
{
	const struct state_pane_ops *ops = state_panes[screen->pane];
	struct table *rows = &screen->tables[screen->pane];
	uint32_t i, worst = UINT32_MAX;
	double most = -1, figure;

	for (i = 0; ops->worst && i < rows->shown; i++) {
		figure = field_figure(ops->worst, ops->source->row(screen, rows->order[i]));
		if (figure > most) {
			most = figure;
			worst = i;
		}
	}
	if (worst == UINT32_MAX) {
		return false;
	}
	table_move(rows, worst);
	return true;
}

static bool toggle_tree(struct state_screen *screen, struct view_call *call)
{
	struct table *rows = &screen->tables[STATE_CPU];

	if (screen->pane != STATE_CPU) {
		return false;
	}
	screen->tree.on = !screen->tree.on;
	rows->sort_column = -1;
	rows->reverse = false;
	state_tree_update(screen);
	table_update(rows, screen, state_pane_cpu.count(screen));
	snprintf(call->message, sizeof(call->message),
			screen->tree.on ? "a tree of processes: h and l fold and unfold"
					: "threads by CPU time");
	return true;
}

/* The tree has an order of its own. */
static void leave_tree(struct state_screen *screen)
{
	if (screen->pane == STATE_CPU && screen->tree.on) {
		screen->tree.on = false;
		table_update(&screen->tables[STATE_CPU], screen, state_pane_cpu.count(screen));
	}
}

static bool act_on_pane(struct state_screen *screen, enum action action, struct view_call *call)
{

	switch (action) {
	case ACTION_PANE:
		next_pane(screen, 1);
		return true;
	case ACTION_PANE_BACK:
		next_pane(screen, -1);
		return true;
	case ACTION_ENTER:
		return enter_row(screen);
	case ACTION_BACK:
		return back(screen);
	case ACTION_LEFT:
		return screen->pane == STATE_CPU && state_tree_fold(screen, true);
	case ACTION_RIGHT:
		return screen->pane == STATE_CPU && state_tree_fold(screen, false);
	case ACTION_FOREST:
		return toggle_tree(screen, call);
	case ACTION_WORST:
		return go_worst(screen);
	case ACTION_SORT:
	case ACTION_REVERSE:
		leave_tree(screen);
		break;
	default:
		break;
	}
	return table_act(table(screen), action);
}

static bool act(void *view, enum action action, struct view_call *call)
{
	struct state_screen *screen = view;
	enum state_pane before = screen->pane;
	bool done = act_on_pane(screen, action, call);

	if (screen->pane != before) {
		take_rows(screen);
	}
	return done;
}

static void enter(void *view, const struct view_call *call)
{
	struct state_screen *screen = view;

	if (call->moment.at_ns) {
		choose_thread(screen, NULL);
		screen->moment = call->moment;
		screen->pane = STATE_PROCESS;
	} else if (call->from != SCREEN_HELP && screen->moment.host[0]) {
		choose_thread(screen, NULL);
		screen->pane = STATE_CPU;
	}
}

const struct view_ops view_state = {
		.screen = SCREEN_STATE,
		.key = ACTION_STATE,
		.up = SCREEN_GROUPS,
		.back_to = SCREEN_BITS_ALL &
			   ~(SCREEN_BIT(SCREEN_STATE) | SCREEN_BIT(SCREEN_SOURCES) |
					   SCREEN_BIT(SCREEN_HELP)),
		.about = "The systems at an instant and in the window before it (top right). Tab: "
			 "CPU, I/O, performance counters, one process with its fds, original "
			 "events, system calls, interrupts, disks, networks, hosts. Enter goes in: "
			 "thread, fd, the events that made it; call, who calls it. p and , . move "
			 "all of it through time. ~ uncertain: events were lost. x closed. - not "
			 "measured.",
		.create = create,
		.destroy = destroy,
		.parts = parts,
		.focus = want,
		.enter = enter,
		.update = update,
		.draw = draw,
		.act = act,
		.table = table,
};
