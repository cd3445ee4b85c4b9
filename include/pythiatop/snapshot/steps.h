/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_STEPS_H
#define PYTHIATOP_SNAPSHOT_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/snapshot/explanation.h"
#include "pythiatop/snapshot/verdict.h"
#include "pythiatop/step.h"

/* A point of a step that waits for a decision. */
struct step_point {
	const char *name;  /* "nova:sem_acquire", or without a provider */
	const char *hosts; /* "compute-1, compute-2 and 3 more" */
	uint32_t n_events; /* event rules, over all hosts */
	bool kept;         /* false: a person has left it out */
	bool enable;
};

/* A step, as it is now. Times are of events; 0: not yet. */
struct step_row {
	uint32_t id; /* counts from 1 */
	enum step_kind kind;
	enum step_state state;
	enum step_by by;
	uint32_t group_id;  /* whose variation it is about; 0: of none */
	const char *title;  /* "+3 inside build_instance" */
	const char *why;    /* "97% of the variance of server create is inside it" */
	const char *effect; /* what came of it, or why it failed; "" so far */
	uint32_t learn_s; /* of learning: seconds that it lasts */
	uint64_t proposed_ns, decided_ns, done_ns, ended_ns;
	struct step_cost predicted, actual;
	double share_of_budget; /* predicted events/s with all others, of the budget; < 0: unknown
				 */
	uint32_t n_points, n_events; /* without what a person left out */
	const struct step_event *events;
	uint32_t n_parts; /* points to choose from, by engine_edit(); 0: there is no choice */
	const struct step_point *parts;
};

/* What is known, or supposed, of one group. */
struct steps_finding {
	uint32_t group_id;
	const char *type, *path;
	enum stop_rule rule; /* STOP_NONE: the search goes on */
	/* Place among what has changed since the baseline, 1: adds most; 0: it is not known to. */
	uint32_t change;
	/* Nothing tells what is normal of it: no baseline, no norm that was learned before, no
	 * objective. So it varies, which need not be a fault. */
	bool no_normal;
	bool outweighed; /* it names nothing, and what costs much more is searched, or will be soon
			  */
	struct steps_verdict verdict; /* or what is looked at now, */
	const char *text;             /* and that in one sentence: verdict_text() */
	const char *where;            /* calling context; "" if none */
	/* Where that varies, if in one process alone; "" if not known. */
	const char *host, *process;
	/* STOP_FAILS, and what has ended of it: requests that failed, of those that ended, since
	 * when. Else 0. */
	uint64_t failed, ended, since_ns;
	bool call; /* system calls alone told so: it may well be as it should */
	double phi, phi_low, phi_high;
	uint64_t requests;
	uint32_t n_steps;
	double seconds; /* of the search, event time */
	uint32_t n_history;
	const char *const *history;            /* what was tried and what it showed, oldest first */
	const struct explanation *explanation; /* by key-values; NULL: none was made */
	uint32_t n_ruled_out;
	const char *const *ruled_out; /* places and keys that do not explain it, with figures */
	const char *next;             /* what to look at now; "" if nothing is known */
	uint32_t n_points;            /* that were enabled in its search */
	struct step_cost cost;        /* of these, while all were on */
};

/* Whether a host can be controlled. */
struct steps_control {
	const char *host;
	bool ready;
	const char *session; /* ours there; "" if none */
	const char *text;    /* why it is not ready, and what to do; "" if it is */
};

/* A rehearsal: what the engine was shown of a recording in which everything was on. */
struct steps_rehearsal {
	bool on;
	uint64_t let_through; /* events: of the skeleton, and because of steps */
	uint64_t ours;        /* of those, because of steps */
	uint64_t masked;      /* of points that were off then */
	uint64_t peak_per_s;  /* because of steps, of the busiest second; not while learning */
	uint32_t over_s;      /* the longest time in a row for which these were over the budget */
};

struct steps_view {
	enum step_mode mode;
	const char *strategy;
	struct step_budget budget;
	struct step_cost spent; /* of all steps in force */
	uint32_t next;          /* row that waits for a decision; UINT32_MAX: none */
	const char *lacks;      /* what keeps it from proposing more; "" if nothing */
	uint32_t n;             /* newest first */
	const struct step_row *rows;
	uint32_t n_rules; /* event rules in force because of steps */
	const struct step_event *rules;
	uint32_t n_controls;
	const struct steps_control *controls;
	uint32_t n_flagged;  /* groups, when it last looked */
	uint32_t n_findings; /* what fails; what has changed, by what it adds; verdicts; then what
				is searched */
	const struct steps_finding *findings;
	/* Points: a pair of entry and exit, or a single tracepoint. */
	uint32_t skeleton, enabled, ever_enabled, known;
	struct steps_rehearsal rehearsal;
};

/* What is searched, or was found, for a group, the first of it; NULL: nothing. */
static inline const struct steps_finding *step_finding(
		const struct steps_view *steps, uint32_t group_id)
{
	for (uint32_t i = 0; i < steps->n_findings; i++) {
		if (steps->findings[i].group_id == group_id) {
			return &steps->findings[i];
		}
	}
	return NULL;
}

#endif
