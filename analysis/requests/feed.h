/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FEED_H
#define PT_REQUESTS_FEED_H

#include "requests/fragments.h"
#include "requests/requests.h"

/* One event on its way through the engine: its thread, what it binds, which fragment it joins. */

/* What one binding of an event comes to. */
struct bound {
	bool has_key;
	uint8_t op; /* as it acts here */
	struct key key;
	struct interval *interval; /* open one, or NULL */
};

struct feed {
	const struct plan *plan;
	const struct event *event;
	struct stream *stream;
	struct thread *thread; /* NULL: not known */
	struct bound bound[PLAN_MAX_BINDS];
	struct fragment *target;
	struct open_span *paired; /* exits: their entry */
	struct key pair_key;
	bool used;      /* by the state */
	bool keyed;     /* pairs by pair_key rather than by nesting on the thread */
	bool names_new; /* names a request that is not open */
	uint64_t id_hash;
	uint8_t id_ns;
	uint32_t name; /* of the span */
	uint32_t link;
	const struct requests_derived *derived; /* NULL: it is an event of a trace */
	uint64_t at_ns;                         /* when it happened */
	uint8_t fails;                          /* enum copy_fails */
	bool kept;                              /* there is a copy */
};

/* event_thread.c: the thread of an event, NULL if not known. */
struct thread *feed_thread(struct requests *r, const struct plan *plan, const struct event *event,
		struct stream *stream);

/* binding.c. False: a part of the key is absent or not known, so nothing is bound. */
bool feed_make_key(struct key_maker *maker, const struct feed *feed, uint32_t space, uint32_t host,
		const struct plan_key *parts, uint32_t n, struct key *key);
/* Finds what is open of the values that an event binds, and how its operations act then. */
void feed_look_up(struct requests *r, struct feed *feed);
/* Which fragment a skeleton event belongs to; may unite several. */
void feed_choose_target(struct requests *r, struct feed *feed);
/* A fragment for an event that joins nothing; NULL: it has no say in opening one. */
struct fragment *feed_open_fragment(struct requests *r, const struct feed *feed);
/* Opens and closes; `alone`: the event is the first of its fragment. */
void feed_apply_bind(struct requests *r, struct feed *feed, uint32_t i, bool alone);
/* What the span interrupted that held a thread until now, goes on. */
void feed_resume_execution(struct requests *r, struct feed *feed, uint32_t i);

/* joining.c: WHY_COUNT where the event found its fragment. */
enum unmatched_why feed_attach(struct requests *r, struct feed *feed);
enum unmatched_why feed_join(struct requests *r, struct feed *feed);

void feed_resume_executions(struct requests *r, struct feed *feed);
/* Evicts fragments until there is room for one more. */
void requests_make_room(struct requests *r);

#endif
