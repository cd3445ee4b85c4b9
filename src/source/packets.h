/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_PACKETS_H
#define PT_SOURCE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outlet.h"
#include "trace_names.h"

/*
 * From packets of CTF traces to records of the ring, without libbabeltrace2: what reader.h,
 * traces.h and plan.h are for the library's messages. Whoever has the packets, from files or from a
 * relay daemon, gives them stream by stream; packets_run() merges all streams by (time, rank) and
 * commits what can be said already. The records are those of the library.
 *
 * Units: clock values are cycles as in the trace; times ns since the Unix epoch.
 * Threads: one, the outlet's. Never blocks, but for a full ring.
 * Memory: per stream PACKET_STREAM_BYTES at most beside the packets that it was given; per trace
 * its metadata, parsed and compiled, at most PACKET_CLASSES_MAX event classes. What packets say
 * is not trusted: lengths are checked against what is left, and work grows with bytes alone.
 * Errors: false and NULL mean no memory, unless said otherwise.
 */
#define PACKET_STREAM_BYTES 4096
#define PACKET_CLASSES_MAX  65536u
#define PACKET_MAX_BYTES    (1u << 28) /* of one packet */

struct packets;       /* all that is merged: the traces of a session, or of a recording */
struct packet_trace;  /* one metadata */
struct packet_stream; /* one data stream of a trace */

enum packets_step {
	PACKETS_MORE,  /* go on */
	PACKETS_WAIT,  /* nothing can be said before a stream has more: packet_stream_wants() */
	PACKETS_END,   /* no stream is left: all are ended and read, or failed */
	PACKETS_ERROR, /* out of memory, or the console is gone */
};

/* Borrows the outlet; copies the names. NULL if out of memory. */
struct packets *packets_create(struct outlet *outlet, const struct trace_names *names);
void packets_destroy(struct packets *packets);

/* A trace begins. */
struct packet_trace *packets_trace(struct packets *packets);

/*
 * More metadata: bytes of the metadata stream, in whole packets, appended to those before; text
 * without packets as well. Event classes may be added at any time. False with a sentence in `error`
 * that names what is not understood, or that memory is short: the trace cannot be read from then
 * on, and everything may be left to the library.
 */
bool packet_trace_metadata(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		char *error, size_t room);

/*
 * Whether the metadata so far declares something to read, and ends with a whole statement: for
 * recordings, where nothing more will come. False with a sentence in `error`.
 */
bool packet_trace_is_whole(const struct packet_trace *trace, char *error, size_t room);

/* What a packet tells of itself. */
struct packet_look {
	uint64_t class_id;         /* of its stream class */
	uint64_t stream_id;        /* UINT64_MAX: it does not tell */
	uint64_t bytes;            /* of the packet; of all that there is, where it does not tell */
	uint64_t begin_ns, end_ns; /* 0: not known */
};

/*
 * Looks at the packet that begins there: for recordings, whose packets lie in files one after the
 * other. False with a sentence in `error`.
 */
bool packet_trace_look(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		struct packet_look *look, char *error, size_t room);

/*
 * A stream begins. `id` is its number where packets do not tell (stream_instance_id). `name` is
 * that of its file, CHANNEL_CPU as LTTng calls it, or "" if it has none: then the channel is not
 * known. From now on nothing is committed that this stream may still come before.
 */
struct packet_stream *packet_trace_stream(
		struct packet_trace *trace, uint64_t id, const char *name);

/*
 * A whole packet, the next of the stream. The stream takes the bytes over, and frees them with
 * free() as soon as they are read; also where it returns false. Several may be given in advance.
 */
bool packet_stream_give(struct packet_stream *stream, unsigned char *bytes, size_t size);

/*
 * Nothing of the stream lies before this clock value, but for packets that it was given. Of the clock of
 * its class; of the trace's first clock as long as the stream has had no packet.
 */
void packet_stream_quiet(struct packet_stream *stream, uint64_t clock_value);

/* Whether all packets that were given are read to their end. */
bool packet_stream_wants(const struct packet_stream *stream);

/* Packets given that are not read to their end, and their bytes. */
uint32_t packet_stream_held(const struct packet_stream *stream, size_t *bytes);

/*
 * There will be no more packets; those given are read first. The pointer is invalid from now on.
 * The end of a trace ends its streams.
 */
void packet_stream_end(struct packet_stream *stream);
void packet_trace_end(struct packet_trace *trace);

/*
 * Commits up to `most` records as long as no stream could still have something earlier. On
 * PACKETS_WAIT a watermark tells up to when all is known, and what lies before it is visible.
 *
 * A packet that cannot be read fails its stream, with packets_fault(): what it is given is freed,
 * and the others go on. PACKETS_END: no stream is left that could have something.
 */
enum packets_step packets_run(struct packets *packets, uint32_t most);

/* As reader_expect(): what is read is of between these instants. */
void packets_expect(struct packets *packets, uint64_t begin_ns, uint64_t end_ns);

/* Streams and types that the ring was told of: where another reader goes on. */
void packets_announced(const struct packets *packets, uint32_t *n_streams, uint32_t *n_types);

uint64_t packets_events(const struct packets *packets);
uint64_t packets_latest_ns(const struct packets *packets); /* of all records so far */

/* Streams that have had a packet and have no clock: none of their events has a time. */
uint32_t packets_without_clock(const struct packets *packets);

/* What was wrong with the first stream that failed, "" if none did; *n_failed of them did. */
const char *packets_fault(const struct packets *packets, uint32_t *n_failed);

#endif
