/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_INSTANT_H
#define PT_CONFIG_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An instant as people write it:
 *   2026-01-31 10:00:06.25   UTC; the fraction may be left out
 *   10:00:06.25              the same, on the day that the trace begins
 *   1769853606.25            seconds since 1970; with 16 digits or more: nanoseconds
 *   -3.2s                    before the end of a recording, or before now
 */
enum instant_kind {
	INSTANT_NONE = 0,
	INSTANT_ABSOLUTE,
	INSTANT_OF_DAY,
	INSTANT_BACK,
};

struct instant {
	enum instant_kind kind;
	uint64_t ns; /* since 1970, since midnight, or how long before */
};

/* False: it is none of these. */
bool instant_parse(const char *text, struct instant *instant);

/*
 * Nanoseconds since 1970 of an absolute one, where the trace begins at first_ns. A time of day that
 * is more than twelve hours before the beginning is of the day after.
 */
uint64_t instant_resolve(const struct instant *instant, uint64_t first_ns);

/* Both at once; a relative one is before now_ns. False: it is no instant. */
bool instant_read(const char *text, uint64_t first_ns, uint64_t now_ns, uint64_t *at_ns);

#define INSTANT_BYTES 40

/* "2026-01-31 10:00:06.250000000 UTC" */
char *instant_format(char out[INSTANT_BYTES], uint64_t ns);

#endif
