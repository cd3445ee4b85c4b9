/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_WATERFALL_H
#define UI_WATERFALL_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "pythiatop/snapshot/request.h"

/*
 * The spans of one request as a tree that can be folded, each with a bar on the request's time
 * axis.
 *
 * Memory: 20 bytes a span, 4 a piece of the critical path. Threads: one.
 */
struct waterfall {
	const struct request_view *request;
	uint64_t request_id; /* that the folds are of */
	uint32_t n, room;
	bool *folded;             /* by span: its children are out of sight */
	bool *hidden;             /* by span: an ancestor is folded */
	uint32_t *children;       /* by span: how many */
	uint64_t *self_ns;        /* by span: its duration without that of its children */
	int64_t start_ns, end_ns; /* of the axis */
	uint32_t *pieces;         /* of the critical path, by span */
	uint32_t *first_piece;    /* by span, into pieces; one more at the end */
	uint32_t piece_room;
};

/* The critical path is known. */
bool waterfall_has_path(const struct waterfall *waterfall);

void waterfall_release(struct waterfall *waterfall);

/* Takes a request, which must stay as it is until the next call. */
void waterfall_update(struct waterfall *waterfall, const struct request_view *request);

/* Folds or unfolds a span. False: nothing to do. */
bool waterfall_fold(struct waterfall *waterfall, uint32_t span, bool folded);

/* The span in sight with the most of the critical path, else of self time, or UINT32_MAX. */
uint32_t waterfall_worst(const struct waterfall *waterfall);

/*
 * Draws a span's bar in one line. Where the critical path is known, its pieces within the span are
 * dark, its waits double lines, the span itself without it grey; else dark is the span itself.
 * Light is what its children did meanwhile.
 */
void waterfall_draw(const struct waterfall *waterfall, uint32_t span, struct canvas *canvas,
		struct area line);

/* The colour of a track. */
enum role waterfall_role(uint32_t track);

#endif
