/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_RELAY_SESSION_H
#define PT_SOURCE_RELAY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "packets.h"
#include "relay_link.h"

/*
 * A session that a relay daemon has, attached: asks for what its streams have, all of them at once,
 * and gives packets, metadata, beacons and ends to packets.h.
 *
 * A stream is asked for its next index; where that tells a packet, for the packet, and behind that
 * for the index after it. A stream that has nothing rests until relay_session_look(). Packets are
 * fetched where packets.h waits for them, and in advance as far as memory allows.
 *
 * Threads: one. Memory: per stream RELAY_STREAM_BYTES of packets, or one packet where that is
 * longer (few streams: RELAY_AHEAD_BYTES for all of them), and what relay_link.h says.
 */
#define RELAY_STREAM_BYTES (64u << 10)
#define RELAY_AHEAD_BYTES  (8u << 20)
#define RELAY_DUE_BYTES    (4u << 20) /* of packets asked for; one packet may be longer */
#define RELAY_MAX_STREAMS  65536u

struct relay_session;

enum relay_step {
	RELAY_GOES_ON,
	RELAY_ENDED,          /* the session was destroyed, and all of it was given */
	RELAY_FAILED,         /* relay_session_fault() */
	RELAY_NOT_UNDERSTOOD, /* its metadata; relay_session_fault() says what of it */
};

/* Takes the viewer over, also where it returns NULL: out of memory. Borrows the packets. */
struct relay_session *relay_session_create(struct viewer *viewer, uint64_t id,
		const struct viewer_streams *streams, struct packets *packets);
void relay_session_destroy(struct relay_session *session);

/* Takes what has been answered, and asks for more. Does not wait. */
enum relay_step relay_session_turn(struct relay_session *session);

/* Streams that rest are to be asked again by the next turn. */
void relay_session_look(struct relay_session *session);

const struct relay_link *relay_session_link(const struct relay_session *session);
const char *relay_session_fault(const struct relay_session *session);

#endif
