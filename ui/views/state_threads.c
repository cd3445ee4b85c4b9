/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
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

static const void *thread_row(const void *data, uint32_t row)
{
	return thread_at(data, row);
}

static uint64_t thread_key(const void *data, uint32_t row)
{
	return thread_at(data, row)->id;
}

static const char *thread_mark(const void *data, uint32_t row)
{
	return thread_at(data, row)->uncertain ? "~" : NULL;
}

#define THREAD(field) &state_thread_fields[FIELD_THREAD_##field]

/* ---- CPU ---- */

enum cpu_column { C_CPU, C_RUNQUEUE, C_BLOCKED, C_STATUS, C_PID, C_TID, C_NAME, C_HOST, C_WHAT };

static const struct table_column cpu_columns[] = {
		[C_CPU] = {"CPU%", 5, 0, TABLE_RIGHT, 0, THREAD(CPU), ROLE_STRONG},
		[C_RUNQUEUE] = {"RUNQ", 6, 1, TABLE_RIGHT, 0, THREAD(RUNQUEUE)},
		[C_BLOCKED] = {"BLOCKED", 7, 1, TABLE_RIGHT, 0, THREAD(BLOCKED_NS)},
		[C_STATUS] = {"STATUS", 11, 2, 0, 0, THREAD(STATUS)},
		[C_PID] = {"PID", 7, 4, 0, 0, THREAD(PID)},
		[C_TID] = {"TID", 7, 0, 0, 0, THREAD(TID)},
		[C_NAME] = {"NAME", 16, 0, TABLE_FLEX, 44, THREAD(NAME), ROLE_NAME},
		[C_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24, THREAD(HOST)},
		[C_WHAT] = {"IN, WAITS FOR", 14, 5, TABLE_FLEX, 30, NULL, ROLE_DIM},
		{"USER", 6, 6, TABLE_RIGHT, 0, THREAD(USER)},
		{"SYSTEM", 6, 6, TABLE_RIGHT, 0, THREAD(SYSTEM)},
		{"LONGEST", 7, 7, TABLE_RIGHT, 0, THREAD(RUNQUEUE_MAX)},
		{"SWITCH", 6, 8, TABLE_RIGHT, 0, THREAD(SWITCHES)},
		{"WOKEN", 6, 9, TABLE_RIGHT, 0, THREAD(WAKEUPS)},
		{"MIGR", 5, 10, TABLE_RIGHT, 0, THREAD(MIGRATIONS)},
};

static enum role status_role(enum thread_status status)
{
	switch (status) {
	case THREAD_RUN_USER:
	case THREAD_RUN_SYSCALL:
		return ROLE_GOOD;
	case THREAD_WAIT_CPU:
	case THREAD_INTERRUPTED:
		return ROLE_WARN;
	case THREAD_UNKNOWN:
	case THREAD_DEAD:
		return ROLE_DIM;
	default:
		return ROLE_TEXT;
	}
}

/* What a blocked thread waits for, or the call that another one is in. */
static void what_cell(const struct state_thread *thread, struct table_cell *cell)
{
	const char *what = thread->waits_for[0] ? thread->waits_for : thread->syscall;

	if (thread->syscall[0] && thread->waits_for[0] &&
			strcmp(thread->syscall, thread->waits_for) != 0) {
		snprintf(cell->text, sizeof(cell->text), "%s: %s", thread->syscall,
				thread->waits_for);
	} else {
		text_copy(cell->text, sizeof(cell->text), what[0] ? what : "-");
	}
}

static void name_in_tree(const struct state_screen *screen, uint32_t row, struct table_cell *cell)
{
	const struct state_node *node = &screen->tree.nodes[row];
	const struct state_thread *thread = state_cpu_thread(screen, row);

	snprintf(cell->text, sizeof(cell->text), "%s%s",
			!node->parental ? "  "
			: node->folded  ? "▸ "
					: "▾ ",
			thread->name[0] ? thread->name : "-");
	cell->indent = node->depth < 8 ? (int)node->depth : 8;
}

static void cpu_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_screen *screen = state_screen_of(data);
	const struct state_thread *thread = state_cpu_thread(screen, row);

	if (column == C_CPU && thread->measured) {
		strcpy(cell->text, "-");
		if (thread->window_ns > 0) {
			snprintf(cell->text, sizeof(cell->text), "%.1f",
					100 * (double)thread->cpu_ns / (double)thread->window_ns);
		}
	} else if (column == C_STATUS) {
		cell->role = status_role(thread->status);
	} else if (column == C_NAME && screen->tree.on) {
		name_in_tree(screen, row, cell);
	} else if (column == C_WHAT) {
		what_cell(thread, cell);
	}
}

static const void *cpu_row(const void *data, uint32_t row)
{
	return state_cpu_thread(data, row);
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
		.n_columns = TABLE_COUNT(cpu_columns),
		.what = "threads",
		.key = cpu_key,
		.row = cpu_row,
		.cell = cpu_cell,
		.mark = cpu_mark,
		.hidden = cpu_hidden,
};

const struct state_pane_ops state_pane_cpu = {"cpu", &cpu_source, count_cpu, THREAD(RUNQUEUE)};

/* ---- I/O ---- */

static const struct table_column io_columns[] = {
		{"READ", 6, 0, TABLE_RIGHT, 0, THREAD(READ), ROLE_STRONG},
		{"WRITE", 6, 0, TABLE_RIGHT, 0, THREAD(WRITE), ROLE_STRONG},
		{"DISK", 6, 1, TABLE_RIGHT, 0, THREAD(DISK)},
		{"NET", 6, 1, TABLE_RIGHT, 0, THREAD(NET)},
		{"OTHER", 6, 2, TABLE_RIGHT, 0, THREAD(OTHER), ROLE_DIM},
		{"TIME", 6, 1, TABLE_RIGHT, 0, THREAD(IO)},
		{"PID", 7, 5, 0, 0, THREAD(PID)},
		{"TID", 7, 0, 0, 0, THREAD(TID)},
		{"NAME", 15, 0, TABLE_FLEX, 44, THREAD(NAME), ROLE_NAME},
		{"HOST", 10, 3, TABLE_FLEX, 24, THREAD(HOST)},
		{"FDS", 5, 6, TABLE_RIGHT, 0, THREAD(OPEN_FDS)},
};

/* All that it read and wrote, also what a kernel thread writes to disks, without system calls. */
static double io_most(const void *data, uint32_t row)
{
	const struct state_thread *thread = thread_at(data, row);

	return thread->measured ? field_figure(THREAD(DISK), thread) +
						  field_figure(THREAD(NET), thread) +
						  field_figure(THREAD(OTHER), thread)
				: -1;
}

static const struct table_source io_source = {
		.columns = io_columns,
		.n_columns = TABLE_COUNT(io_columns),
		.what = "threads",
		.key = thread_key,
		.row = thread_row,
		.most = io_most,
		.mark = thread_mark,
};

const struct state_pane_ops state_pane_io = {"io", &io_source, count_threads, THREAD(IO)};

/* ---- performance counters: a column for each context that some thread has ---- */

enum perf_column { P_TID, P_NAME, P_HOST, P_FIRST };

static const struct table_column perf_fixed[] = {
		[P_TID] = {"TID", 7, 0, 0, 0, THREAD(TID)},
		[P_NAME] = {"NAME", 16, 0, TABLE_FLEX, 44, THREAD(NAME), ROLE_NAME},
		[P_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24, THREAD(HOST)},
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
	const struct state_perf *perf;

	if (column >= P_FIRST) {
		perf = find_perf(thread_at(data, row), screen->perf_names[column]);
		strcpy(cell->text, "-");
		if (perf) {
			format_count(cell->text, perf->value);
		}
	}
}

static double perf_figure(const void *data, uint32_t row, int column)
{
	const struct state_perf *perf =
			find_perf(thread_at(data, row), state_screen_of(data)->perf_names[column]);

	return perf ? (double)perf->value : -1;
}

static int perf_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	double one = perf_figure(data, a, column), other = perf_figure(data, b, column);

	return one < other ? -1 : one > other;
}

/* By the first counter. */
static double perf_most(const void *data, uint32_t row)
{
	return perf_figure(data, row, P_FIRST);
}

static const struct table_source perf_source = {
		.columns = perf_fixed,
		.n_columns = P_FIRST,
		.what = "threads",
		.key = thread_key,
		.row = thread_row,
		.cell = perf_cell,
		.compare = perf_compare,
		.most = perf_most,
		.mark = thread_mark,
};

const struct state_pane_ops state_pane_perf = {"perf", &perf_source, count_threads, NULL};

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

#define KNOWN_PART 0.9 /* of the window: then what was seen is taken for all of it */

static void draw_cpu(const struct state_screen *screen, const struct view_frame *frame,
		const struct state_cpu *cpu, struct area cell)
{
	double busy = cpu->busy_percent / 100;
	const char *least = "";
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
	/* Where only some processes are recorded, not what the others left of it. */
	if ((double)cpu->known_ns < KNOWN_PART * (double)screen->state->window_ns) {
		busy = (double)(cpu->known_ns - cpu->idle_ns) / (double)screen->state->window_ns;
		least = "≥";
	}
	bar_share(frame->canvas, cell.y, x, BAR_COLUMNS, busy);
	snprintf(text, sizeof(text), "%s%.0f%%", least, 100 * busy);
	canvas_text_right(frame->canvas, cell.y, x + BAR_COLUMNS, 5, ROLE_TEXT, text);
}

/* Hosts that no kernel event comes from, in a line; none: no line. */
static void draw_not_measured(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area)
{
	char text[512] = "CPU not measured: no kernel events of ";
	const char *between = "";
	struct area line;
	uint32_t i;

	for (i = 0; i < screen->state->n_hosts; i++) {
		if (!screen->state->hosts[i].has_kernel) {
			text_add(text, sizeof(text), "%s%s", between, screen->state->hosts[i].host);
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
