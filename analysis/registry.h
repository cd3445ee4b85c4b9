/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REGISTRY_H
#define PT_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "pythiatop/engine.h"

/*
 * What the numbers in an event stand for: hosts, sessions, streams and event types, numbered
 * densely from 0 in the order they are added. Descriptions are copied and live as long as this.
 *
 * Memory: what the traces declare; at most REGISTRY_MAX_TYPES event types, and as many sessions
 * and streams.
 */
#define REGISTRY_MAX_TYPES 65536u

struct host {
	const char *name;
	uint32_t n_attached;        /* sessions of it that have not ended */
	uint64_t first_ns, last_ns; /* of its events; 0: none so far */
	uint32_t shared; /* bits of enum event_domain that several attached sessions of it have */
};

struct session {
	struct session_desc desc;
	uint32_t host;
	uint32_t domains; /* of its streams, a bit each of enum event_domain */
	bool attached;    /* not ended, or come back */
	struct session_counts counts;
};

struct thread;

struct stream {
	struct stream_desc desc;
	uint32_t host;
	bool carries_schema; /* an event of it was used to make requests */
	bool has_events;
	/* The thread of its last event: streams of a CPU rarely change it. */
	struct thread *last_thread;
	uint64_t last_thread_key;
	uint64_t threads_generation;
};

/* Types of one name: each session has its own contexts, so their fields may differ. */
struct type_link {
	uint32_t first; /* type of the name */
	uint32_t next;  /* type of the name; ID_NONE: none */
};

struct registry {
	struct arena arena;
	uint32_t n_hosts, n_sessions, n_streams, n_types;
	struct host *hosts;
	struct session *sessions;
	struct stream *streams;
	struct event_type *types;
	struct type_link *type_links; /* by type */
	uint32_t *type_slots; /* by hash of the name: the first type of it, plus 1; 0: none */
	uint32_t n_type_names, type_slot_room; /* room is 0 or a power of two */
	uint32_t host_room, session_room, stream_room, type_room, type_link_room;
};

void registry_init(struct registry *registry);
void registry_release(struct registry *registry);

/* A host that sessions are of; ID_NONE: there is none of that name. */
uint32_t registry_host(const struct registry *registry, const char *name);
/* ID_NONE if out of memory or of room; `*fresh` tells whether it is new. */
uint32_t registry_add_type(struct registry *registry, const struct event_type *type, bool *fresh);
/* One more of a type's name, with other fields, which registry_add_type() never answers. */
uint32_t registry_add_alternative(
		struct registry *registry, uint32_t of, const struct field *fields, uint32_t n);
uint32_t registry_add_session(struct registry *registry, const struct session_desc *desc);
uint32_t registry_add_stream(struct registry *registry, const struct stream_desc *desc);

/* ID_NONE: there is none of that name. */
uint32_t registry_find_session(const struct registry *registry, const char *host, const char *name);
/* A session that had ended sends again. */
void registry_attach_session(struct registry *registry, uint32_t session);
/* False: it had ended. */
bool registry_end_session(struct registry *registry, uint32_t session);

/* Whether another attached session of the host may tell the stream's events, too. */
static inline bool registry_is_shared(const struct registry *registry, uint32_t stream)
{
	const struct stream *of = &registry->streams[stream];

	return registry->hosts[of->host].shared >> of->desc.domain & 1;
}

#endif
