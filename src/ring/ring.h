/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RING_H
#define PT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pythiatop/event.h"
#include "pythiatop/status.h"

/*
 * The seam between a source process and the console: a bounded ring of records in shared memory.
 *
 * One writer process (pythiatop-source), one reader (the analysis thread of pythiatop); the other
 * way round where pythiatop has a dump written, see ring_turn(). The memory
 * is a memfd: one page of header, then the data, which both sides map twice in a row, so that a
 * record never wraps. Two eventfds, inherited by the child as well, wake a waiting side.
 * When the ring is full the writer waits: nothing is ever lost here, and the lag shows.
 * A writer that has to ask others for news rests while nobody would look at them:
 * ring_rest_until().
 *
 * The format, version 3. All in the byte order of the machine; every record starts at a multiple
 * of 8 with struct record and is a multiple of 8 long. Positions are counted in bytes for ever;
 * position p is at data[p % size].
 *
 * Order: the records of a ring have a time order: EVENT, LOSS (by begin_ns) and WATERMARK never go
 * back in time, and events of equal time are ordered by CPU, then as the tracer wrote them.
 * A STREAM comes before what names it, a TYPE before the first event of it.
 *
 * The reader trusts nothing that it reads: sizes, numbers and offsets are checked; a broken record
 * ends the source ("its reader process broke the ring's format").
 */

#define RING_VERSION       3u
#define RING_DEFAULT_BYTES (8u << 20)
#define RING_MAX_RECORD    (1u << 20)  /* bytes of one record; at most a quarter of the ring */
#define RING_MAX_REST_NS   1000000000u /* a writer rests no longer at a time */

enum record_kind {
	RECORD_EVENT = 1,
	RECORD_TYPE,
	RECORD_STREAM,
	RECORD_WATERMARK, /* no event before ts_ns will come (any more) */
	RECORD_LOSS,
	RECORD_STATE,    /* what the source is doing; shown on the sources screen */
	RECORD_PROGRESS, /* of a recording */
	RECORD_LISTED,   /* a session that a relay daemon lists */
	RECORD_LIST_END, /* all that are listed now have been named */
	RECORD_END,      /* nothing more will come */
	RECORD_MISDATED, /* an event that cannot have been when it says: put aside */
};

struct record {
	uint32_t size; /* of the whole record */
	uint32_t kind; /* enum record_kind */
};

struct record_event {
	struct record record;
	uint64_t ts_ns;
	uint32_t type;   /* number of a RECORD_TYPE of this ring */
	uint32_t stream; /* number of a RECORD_STREAM of this ring */
	uint32_t cpu;    /* or CPU_NONE */
	uint32_t bytes;  /* of slots and what they refer to; as struct event */
	uint64_t slots[];
};

/*
 * An event type: n_fields times struct record_field, then n_labels times struct record_label, then
 * text. Text is named by its offset from the record's start; each ends in 0.
 * Numbers count from 0 in the order of the records.
 */
struct record_type {
	struct record record;
	uint32_t type;
	uint32_t name;
	uint32_t n_fields;
	uint32_t n_labels;
	uint32_t left_out; /* fields beyond EVENT_MAX_FIELDS */
	uint32_t reserved;
};

struct record_field {
	uint32_t name;
	uint8_t kind, scope, base, width;
	uint32_t first_label, n_labels;
};

struct record_label {
	uint32_t name;
	uint32_t reserved;
	uint64_t lower, upper;
};

/* A data stream: texts as above. Numbers count from 0. */
struct record_stream {
	struct record record;
	uint32_t stream;
	uint32_t domain; /* enum event_domain */
	uint32_t cpu;    /* or CPU_NONE where a stream is of several */
	uint32_t host;   /* trace hostname, "" if the trace does not tell */
	uint32_t session, channel, kernel_release;
	uint32_t reserved;
	uint8_t clock_uuid[16];  /* all zero: none */
	int64_t clock_offset_ns; /* of the clock's origin from the Unix epoch, as used in ts_ns */
};

struct record_watermark {
	struct record record;
	uint64_t ts_ns;
};

struct record_misdated {
	struct record record;
	uint32_t stream;
	uint32_t reserved;
	uint64_t ts_ns; /* what it says */
};

struct record_loss {
	struct record record;
	uint32_t stream;
	uint32_t packets; /* 0: events were lost, 1: whole packets */
	uint64_t begin_ns, end_ns;
	uint64_t count; /* 0: not known */
	uint32_t cpu;   /* in what is to be written; else the stream's */
	uint32_t reserved;
};

struct record_state {
	struct record record;
	uint32_t state; /* enum source_state */
	uint32_t reserved;
	char text[]; /* what is wrong and what to do, ends in 0; "" if all is well */
};

struct record_progress {
	struct record record;
	uint64_t done, total; /* bytes of stream files */
};

struct record_listed {
	struct record record;
	uint64_t id;            /* of the relay daemon: another one when a session is made again */
	uint32_t live_timer_us; /* 0: not a live session */
	uint32_t viewers, streams;
	uint32_t host, session; /* texts, as above */
	uint32_t reserved;
};

struct ring; /* opaque: one side of a ring */

/* The descriptors a writer needs, for the child to inherit. */
struct ring_fds {
	int memory;
	int data_event;  /* written by the writer: there is something to read */
	int space_event; /* written by the reader: there is room again */
};

/*
 * Makes a ring of `bytes` (a power of two, at least 64 KiB; 0: RING_DEFAULT_BYTES) and the reading
 * side of it. NULL with errno on failure. ring_destroy() unmaps and closes all.
 */
struct ring *ring_create(size_t bytes);

/* The writing side, in the child, from inherited descriptors. NULL with errno on failure. */
struct ring *ring_attach(const struct ring_fds *fds);

/*
 * Before anything was written: the side that made the ring is the writing one from now on, and the
 * child `reader`, which has attached or will, the reading one.
 */
void ring_turn(struct ring *ring, pid_t reader);
pid_t ring_maker(const struct ring *ring); /* the process that made it */
void ring_destroy(struct ring *ring);
struct ring_fds ring_fds(const struct ring *ring);
size_t ring_bytes(const struct ring *ring);

/*
 * Writer. ring_reserve() gives `size` bytes (rounded up to 8) after everything reserved so far, and
 * waits while the ring is full; NULL once the reader is gone. Reserved bytes are invisible until
 * ring_publish(), which shows everything that lies before `end` (a position as of ring_position())
 * and wakes the reader if it is armed. ring_wake() wakes it in any case.
 *
 * ring_sleep() sleeps `least_ns`, or longer where the reader will not look before a later instant,
 * but at most RING_MAX_REST_NS then; it returns how long it slept, in ns.
 */
void *ring_reserve(struct ring *ring, size_t size);
uint64_t ring_position(const struct ring *ring); /* end of what is reserved */
uint64_t ring_room(struct ring *ring);           /* bytes that can be reserved without waiting */
void *ring_at(const struct ring *ring, uint64_t position);
void ring_publish(struct ring *ring, uint64_t end);
void ring_wake(struct ring *ring);
uint64_t ring_sleep(struct ring *ring, uint64_t least_ns);

/*
 * Reader. ring_peek() gives a copy of the first unread record, checked for size and alignment, or
 * NULL if there is none now; *broken tells a writer that broke the format, or that there is no
 * memory. The writer is not trusted, and could change what was checked before it is used: so
 * nothing of the shared memory is handed out. ring_next() is done with it; the next ring_peek()
 * ends the copy.
 * Room is given back to the writer in steps, at the latest when ring_peek() returns NULL.
 * ring_wait_fd() is readable when there is something to read; ring_arm() before poll() asks for
 * it, false if something came meanwhile. ring_acknowledge() makes it unreadable, to be called
 * before ring_arm() or ring_peek(), when it was found so.
 *
 * ring_rest_until() tells that the reader will not look before `until_ns` (CLOCK_MONOTONIC; 0: it
 * may look at any time). An earlier instant than the last one told wakes a writer that sleeps.
 */
const struct record *ring_peek(struct ring *ring, bool *broken);
void ring_next(struct ring *ring);
int ring_wait_fd(const struct ring *ring);
bool ring_arm(struct ring *ring);
void ring_acknowledge(struct ring *ring);
void ring_rest_until(struct ring *ring, uint64_t until_ns);
uint64_t ring_used(const struct ring *ring);    /* bytes waiting to be read */
uint64_t ring_written(const struct ring *ring); /* bytes published so far, as the writer says */

/* A text of a record by its offset; NULL if it does not lie inside the record. */
const char *record_text(const struct record *record, uint32_t offset);

#endif
