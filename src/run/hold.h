/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_HOLD_H
#define PT_RUN_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/instant.h"
#include "pythiatop/engine.h"

/*
 * Pins the engine's window at an instant that was asked for, exactly when event time comes by: as
 * if the screen had been frozen then, so it answers a frozen focus from there on.
 *
 * Thread: the pipeline's.
 */
enum hold_status {
	HOLD_NONE = 0, /* nothing was asked for */
	HOLD_WAITS,
	HOLD_HELD,
	HOLD_FAILED, /* hold_sentence() says why */
};

struct hold {
	enum hold_status status;
	struct instant instant;
	bool from_end; /* a relative one counts from the end; else from now */
	uint64_t window_ns;
	uint64_t first_ns; /* of the first event; 0: none so far */
	uint64_t last_ns;
	uint64_t at_ns;   /* an absolute one's */
	uint64_t back_ns; /* of a frozen focus that shows the instant; valid if held */
};

void hold_begin(struct hold *hold, const struct instant *instant, bool from_end,
		uint64_t window_ns);

/* Event time goes on to ts_ns: to be called before the engine hears of it. */
void hold_see(struct hold *hold, struct engine *engine, uint64_t ts_ns);

/* Nothing more will come: to be called before engine_finish(). */
void hold_end(struct hold *hold, struct engine *engine);

/* What went wrong and what to do. */
void hold_sentence(const struct hold *hold, char *out, size_t size);

#endif
