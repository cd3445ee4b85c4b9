/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_STATE_SCREEN_H
#define UI_STATE_SCREEN_H

#include "pythiatop/snapshot/state_fields.h"
#include "views/view.h"
#include "widgets/field_cell.h"
#include "widgets/table.h"

/*
 * Screen 6, the systems: its panes are one table each. What the files of the screen share; the
 * tables' data is the struct state_screen.
 */
enum state_pane {
	STATE_CPU = 0,
	STATE_IO,
	STATE_PERF, /* only where there are perf contexts */
	STATE_PROCESS,
	STATE_EVENTS,
	STATE_CALLS,
	STATE_CALLERS, /* of the call that was gone into; no stop of Tab */
	STATE_IRQS,
	STATE_DISKS,
	STATE_NETS,
	STATE_HOSTS,
	STATE_PANES
};

/*
 * Threads as a tree of processes: what forked under who did, threads under their process. Memory:
 * 30 bytes a thread, only while it is shown, and 8 a folded one (at most STATE_MAX_FOLDED).
 */
#define STATE_MAX_FOLDED 1024
struct state_tree {
	bool on;
	uint32_t n, room;
	struct state_node *nodes;   /* in the order shown */
	struct state_place *places; /* by thread of the snapshot */
	uint32_t *sorted;
	uint64_t folded[STATE_MAX_FOLDED]; /* ids of threads */
	uint32_t n_folded;
};

struct state_node {
	uint32_t thread; /* of the snapshot */
	uint32_t parent; /* node; UINT32_MAX: none */
	uint32_t depth;
	bool parental, folded, hidden;
};

struct state_screen {
	enum state_pane pane;
	enum state_pane thread_from; /* pane that the process was gone into from */
	const struct snapshot *snapshot;
	const struct state_view *state;
	struct table tables[STATE_PANES];
	uint64_t thread_id, fd_id; /* 0: none chosen */
	struct view_moment moment; /* chosen by what a request knows of it; host "" if not */
	char call[128], call_host[256];
	bool summed_calls; /* there are rows summed over all processes */
	struct state_tree tree;
	struct table_source perf_source;
	struct table_column perf_columns[TABLE_COLUMNS];
	const char *perf_names[TABLE_COLUMNS]; /* by column; NULL for the first ones */
	char perf_titles[TABLE_COLUMNS][24];
};

/* A pane: its name among the tabs, its table. */
struct state_pane_ops {
	const char *name;
	const struct table_source *source;
	uint32_t (*count)(const struct state_screen *screen);
	const struct row_field *worst; /* the largest is the worst; NULL: none is */
};

extern const struct state_pane_ops state_pane_cpu, state_pane_io, state_pane_process,
		state_pane_events, state_pane_calls, state_pane_callers, state_pane_irqs,
		state_pane_disks, state_pane_nets, state_pane_hosts;
extern const struct state_pane_ops *const state_panes[STATE_PANES];

const struct state_screen *state_screen_of(const void *data);

/* state_threads.c */
extern const struct state_pane_ops state_pane_perf;
void state_perf_update(struct state_screen *screen); /* columns for the counters there are */
const struct state_thread *state_cpu_thread(const struct state_screen *screen, uint32_t row);
/* Bars of CPUs and what is not measured, above the table. */
void state_draw_cpus(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area);

/* state_tree.c */
void state_tree_update(struct state_screen *screen);
void state_tree_release(struct state_tree *tree);
/* Folds or unfolds a row; goes to the parent where there is nothing to fold. */
bool state_tree_fold(struct state_screen *screen, bool fold);

/* state_process.c */
void state_draw_process(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area);
void state_draw_events_of(const struct state_screen *screen, const struct view_frame *frame,
		struct area *area);

#endif
