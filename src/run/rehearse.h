/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_REHEARSE_H
#define PT_RUN_REHEARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/engine.h"
#include "pythiatop/snapshot/steps.h"
#include "run/until.h"

/*
 * Plays the loop on a recording in which everything was on: the engine sees of each event what it
 * would have seen live, the skeleton and what its own steps have enabled so far, and is told what
 * came of its orders as hosts would tell it, in event time. Whatever else the recording has is left
 * out before the engine, and is no loss.
 *
 * Each tracepoint is offered, by each host, from its first event on. What steps enable comes in a
 * session of ours. An order is done REHEARSE_ORDER_NS after it was given out, a watch lasts as long
 * as the order says, and nothing is lost by recording more: a recording cannot tell what that
 * would do to the traced system. All this happens at ticks of event time, so the same recording and
 * options take the same decisions.
 *
 * Units: ns of event time. Thread: the pipeline's. Memory: a few bytes for each name of a
 * tracepoint on each host.
 */
struct rehearse;

#define REHEARSE_ORDER_NS UINT64_C(300000000)

struct rehearse_setup {
	struct batch_until until;
	uint64_t from_ns; /* after the first event; whatever comes before is not seen at all */
	uint64_t for_ns;  /* it is over then at the latest; 0: as long as the recording lasts */
};

/* The engine has its mode, budget, strategy and profile from the caller. NULL: out of memory. */
struct rehearse *rehearse_create(struct engine *engine, const struct rehearse_setup *setup);
void rehearse_destroy(struct rehearse *rehearse);

/* Event time goes on to ts_ns. False: not yet, or not any more: the engine is not to hear of it. */
bool rehearse_advance(struct rehearse *rehearse, uint64_t ts_ns);
/* Feeds the event to the engine if it would have been recorded, after rehearse_advance(). */
void rehearse_feed(struct rehearse *rehearse, const struct event *event);

/* It has begun, and not ended. */
bool rehearse_runs(const struct rehearse *rehearse);
/* It has ended where it was to. */
bool rehearse_is_over(const struct rehearse *rehearse);
/* What keeps it from being a rehearsal: out of memory; nothing could be masked. NULL: nothing. */
const char *rehearse_failure(const struct rehearse *rehearse);
/* What became of the events so far. */
void rehearse_fill(const struct rehearse *rehearse, struct steps_view *steps);

#endif
