/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_RELAY_LINK_H
#define PT_SOURCE_RELAY_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"
#include "viewer.h"

/*
 * A connection to a relay daemon on which many questions are under way at once. The relay daemon
 * answers one after the other, in their order: who asks for one thing at a time waits a round trip,
 * and two changes of context, for each.
 *
 * Questions are collected, sent when relay_link_turn() is called, and what has been answered is
 * handed to the owner's functions, in order. Nothing here waits.
 *
 * Every length in an answer is checked against what was asked for and a bound; the memory of an
 * answer is used only as its bytes arrive. Threads: one.
 * Memory: 64 KiB, and per question under way 64 bytes and its answer.
 */
#define RELAY_METADATA_BYTES (64u << 20) /* of one answer */

struct relay_link;

/* The next packet of a stream, or why there is none now. */
struct relay_index {
	uint32_t status; /* enum index_answer */
	uint32_t flags;
	uint64_t offset;
	uint64_t bytes;      /* of the packet, with padding; a multiple of 8 bits that fits */
	uint64_t begin, end; /* of its clock */
};

/*
 * What becomes of questions. `who` is what was given with the question. Bytes are handed over: free
 * them with free(). False: give up, relay_link_turn() ends with STATUS_INVALID.
 */
struct relay_answers {
	bool (*index)(void *user, void *who, const struct relay_index *index);
	/* `status` enum packet_answer. Bytes: as many as asked for if PACKET_OK, otherwise NULL. */
	bool (*packet)(void *user, void *who, uint32_t status, uint32_t flags, unsigned char *bytes,
			size_t size);
	/* `status` enum metadata_answer. Bytes: NULL if there are none. */
	bool (*metadata)(void *user, void *who, uint32_t status, unsigned char *bytes, size_t size);
	/* `status` enum streams_answer. The list is the link's. */
	bool (*streams)(void *user, uint32_t status, const struct viewer_streams *streams);
};

/* Takes the viewer over, connected and attached, also where it returns NULL: out of memory. */
struct relay_link *relay_link_create(
		struct viewer *viewer, const struct relay_answers *answers, void *user);
void relay_link_destroy(struct relay_link *link);

/* Questions. False if out of memory. */
bool relay_link_ask_index(struct relay_link *link, uint64_t stream, void *who);
bool relay_link_ask_packet(struct relay_link *link, uint64_t stream, uint64_t offset,
		uint32_t bytes, void *who);
bool relay_link_ask_metadata(struct relay_link *link, uint64_t stream, void *who);
bool relay_link_ask_streams(struct relay_link *link, uint64_t session);

/*
 * Sends and receives what goes without waiting. STATUS_END: the relay daemon hung up. STATUS_IO:
 * errno says why. STATUS_PROTOCOL: an answer breaks the protocol. STATUS_INVALID: the owner gave
 * up. STATUS_NO_MEMORY. After any of these only relay_link_destroy() is left.
 */
enum status relay_link_turn(struct relay_link *link);
enum status relay_link_send(struct relay_link *link); /* the first half of it */

uint32_t relay_link_due(const struct relay_link *link);       /* questions without an answer */
uint64_t relay_link_due_bytes(const struct relay_link *link); /* of packets that were asked for */
uint64_t relay_link_received(const struct relay_link *link);  /* bytes, since the beginning */

/* For poll(): when relay_link_turn() has something to do. */
int relay_link_fd(const struct relay_link *link);
short relay_link_events(const struct relay_link *link);

/*
 * Whether the question for the next index may follow the one for a packet before that is answered:
 * relay daemons before 2.7 may say that they want to be asked for the packet again.
 */
bool relay_link_may_chain(const struct relay_link *link);
const char *relay_link_name(const struct relay_link *link); /* of the relay daemon, for people */

#endif
