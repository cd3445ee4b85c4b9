/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_KEPT_H
#define PT_REQUESTS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "pythiatop/event.h"
#include "pythiatop/snapshot/state.h"
#include "requests/request.h"

/*
 * Compact copies of events, as a fragment collects them and a finished request keeps them: the
 * original events of drill-down, and all that its tree of spans is made of.
 */

/* Where an event stands among spans. */
enum copy_role {
	COPY_POINT = 0,
	COPY_ENTRY,
	COPY_EXIT,
};

/* Whether it tells that its span failed; see fails.h. */
enum copy_fails {
	COPY_SOUND = 0,
	COPY_FAILS,
	COPY_CALL_FAILS, /* a system call: what that means is its caller's business */
};

struct event_copy {
	uint64_t ts_ns;
	uint64_t seq; /* counts all events of the engine: order, and the name of a span by its entry
		       */
	uint64_t span; /* entry: its own seq; exit: that of its entry, 0 unknown; point: enclosing
			*/
	uint32_t type, stream, cpu;
	uint32_t bytes;   /* of the slots that follow */
	int32_t tid, pid; /* -1: not known */
	uint32_t link;    /* the message interval that it joined; 0: none */
	uint32_t name;    /* of the span, interned; entries only */
	uint64_t under;   /* entry: number of the one that it is said to be part of; 0: none is */
	uint8_t role;     /* enum copy_role */
	bool skeleton;
	bool keyed; /* paired by key: encloses nothing on its thread */
	bool used;  /* the state needed it: it does not count as unmatched */
	bool derived; /* of no trace */
	uint8_t fails; /* enum copy_fails */
	uint64_t slots[];
};

/* The event again, as far as it is kept; borrows from the copy. */
static inline struct event copy_event(const struct event_copy *copy)
{
	return (struct event){.ts_ns = copy->ts_ns,
			.type = copy->type,
			.stream = copy->stream,
			.cpu = copy->cpu,
			.bytes = copy->bytes,
			.slots = copy->slots};
}

struct copy_chunk {
	struct copy_chunk *next;
	uint32_t used, size; /* bytes; size is that of the whole chunk */
	uint64_t data[];
};

/* Chunks in the order they were filled. */
struct copies {
	struct copy_chunk *first, *last;
	uint32_t n;
	uint32_t bytes; /* of memory */
};

/* Room for the copy of an event; NULL if out of memory. The slots are copied, the rest is not. */
struct event_copy *copies_add(struct pool *pool, struct copies *copies, const struct event *event);
void copies_append(struct copies *copies, struct copies *tail); /* tail is empty afterwards */
void copies_free(struct pool *pool, struct copies *copies);

/* Walks the copies: *chunk and *offset are 0 at first. NULL at the end. */
static inline struct event_copy *copies_next(
		const struct copies *copies, struct copy_chunk **chunk, uint32_t *offset)
{
	struct event_copy *copy;

	if (!*chunk) {
		*chunk = copies->first;
		*offset = 0;
	}
	while (*chunk && *offset >= (*chunk)->used) {
		*chunk = (*chunk)->next;
		*offset = 0;
		if (!*chunk) {
			return NULL;
		}
	}
	if (!*chunk) {
		return NULL;
	}
	copy = (struct event_copy *)(void *)((char *)(*chunk)->data + *offset);
	*offset += (uint32_t)sizeof(*copy) + (copy->bytes + 7) / 8 * 8;
	return copy;
}

/* A request with what it keeps. */
struct kept_request {
	struct request request; /* first: struct request * is struct kept_request * */
	struct copies copies;
	uint64_t root;                     /* seq of the root's entry; 0: a seed without a span */
	uint64_t serial;                   /* that it had while it was open: see ended.h */
	struct state_resources *resources; /* NULL: not measured */
	struct kept_request *copy;         /* made by request_keep(); NULL: none */
	uint32_t events_left_out;
	uint32_t spans_left_out; /* whose entries are among these */
	uint32_t size;           /* of this allocation */
	bool measures;           /* resources may be known: a copy has room for them */
	uint32_t path[];
};

struct request_pool {
	struct pool pool;
};

#endif
