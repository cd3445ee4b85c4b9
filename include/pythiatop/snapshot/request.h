/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_REQUEST_H
#define PYTHIATOP_SNAPSHOT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/group.h"
#include "pythiatop/snapshot/state.h"

/* A field and its value as text. Not escaped: whoever shows it does that. */
struct request_value {
	const char *name;
	const char *text;
};

/* A line of the waterfall: where spans ran. */
struct request_track {
	const char *host;
	const char *process; /* its name if a trace told it, else "" */
	int64_t pid, tid;    /* -1: not known */
};

enum request_span_flag {
	REQUEST_SPAN_POINT = 1u << 0,    /* a single event, no duration */
	REQUEST_SPAN_UNCLOSED = 1u << 1, /* its exit was not seen; drawn to the end of its parent */
	REQUEST_SPAN_UNOPENED =
			1u << 2, /* its entry was not seen; drawn from the start of its parent */
	REQUEST_SPAN_SKEWED =
			1u << 3, /* begins before what caused it, or ends after: clocks differ */
	REQUEST_SPAN_FAILED = 1u << 4, /* its exit said so, or of a system call an errno */
	REQUEST_SPAN_FIRST = 1u << 5,  /* here the request began to fail */
};

struct request_span {
	const char *name;
	const char *provider; /* "" for kernel events */
	uint32_t track;
	uint32_t parent; /* index of a span before this one; UINT32_MAX for the root */
	uint32_t depth;
	uint32_t flags;
	int64_t start_ns; /* from the request's start; negative: clocks differ */
	uint64_t duration_ns;
	uint32_t n_values;
	const struct request_value *values;
	const char *failure; /* what its exit told: "status = 5", "ECONNREFUSED"; "" if it did not
			      */
	uint32_t first_event, last_event; /* into events; UINT32_MAX: not seen */
	uint64_t path_ns; /* of the critical path within it, without its children's */
};

/*
 * A piece of the critical path; they follow each other without a gap from the request's start to
 * its end. `what` is "" where the span itself worked, else "(wait)", "(transit)", "(runnable)",
 * "(waking up)", "(blocked: futex)".
 */
struct request_piece {
	uint32_t span;
	int64_t from_ns, to_ns; /* from the request's start */
	const char *what;
};

struct request_event {
	uint64_t ts_ns;
	const char *name;
	uint32_t track;
	uint32_t cpu;
	uint32_t n_values;
	const struct request_value *values;
};

/* One request: its spans in the order a reader follows (a parent before its children, children by
 * start), and its original events by time. */
struct request_view {
	uint64_t id; /* 0: not kept (any more) */
	uint32_t group_id;
	const char *type, *path;
	enum request_state state;
	const char *failure; /* why it failed: "error", "no end", "died"; "" if it did not */
	bool tainted;
	bool skewed;
	uint64_t skew_ns; /* least violation of cause before effect between hosts; 0: none */
	uint64_t start_ns, duration_ns;
	uint32_t n_tracks, n_spans, n_events, n_pieces;
	uint32_t events_left_out; /* beyond the bound of events per request */
	struct state_resources resources;
	const struct request_track *tracks;
	const struct request_span *spans;
	const struct request_event *events;
	const struct request_piece *pieces; /* by time */
};

#endif
