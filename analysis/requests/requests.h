/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_REQUESTS_H
#define PT_REQUESTS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/engine.h"
#include "registry.h"
#include "requests/contexts.h"
#include "requests/kept.h"
#include "requests/model.h"
#include "requests/request.h"
#include "requests/unmatched.h"
#include "state/state.h"
#include "state/threads.h"

/*
 * From events to requests: joins events that share an interval of a joining namespace into
 * fragments, pairs entries with exits, and hands on a fragment with a seed as a request once its
 * root span has ended. (Barham et al., "Using Magpie for request extraction and workload
 * modelling", OSDI 2004.)
 *
 * Threads are the engine's, shared with the state; the table must outlive this.
 *
 * Units: event time in ns. Threads: one at a time. Cost: a few hash look-ups an event, no malloc.
 * Memory: at most max_open fragments, max_events events and max_bytes of copies of each, and
 * REQUESTS_OPEN_BYTES of copies of all; when reached, the oldest fragment without a seed goes
 * (its events are unmatched), else the oldest request is handed on as truncated.
 */
struct requests;

#define REQUESTS_OPEN_BYTES (UINT64_C(512) << 20)
#define REQUESTS_SKEW_NS    UINT64_C(100000000) /* clocks of hosts differ by no more than this */

struct requests_config {
	uint32_t max_open, max_events;
	uint64_t max_bytes;
	struct state *state; /* tells what requests used; NULL: that is not measured */
};

/* Where the events went that these calls have seen; see struct accounting. */
struct requests_counts {
	uint64_t pending, in_request, state_only, unmatched, dropped;
	uint64_t implicit_stops; /* intervals closed because their value began anew */
	uint64_t evicted;        /* fragments, by a bound */
	uint64_t derived;        /* events of requests_feed_derived(), among the others */
};

/* Takes a finished request, in the order they are finished; it holds what it keeps. */
typedef void requests_emit_fn(void *context, struct request *request);

struct requests *requests_create(const struct requests_config *config, struct registry *registry,
		struct model *model, struct names *names, struct contexts *contexts,
		struct threads *threads, struct request_pool *pool, requests_emit_fn *emit,
		void *context);
void requests_destroy(struct requests *requests);

/* A type was added to the registry and the model. False if out of memory. */
/* As engine_set_request(). False if out of memory. */
bool requests_set_request(struct requests *requests, const char *program, const char *function);
bool requests_add_type(struct requests *requests);

/*
 * Analyses one event; what is due by its time must have been expired before. `used`: the state has
 * use for it, so that it is not unmatched where no request has.
 */
void requests_feed(struct requests *requests, const struct event *event, bool used);

/*
 * The same of an event that servers.c made of others: `at_ns`, if not 0, is when it happened, not
 * after its own time; `under`: number of the entry of the span that it is part of, unless its
 * thread has begun one since; 0: its thread's. Returns its own number.
 */
struct requests_derived {
	uint64_t at_ns, under;
	uint64_t thread; /* key */
	uint32_t host;
	bool cut; /* an exit that nobody saw: the request is truncated */
	/* An exit: what is open within the span goes on, and is of the request no more. */
	bool leaves;
};
uint64_t requests_feed_derived(struct requests *requests, const struct event *event,
		const struct requests_derived *derived);

/* Called before a thread of the table goes: closes its spans; false: those of requests are left. */
bool requests_release_thread(struct requests *requests, struct thread *thread, bool force);
/* The interned name of a thread's innermost open span, of those there are. */
uint32_t requests_innermost(const struct thread *thread);

/* Runs what is due by now_ns, each at its own deadline and in the order of these. */
void requests_expire(struct requests *requests, uint64_t now_ns);

/* Nothing more will come: open requests are handed on as truncated, the rest is unmatched. */
void requests_finish(struct requests *requests);

/* Events of that stream were lost: requests of its host in that time are tainted. */
void requests_lose(struct requests *requests, const struct loss *loss);

/* See engine_next_symbol(). */
bool requests_next_symbol(struct requests *requests, struct symbol_query *query);

/* Is something shown by another name than when it was asked last? */
bool requests_renamed(struct requests *requests);

const struct requests_counts *requests_counts(const struct requests *requests);

#endif
