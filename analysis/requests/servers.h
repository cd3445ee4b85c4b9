/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SERVERS_H
#define PT_REQUESTS_SERVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "requests/requests.h"

/*
 * Requests of servers that carry no ids, from what processes do with sockets: as pythiatop-probe
 * tells it (socket_recv, socket_send, socket_listen, socket_connect), or as the state puts it
 * together from LTTng's system calls and packets (state/sockets.h). (After Barham et al., OSDI
 * 2004.)
 *
 * A connection whose local port is listened on, or Unix socket that has a name, is a server's. A
 * request is from the message that a server receives until the last send of the answer before the
 * next message: from when it was sent, if that was seen, else from when it could be read, as far as
 * wake-ups and returns from waits tell, else from when it was read. A thread works for the
 * connection whose message it received last, until it receives from another one, or waits for
 * something to do once the answer was sent. What it sends to a server meanwhile is a call; the
 * request that the peer receives by it, told by both addresses, both ports and the position in the
 * stream, is its child.
 *
 * What is found becomes events of its own (served_*), with ids, that the request engine takes as
 * any others: no joins, spans or statistics are here.
 *
 * Units: event time in ns. Threads: one at a time. Memory: SERVERS_MAX_CONNECTIONS connections and
 * requests, the one that was silent the longest goes; SERVERS_MAX_THREADS threads, others work for
 * nobody.
 */
struct servers;

#define SERVERS_MAX_CONNECTIONS 65536u
#define SERVERS_MAX_THREADS     65536u
/* An answer is over when nothing more of it was sent for so long. */
#define SERVERS_SILENCE_NS UINT64_C(100000000)
/* A datagram that is not received, or not answered, for that long is lost. */
#define SERVERS_LOST_NS UINT64_C(1000000000)

struct servers_config {
	struct registry *registry;
	struct names *names;
	struct threads *threads;
	struct model *model;
	struct requests *requests;
	const struct state *state;
	/* Adds a type as any other; ID_NONE if out of memory. */
	uint32_t (*add_type)(void *context, const struct event_type *type);
	void *context;
};

struct servers *servers_create(const struct servers_config *config);
void servers_destroy(struct servers *servers);
/* A type was added to the registry. False if out of memory. */
bool servers_add_type(struct servers *servers);
/*
 * Looks at an event; before the request engine does (receives and entries), and after (exits).
 * `calls`: what the state makes of it (state_socket_calls()); NULL: nothing.
 */
void servers_before(struct servers *servers, const struct event *event,
		const struct socket_calls *calls);
void servers_after(struct servers *servers, const struct event *event,
		const struct socket_calls *calls);
/* Events were lost: what stands is cut, so that nothing is joined over the gap. */
void servers_lose(struct servers *servers, uint32_t stream, uint64_t now_ns);
/* Ends the answers that nothing more can come of. */
void servers_finish(struct servers *servers);

/* Is it what requests of a server are called (PROGRAM:PORT)? `name` interned. */
bool servers_serve(const struct servers *servers, uint32_t name);
/*
 * Of such a name, and of that of a call (`call :PORT`): how many bytes tell what kind of server it
 * is; the rest tells which of that kind. 0: another name, or one that does not tell which.
 */
uint32_t servers_kind(const struct servers *servers, uint32_t name);
/* What was found, and what it rests on, in sentences for the reader of a schema; returns how many.
 */
uint32_t servers_notes(const struct servers *servers, struct arena *arena, const char **notes,
		uint32_t room);

/* Kinds of derived events: the entry and exit of a span each. */
enum served {
	SERVED_REQUEST = 0, /* from the message until the end of the answer */
	SERVED_WORK,        /* a thread works for it */
	SERVED_CALL,        /* it asked another server, until that answers */
	SERVED_QUEUED,      /* its message could be read, and was not so far */
	SERVED_UNACKED,     /* what it sent was not acknowledged, until it was sent again */
	SERVED_COUNT
};

#endif
