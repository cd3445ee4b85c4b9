/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ARRIVAL_H
#define PT_REQUESTS_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/sockets.h"

/*
 * Since when a message could be read before it was, from how the thread that reads it waited.
 *
 * A thread that slept for input was woken when it came. What a wait for many connections returned
 * with was there by then: the first one that is read since the wake-up, if there is but one, or
 * they are told in the order in which they came, others since the return. A connection that is new
 * since then, or is read again, may have got it later.
 *
 * Units: event time in ns. Pure. Threads: one at a time.
 */
struct arrival {
	bool waits, multiplexes; /* it is in a call that waits for input, of many connections */
	bool in_order;           /* which tells them in the order in which they came */
	uint64_t woken_ns;       /* in that call, the first time; 0: not */
	uint64_t told_ns; /* when the last wait for many returned with something; 0: with nothing */
	uint64_t first_ns; /* since when the first of these was there; 0: not known */
};

/* The thread enters a call that waits (TOLD_WAIT). */
void arrival_enter(struct arrival *arrival, const struct type_told *told);
/* It is woken. */
void arrival_wake(struct arrival *arrival, uint64_t now_ns);
/* It leaves a call; `n`: what that returns, of a wait for many the number of those that are ready.
 */
void arrival_leave(struct arrival *arrival, int64_t n, uint64_t now_ns);
/*
 * Something is received on a connection that was first seen at made_ns, and received last at
 * received_ns. 0: not known.
 */
uint64_t arrival_since(struct arrival *arrival, uint64_t made_ns, uint64_t received_ns);

#endif
