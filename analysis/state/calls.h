/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_CALLS_H
#define PT_STATE_CALLS_H

#include "state/cx.h"

/* System calls: the one that a thread is in, and those that ended. */

struct call_record {
	uint64_t end_ns, duration_ns;
	uint32_t name, process; /* interned */
	uint32_t host;
	int32_t tid, pid;
	bool failed;
};

/* Of system calls, found by what their names begin with. */
void calls_entry(struct state_cx *cx, const struct state_plan *plan, const struct event *event);
void calls_exit(struct state_cx *cx, const struct state_plan *plan, const struct event *event);
/* The call a thread is in has ended, or nobody will know: lets go of its entry. */
void call_close(struct state_cx *cx, struct call *call);
enum status calls_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);

#endif
