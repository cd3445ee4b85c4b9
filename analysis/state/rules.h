/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_RULES_H
#define PT_STATE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"

/*
 * Each file owns one kind of thing and says in tables which events it wants: state_rule for events
 * by name, call_rule for system calls that have ended. state.c resolves both to field numbers once
 * per event type, so that an event of no interest costs one branch.
 */
#define STATE_FIELDS    14
#define STATE_NO_FIELD  UINT16_MAX
#define STATE_PLAN_PERF 8 /* perf counters of one event type */

struct state_cx;
struct state_plan;
struct thread_state;
struct call;

typedef void state_handle(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event);

/* An event that a file wants. A field may have alternatives: "prev_tid|prev_pid". */
struct state_rule {
	const char *names; /* "softirq_entry|irq_softirq_entry" */
	state_handle *handle;
	const char *fields[STATE_FIELDS];
	uint8_t required; /* so many of the fields must be there, the first ones */
};

struct call_end {
	struct thread_state *thread;
	const struct call *call;
	const struct event *exit;
	const struct event *entry; /* the kept copy; NULL: not kept (inherited, or too long) */
	const uint16_t *in, *out;  /* slots of the rule's fields; STATE_NO_FIELD: not there */
	int64_t ret;
};

/* A system call that a file wants to hear of when it ends. */
struct call_rule {
	const char *names;                                            /* "open|openat|openat2" */
	void (*end)(struct state_cx *cx, const struct call_end *end); /* NULL: nothing */
	const char *in[STATE_FIELDS], *out[STATE_FIELDS]; /* fields of the entry, of the exit */
	/* And when it begins; `in`: slots of the fields of the entry. */
	void (*begin)(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
			const uint16_t *in);
};

/* By event type. */
struct state_plan {
	state_handle *handle; /* NULL: of no interest */
	uint16_t slots[STATE_FIELDS];
	uint16_t ctx_tid, vpid, pid_ns, procname; /* contexts */
	uint32_t call;                            /* interned name of the system call */
	uint16_t fd_slot;                         /* of an entry's argument */
	uint16_t from_fd_slot, to_fd_slot; /* of calls with two fds, or one of another name */
	const struct call_rule *call_rule; /* entries: slots_call are `in`; exits: `out` */
	uint16_t slots_call[STATE_FIELDS];
	uint32_t n_perf;
	uint16_t perf_slots[STATE_PLAN_PERF]; /* of perf_* contexts */
	uint8_t perf_index[STATE_PLAN_PERF];  /* in cx->perf_names */
};

static inline bool has_field(const struct state_plan *plan, uint32_t field)
{
	return plan->slots[field] != STATE_NO_FIELD;
}

/* Value of a field of the rule; `otherwise` if the type does not have it. */
static inline int64_t field_int(const struct state_plan *plan, const struct event *event,
		uint32_t field, int64_t otherwise)
{
	return has_field(plan, field) ? (int64_t)event->slots[plan->slots[field]] : otherwise;
}

/* The tables of rules, of the files that have nothing else to declare. */
extern const struct state_rule kernel_rules[];
extern const struct state_rule lifecycle_rules[];
extern const struct state_rule irqs_rules[];
extern const struct state_rule users_rules[];
extern const struct state_rule pages_rules[];

#endif
