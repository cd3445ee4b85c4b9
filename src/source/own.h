/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_OWN_H
#define PT_SOURCE_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "outlet.h"
#include "trace_names.h"
#include "viewer.h"

/*
 * The live reader without libbabeltrace2: all sessions of one name on a relay daemon (of the kernel
 * and of user space, say), each on a connection of its own, into one ring.
 *
 * Threads: one. Memory: see relay_session.h and packets.h.
 */
#define OWN_MAX_SESSIONS 64u

struct own;

enum own_end {
	OWN_ENDED,          /* the sessions were destroyed, and all they had was read */
	OWN_FAILED,         /* own_why() says what went wrong */
	OWN_NOT_UNDERSTOOD, /* own_why() says what of the metadata, or of a packet */
	OWN_ALONE,          /* the console is gone */
};

/* Borrows the outlet. An idle session is asked for news every `sleep_ns`. NULL: out of memory. */
struct own *own_create(struct outlet *outlet, const struct trace_names *names, uint64_t sleep_ns);
void own_destroy(struct own *own);

/*
 * One more session, attached. Takes the viewer over. False if out of memory, or these are too many.
 */
bool own_add(struct own *own, struct viewer *viewer, uint64_t id,
		const struct viewer_streams *streams);

/*
 * Reads them to their end. Tells ATTACHED, then ACTIVE with the first event, and that again every
 * 2 s as long as the relay daemon answers.
 */
enum own_end own_follow(struct own *own);

/* Streams and types that the ring was told of: where another reader goes on. */
void own_announced(const struct own *own, uint32_t *n_streams, uint32_t *n_types);
const char *own_why(const struct own *own);

#endif
