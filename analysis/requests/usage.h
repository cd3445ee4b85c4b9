/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_USAGE_H
#define PT_REQUESTS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "state/state.h"

/*
 * Whose work the threads did: what a request used.
 *
 * At any instant a thread works for the fragment of its innermost open span that has one. Where a
 * kernel tells what threads do, each change of that is noted with the state, so that a slice of a
 * thread's time goes to one fragment, or to none; here is on which threads a fragment ever worked,
 * and under which numbers, for fragments become one.
 *
 * Memory: nothing without kernel events; else at most USAGE_MAX_THREADS threads and as many numbers
 * of a fragment; the work of others is not counted as its.
 */
#define USAGE_MAX_THREADS 1024u

struct usage_thread {
	uint32_t host;
	uint64_t key;
};

struct usage {
	struct usage_thread *threads;
	uint64_t *owners;
	uint32_t n_threads, thread_room, n_owners, owner_room;
};

/* The fragment of that number works on the thread. */
void usage_add(struct pool *pool, struct usage *usage, const struct thread *thread, uint64_t owner);
/* Takes over what another has, which is empty afterwards. */
void usage_append(struct pool *pool, struct usage *usage, struct usage *from);
void usage_release(struct pool *pool, struct usage *usage);
/* What it used between two instants. */
struct state_resources usage_sum(
		struct state *state, const struct usage *usage, uint64_t from_ns, uint64_t to_ns);

#endif
