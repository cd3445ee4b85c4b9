/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RELAY_PRODUCER_H
#define PT_RELAY_PRODUCER_H

#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * The producer's side of the relay daemon's protocol, as LTTng's session and consumer daemons speak
 * it (lttng-tools 2.13, sessiond-comm/relayd.h; relay daemons from 2.11 on): a live session, its
 * streams, their metadata, packets and indexes, and the hang-up. CTF 1.8.
 *
 * One live session per producer. Calls go in this order: connect, create a session, add all
 * streams, publish, then metadata, packets and beacons in any order, close the streams, close.
 * After any status but STATUS_OK only producer_close() is left.
 *
 * No call takes longer than a few of its time limits. Threads: one per producer. Memory: a message.
 */
#define PRODUCER_CONTROL_PORT 5342u
#define PRODUCER_DATA_PORT    5343u

struct producer; /* opaque: two connections */

/* Where sessions are sent to. */
struct producer_target {
	char host[256]; /* without the brackets of an IPv6 address */
	uint16_t control_port, data_port;
};

/* A sentence about what went wrong: it names the relay daemon and what to do. */
struct producer_fault {
	char text[640];
};

/*
 * Parses net://HOST[:CONTROL[:DATA]] (net6://[ADDRESS]...). NULL if right, otherwise what is wrong
 * with the URL, to be put behind it.
 */
const char *producer_parse(struct producer_target *target, const char *url);

/*
 * Connects to both ports and shakes hands. `timeout_ms`: of connecting, and of each answer.
 * STATUS_NOT_FOUND: no such host. STATUS_IO: nobody listens, or the network fails. STATUS_TIMEOUT:
 * no answer. STATUS_PROTOCOL: what answers is no relay daemon, or one older than 2.11.
 */
enum status producer_connect(struct producer **producer, const struct producer_target *target,
		int timeout_ms, struct producer_fault *fault);

/* Closes the connections without another word. NULL is allowed. */
void producer_close(struct producer *producer);

/* The session as viewers see it. */
struct producer_session {
	const char *host;       /* whose events these are; at most 63 bytes are kept by daemons */
	const char *name;       /* at most 254 bytes */
	uint32_t live_timer_us; /* how often streams tell news at least */
	uint64_t begin_s;       /* since 1970 */
	const char *folder; /* below the host's, where the relay daemon keeps it; NULL: `name` */
};

enum status producer_create_session(struct producer *producer,
		const struct producer_session *session, struct producer_fault *fault);

/* A stream of packets as the relay daemon knows it. */
struct producer_stream {
	uint64_t handle;
	uint64_t n_sent;  /* packets so far */
	uint64_t told_ns; /* up to here, by the stream's clock, viewers know it */
};

/*
 * Adds a stream; the one named "metadata" is the description. `path`: its folder on the relay
 * daemon's disk, such as "kernel/". With `file_bytes` and `n_files` it is kept in so many files of
 * that size, the oldest overwritten; both 0: all is kept in one.
 */
enum status producer_add_stream(struct producer *producer, struct producer_stream *stream,
		const char *name, const char *path, uint64_t file_bytes, uint64_t n_files,
		struct producer_fault *fault);

/* All streams are there: from now on viewers see the session. */
enum status producer_publish(struct producer *producer, struct producer_fault *fault);

/* More of the description, in whole declarations. */
enum status producer_send_metadata(struct producer *producer, const struct producer_stream *stream,
		const char *text, size_t size, struct producer_fault *fault);

/* What the header of a packet says, once more for the index. */
struct producer_packet {
	uint64_t packet_bits, content_bits; /* content: without padding; both 0: a beacon */
	uint64_t begin_ns, end_ns;          /* of the stream's clock */
	uint64_t events_discarded;          /* since the stream began */
	uint64_t stream_class, stream_instance;
	uint64_t sequence; /* of the packet in its stream */
};

/* A packet of `packet_bits`, header and all, with its index. The stream counts it. */
enum status producer_send_packet(struct producer *producer, struct producer_stream *stream,
		const struct producer_packet *packet, const void *bytes,
		struct producer_fault *fault);

/* Tells that the stream has nothing up to `packet->end_ns`, so that nobody waits for it. */
enum status producer_send_beacon(struct producer *producer, struct producer_stream *stream,
		const struct producer_packet *packet, struct producer_fault *fault);

/* Nothing more comes of it. The session ends for viewers with its last stream. */
enum status producer_close_stream(struct producer *producer, const struct producer_stream *stream,
		struct producer_fault *fault);

#endif
