/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_BACKGROUND_H
#define PT_BASE_BACKGROUND_H

/*
 * What watches must not hold up what is watched, where both are on one machine. The calling thread,
 * and what it starts from now on, works in the background: it gets its fair share of the
 * processors as before, but later and in longer pieces, so that who wakes up beside it runs at
 * once. It does not interrupt others when it wakes up itself (SCHED_BATCH), and asks for a slice
 * of 20 ms, so that the scheduler prefers whoever needs less (EEVDF, since Linux 6.12; before, the
 * kernel leaves the length out).
 *
 * Niceness is not touched: on a machine without idle processors it would take the share away, and
 * what is recorded would be late for ever. Where the kernel refuses, nothing changes.
 */
void background_enter(void);

#endif
