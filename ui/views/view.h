/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_VIEW_H
#define UI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "keymap.h"
#include "pattern.h"
#include "pythiatop/action.h"
#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"
#include "widgets/table.h"

/*
 * A screen: how it is made, what it needs of a snapshot, how it is drawn, what keys do in it. One
 * file, one `struct view_ops` each. A view keeps what the person did (cursor, pane, order), never
 * what was measured: that comes with each snapshot.
 */

/* Where, from what and how to draw. */
struct view_frame {
	struct canvas *canvas;
	struct area area;
	const struct snapshot *snapshot; /* never NULL; all zero before the first */
	const struct focus *focus; /* what is wanted, where the snapshot may answer an older one */
	const struct pattern *search;
	const struct keymap *keymap;
	uint64_t tagged; /* request that others are compared with; 0: none */
};

/* A thread at an instant: where a span began. */
struct view_moment {
	char host[256];
	int64_t pid, tid; /* of the trace: the kernel's or those of a pid namespace; -1: not known
			   */
	uint64_t at_ns;   /* 0: no moment */
};

/* What a view asks for when a key was pressed. */
struct view_call {
	enum screen go;    /* 0: stay here */
	enum screen from;  /* with `go`, set by the console: where the person is */
	uint32_t group_id; /* with `go`; 0: the worst */
	uint64_t request_id;
	struct view_moment moment; /* with `go` = SCREEN_STATE: of this thread, frozen then */
	/*
	 * With `go` = SCREEN_REQUEST: the span of this calling context, known by the names that
	 * lead there (view_chain_key()), or its original events; 0: none in particular. With
	 * SCREEN_TREE: the row of that context.
	 */
	uint64_t chain;
	bool events;
	uint32_t context; /* with `go` = SCREEN_TREE: the row of this context; 0: none */
	bool median;      /* with `go` = SCREEN_COMPARE: not with the tagged request */
	uint64_t tag;     /* this request is tagged, or no more; 0: none */
	bool proposed;    /* with `go` = SCREEN_TREE: the first row that is proposed */
	/*
	 * A step of this id is to be decided on (`decide`), or shown; 0: none. The person is asked
	 * first.
	 */
	uint32_t step;
	bool ask; /* to do `decision`; else all of the step is shown */
	enum step_decision decision;
	bool unmatched;    /* with `go` = SCREEN_SOURCES: in the pane of unmatched events */
	bool back;         /* out of this screen */
	char command[512]; /* for the program; "" if none */
	char message[256]; /* for the person; "" if none */
};

#define SCREEN_BIT(screen) (1u << (screen))
#define SCREEN_BITS_ALL    UINT32_MAX

struct view_ops {
	enum screen screen;
	enum action key;   /* that leads there from anywhere; ACTION_NONE: none */
	const char *about; /* what the screen shows, for the help */

	/*
	 * Where Esc leads to: to the screen the person came from, if its bit is in `back_to`; up,
	 * if it is in `up_from`, or nobody came so far; else where it led to before.
	 */
	enum screen up; /* 0: this is the top */
	uint32_t back_to, up_from;
	bool toggles; /* its key leads out of it again */

	void *(*create)(void); /* NULL if out of memory */
	void (*destroy)(void *view);

	/* Which parts of a snapshot (enum focus_part) it needs, given the newest. */
	uint32_t (*parts)(const void *view, const struct snapshot *snapshot);

	/* Optional. What it wants of the focus besides: the thread or fd that it is about. */
	void (*focus)(const void *view, struct focus *focus);

	/* Optional. The person comes in by `call`. */
	void (*enter)(void *view, const struct view_call *call);

	/* Takes a snapshot, which stays as it is until the next call. */
	void (*update)(void *view, const struct snapshot *snapshot);

	void (*draw)(void *view, const struct view_frame *frame);

	/* False: the action does nothing here. */
	bool (*act)(void *view, enum action action, struct view_call *call);

	/* The list that search, filter and sorting work on, or NULL. */
	struct table *(*table)(void *view);
};

/* All of them; the first is the one to begin with. */
#define UI_VIEWS(X)                                                                                \
	X(groups)                                                                                  \
	X(group) X(tree) X(request) X(compare) X(steps) X(state) X(sources) X(changes) X(shapes) X(help)

#define X(name) VIEW_##name,
enum { UI_VIEWS(X) N_VIEWS };
#undef X
#define X(name) extern const struct view_ops view_##name;
UI_VIEWS(X)
#undef X
extern const struct view_ops *const all_views[N_VIEWS];

/*
 * The way from the groups to where the person is, with `right` at the end of the line. `group` and
 * `request` may be NULL.
 */
void view_breadcrumbs(const struct view_frame *frame, struct area line, const char *group,
		const char *request, const char *right);

/* The first of the snapshot's warnings, in a line that is cut from the top; none: no line. */
void view_warning(const struct view_frame *frame, struct area *area);

/* The title line of a pane. */
void view_pane(const struct view_frame *frame, struct area line, const char *title,
		const char *right, bool active);

/* "a approve  r reject": keys with what they do, as many as fit. Returns the columns used. */
int view_keys(const struct view_frame *frame, struct area line, const enum action *actions, int n);

/* A group as a person names it: "server create api›sched›compute". */
void view_group_name(char *out, size_t size, const char *type, const char *path);

/* Paths begin alike and end in what tells them apart: the end of a long one is shown. Returns
 * the columns used. */
int view_draw_path(struct canvas *canvas, int y, int x, int width, const char *path);

/*
 * A group in a line of a list. Where it does not fit, the middle of either part gives way, since
 * what tells like groups apart stands at their ends. Returns the columns used.
 */
int view_draw_group(
		struct canvas *canvas, int y, int x, int width, const char *type, const char *path);

/* A key for rows that are known by their names, which stays while they come and go. */
uint64_t view_text_key(const char *text, uint64_t key);

/* The same for a calling context: a span's name, below the one that `parent` names (0: none). */
uint64_t view_chain_key(const char *provider, const char *name, uint64_t parent);

/* "97% ±2": a share of the variance with half of its 90 % interval. */
void view_share(char *out, size_t size, double share, double low, double high);

/*
 * Whether and how a group varies: "varies: CoV ≥ 0.86; three latencies: 412ms 61% ...", or how many
 * requests are missing until that can be told.
 */
void view_verdict(char *out, size_t size, const struct groups_row *row);

/*
 * A segment as a person names it: "sem.acquire", of what is no span "poll (wait)", of a part of a
 * system call who made it: "sem.acquire (blocked: futex)", "sem.acquire›futex (runnable)".
 */
void view_segment_name(char *out, size_t size, const struct group_segment *segment);

/*
 * Where it varies, in a sentence; or why nobody can tell. The tree of the group, or NULL, tells
 * whether anything is recorded below that place.
 */
void view_location(char *out, size_t size, const struct group_location *location,
		const struct tree_view *tree);

/* How a request ended, in a word or two. */
/* "failed: 12 of 880 requests, 1.4% (<1% to 2.4%)"; some has. */
void view_failed(char *out, size_t size, const struct groups_row *row);
const char *view_state_name(enum request_state state);

/* Whether the snapshot answers what is wanted now, not what was wanted before the last key. */
bool view_answers(const struct view_frame *frame);

#endif
