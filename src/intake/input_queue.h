/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_INPUT_QUEUE_H
#define PT_INTAKE_INPUT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/engine.h"
#include "pythiatop/event.h"
#include "pythiatop/snapshot/snapshot.h"
#include "ring/ring.h"

/*
 * One source's records on their way into the merge: reads its ring, checks everything, and turns
 * the ring's own numbers of types and streams into the analysis' ids.
 *
 * A queue outlives the reader process behind it: when a relay daemon comes back, input_queue_open()
 * is given the new ring and streams keep their rows and ids.
 *
 * Thread: the analysis thread. Memory: the bounds below.
 */
#define INPUT_QUEUE_MAX_TYPES   65536u     /* event types of one ring */
#define INPUT_QUEUE_MAX_STREAMS (1u << 20) /* streams of one ring, gone ones included */
#define INPUT_QUEUE_MAX_TS_NS                                                                      \
	UINT64_C(7258118400000000000) /* the year 2200: no clock is that wrong */
#define INPUT_QUEUE_MAX_ROWS 65536u   /* distinct (host, session, domain, channel, CPU) */

/* Where everything goes: the engine, or a test's recorder. None may call back into the intake. */
struct intake_sink {
	void *context;
	uint32_t (*add_type)(void *context, const struct event_type *type);
	uint32_t (*add_session)(void *context, const struct session_desc *session);
	uint32_t (*add_stream)(void *context, const struct stream_desc *stream);
	void (*end_session)(void *context, uint32_t session);
	void (*feed)(void *context, const struct event *event);
	void (*lose)(void *context, const struct loss *loss);
	void (*late)(void *context, uint32_t session, uint64_t count);
	/* An event whose time cannot be true. May be NULL. */
	void (*misdated)(void *context, uint32_t session, uint64_t ts_ns);
	void (*advance)(void *context, uint64_t ts_ns);
	/* Before the first event by a clock: what it is taken to be off the epoch. May be NULL. */
	void (*see_clock)(void *context, const uint8_t *uuid, int64_t offset_ns);
	/*
	 * The others go on without a live session, or wait for it again: its events in between are
	 * late, or never come. May be told again without need. May be NULL.
	 */
	void (*silent)(void *context, uint32_t session, bool is);
};

/* A (host, session, domain, channel, CPU) that events came from. Texts are owned by the queue. */
struct input_queue_row {
	char *host, *session, *channel, *release;
	uint32_t session_id, stream_id; /* the analysis' */
	uint32_t domain;                /* enum event_domain */
	uint32_t cpu;
	bool ours; /* a session that the console's control made */
	uint64_t events, discarded, discarded_packets, late;
};

struct input_queue_type {
	uint32_t id; /* the analysis' */
	uint32_t n_fields;
	uint32_t n_texts; /* fields that are bytes: their end is checked in every event */
	uint16_t *texts;
};

enum input_queue_head {
	INPUT_QUEUE_NONE = 0, /* the next record, if there is one, was not looked at */
	INPUT_QUEUE_EVENT,
	INPUT_QUEUE_LOSS,
};

enum input_queue_status {
	INPUT_QUEUE_MORE = 0, /* stopped at the limit or the budget; bound_ns and head say where */
	INPUT_QUEUE_EMPTY,    /* nothing to read now */
	INPUT_QUEUE_ENDED,    /* its writer said so, and all before was read */
	INPUT_QUEUE_BROKEN,   /* its writer broke the format; `fault` says how */
};

struct input_queue {
	struct ring *ring; /* NULL: none; not owned */
	const struct intake_sink *sink;
	/* Told of every record that is not data: STATE, PROGRESS, LISTED, LIST_END. */
	void (*note)(void *context, const struct record *record);
	/* Under which name a traced host is known here; NULL: under its own. */
	const char *(*host_name)(void *context, const char *host, const uint8_t *clock_uuid);
	void *context;   /* of both */
	const char *key; /* unique among the queues: the last word when events tie */
	const char *host_asked, *session_asked; /* of a live source: whose it is; else where a trace
						   does not tell. Not owned */
	bool live;

	/* Written by input_queue_run(), read by the merge. */
	enum input_queue_head head;
	struct event event; /* valid if head is INPUT_QUEUE_EVENT */
	struct loss loss;   /* valid if head is INPUT_QUEUE_LOSS */
	uint32_t row;       /* of the head */
	uint64_t bound_ns;  /* time of the head; without one, nothing earlier will come */
	bool timed;         /* bound_ns was told by at least one record of this ring */
	int64_t adjust_ns;  /* added to every time of this ring */
	const char *fault;

	/* The first clock of this ring that has a UUID, for the merge to compare. */
	bool has_clock;
	uint8_t clock_uuid[16];
	int64_t clock_offset_ns;
	bool clock_changed; /* set when the fields above were; cleared by the merge */

	/* Counts, of all rings so far. */
	uint64_t events, discarded, discarded_packets, late;
	uint64_t misdated, misdated_ns; /* put aside; what the last of them says */
	uint64_t last_ts_ns;            /* of the newest event */

	struct input_queue_type *types;
	uint32_t n_types, max_types;
	uint32_t *map; /* stream number of the ring -> row */
	uint32_t n_map, max_map, n_streams;
	struct input_queue_row *rows;
	uint32_t n_rows, max_rows;

	/* The merge's own. */
	bool joined, stalled, sealed;
	bool waits_turn; /* a recording that others are begun before */
	uint32_t position;
	uint64_t silent_since_ns;
	uint64_t patience_ns; /* how long others wait for a silent live one */
};

void input_queue_init(struct input_queue *queue, const struct intake_sink *sink, const char *key);
void input_queue_release(struct input_queue *queue);

/* Reads a fresh ring from now on. */
void input_queue_open(struct input_queue *queue, struct ring *ring);

/* The ring is about to go. What was not read is lost; rows and counts stay. */
void input_queue_close(struct input_queue *queue);

/*
 * Feeds records with times from *now_ns on and before limit_ns, at most *budget of them, in order,
 * and sets *now_ns to the last one's time. Events before *now_ns are counted as late. Stops with a
 * head where the next record is at or past the limit.
 */
enum input_queue_status input_queue_run(
		struct input_queue *queue, uint64_t limit_ns, uint64_t *now_ns, uint32_t *budget);

/* Feeds the head, which must be there. */
void input_queue_emit(struct input_queue *queue, uint64_t *now_ns);

/* Applies a new adjustment to the head as well. */
void input_queue_adjust(struct input_queue *queue, int64_t adjust_ns);

#endif
