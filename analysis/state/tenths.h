/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_TENTHS_H
#define PT_STATE_TENTHS_H

#include "state/cx.h"

/*
 * The tenths of a window's length, counted from time 0, that are over and lie within a stretch: what
 * was in them does not change any more. Whoever sums up the window every second keeps their sums
 * (those of tenth `number` at number % TENTHS, with `number` + 1 beside them, as 0 is of none), and
 * walks the ends of the window alone. Where memory was short there are none: what is kept may be
 * more than what is left.
 */
struct tenths {
	uint64_t ns, known_ns;
	uint64_t number, begin_ns, end_ns; /* the one at hand */
};

/* Those after from_ns. */
static inline struct tenths tenths_within(
		const struct state_cx *cx, uint64_t from_ns, uint64_t to_ns)
{
	struct tenths tenths = {.known_ns = to_ns < cx->now_ns ? to_ns : cx->now_ns};

	if (cx->store.trimmed_ns <= from_ns && cx->window_ns >= TENTHS) {
		tenths.ns = cx->window_ns / TENTHS;
		tenths.number = from_ns / tenths.ns;
	}
	return tenths;
}

/* The next of them; false: there is none. */
static inline bool tenths_next(struct tenths *tenths)
{
	tenths->number++;
	tenths->begin_ns = tenths->number * tenths->ns;
	tenths->end_ns = tenths->begin_ns + tenths->ns;
	return tenths->ns && tenths->end_ns <= tenths->known_ns;
}

#endif
