/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "layout.h"
#include "views/state_screen.h"

/* One thread in full: what is known of it, the fds of its process, the original events. */

/* The thread that the screen is about; NULL: none. */
static const struct state_thread *state_chosen(const struct state_screen *screen)
{
	uint32_t i;

	for (i = 0; screen->thread_id && i < screen->state->n_threads; i++) {
		if (screen->state->threads[i].id == screen->thread_id) {
			return &screen->state->threads[i];
		}
	}
	return NULL;
}

/* ---- what is known of the thread ---- */

struct fact_line {
	char text[512];
};

/* Adds a fact, two blanks after the one before. */
__attribute__((format(printf, 2, 3))) static void add(
		struct fact_line *line, const char *format, ...)
{
	char fact[sizeof(line->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(fact, sizeof(fact), format, args);
	va_end(args);
	text_add(line->text, sizeof(line->text), "%s%s", line->text[0] ? "  " : "", fact);
}

static void who(struct fact_line *line, const struct state_thread *thread)
{
	add(line, "%.80s", thread->name[0] ? thread->name : "(no name)");
	add(line, "%s %" PRId64, thread->tid == thread->pid ? "process" : "thread", thread->tid);
	if (thread->tid != thread->pid && thread->pid >= 0) {
		add(line, "of process %" PRId64, thread->pid);
	}
	if (thread->ppid >= 0) {
		add(line, "parent %" PRId64, thread->ppid);
	}
	if (thread->vtid >= 0 && thread->vtid != thread->tid) {
		add(line, "in its namespace %" PRId64 "/%" PRId64, thread->vpid, thread->vtid);
	}
	add(line, "on %.80s", thread->host);
}

static void what(struct fact_line *line, const struct state_screen *screen,
		const struct state_thread *thread)
{
	char since[FORMAT_BYTES], period[FORMAT_BYTES];

	add(line, "%s", thread_status_name(thread->status));
	if (thread->since_ns > 0 && thread->since_ns <= screen->state->at_ns) {
		add(line, "since %s (%s)", format_clock(since, thread->since_ns),
				format_duration(period,
						(double)(screen->state->at_ns - thread->since_ns)));
	}
	if (thread->syscall[0]) {
		add(line, "in %.40s", thread->syscall);
	}
	if (thread->waits_for[0]) {
		add(line, "waits for %.40s", thread->waits_for);
	}
	if (thread->waker_tid >= 0) {
		add(line, "woken by %" PRId64, thread->waker_tid);
	}
}

static void time_spent(struct fact_line *line, const struct state_thread *thread)
{
	char one[FORMAT_BYTES], two[FORMAT_BYTES];

	if (!thread->measured) {
		add(line, "CPU not measured: no kernel events of %.80s", thread->host);
		return;
	}
	add(line, "cpu %s (%s user)", format_duration(one, (double)thread->cpu_ns),
			format_duration(two, (double)thread->user_ns));
	add(line, "run queue %s (longest %s)", format_duration(one, (double)thread->runqueue_ns),
			format_duration(two, (double)thread->max_runqueue_ns));
	add(line, "blocked %s", format_duration(one, (double)thread->blocked_ns));
}

static void transferred(struct fact_line *line, const struct state_thread *thread)
{
	char one[FORMAT_BYTES], two[FORMAT_BYTES];

	if (!thread->measured) {
		return;
	}
	add(line, "read %s write %s in %s", format_bytes(one, thread->read_bytes),
			format_bytes(two, thread->write_bytes),
			format_duration((char[FORMAT_BYTES]){0}, (double)thread->io_ns));
	add(line, "disk %s/%s", format_bytes(one, thread->disk_read_bytes),
			format_bytes(two, thread->disk_write_bytes));
	add(line, "net %s/%s", format_bytes(one, thread->net_read_bytes),
			format_bytes(two, thread->net_write_bytes));
}

/* How it moved about, and where it is in its own calls. */
static void path(struct fact_line *line, const struct state_thread *thread)
{
	char one[FORMAT_BYTES], two[FORMAT_BYTES];

	if (thread->measured) {
		add(line, "%s switches  %s migrations", format_count(one, thread->switches),
				format_count(two, thread->migrations));
	}
	if (thread->stack_depth > 0) {
		add(line, "in %.200s", thread->context[0] ? thread->context : "-");
		add(line, "(call stack %" PRIu32 " deep)", thread->stack_depth);
	}
}

static void draw_line(const struct view_frame *frame, struct area *area, enum role role,
		const struct fact_line *text)
{
	struct area line;

	if (text->text[0]) {
		line = layout_cut_rows(area, 1);
		canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, role, text->text);
	}
}

static void draw_missing(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	struct area line = layout_cut_rows(area, 2);
	char text[512];

	if (!view_answers(frame)) {
		snprintf(text, sizeof(text), "…");
	} else if (screen->moment.host[0]) {
		snprintf(text, sizeof(text),
				"thread %" PRId64 " of %.200s is not known at this instant",
				screen->moment.tid, screen->moment.host);
	} else {
		snprintf(text, sizeof(text), "%s",
				screen->thread_id
						? "this thread is not known at this instant"
						: "no thread was chosen: Enter on one in the pane "
						  "cpu or io; fds of all processes:");
	}
	canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_WARN, text);
}

void state_draw_process(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	const struct state_thread *thread = state_chosen(screen);
	struct fact_line lines[5] = {{.text = ""}};

	if (!thread) {
		draw_missing(screen, frame, area);
		return;
	}
	who(&lines[0], thread);
	if (thread->uncertain) {
		add(&lines[0], "~ events were lost: uncertain");
	}
	what(&lines[1], screen, thread);
	time_spent(&lines[2], thread);
	transferred(&lines[3], thread);
	path(&lines[4], thread);
	draw_line(frame, area, thread->uncertain ? ROLE_TAINTED : ROLE_STRONG, &lines[0]);
	draw_line(frame, area, ROLE_TEXT, &lines[1]);
	draw_line(frame, area, thread->measured ? ROLE_TEXT : ROLE_WARN, &lines[2]);
	draw_line(frame, area, ROLE_TEXT, &lines[3]);
	draw_line(frame, area, ROLE_PATH, &lines[4]);
}

/* ---- fds ---- */

#define FD(field) &state_fd_fields[FIELD_FD_##field]

static const struct table_column fd_columns[] = {
		{"FD", 5, 0, 0, 0, FD(NUMBER)},
		{"FILE OR PEER", 18, 0, TABLE_FLEX, 80, FD(PATH)},
		{"KIND", 7, 4, 0, 0, FD(KIND)},
		{"READ", 6, 0, TABLE_RIGHT, 0, FD(READ)},
		{"WRITE", 6, 0, TABLE_RIGHT, 0, FD(WRITE)},
		{"OPS", 5, 2, TABLE_RIGHT, 0, FD(OPERATIONS)},
		{"MEAN", 6, 1, TABLE_RIGHT, 0, FD(LATENCY)},
		{"KNOWN BY", 9, 3, 0, 0, FD(CONFIDENCE)},
		{"IN WINDOW", 9, 6, TABLE_RIGHT, 0, FD(WINDOW)},
		{"OPENED", 12, 5, 0, 0, FD(OPENED), ROLE_DIM},
		{"PROCESS", 14, 7, TABLE_FLEX, 30, FD(PROCESS)},
};

static const struct state_fd *fd_at(const void *data, uint32_t row)
{
	return &state_screen_of(data)->state->fds[row];
}

static const void *fd_row(const void *data, uint32_t row)
{
	return fd_at(data, row);
}

static uint64_t fd_key(const void *data, uint32_t row)
{
	return fd_at(data, row)->id;
}

static void fd_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct row_field *field = fd_columns[column].field;
	const struct state_fd *fd = fd_at(data, row);

	if (field == FD(NUMBER)) {
		cell->role = fd->open ? ROLE_STRONG : ROLE_DIM;
	} else if (field == FD(PATH)) {
		cell->role = fd->open ? ROLE_NAME : ROLE_DIM;
	} else if (field == FD(KIND) && fd->kind == FD_UNKNOWN) {
		strcpy(cell->text, "-");
	} else if (field == FD(CONFIDENCE)) {
		cell->role = fd->confidence == FD_GUESSED ? ROLE_WARN : ROLE_DIM;
	} else if (field == FD(PROCESS)) {
		snprintf(cell->text, sizeof(cell->text), "%.80s %" PRId64, fd->process, fd->pid);
	}
}

static const char *fd_mark(const void *data, uint32_t row)
{
	const struct state_fd *fd = fd_at(data, row);

	return fd->uncertain ? "~" : fd->open ? NULL : "x";
}

static uint32_t count_fds(const struct state_screen *screen)
{
	return screen->state->n_fds;
}

static const struct table_source fd_source = {
		.columns = fd_columns,
		.n_columns = TABLE_COUNT(fd_columns),
		.what = "fds",
		.key = fd_key,
		.row = fd_row,
		.cell = fd_cell,
		.mark = fd_mark,
};

const struct state_pane_ops state_pane_process = {"process", &fd_source, count_fds, FD(LATENCY)};

/* ---- original events ---- */

#define EVENT(field) &state_event_fields[FIELD_EVENT_##field]

enum event_column { E_AGO };

static const struct table_column event_columns[] = {
		[E_AGO] = {"AGO", 7, 0, TABLE_RIGHT | TABLE_UNSORTED, 0},
		{"TIME", 12, 3, TABLE_UNSORTED, 0, EVENT(TIME), ROLE_DIM},
		{"EVENT", 20, 0, TABLE_FLEX | TABLE_UNSORTED, 44, EVENT(NAME), ROLE_NAME},
		{"TID", 7, 2, TABLE_UNSORTED, 0, EVENT(TID)},
		{"CPU", 3, 4, TABLE_RIGHT | TABLE_UNSORTED, 0, EVENT(CPU), ROLE_DIM},
		{"FIELDS", 20, 1, TABLE_FLEX | TABLE_UNSORTED, 0, EVENT(VALUES)},
};

static const struct state_event *event_at(const void *data, uint32_t row)
{
	return &state_screen_of(data)->state->events[row];
}

/* Newest first: counted from the oldest, an event keeps its key while new ones come. */
static uint64_t event_key(const void *data, uint32_t row)
{
	const struct state_event *event = event_at(data, row);

	return view_text_key(event->name, event->ts_ns ^ (uint64_t)event->cpu << 48);
}

static void event_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	uint64_t at_ns = state_screen_of(data)->state->at_ns;
	uint64_t ts_ns = event_at(data, row)->ts_ns;

	if (column == E_AGO) {
		strcpy(cell->text, "-");
		if (ts_ns <= at_ns) {
			format_duration(cell->text, (double)(at_ns - ts_ns));
		}
	}
}

static const void *event_row(const void *data, uint32_t row)
{
	return event_at(data, row);
}

static const char *event_mark(const void *data, uint32_t row)
{
	return event_at(data, row)->older ? "^" : NULL;
}

static uint32_t count_events(const struct state_screen *screen)
{
	return screen->state->n_events;
}

static const struct table_source event_source = {
		.columns = event_columns,
		.n_columns = TABLE_COUNT(event_columns),
		.what = "events",
		.key = event_key,
		.row = event_row,
		.cell = event_cell,
		.mark = event_mark,
};

const struct state_pane_ops state_pane_events = {"events", &event_source, count_events, NULL};

/* What the events are of. */
void state_draw_events_of(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	const struct state_thread *thread = state_chosen(screen);
	struct fact_line line = {.text = ""};
	uint32_t i;

	for (i = 0; i < screen->state->n_fds; i++) {
		if (screen->fd_id && screen->state->fds[i].id == screen->fd_id) {
			const struct state_fd *fd = &screen->state->fds[i];

			add(&line, "fd %" PRId32 " %.300s of %.80s %" PRId64, fd->fd,
					fd->path[0] ? fd->path : "(not known what it is)",
					fd->process, fd->pid);
			break;
		}
	}
	if (!line.text[0] && screen->fd_id) {
		add(&line, "this fd is not known at this instant");
	} else if (!line.text[0] && thread) {
		who(&line, thread);
	} else if (!line.text[0]) {
		add(&line, "of a thread or an fd: choose one in the pane cpu or process");
	}
	if (screen->state->n_events > 0) {
		add(&line, "^ before the window");
	}
	draw_line(frame, area, ROLE_STRONG, &line);
}
