/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_ENGINE_H
#define PYTHIATOP_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/baseline.h"
#include "pythiatop/event.h"
#include "pythiatop/input.h"
#include "pythiatop/profile.h"
#include "pythiatop/schema.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "pythiatop/step.h"

/*
 * The analysis: events in, snapshots out.
 *
 * Runs on event time alone: no clock, file or thread. The same calls in the same order give the
 * same snapshots, byte for byte. One thread at a time may call it.
 *
 * Events must come in the order of (ts, host, CPU, domain, session, sequence): the merge's duty.
 * An event earlier than the last one is not analysed: the caller counts it with engine_late().
 */
struct engine;

struct engine_config {
	uint64_t window_ns;          /* 0: ten seconds */
	uint32_t max_groups;         /* 0: 10,000; requests of further groups count as folded */
	uint32_t max_open_requests;  /* 0: 200,000 fragments; see analysis/requests */
	uint32_t max_request_events; /* 0: 10,000 events of one request */
	uint64_t max_request_bytes;  /* 0: 4 MiB of event copies of one request */
	uint64_t max_kept_bytes;     /* 0: 32 MiB of finished requests for drill-down */
	uint64_t max_pin_bytes;      /* 0: 256 MiB held by a pin beyond the window */
	uint64_t max_state_bytes;    /* 0: 256 MiB of the state's history */
	uint64_t max_log_bytes;      /* 0: 512 MiB of original events of the window */
	bool keep_events;            /* keep the original events of the window, for dumps */
	double cov_limit;            /* a group varies whose CoV is surely above; 0: 0.25 */
};

enum event_domain {
	DOMAIN_UNKNOWN = 0,
	DOMAIN_KERNEL,
	DOMAIN_UST,
};

struct session_desc {
	const char *host; /* trace hostname */
	const char *name;
	bool live;
	bool ours; /* created by pythiatop: it supplies a tracepoint before others do */
};

struct stream_desc {
	uint32_t session;
	enum event_domain domain;
	const char *channel;        /* "" if not known */
	const char *kernel_release; /* of the trace, "" if none */
};

/* Events lost by the tracer: `count` (0: not known how many) of a stream between two instants. */
struct loss {
	uint32_t stream;
	uint32_t cpu; /* or CPU_NONE: not known, or all */
	uint64_t begin_ns, end_ns;
	uint64_t count;
	bool packets; /* whole packets were lost */
};

/* NULL if out of memory. `config` may be NULL. */
struct engine *engine_create(const struct engine_config *config);
void engine_destroy(struct engine *engine);

/*
 * Adds a schema before the first event; several may be added. Without any, one is inferred from the
 * event types and values seen. STATUS_INVALID: `error` (of `size` bytes) says what and where.
 * The schema is copied.
 */
enum status engine_add_schema(
		struct engine *engine, const struct schema *schema, char *error, size_t size);

/*
 * The same of a ready schema that nobody gave: if it says `when`, it is in force as soon as an event that
 * this matches is declared, with the fields that it speaks of, unless schemas were given or a person
 * said what a request is.
 */
enum status engine_offer_schema(
		struct engine *engine, const struct schema *schema, char *error, size_t size);

/*
 * The schema in force as one, with notes; borrowed until the next call on the engine. `all`: of an
 * inferred one also events that the traces declare and that did not occur.
 */
const struct schema *engine_schema(struct engine *engine, bool all);

/*
 * New ids. Types with the same name and fields, and sessions with the same host and name, get the
 * id they had. ID_NONE if out of memory. Everything is copied.
 */
uint32_t engine_add_type(struct engine *engine, const struct event_type *type);
uint32_t engine_add_session(struct engine *engine, const struct session_desc *session);
uint32_t engine_add_stream(struct engine *engine, const struct stream_desc *stream);

/*
 * Where nothing names requests: not the outermost span of each thread is one, but each span of that
 * name, in programs of that name. Both are patterns (`*`, `?`), copied. Before the first event.
 */
enum status engine_set_request(struct engine *engine, const char *program, const char *function);

enum session_end {
	SESSION_HAD_ENDED = 0, /* and nothing has come of it since */
	SESSION_ENDED,
	/* It was the last one of all, and engine_finish() is due, for what would end what is open
	 * cannot be seen any more, even if a session of that name begins later. */
	SESSION_ENDED_LAST,
};

/* A session supplies no more events (for now): another one of its host may supply its tracepoints.
 */
enum session_end engine_end_session(struct engine *engine, uint32_t session);

/*
 * Which function is at a place in a binary that spans are named by, only the file tells. The next
 * place that was met for the first time; false: none. Borrowed until the next call.
 */
struct symbol_query {
	uint32_t id;
	const char *path;   /* on the traced host; not to be trusted */
	const char *module; /* how the binary is called: "libfoo.so" */
	const uint8_t *build_id;
	uint32_t build_id_bytes; /* at least 1 */
	uint64_t offset;         /* from where the binary's first byte is mapped */
};
bool engine_next_symbol(struct engine *engine, struct symbol_query *query);

/* From now on the place is shown as `name`; its statistics stay its own, whatever it is called. */
void engine_name_symbol(struct engine *engine, uint32_t id, const char *name);

/* Analyses one event. Cannot fail: what has no room is dropped and counted. */
void engine_feed(struct engine *engine, const struct event *event);

/* Takes note of lost events: requests with activity there meanwhile are tainted. */
void engine_lose(struct engine *engine, const struct loss *loss);

/* Counts events of a session that came too late to be analysed. */
void engine_late(struct engine *engine, uint32_t session, uint64_t count);

/* Counts an event of a session whose time cannot be true: it is dropped. */
void engine_misdated(struct engine *engine, uint32_t session);

/*
 * Event time has reached `ts_ns`: what expires by then expires, at its own deadline, however often
 * this is called. No later event may be before ts_ns.
 */
void engine_advance(struct engine *engine, uint64_t ts_ns);

/*
 * Nothing more will come (for now): open requests are emitted as truncated, the rest is unmatched.
 * Once, until something comes again.
 */
void engine_finish(struct engine *engine);

/*
 * Compares with a baseline from now on; it is copied. NULL: with none. STATUS_NO_MEMORY: the last
 * one stays.
 */
enum status engine_set_baseline(struct engine *engine, const struct baseline *baseline);

/* The groups as they are shown (while pinned: as of the pin) as a baseline; borrowed until the next
 * call of this. NULL if out of memory. */
const struct baseline *engine_baseline(struct engine *engine, enum horizon horizon);

/* The latest event time; 0: none so far. */
uint64_t engine_time(const struct engine *engine);

/*
 * Answers a focus: fills its parts, and all but `sources`, `lag_ns`, `progress`, `ended`, `notice`.
 * A rising focus->frozen pins the window, a falling one lets it go.
 */
enum status engine_fill(
		struct engine *engine, const struct focus *focus, struct snapshot *snapshot);

/*
 * The original events of the window up to the focus' instant, after the older ones that are still
 * referenced (an open fd's open, a running call's entry), in the order they were fed. Borrowed
 * until the next call on the engine. Stops when `take` returns false. STATUS_NOT_FOUND: keep_events
 * is off. The type and the stream of an event are described by engine_type() and engine_stream().
 */
enum status engine_dump(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct event *event), void *context);

/*
 * What is known to have been lost in that window, in the order in which it was told. Of more than
 * ENGINE_LOSSES the oldest are not kept.
 */
#define ENGINE_LOSSES 65536u
void engine_dump_losses(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct loss *loss), void *context);

/*
 * Of the window that ends at the focus' instant: where it begins, and where what is kept of it
 * begins. That is later where events had to go for memory (`trimmed`), or where the instant lies
 * back from a pin: events are kept for one window, the state's history for two.
 */
struct dump_span {
	uint64_t window_from_ns, kept_from_ns;
	bool trimmed;
};

struct dump_span engine_dump_span(struct engine *engine, const struct focus *focus);

/*
 * The same of some kept requests alone, whether or not keep_events is on; those that are not kept
 * (any more) are left out. At most ENGINE_DUMP_REQUESTS of them. STATUS_NO_MEMORY.
 */
#define ENGINE_DUMP_REQUESTS 64u
enum status engine_dump_requests(struct engine *engine, const uint64_t *ids, uint32_t n,
		bool (*take)(void *context, const struct event *event), void *context);

/*
 * The loop: what to record next. (Ates et al., "An automated, cross-layer instrumentation framework
 * for diagnosing performance problems in distributed applications", SoCC 2019.)
 *
 * The engine proposes steps and keeps the list of them; whoever drives it tells what persons
 * decided, carries orders out, and tells what came of them (input.h). Where `error` is written, it
 * is a sentence for persons.
 */
enum status engine_input(
		struct engine *engine, const struct engine_input *input, char *error, size_t size);
/* The next order, each once; borrowed until the next call on the engine. NULL: none. */
const struct step_order *engine_next_order(struct engine *engine);
const struct step_budget *engine_budget(const struct engine *engine);

/*
 * Events of this type are recorded before any step: the skeleton that requests are known by, and
 * what tells of processes rather than of requests. As of the types known now.
 */
bool engine_is_skeleton(struct engine *engine, uint32_t type);

/* Adds what was learned elsewhere. */
enum status engine_learn(struct engine *engine, const struct profile *profile);
/* Learns from what was recorded so far, as if all points had been on. */
void engine_learn_here(struct engine *engine);
/* Where points stand is known, from learning or from a profile. */
bool engine_has_learned(const struct engine *engine);
/* What is known by now; borrowed until the next call. NULL if out of memory. */
const struct profile *engine_profile(struct engine *engine);

const struct event_type *engine_type(const struct engine *engine, uint32_t type);
const struct stream_desc *engine_stream(const struct engine *engine, uint32_t stream);
const struct session_desc *engine_session(const struct engine *engine, uint32_t session);

/* Events of a session counted so far, for its row among the sources. */
struct session_counts {
	uint64_t events, discarded, discarded_packets, late;
	uint64_t duplicates;    /* another session had told them: not analysed again */
	uint32_t duplicates_of; /* that session, of the latest; valid if there are duplicates */
	uint64_t bytes; /* of the events' records in the trace, as their types tell */
};
void engine_session_counts(
		const struct engine *engine, uint32_t session, struct session_counts *counts);

#endif
