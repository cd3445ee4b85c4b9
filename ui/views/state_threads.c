/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "views/state_screen.h"
#include "widgets/bar.h"

/* Threads by what they use: CPU, I/O, performance counters. */

#define BAR_COLUMNS 10
#define MOST_LINES  4 /* of CPUs above the table */

static uint32_t count_threads(const struct state_screen *screen)
{
	return screen->state->n_threads;
}

/* The CPU pane's rows may be those of the tree. */
const struct state_thread *state_cpu_thread(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->threads[screen->tree.on ? screen->tree.nodes[row].thread : row];
}

static const struct state_thread *thread_at(const void *data, uint32_t row)
{
	return &state_screen_of(data)->state->threads[row];
}

static uint64_t thread_key(const void *data, uint32_t row)
{
	return thread_at(data, row)->id;
}

static const char *thread_mark(const void *data, uint32_t row)
{
	return thread_at(data, row)->uncertain ? "~" : NULL;
}

/* ---- CPU ---- */

enum cpu_column {
	C_CPU,
	C_RUNQUEUE,
	C_BLOCKED,
	C_STATUS,
	C_PID,
	C_TID,
	C_NAME,
	C_HOST,
	C_WHAT,
	C_USER,
	C_SYSTEM,
	C_LONGEST,
	C_SWITCHES,
	C_WAKEUPS,
	C_MIGRATIONS,
	C_COUNT_OF
};

static const struct table_column cpu_columns[] = {
		[C_CPU] = {"CPU%", 5, 0, TABLE_RIGHT, 0},
		[C_RUNQUEUE] = {"RUNQ", 6, 1, TABLE_RIGHT, 0},
		[C_BLOCKED] = {"BLOCKED", 7, 1, TABLE_RIGHT, 0},
		[C_STATUS] = {"STATUS", 11, 2, 0, 0},
		[C_PID] = {"PID", 7, 4, 0, 0},
		[C_TID] = {"TID", 7, 0, 0, 0},
		[C_NAME] = {"NAME", 16, 0, TABLE_FLEX, 44},
		[C_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24},
		[C_WHAT] = {"IN, WAITS FOR", 14, 5, TABLE_FLEX, 30},
		[C_USER] = {"USER", 6, 6, TABLE_RIGHT, 0},
		[C_SYSTEM] = {"SYSTEM", 6, 6, TABLE_RIGHT, 0},
		[C_LONGEST] = {"LONGEST", 7, 7, TABLE_RIGHT, 0},
		[C_SWITCHES] = {"SWITCH", 6, 8, TABLE_RIGHT, 0},
		[C_WAKEUPS] = {"WOKEN", 6, 9, TABLE_RIGHT, 0},
		[C_MIGRATIONS] = {"MIGR", 5, 10, TABLE_RIGHT, 0},
};

static double share_of_window(const struct state_screen *screen, uint64_t ns)
{
	return screen->state->window_ns > 0 ? 100 * (double)ns / (double)screen->state->window_ns
					    : NAN;
}

static void status_cell(const struct state_thread *thread, struct table_cell *cell)
{
	strcpy(cell->text, thread_status_name(thread->status));
	switch (thread->status) {
	case THREAD_RUN_USER:
	case THREAD_RUN_SYSCALL:
		cell->role = ROLE_GOOD;
		break;
	case THREAD_WAIT_CPU:
	case THREAD_INTERRUPTED:
		cell->role = ROLE_WARN;
		break;
	case THREAD_UNKNOWN:
	case THREAD_DEAD:
		cell->role = ROLE_DIM;
		break;
	default:
		break;
	}
}

/* What a blocked thread waits for, or the call that another one is in. */
static void what_cell(const struct state_thread *thread, struct table_cell *cell)
{
	if (thread->syscall[0] && thread->waits_for[0] &&
			strcmp(thread->syscall, thread->waits_for) != 0) {
		snprintf(cell->text, sizeof(cell->text), "%s: %s", thread->syscall,
				thread->waits_for);
	} else {
		state_text(cell, thread->waits_for[0] ? thread->waits_for : thread->syscall);
	}
}

static void cpu_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_screen *screen = state_screen_of(data);
	const struct state_thread *thread = state_cpu_thread(screen, row);
	bool known = thread->measured;

	switch (column) {
	case C_CPU:
		strcpy(cell->text, "-");
		if (known && screen->state->window_ns > 0) {
			snprintf(cell->text, sizeof(cell->text), "%.1f",
					share_of_window(screen, thread->cpu_ns));
		}
		cell->role = ROLE_STRONG;
		break;
	case C_RUNQUEUE:
		state_duration(cell, known, (double)thread->runqueue_ns);
		break;
	case C_BLOCKED:
		state_duration(cell, known, (double)thread->blocked_ns);
		break;
	case C_STATUS:
		status_cell(thread, cell);
		break;
	case C_PID:
		state_id(cell, thread->pid);
		break;
	case C_TID:
		state_id(cell, thread->tid);
		break;
	case C_NAME:
		state_text(cell, thread->name);
		if (screen->tree.on) {
			const struct state_node *node = &screen->tree.nodes[row];

			snprintf(cell->text, sizeof(cell->text), "%s%s",
					!node->parental ? "  "
					: node->folded  ? "▸ "
							: "▾ ",
					thread->name[0] ? thread->name : "-");
			cell->indent = node->depth < 8 ? (int)node->depth : 8;
		}
		cell->role = ROLE_NAME;
		break;
	case C_HOST:
		state_text(cell, thread->host);
		break;
	case C_WHAT:
		what_cell(thread, cell);
		cell->role = ROLE_DIM;
		break;
	case C_USER:
		state_duration(cell, known, (double)thread->user_ns);
		break;
	case C_SYSTEM:
		state_duration(cell, known, (double)thread->syscall_ns);
		break;
	case C_LONGEST:
		state_duration(cell, known, (double)thread->max_runqueue_ns);
		break;
	case C_SWITCHES:
		state_count(cell, known, thread->switches);
		break;
	case C_WAKEUPS:
		state_count(cell, known, thread->wakeups);
		break;
	default:
		state_count(cell, known, thread->migrations);
		break;
	}
}

static double cpu_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_thread *thread = state_cpu_thread(screen, row);

	if (column == C_PID || column == C_TID) {
		return column == C_PID ? (double)thread->pid : (double)thread->tid;
	}
	if (!thread->measured) {
		return NAN;
	}
	switch (column) {
	case C_CPU:
		return (double)thread->cpu_ns;
	case C_RUNQUEUE:
		return (double)thread->runqueue_ns;
	case C_BLOCKED:
		return (double)thread->blocked_ns;
	case C_USER:
		return (double)thread->user_ns;
	case C_SYSTEM:
		return (double)thread->syscall_ns;
	case C_LONGEST:
		return (double)thread->max_runqueue_ns;
	case C_SWITCHES:
		return (double)thread->switches;
	case C_WAKEUPS:
		return (double)thread->wakeups;
	case C_MIGRATIONS:
		return (double)thread->migrations;
	default:
		return NAN;
	}
}

static int cpu_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_cpu, data, a, b, column);
}

static uint64_t cpu_key(const void *data, uint32_t row)
{
	return state_cpu_thread(data, row)->id;
}

static const char *cpu_mark(const void *data, uint32_t row)
{
	return state_cpu_thread(data, row)->uncertain ? "~" : NULL;
}

static bool cpu_hidden(const void *data, uint32_t row)
{
	const struct state_tree *tree = &state_screen_of(data)->tree;

	return tree->on && tree->nodes[row].hidden;
}

static uint32_t count_cpu(const struct state_screen *screen)
{
	return screen->tree.on ? screen->tree.n : screen->state->n_threads;
}

static const struct table_source cpu_source = {
		.columns = cpu_columns,
		.n_columns = C_COUNT_OF,
		.what = "threads",
		.key = cpu_key,
		.cell = cpu_cell,
		.compare = cpu_compare,
		.mark = cpu_mark,
		.hidden = cpu_hidden,
};

const struct state_pane_ops state_pane_cpu = {
		"cpu", &cpu_source, count_cpu, cpu_figure, C_RUNQUEUE};

/* ---- I/O ---- */

enum io_column {
	I_READ,
	I_WRITE,
	I_DISK,
	I_NET,
	I_OTHER,
	I_TIME,
	I_PID,
	I_TID,
	I_NAME,
	I_HOST,
	I_FDS,
	I_COUNT_OF
};

static const struct table_column io_columns[] = {
		[I_READ] = {"READ", 6, 0, TABLE_RIGHT, 0},
		[I_WRITE] = {"WRITE", 6, 0, TABLE_RIGHT, 0},
		[I_DISK] = {"DISK", 6, 1, TABLE_RIGHT, 0},
		[I_NET] = {"NET", 6, 1, TABLE_RIGHT, 0},
		[I_OTHER] = {"OTHER", 6, 2, TABLE_RIGHT, 0},
		[I_TIME] = {"TIME", 6, 1, TABLE_RIGHT, 0},
		[I_PID] = {"PID", 7, 5, 0, 0},
		[I_TID] = {"TID", 7, 0, 0, 0},
		[I_NAME] = {"NAME", 15, 0, TABLE_FLEX, 44},
		[I_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24},
		[I_FDS] = {"FDS", 5, 6, TABLE_RIGHT, 0},
};

static uint64_t disk_bytes(const struct state_thread *thread)
{
	return thread->disk_read_bytes + thread->disk_write_bytes;
}

static uint64_t net_bytes(const struct state_thread *thread)
{
	return thread->net_read_bytes + thread->net_write_bytes;
}

/* Neither to a disk nor to the network: pipes, terminals, or not known what. */
static uint64_t other_bytes(const struct state_thread *thread)
{
	uint64_t all = thread->read_bytes + thread->write_bytes;
	uint64_t known = disk_bytes(thread) + net_bytes(thread);

	return all > known ? all - known : 0;
}

static void io_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_thread *thread = thread_at(data, row);
	bool known = thread->measured;

	switch (column) {
	case I_READ:
		state_bytes(cell, known, thread->read_bytes);
		cell->role = ROLE_STRONG;
		break;
	case I_WRITE:
		state_bytes(cell, known, thread->write_bytes);
		cell->role = ROLE_STRONG;
		break;
	case I_DISK:
		state_bytes(cell, known, disk_bytes(thread));
		break;
	case I_NET:
		state_bytes(cell, known, net_bytes(thread));
		break;
	case I_OTHER:
		state_bytes(cell, known, other_bytes(thread));
		cell->role = ROLE_DIM;
		break;
	case I_TIME:
		state_duration(cell, known, (double)thread->io_ns);
		break;
	case I_PID:
		state_id(cell, thread->pid);
		break;
	case I_TID:
		state_id(cell, thread->tid);
		break;
	case I_NAME:
		state_text(cell, thread->name);
		cell->role = ROLE_NAME;
		break;
	case I_HOST:
		state_text(cell, thread->host);
		break;
	default:
		state_count(cell, known, thread->open_fds);
		break;
	}
}

static double io_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_thread *thread = &screen->state->threads[row];

	if (column == I_PID || column == I_TID) {
		return column == I_PID ? (double)thread->pid : (double)thread->tid;
	}
	if (!thread->measured) {
		return NAN;
	}
	switch (column) {
	case I_READ:
		return (double)thread->read_bytes;
	case I_WRITE:
		return (double)thread->write_bytes;
	case I_DISK:
		return (double)disk_bytes(thread);
	case I_NET:
		return (double)net_bytes(thread);
	case I_OTHER:
		return (double)other_bytes(thread);
	case I_TIME:
		return (double)thread->io_ns;
	case I_FDS:
		return thread->open_fds;
	default:
		return NAN;
	}
}

static int io_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_io, data, a, b, column);
}

/* All that it read and wrote, also what a kernel thread writes to disks, without system calls. */
static double io_most(const void *data, uint32_t row)
{
	const struct state_thread *thread = thread_at(data, row);

	return thread->measured ? (double)(disk_bytes(thread) + net_bytes(thread)) +
						  (double)other_bytes(thread)
				: -1;
}

static const struct table_source io_source = {
		.columns = io_columns,
		.n_columns = I_COUNT_OF,
		.what = "threads",
		.key = thread_key,
		.cell = io_cell,
		.compare = io_compare,
		.most = io_most,
		.mark = thread_mark,
};

const struct state_pane_ops state_pane_io = {"io", &io_source, count_threads, io_figure, I_TIME};

/* ---- performance counters: a column for each context that some thread has ---- */

enum perf_column { P_TID, P_NAME, P_HOST, P_FIRST };

static const struct table_column perf_fixed[] = {
		[P_TID] = {"TID", 7, 0, 0, 0},
		[P_NAME] = {"NAME", 16, 0, TABLE_FLEX, 44},
		[P_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24},
};

static const struct state_perf *find_perf(const struct state_thread *thread, const char *name)
{
	uint32_t i;

	for (i = 0; i < thread->n_perf; i++) {
		if (strcmp(thread->perf[i].name, name) == 0) {
			return &thread->perf[i];
		}
	}
	return NULL;
}

static void perf_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_screen *screen = state_screen_of(data);
	const struct state_thread *thread = &screen->state->threads[row];
	const struct state_perf *perf;

	switch (column) {
	case P_TID:
		state_id(cell, thread->tid);
		break;
	case P_NAME:
		state_text(cell, thread->name);
		cell->role = ROLE_NAME;
		break;
	case P_HOST:
		state_text(cell, thread->host);
		break;
	default:
		perf = find_perf(thread, screen->perf_names[column]);
		state_count(cell, perf != NULL, perf ? perf->value : 0);
		break;
	}
}

static double perf_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_thread *thread = &screen->state->threads[row];
	const struct state_perf *perf;

	if (column == P_TID) {
		return (double)thread->tid;
	}
	perf = column >= P_FIRST ? find_perf(thread, screen->perf_names[column]) : NULL;
	return perf ? (double)perf->value : NAN;
}

static int perf_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_perf, data, a, b, column);
}

/* By the first counter. */
static double perf_most(const void *data, uint32_t row)
{
	double figure = perf_figure(state_screen_of(data), row, P_FIRST);

	return isnan(figure) ? -1 : figure;
}

static const struct table_source perf_source = {
		.columns = perf_fixed,
		.n_columns = P_FIRST,
		.what = "threads",
		.key = thread_key,
		.cell = perf_cell,
		.compare = perf_compare,
		.most = perf_most,
		.mark = thread_mark,
};

const struct state_pane_ops state_pane_perf = {
		"perf", &perf_source, count_threads, perf_figure, -1};

/* Adds a name in the order of names, so that columns keep their places. */
static void add_perf(struct state_screen *screen, int *n, const char *name)
{
	int at = P_FIRST, i;

	while (at < *n && strcmp(screen->perf_names[at], name) < 0) {
		at++;
	}
	if (*n == TABLE_COLUMNS || (at < *n && strcmp(screen->perf_names[at], name) == 0)) {
		return;
	}
	for (i = *n; i > at; i--) {
		screen->perf_names[i] = screen->perf_names[i - 1];
	}
	screen->perf_names[at] = name;
	(*n)++;
}

/* "perf_cpu_cache_misses" and "perf_thread_..." without what all of them have. */
static const char *short_name(const char *name)
{
	static const char *const heads[] = {"perf_cpu_", "perf_thread_", "perf_"};
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (strncmp(name, heads[i], strlen(heads[i])) == 0) {
			return name + strlen(heads[i]);
		}
	}
	return name;
}

void state_perf_update(struct state_screen *screen)
{
	int n = P_FIRST, i;
	uint32_t t, p;

	for (t = 0; t < screen->state->n_threads; t++) {
		for (p = 0; p < screen->state->threads[t].n_perf; p++) {
			add_perf(screen, &n, screen->state->threads[t].perf[p].name);
		}
	}
	memcpy(screen->perf_columns, perf_fixed, sizeof(perf_fixed));
	for (i = P_FIRST; i < n; i++) {
		size_t width;

		snprintf(screen->perf_titles[i], sizeof(screen->perf_titles[i]), "%.16s",
				short_name(screen->perf_names[i]));
		width = strlen(screen->perf_titles[i]);
		screen->perf_columns[i] = (struct table_column){screen->perf_titles[i],
				(uint8_t)(width > 6 ? width + 1 : 7), (uint8_t)(i - P_FIRST + 1),
				TABLE_RIGHT, 0};
	}
	screen->perf_source = perf_source;
	screen->perf_source.columns = screen->perf_columns;
	screen->perf_source.n_columns = n;
	if (screen->tables[STATE_PERF].sort_column >= n) {
		screen->tables[STATE_PERF].sort_column = -1;
	}
}

/* ---- above the CPU table ---- */

static void draw_cpu(const struct state_screen *screen, const struct view_frame *frame,
		const struct state_cpu *cpu, struct area cell)
{
	char text[300];
	int x = cell.x;

	if (screen->state->n_hosts > 1) {
		snprintf(text, sizeof(text), "%s/%" PRIu32, cpu->host, cpu->cpu);
	} else {
		snprintf(text, sizeof(text), "cpu%" PRIu32, cpu->cpu);
	}
	canvas_text_right(frame->canvas, cell.y, x, cell.width - BAR_COLUMNS - 7, ROLE_DIM, text);
	x += cell.width - BAR_COLUMNS - 6;
	if (cpu->known_ns == 0) {
		canvas_text(frame->canvas, cell.y, x, 5, ROLE_DIM, "-");
		return;
	}
	bar_share(frame->canvas, cell.y, x, BAR_COLUMNS, cpu->busy_percent / 100);
	snprintf(text, sizeof(text), "%.0f%%", cpu->busy_percent);
	canvas_text_right(frame->canvas, cell.y, x + BAR_COLUMNS, 5, ROLE_TEXT, text);
}

/* Hosts that no kernel event comes from, in a line; none: no line. */
static void draw_not_measured(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	char text[512] = "CPU not measured: no kernel events of ";
	size_t used = strlen(text);
	const char *between = "";
	struct area line;
	uint32_t i;

	for (i = 0; i < screen->state->n_hosts && used < sizeof(text); i++) {
		if (!screen->state->hosts[i].has_kernel) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", between,
					screen->state->hosts[i].host);
			between = ", ";
		}
	}
	if (between[0]) {
		line = layout_cut_rows(area, 1);
		canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_WARN, text);
	}
}

void state_draw_cpus(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	int width = screen->state->n_hosts > 1 ? 32 : 23;
	int per_line = area->width / width > 0 ? area->width / width : 1;
	int most = area->height / 4 < MOST_LINES ? area->height / 4 : MOST_LINES;
	uint32_t n = screen->state->n_cpus, fit = (uint32_t)(most * per_line), i;
	struct area line = {0, 0, 0, 0}, cell;
	char text[64];

	draw_not_measured(screen, frame, area);
	for (i = 0; i < n && i < fit; i++) {
		if (i % (uint32_t)per_line == 0) {
			line = layout_cut_rows(area, 1);
		}
		cell = layout_cut_columns(&line, width);
		if (i + 1 == fit && n > fit) {
			snprintf(text, sizeof(text), "and %" PRIu32 " more", n - i);
			canvas_text_right(frame->canvas, cell.y, cell.x, cell.width - 1, ROLE_DIM,
					text);
			break;
		}
		draw_cpu(screen, frame, &screen->state->cpus[i], cell);
	}
}
