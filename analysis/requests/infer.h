/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_INFER_H
#define PT_REQUESTS_INFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "pythiatop/event.h"
#include "pythiatop/schema.h"

/*
 * What names and fields of events say by themselves: which are the entry and exit of a span, and
 * which field names a request or a message. Pure functions of the names that are known.
 */

/* The names of all event types, to tell whether the other end of a span exists. */
struct infer_names {
	const char *const *names;
	uint32_t n;
	/* NULL, or finds a name faster than a walk over `names`. */
	bool (*known)(const void *context, const char *name);
	const void *context;
};

/* Where an event happens: on a thread, or in an interrupt that borrows the CPU of one. */
enum execution_context {
	EXECUTION_THREAD = 0,
	EXECUTION_IRQ,
	EXECUTION_SOFTIRQ,
};

struct guess {
	enum span_role role;
	enum execution_context execution;
	const char *name; /* of the span; may hold "{field}"; from the arena. NULL for points */
	const char *other; /* the name of the other end, of user space's pairs; from the arena */
	const char *pair[2];
	uint32_t n_pair;
	bool about_tracer; /* statedumps and the like: never a span, never part of a request */
	const char *note;  /* what could not be paired; NULL if nothing */
};

/* An event of this name is one. */
bool infer_about_tracer(const char *event);

/* False if out of memory. */
bool infer_role(const struct infer_names *names, const struct event_type *type, struct arena *arena,
		struct guess *guess);

/*
 * The name of a span by that of its entry or exit, where a schema gives none:
 * "nova:server_create_entry" -> "server_create". NULL if out of memory.
 */
const char *infer_span_name(struct arena *arena, const char *event, enum span_role role);

/* Fields that name a request, or a message; UINT32_MAX: none. */
uint32_t infer_request_field(const struct event_type *type);
uint32_t infer_message_field(const struct event_type *type);
/* A field called just `id`: a request id only if it recurs across threads. */
uint32_t infer_bare_id(const struct event_type *type);

/*
 * Where no thread is known: a field that both ends of a pair have and that is called as what tells
 * one thing from another is ("handle", "job_id"); UINT32_MAX: none.
 */
uint32_t infer_common_field(const struct event_type *type, const struct event_type *other);

#endif
