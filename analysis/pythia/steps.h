/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_STEPS_H
#define PT_PYTHIA_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/points.h"
#include "pythiatop/status.h"
#include "pythiatop/step.h"
#include "pythiatop/snapshot/steps.h"

/*
 * The list of steps and what may become of each. One order is with the hosts at a time.
 *
 * Memory: the last STEPS_MAX steps; older ones that are over go.
 */
#define STEPS_MAX 1024u

struct step_part {
	uint32_t point;
	uint64_t hosts;
	bool enable;
	bool left_out; /* by a person: it is no part of what is done */
	char *filter;  /* of its events, NULL: none; steps_add() copies it, the step frees it */
};

struct step {
	uint32_t id;
	enum step_kind kind;
	enum step_state state;
	enum step_by by, undone_by;
	uint32_t group_id;
	char *title, *why, *effect;
	size_t title_bytes; /* of the title as proposed; what was edited is said after it */
	uint64_t proposed_ns, decided_ns, done_ns, ended_ns;
	struct step_cost predicted, actual;
	uint32_t learn_s; /* seconds that learning lasts */
	uint32_t n_parts;
	struct step_part *parts;
	bool ordered; /* its order is with the hosts */
	bool failed;  /* undone because a host could not */
	/* Of its group when it was proposed: where the median surely lay; 0: not known. */
	double median_low_ns, median_high_ns;
};

struct steps {
	struct step *items; /* by id, oldest first */
	uint32_t n, room, last_id;
	bool in_flight;
	struct step_event *events; /* of the order given last */
	uint32_t events_room;
	struct step_order order;
};

void steps_release(struct steps *steps);

/* A new one, proposed; the parts and texts are copied. NULL if out of memory. */
struct step *steps_add(struct steps *steps, enum step_kind kind, const struct step_part *parts,
		uint32_t n_parts, const char *title, const char *why, uint64_t now_ns);
struct step *steps_find(struct steps *steps, uint32_t id); /* NULL: none of that number */
/* The one that waits for a decision, NULL if none does. */
struct step *steps_proposed(struct steps *steps);
/* The hosts are at work on a step, or it is being watched. */
bool steps_busy(const struct steps *steps);

void step_say(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* STATUS_INVALID: not in this state; `error` says so. */
enum status step_decide(struct step *step, enum step_decision decision, enum step_by by,
		uint64_t now_ns, char *error, size_t size);
void step_undo(struct step *step, enum step_by by, uint64_t now_ns);

/*
 * Leaves a part, counted from 1, out of a step that waits, or takes it back; the title says how
 * many stay. STATUS_INVALID: it is decided, has no such part, learns from all its points at once,
 * or nothing would be left; `error` says which.
 */
enum status step_edit(struct step *step, uint32_t part, bool keep, char *error, size_t size);
uint32_t step_count_kept(const struct step *step);

/* Whatever it did on a host is undone. */
void step_host_gone(struct step *step, uint64_t bit, const char *host, uint64_t now_ns);

/* The event rules of a step, or of its undoing, to `out` unless that is NULL; returns how many. */
uint32_t step_events(const struct points *points, const struct step *step, bool undo,
		struct step_event *out);

/* See engine_next_order(). */
const struct step_order *steps_next_order(struct steps *steps, const struct points *points);
/* Takes note at the points too of what is recorded now. NULL: no such order is out. */
struct step *steps_order_done(struct steps *steps, struct points *points,
		const struct step_outcome *outcome, uint64_t now_ns);

#endif
