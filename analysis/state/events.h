/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_EVENTS_H
#define PT_STATE_EVENTS_H

#include "state/cx.h"

/* Original events, for the screen. */

/* view->events */
enum status events_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);

#endif
