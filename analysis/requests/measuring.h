/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_MEASURING_H
#define PT_REQUESTS_MEASURING_H

#include "requests/measured.h"
#include "requests/path.h"
#include "requests/requests.h"

/* Measuring one request after the other: its spans, their contexts, its critical path. */

#define MEASURING_MEMO    64u  /* names of what threads are blocked on */
#define MAX_CONTEXT_DEPTH 256u /* deeper spans count as their ancestor there */

/* What measuring a request works on, used again; see measured.c. */
struct measuring {
	struct path path;
	struct measured_segment *segments, *lags;
	struct measured_visit *visits;
	uint32_t segment_room, visit_room, lag_room;
	struct walked_span *walked_spans; /* of walked.c */
	struct walked_piece *walked_pieces;
	uint32_t walked_span_room, walked_piece_room;
	/* Interned names of parts that no span owns. */
	uint32_t wait, transit, runnable, waking, blocked, lag;
	uint32_t blocked_on[MEASURING_MEMO][2]; /* name of a call: that of the part */
};

void measuring_release(struct measuring *measuring);
/* The spans of a finished request, whole, into r->spans. False if out of memory. */
bool measuring_build(struct requests *r, const struct request *request);
/* Gives each of them its calling context; returns how many count as their ancestors. */
uint32_t measuring_name(struct requests *r, const struct request *request);
/* Its critical path, into r->measuring.path. False if out of memory. */
bool measuring_walk(struct requests *r);
/* What a piece of the path is called that no span owns: interned; 0: it is the span's own. */
uint32_t measuring_part(struct requests *r, const struct path_piece *piece);
/* The context that owns a piece of the path. */
uint32_t measuring_owner(struct requests *r, const struct path_piece *piece);
/* requests_measure() that leaves its spans and its path behind, of whatever request. */
bool measuring_whole(struct requests *r, const struct request *request, struct measured *out);
/* What a span is called: interned; 0: nobody told. */
uint32_t span_name(const struct requests *r, const struct span *span);

#endif
