/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_STEP_H
#define PYTHIATOP_STEP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Steps: changes of what is recorded, proposed by the analysis or by a person, carried out by the
 * control processes of the traced hosts, and watched. Plain values that the analysis, the conductor
 * (src/run) and the screen share.
 *
 *   proposed -> approved -> watched -> kept -> undoing -> undone
 *            -> rejected  -> failed  -> undoing -> undone (by itself: it cost too much)
 */

/* How points are chosen. X(id, name, help); the first is the usual one. */
#define PYTHIATOP_STRATEGIES(X)                                                                    \
	X(hybrid, "hybrid", "points of the edge, split by the time they take")                     \
	X(hierarchical, "hierarchical", "children of the edge, the longest first")                 \
	X(flat, "flat", "evenly through the edge's time")                                          \
	X(historic, "historic", "what explained before, else as hybrid")                           \
	X(cross_layer, "cross-layer", "kernel events")                                             \
	X(random, "random", "any points of the edge")                                              \
	X(all, "all", "all points of the edge")                                                    \
	X(pythia, "pythia", "all children of the edge of the largest variance")

#define STRATEGY_NAME(id, name, help) " " name
#define STRATEGY_NAMES                PYTHIATOP_STRATEGIES(STRATEGY_NAME) /* each behind a blank */

/* What may be done without asking. */
enum step_mode {
	MODE_OBSERVE = 0, /* steps are proposed, none can be approved */
	MODE_APPROVE,     /* a person approves each */
	MODE_AUTOPILOT,   /* each is approved at once, within the budget */
	MODE_COUNT
};
#define STEP_MODE_NAMES "observe", "approve", "autopilot"

enum step_kind {
	STEP_SKELETON = 0, /* the points that requests are known by */
	STEP_LEARN,        /* all points, for a short while, then back */
	STEP_ENABLE,
	STEP_DISABLE,
};

enum step_state {
	STEP_PROPOSED = 0,
	STEP_APPROVED, /* the hosts are being told */
	STEP_WATCHED,  /* done, and undone by itself if it costs more than was said */
	STEP_KEPT,
	STEP_UNDOING,
	STEP_UNDONE,
	STEP_REJECTED,
	STEP_FAILED, /* a host could not: what others did was undone */
};

enum step_by {
	STEP_BY_NOBODY = 0,
	STEP_BY_PERSON,
	STEP_BY_AUTOPILOT,
	STEP_BY_WATCH, /* undone by itself */
};
#define STEP_BY_NAMES "nobody", "person", "autopilot", "watch"

/* One event rule of one host. */
struct step_event {
	const char *host;
	const char *name; /* exact, never a pattern */
	bool kernel;
	bool enable;
	const char *filter; /* LTTng's syntax; NULL: none */
};

/* What recording costs. Negative: not known. */
struct step_cost {
	double events_per_s, bytes_per_s;
	double cpu_share; /* of one CPU, on the host where it is highest */
};

/* Seconds that a step is watched after it is done. */
#define STEP_WATCH_S 5
/* That learning lasts; longer, where only a part of the time is recorded, by that, but not beyond. */
#define STEP_LEARN_S      10
#define STEP_LEARN_MOST_S 30

/* Bounds on what all steps together may cost, and on each. 0: no bound. */
struct step_budget {
	double events_per_s, bytes_per_s, cpu_share;
	double learn_events_per_s; /* while learning */
	uint32_t points;           /* of one step */
};

/* Unless something else is said. */
#define STEP_USUAL_BUDGET                                                                          \
	((struct step_budget){.events_per_s = 5000,                                                \
			.bytes_per_s = 500e3,                                                      \
			.cpu_share = 0.02,                                                         \
			.learn_events_per_s = 50000,                                               \
			.points = 6})

/* What the hosts are told: to carry a step out, or to take it back. */
struct step_order {
	uint32_t step;
	enum step_kind kind;
	bool undo;
	uint32_t watch_s; /* how long it is watched after it is done; of learning: how long it lasts
			   */
	uint32_t n;
	const struct step_event *events; /* `enable` says what to do now, for an undo too */
};

/* What came of an order, once all hosts have answered. */
struct step_outcome {
	uint32_t step;
	bool undo, ok;
	const char *error;    /* which host, what, and what to do; "" if ok */
	uint64_t answered_ns; /* wall clock, when the last host had answered; 0: not known */
};

/* What was seen while a step was watched. */
struct step_watch {
	uint32_t step;           /* 0: of no step; all that were kept bring more than the budget */
	uint64_t discarded;      /* events the tracer lost meanwhile */
	struct step_cost actual; /* of all that is recorded because of steps */
};

enum step_decision {
	STEP_APPROVE = 0,
	STEP_REJECT,
	STEP_UNDO,
};

/* A tracepoint that applications of a host offer. */
struct step_offer {
	const char *host;
	const char *name; /* provider:name, or a kernel event */
	bool kernel;
	uint32_t n_fields;
	const char *const *fields;
	bool bounded; /* the host itself lets go of it where it fires too often */
};

/* A process that runs applications with tracepoints. */
struct step_process {
	int64_t pid; /* in the host's initial pid namespace */
	const char *name;
};

#endif
