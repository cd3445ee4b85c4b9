/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_PACKET_PARTS_H
#define PT_SOURCE_PACKET_PARTS_H

#include "clocks.h"
#include "ctf/trace.h"
#include "loser_tree.h"
#include "packet_plan.h"
#include "packets.h"

/* What the files that read packets share: packets.c has traces and the merge, packet_stream.c one
 * stream, packet_metadata.c metadata and what it announces.
 */

#define PACKET_FAULT_MAX 512

struct packet { /* one that waits to be read */
	struct packet *next;
	unsigned char *bytes;
	size_t size;
};

/* A stream class whose event classes are announced. */
struct packet_class {
	struct packet_class *next;
	const struct ctf_stream *stream;
	struct packet_plan **plans; /* by number of the event class */
	uint32_t n_plans;
};

/* A clock of a trace, as it is used. */
struct packet_clock {
	struct clock_rule rule;
	int64_t offset_s;       /* as the trace says: less than a second of cycles */
	uint64_t offset_cycles; /* beside these seconds */
};

struct packet_trace {
	struct packets *packets;
	struct packet_trace *next;
	struct ctf_trace *ctf;
	struct packet_class *classes;
	char *rest; /* of the metadata's text: a statement that is not whole yet */
	size_t rest_bytes;
	uint32_t n_streams;
	bool ended, broken;
};

/* Where a stream is in its packet. What was lost before a packet comes first. */
enum packet_stage {
	STAGE_NONE, /* there is no packet */
	STAGE_LOST_EVENTS,
	STAGE_LOST_PACKETS,
	STAGE_BEGIN,
	STAGE_EVENTS,
};

enum stream_state {
	STREAM_WAITS, /* for a packet, or for a word that there is none */
	STREAM_READY, /* at something that has a time */
	STREAM_GONE,
};

struct stream_loss {
	uint64_t begin_ns, end_ns, count;
	bool of_packets;
};

struct packet_stream {
	struct packet_trace *trace;
	char *name;
	uint64_t id;
	struct packet *first, **last;
	uint32_t n_held;
	size_t held_bytes;
	bool ended;

	struct ctf_reader reader;
	struct packet_class *class;
	struct packet_clock clock;
	enum packet_stage stage;
	bool is_event; /* what it is at: an event, or a loss */
	struct stream_loss loss;
	uint64_t ts_ns, rank;              /* of that; where it waits, what it cannot be before */
	uint64_t discarded, sequence, end; /* of the packet before; UINT64_MAX: not known */
	uint64_t latest_ns;                /* of its events */
	uint64_t packet_ns;                /* when its packet began; 0: not known */
	uint64_t quiet_ns;                 /* nothing of it lies before, but for packets it holds */
	uint32_t number, cpu;
	uint8_t domain;
	bool has_clock, announced;
	enum stream_state state;
};

struct packets {
	struct outlet *outlet;
	char *host, *session;
	struct clocks clocks;
	int64_t lowest_shift, highest_shift;
	uint32_t n_numbers, n_types, n_without_clock; /* streams, types announced */
	struct packet_trace *traces;
	struct packet_stream **streams; /* in the order in which they began; failed ones last */
	struct packet_stream **failed;  /* room to put them aside */
	uint32_t n_streams, n_merged, streams_room;
	struct loser_tree tree;
	bool changed; /* a stream has, so that all have to play again */
	struct packet_desk desk;
	uint64_t events, latest_ns, told_ns; /* told_ns: the last watermark */
	uint64_t begin_ns, end_ns, wall_ns;
	uint32_t n_failed;
	char fault[PACKET_FAULT_MAX];
};

/* --- packet_metadata.c --- */

/* Finds or makes it, with all event classes so far announced. NULL: no memory, console gone. */
struct packet_class *packet_class_of(struct packet_trace *trace, const struct ctf_stream *stream);
const struct packet_plan *packet_plan_of(struct packet_stream *stream);
void packet_trace_release(struct packet_trace *trace);

/* A text of the trace's environment, or `otherwise`. */
const char *packet_trace_text(
		const struct packet_trace *trace, const char *name, const char *otherwise);

/* The clock as it is used from now on. */
struct packet_clock packet_clock_of(struct packets *packets, const struct ctf_clock *clock);
uint64_t packet_clock_ns(const struct packet_clock *clock, uint64_t value);

/* --- packet_stream.c --- */

/* Brings the stream to what comes next, and sets its state. False: no memory, console gone. */
bool packet_stream_advance(struct packet_stream *stream);

/* Writes what the stream is at. False as above, and the stream may have failed. */
bool packet_stream_write(struct packet_stream *stream);
void packet_stream_release(struct packet_stream *stream);

uint64_t packets_clock_spread(const struct packets *packets);

#endif
