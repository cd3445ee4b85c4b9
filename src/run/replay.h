/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_REPLAY_H
#define PT_RUN_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/engine.h"

/*
 * Takes the decisions of a live run again: reads what run/decisions.h wrote, and tells the engine
 * the same at the same event time, while the recording of that run is read. Of a log with several
 * runs the last one counts. Orders are the engine's own: they are compared with those of the log,
 * and the first that is another is told.
 *
 * Units: ns of event time. Thread: the pipeline's. Memory: the log's last run, whose file may have
 * 256 MiB and a line 16 MiB.
 */
struct replay;

/* NULL: `error` names the file, the line, and what is wrong. */
struct replay *replay_read(const char *path, char *error, size_t size);
void replay_destroy(struct replay *replay);

/*
 * What clocks were taken to be off the epoch, from 0 on; false: no more. The sources are to take
 * them so, too (intake_set_clock()), before anything is read. Logs of before have none.
 */
bool replay_clock(
		const struct replay *replay, uint32_t index, uint8_t uuid[16], int64_t *offset_ns);

/*
 * Event time goes on to ts_ns: to be called before the engine hears of it. False: the live run did
 * not see that any more, or not yet, so the engine is not to hear of it.
 */
bool replay_see(struct replay *replay, struct engine *engine, uint64_t ts_ns);
/* What is in no order of time (losses): false as of replay_see(). */
bool replay_runs(const struct replay *replay);
/* The live run ended here. */
bool replay_is_over(const struct replay *replay);
/*
 * Nothing more will come. The engine is told as then: it has finished (engine_finish()) where the
 * sources of the live run had ended, or that run has no end in the log.
 */
void replay_finish(struct replay *replay, struct engine *engine);

/* Where it first went another way than the live run; NULL: it did not. */
const char *replay_departure(const struct replay *replay);

#endif
