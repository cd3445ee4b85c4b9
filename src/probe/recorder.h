/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_RECORDER_H
#define PT_PROBE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/functions.h"
#include "probe/kernel.h"
#include "relay/producer.h"

/*
 * From the rings to the relay daemon. Every DRAIN_MS, or sooner if much comes, it reads what the
 * BPF programs left in the rings, and makes packets of it; each time the live timer is over it
 * sends what there is. Is the relay daemon gone, events are dropped and counted until it is back.
 *
 * Threads: one. Memory: the rings, and what a session and the functions take.
 */
#define RECORDER_HOST 256

struct recorder; /* opaque */

struct recorder_setup {
	struct producer_target target;
	char host[RECORDER_HOST];
	const char *name; /* of the session */
	uint32_t live_timer_us;
	size_t ring_bytes;
	uint64_t keep_bytes; /* of each stream, at the relay daemon; 0: all */
	bool kernel;              /* with a trace of the kernel */
	bool all_events;          /* all of its events, from the beginning */
	bool functions;           /* with a trace of functions */
	bool summing, one_by_one; /* see kernel.h */
	const char *const *trees; /* only these processes, see processes.h */
	uint32_t n_trees;         /* 0: all */
	int pid;                  /* of the functions, see functions.h */
	double limit;
	double cost; /* of all events, see pace.h; 0: no limit */
	int beside;  /* see pacing.h */
	uint32_t one_in;
	void (*say)(void *context, const char *sentence);
	void *context;
};

/*
 * Loads the programs and opens the session; records from now on. Texts are borrowed. NULL: what is
 * wrong was said.
 */
struct recorder *recorder_begin(const struct recorder_setup *setup);

/* What is there to be done: to be called again after the time that it returns, in ms. */
int recorder_step(struct recorder *recorder);

/*
 * Sends the last events and ends the session. `linger`: leaves viewers the time to fetch them. NULL
 * is allowed.
 */
void recorder_end(struct recorder *recorder, bool linger);

/* Kernel events are recorded from now on: the state that they begin from is told, too. */
void recorder_dump_state(struct recorder *recorder);

/* From now on sentences go there. */
void recorder_tell(struct recorder *recorder, void (*say)(void *context, const char *sentence),
		void *context);

struct kernel *recorder_kernel(const struct recorder *recorder);
struct functions *recorder_functions(const struct recorder *recorder); /* NULL: without */

#endif
