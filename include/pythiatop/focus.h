/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_FOCUS_H
#define PYTHIATOP_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the person looks at: written by the screen (or by batch), answered by a snapshot.
 * Plain values, copied between threads. A snapshot repeats the focus it answers.
 */

enum screen {
	SCREEN_GROUPS = 1, /* the numbers are the keys that lead there */
	SCREEN_GROUP = 2,
	SCREEN_TREE = 3,
	SCREEN_REQUEST = 4,
	SCREEN_STEPS = 5,
	SCREEN_STATE = 6,
	SCREEN_SOURCES = 7,
	SCREEN_CHANGES = 8,
	SCREEN_COMPARE = 9, /* one request laid over another; no number leads there */
	SCREEN_HELP = 10,   /* nor there */
	SCREEN_SHAPES = 11, /* nor there: a letter does */
};

/* Which part of the past statistics speak of. */
enum horizon {
	HORIZON_WINDOW = 0, /* "10s": the window of the moving state (ten seconds unless configured)
			     */
	HORIZON_EPOCH,      /* "epoch": since the last change of instrumentation, or :epoch */
	HORIZON_ALL,        /* "all": since attaching, or the whole recording */
	HORIZON_COUNT
};
#define HORIZON_NAMES "10s", "epoch", "all" /* as people write them */

/* What groups are ordered by: how much "the worst" is. */
enum metric {
	METRIC_VARIANCE = 0, /* rate x sd: what the variation costs in total */
	METRIC_COV,          /* the lower bound of sd / mean */
	METRIC_MODES,        /* how far apart the modes are */
	METRIC_COUNT
};
#define METRIC_NAMES "variance", "cov", "modes"

/* Parts of a snapshot; a fill is made only of those asked for. */
enum focus_part {
	FOCUS_GROUPS = 1u << 0,
	FOCUS_GROUP = 1u << 1,
	FOCUS_REQUEST = 1u << 2,
	FOCUS_SOURCES = 1u << 3,
	FOCUS_UNMATCHED = 1u << 4,
	FOCUS_STATE = 1u << 5,
	FOCUS_EVENTS = 1u << 6, /* with FOCUS_STATE: original events of the thread or fd in focus */
	FOCUS_TREE = 1u << 7,
	FOCUS_COMPARE = 1u << 8,   /* the request in focus with compare_id */
	FOCUS_LOCATE = 1u << 9,    /* with FOCUS_GROUPS: where each group varies, and all trees */
	FOCUS_THOROUGH = 1u << 10, /* every group is judged anew, however long that takes */
	FOCUS_STEPS = 1u << 11,
	FOCUS_BRIEF = 1u << 12, /* with FOCUS_STATE: of its tables hosts, CPUs and threads alone */
	/* With FOCUS_GROUPS: no row is judged for it; the verdicts are those that there are. */
	FOCUS_UNJUDGED = 1u << 13,
	FOCUS_CHANGES = 1u << 14, /* what is otherwise than in the baseline */
	/* Who was waited for: with FOCUS_GROUP of that group, with FOCUS_LOCATE of the first
	 * GROUPS_WAITS. */
	FOCUS_WAITS = 1u << 15,
	/* What requests did: of the type of the group in focus on SCREEN_SHAPES, else of all. */
	FOCUS_SHAPES = 1u << 16,
	FOCUS_ALL = FOCUS_GROUPS | FOCUS_GROUP | FOCUS_REQUEST | FOCUS_SOURCES | FOCUS_UNMATCHED |
		    FOCUS_STATE | FOCUS_EVENTS | FOCUS_TREE | FOCUS_COMPARE | FOCUS_LOCATE |
		    FOCUS_THOROUGH | FOCUS_STEPS | FOCUS_CHANGES | FOCUS_WAITS |
		    FOCUS_SHAPES,
};

struct focus {
	uint64_t serial; /* counts up with every change; a snapshot names the one it answers */
	enum screen screen;
	uint32_t parts; /* enum focus_part */
	enum horizon horizon;
	enum metric metric;
	uint32_t group_id;   /* 0: the worst group */
	uint64_t request_id; /* 0: the slowest kept request of the group */
	uint64_t compare_id; /* 0: the kept request nearest to the group's median */
	bool tree_of_all;    /* the tree of all groups together, not of the group in focus */
	/*
	 * Freeze: the window is pinned as it was when `frozen` rose. While frozen `back_ns` moves
	 * the instant that everything is shown at back from the pin, by at most the window's
	 * length.
	 */
	bool frozen;
	uint64_t back_ns;
	/*
	 * State: shown at this instant instead (--state-at); 0: at the snapshot's time. The fds and
	 * original events are those of this thread (state_thread.id) or fd (state_fd.id; the fds
	 * are all that had its number in the window); 0: of all.
	 */
	uint64_t state_at_ns;
	uint64_t thread_id, fd_id;
};

#endif
