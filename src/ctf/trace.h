/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_TRACE_H
#define PT_CTF_TRACE_H

#include "base/number_map.h"
#include "program.h"
#include "walk.h"

/*
 * What a trace's metadata says, ready to read packets by; and the reader of one stream's packets.
 *
 * Metadata may grow while packets are read: stream and event classes are added, none changes.
 *
 * Memory: the parsed text (tsdl.h), fields (field.h), CTF_CLASSES_MAX event classes.
 * Threads: one.
 */
#define CTF_CLASSES_MAX 65536u

struct ctf_event {
	uint64_t id;
	const char *name;                   /* "" if it has none */
	struct ctf_field *context, *fields; /* NULL if there are none */
	uint32_t number;                    /* in its stream class, from 0 */
};

struct ctf_stream {
	struct ctf_stream *next;
	uint64_t id;
	struct ctf_fields made; /* of which its scopes are made */
	struct ctf_field *packet_context, *event_header, *event_context;
	const struct ctf_clock *clock;                        /* NULL: events have no times */
	bool has_begin, has_end, has_discarded, has_sequence; /* in the packet's context */
	const struct ctf_field *cpu;                          /* there; NULL if it has none */
	struct ctf_event **events;                            /* by number */
	uint32_t n_events, events_room;
	struct number_map by_id;
	struct ctf_program *header;
	int16_t n_kept; /* when the header was compiled */
	bool is_shown;
};

struct ctf_trace; /* opaque */

struct ctf_trace *ctf_trace_create(void);
void ctf_trace_destroy(struct ctf_trace *trace);

/* The bytes at the start of a text that can be added. */
size_t ctf_trace_whole(const char *text, size_t length);

/*
 * More of the metadata's text, TSDL or CTF 2, in whole statements or fragments. False with a
 * sentence in `error` that names what cannot be read; nothing may be added after that.
 */
bool ctf_trace_add(struct ctf_trace *trace, const char *text, size_t length, char *error,
		size_t error_room);

const struct ctf_stream *ctf_trace_streams(const struct ctf_trace *trace);
const struct ctf_metadata *ctf_trace_metadata(const struct ctf_trace *trace);

/* --- Packets ------------------------------------------------------------------------------------
 */

enum ctf_step {
	CTF_STEP_EVENT,
	CTF_STEP_END, /* of the packet */
	CTF_STEP_FAULT,
};

/* One stream's packets, one after the other. Zeroed to begin with. */
struct ctf_reader {
	struct ctf_place place;
	const struct ctf_stream *stream; /* NULL before the first packet */
	const struct ctf_event *event;   /* the last one whose header was read */
	uint64_t context_at;             /* where the packet's context begins, bits */
	uint64_t event_at;               /* where the event begins, bits */
};

/*
 * Reads header and context of a packet, which stays where it is until it is read. False with
 * reader->place.fault.
 */
bool ctf_reader_open(struct ctf_reader *reader, const struct ctf_trace *trace,
		const unsigned char *bytes, size_t size);

/* What the packet tells: `otherwise` if it does not. */
static inline uint64_t ctf_reader_told(
		const struct ctf_reader *reader, enum ctf_meaning meaning, uint64_t otherwise)
{
	return reader->place.known & (1u << meaning) ? reader->place.told[meaning] : otherwise;
}

/*
 * Reads the next event's header, which ends the event before: its contexts and payload have to be
 * read by then, in that order, from reader->place.
 */
enum ctf_step ctf_reader_next(struct ctf_reader *reader);

#endif
