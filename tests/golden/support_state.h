/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_STATE_H
#define SUPPORT_STATE_H

#include "pythiatop/snapshot/snapshot.h"

/* The state of the made-up cloud's systems; the same at every instant but for the clock. */
struct made_state {
	bool perf;    /* two threads have performance counters */
	bool trimmed; /* the memory bound was reached */
	bool hostile; /* a name that means no good */
	bool none;    /* no kernel events at all */
};

/* Fills snapshot->state as of snapshot->time_ns. */
void made_state_fill(struct snapshot *snapshot, const struct focus *focus,
		const struct made_state *made);

#endif
