/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_LIBRARY_H
#define TESTBED_LIBRARY_H

#include <stdint.h>

/*
 * A library as others deliver it: without a tracepoint. What it does shows only as time of whoever
 * called.
 *
 * Threads: may be called by any thread.
 */

/* Converts something for that long: in turns of a millisecond, a tenth of which is computing. */
void library_convert(uint64_t ns);

#endif
