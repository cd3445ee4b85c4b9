/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_SOURCE_H
#define PT_INTAKE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "intake/child.h"
#include "intake/hosts.h"
#include "intake/input_queue.h"
#include "intake/intake.h"
#include "intake/merge.h"
#include "intake/url.h"
#include "intake/watchdog.h"

/*
 * One source and the process that reads it: the states of enum source_state and how they follow
 * each other. Private to src/intake.
 *
 *   STARTING -> CONNECTING -> ATTACHED -> ACTIVE <-> STALLED
 *   any of these -> BROKEN -> (after a pause that doubles from 0.25 s to 8 s) STARTING
 *   a session that cannot be attached now: WAITING, until its relay daemon lists it as attachable
 *   a recording: -> ENDED, or REFUSED when its reader failed
 */
#define SOURCE_DETAIL      640u
#define SOURCE_BACKOFF_NS  250000000u
#define SOURCE_BACKOFF_MAX 8000000000u
#define SOURCE_PATIENCE_NS 2000000000u  /* least wall clock that others wait for a silent one */
#define SOURCE_CONNECT_NS  10000000000u /* without any sign of life while connecting */
#define SOURCE_RECORDED_NS 10000000000u /* the same for a recording, see watchdog.h */
#define SOURCE_SILENT_NS   5000000000u  /* after its relay daemon came back */

enum source_role {
	ROLE_RELAY = 0, /* lists the sessions of a relay daemon */
	ROLE_SESSION,
	ROLE_TRACE,
};

/* What a relay daemon says of a name: its kernel and user-space sessions together. */
struct listing {
	bool present;
	uint64_t ids; /* mixed from the ids of its sessions: another value, other sessions */
	uint32_t live_timer_us, viewers, streams;
};

struct source {
	struct intake *intake;
	struct source *relay; /* of a session */
	enum source_role role;
	uint32_t id;
	char *text; /* URL or path: unique */
	struct url url;
	bool wanted;     /* false: offered only */
	bool named;      /* by the person, not by a listing */
	bool attach_all; /* a relay: its sessions are wanted */
	bool hidden;     /* a relay that only sessions were named of */

	enum source_state state;
	char detail[SOURCE_DETAIL];
	bool told; /* `detail` is the reader's own word on why it ends */

	struct child child;
	bool running;
	bool leaving;      /* it said all it had to, and is on its way out: nobody waits for that */
	bool attention;    /* one of its descriptors is readable */
	bool finished;     /* END was read */
	bool parted;       /* broke the ring's format */
	uint64_t sign_ns;  /* last record, CLOCK_MONOTONIC */
	uint64_t retry_ns; /* not before */
	uint64_t backoff_ns;
	bool had_events; /* since the last start */

	bool gap_open;
	uint64_t gap_begin_ns; /* event time it was lost at */
	uint32_t gaps;

	struct listing listed, next; /* of a session: as it is; as the listing now going on says */
	uint64_t attached_ids;       /* of the listing it was last attached by */
	uint32_t attached_streams;
	bool relay_failed; /* since the last record */

	bool answered;        /* a relay: its last listing is complete and true */
	bool was_answered;    /* ever */
	uint64_t answered_ns; /* since when it answers */

	uint64_t identity;    /* of a recording: its directory's, see walk.h */
	struct watchdog watchdog; /* of a recording's reader */
	uint64_t done, total; /* of a recording, bytes */
	struct input_queue queue;

	uint64_t start_events;         /* of the queue when its process was started */
	uint64_t rate_events, rate_ns; /* events and time at the last look, for the rate */
	double rate;
};

struct source *source_create(struct intake *intake, enum source_role role, const char *text);
void source_destroy(struct source *source);

/* Looks after a source: starts, watches, ends, restarts its process. Cheap. */
void source_tick(struct source *source, uint64_t mono_ns);

/* When source_tick() has something to do even if nothing comes; UINT64_MAX: never. */
uint64_t source_deadline(const struct source *source);

/* Reads what a source says before it takes part in the merge. */
void source_listen(struct source *source, uint64_t mono_ns);

/* A record that its process wrote, but of a listing. */
void source_note(struct source *source, const struct record *record);

/* The queue has left the merge by itself. */
void source_left(struct source *source, enum input_queue_status why);

/* Ends its process; a running merge forgets its queue. */
void source_stop(struct source *source);

void source_say(struct source *source, enum source_state state, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* --- relay.c: listings --- */

/* A record of a relay's listing. */
void relay_note_listed(struct source *relay, const struct record_listed *listed);
void relay_note_end(struct source *relay, uint64_t mono_ns);

/* --- what intake.c keeps, for the files above --- */

struct intake {
	const struct intake_sink *sink;
	void (*note)(void *context, const struct record *record); /* of every source's queue */
	const char *program, *reader; /* reader: NULL: the program's choice */
	struct merge *merge;
	struct source **sources;
	uint32_t n, max;
	uint32_t next_id;
	int epoll_fd;
	uint64_t mono_ns; /* of the step going on */
	struct hosts *hosts;
	uint64_t changes; /* of any source's state or detail */
	uint64_t tick_ns; /* when the sources are looked after next */
	bool tell_progress;
};

/* list.c */
struct source *intake_find(struct intake *intake, const char *text);
struct source *intake_find_id(struct intake *intake, uint32_t id);
/* NULL: no room, or out of memory. */
struct source *intake_add(struct intake *intake, enum source_role role, const char *text);
void intake_remove(struct intake *intake, struct source *source);

#endif
