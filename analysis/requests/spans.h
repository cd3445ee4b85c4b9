/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SPANS_H
#define PT_REQUESTS_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry.h"
#include "requests/contexts.h"
#include "requests/kept.h"

/*
 * The tree of spans of one request, from the copies of its events: a pure function of them.
 *
 * The parent of a span is the span that encloses it on its thread; else, where it joined through a
 * message, the span that the message came from; else the span entered last of those open on other
 * threads, or what encloses it, where it ended soon after or is the same work; else the root. Of two spans of a message, the one enclosed on its own thread is the
 * caller, whatever the clocks of the hosts say.
 */
#define SPAN_NONE UINT32_MAX

struct span {
	const struct event_copy *entry; /* NULL: not seen */
	const struct event_copy *exit;  /* NULL: not seen */
	uint32_t parent;                /* index, SPAN_NONE for the root */
	uint32_t host;
	int32_t tid;
	uint32_t depth;
	bool point, skewed;
	bool by_message; /* the parent is the caller */
	bool by_guess;   /* the parent is what was open on another thread */
	uint64_t start_ns, end_ns;
	uint32_t cause;     /* by_message: the span or point that sent it; else SPAN_NONE */
	uint64_t answer_ns; /* of a sender: last event of the message on its thread; 0: none */
	uint32_t below;     /* that encloses it on its thread; SPAN_NONE: none */
	uint8_t mark;       /* scratch */
	uint32_t context;   /* for the caller's use */
};

/* Numbers by number, for one build. */
struct span_map {
	uint64_t *keys;
	uint32_t *values;
	uint32_t room;
};

/* Scratch that is used again; the result of the last spans_build(). */
struct spans {
	uint32_t n, room;
	struct span *items; /* in the order of their entries */
	uint32_t *order;    /* of items: a parent before its children */
	uint32_t root;      /* SPAN_NONE if out of memory only; without an entry if none was seen */
	uint64_t skew_ns;   /* least violation of cause before effect; 0: none */
	uint32_t n_events;
	const struct event_copy **events; /* by time */

	uint32_t *open;
	uint32_t n_open, events_room;
	struct span_map by_seq, tops, callers, senders;
};

struct spans_input {
	const struct copies *copies;
	const struct registry *registry;
	uint64_t root; /* seq of the root's entry; 0: none */
	uint64_t start_ns, end_ns;
	bool skeleton_only; /* spans of skeleton events alone: what groups are told apart by */
};

void spans_release(struct spans *spans);
/* False if out of memory. */
bool spans_build(struct spans *spans, const struct spans_input *input);

#endif
