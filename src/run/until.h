/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_UNTIL_H
#define PT_RUN_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"

/*
 * When a batch that acts ends by itself: at the console's own stop, when points are learned, or
 * after a time, which is of the wall clock live, and of events in a rehearsal.
 */
struct batch_until {
	enum { UNTIL_STOPPED = 0, UNTIL_VERDICT, UNTIL_LEARNED, UNTIL_TIME } kind;
	uint64_t ns; /* of UNTIL_TIME */
};

/* What a snapshot must show to be asked. */
extern const struct focus until_focus;

/* It has come, of UNTIL_VERDICT and UNTIL_LEARNED. */
bool until_is_shown(const struct batch_until *until, const struct snapshot *snapshot);
/* Something is learned in this run, or was, or is proposed to be. */
bool until_learns(const struct snapshot *snapshot);

#endif
