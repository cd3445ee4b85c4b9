/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_PACING_H
#define PT_PROBE_PACING_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/kernel.h"
#include "probe/pace.h"
#include "probe/processes.h"
#include "probe/usage.h"

/*
 * Spans that are recorded and pauses between them, as pace.h decides. In the pauses the programs
 * are detached, so that nothing of them is left in the way of what is watched. The trace tells each
 * pause: pythiatop_paused, pythiatop_resumed.
 *
 * Threads: one.
 */
struct pacing {
	struct kernel *kernel;
	const struct processes *processes; /* NULL: all are recorded */
	int beside; /* the process that works on what is recorded, with what it started; 0: this */
	void (*say)(void *context, const char *sentence);
	void *context;
	/* Of the module. */
	struct pace pace;
	bool paused;
	bool untold;                     /* that it goes on, as the session was lost in a pause */
	bool partly;                     /* it was told that not all of the time is recorded */
	uint64_t span_began_ns, ends_ns; /* of the span or the pause */
	uint64_t paused_ns;              /* when */
	uint64_t busy_ns, run_ns;        /* when the span began */
	uint64_t beside_ns;              /* when the period began */
	struct usage_idle idle;          /* likewise */
};

/* Before the first session. Sets all but the first five members, which are the caller's. */
void pacing_begin(struct pacing *pacing, double limit);
/* A session begins, and records. */
void pacing_restart(struct pacing *pacing, uint64_t now_ns);
/*
 * There is no session any more: no pause, either. Not STATUS_OK: the programs cannot be attached.
 */
enum status pacing_stop(struct pacing *pacing, struct kernel_fault *fault);
/*
 * Pauses or goes on if it is time; what tells that goes into the ring. STATUS_NO_MEMORY, or as
 * kernel_resume().
 */
enum status pacing_step(struct pacing *pacing, uint64_t now_ns, struct kernel_fault *fault);

#endif
