/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_CALIBRATE_H
#define PT_HELPER_CALIBRATE_H

/*
 * What recording an event costs on this host, in ns of CPU: the work of writing one into a ring
 * buffer is done here some 100,000 times (a few ms), and taken times what tracing with three
 * contexts cost against it where both were measured side by side (docs/results/measured.md). The
 * least of several rounds counts, as others only ever make it slower. 0: this host has no such
 * clock.
 */
double calibrate_event_ns(void);

#endif
