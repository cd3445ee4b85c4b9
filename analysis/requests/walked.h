/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_WALKED_H
#define PT_REQUESTS_WALKED_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/request.h"

/*
 * One finished request span by span: when each began, within which other, and when each was on the
 * critical path by itself. What statistics by context (measured.h) leave out: the order of things.
 */
#define WALKED_NONE UINT32_MAX

struct walked_span {
	uint32_t context;
	uint32_t parent; /* index, WALKED_NONE: the root */
	uint64_t start_ns;
	uint32_t host;
	int32_t tid, pid; /* -1: not known */
	uint32_t process; /* interned name; 0: not known */
	bool whole;       /* its entry was seen */
};

/* A stretch of the critical path. */
struct walked_piece {
	uint32_t span;  /* index */
	uint32_t owner; /* context: the span's, or a part of it such as (wait) */
	bool own;       /* the span itself worked; false: it waited, was blocked, or sent */
	uint64_t start_ns, ns;
};

struct walked {
	uint64_t total_ns;
	bool skewed; /* clocks contradict the path: the stretches are where they may have been */
	uint32_t n_spans, n_pieces;
	const struct walked_span *spans;   /* in the order of their entries */
	const struct walked_piece *pieces; /* by time, without gaps */
};

/*
 * Walks a finished request; borrowed until the next call of the request engine. False if out of
 * memory. Cost: as requests_measure().
 */
struct requests;
bool requests_walk(struct requests *requests, const struct request *request, struct walked *out);

#endif
