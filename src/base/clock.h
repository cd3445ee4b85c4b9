/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_CLOCK_H
#define PT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Clocks of this machine, in ns. Nothing of analysis/ may read them: it runs on event time. */

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Since some instant before: for limits of time and intervals. */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Since 1970, as the host's clock has it: it may be set meanwhile. */
static inline uint64_t clock_real_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#endif
