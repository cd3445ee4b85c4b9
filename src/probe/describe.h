/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_DESCRIBE_H
#define PT_PROBE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The description of the probe's traces, in CTF 1.8's language: that of an LTTng kernel trace, and
 * for functions of programs that of a trace of user space, but for the name of the tracer.
 */
#define DESCRIBE_UUID 16 /* bytes */

struct describe_clock {
	char boot_id[37]; /* the clock's UUID, as LTTng has it: the same for all traces of a boot */
	uint64_t offset_ns; /* real time minus CLOCK_MONOTONIC */
};

/* Samples the clocks, as LTTng does: of a few tries, the one that was disturbed least. */
void describe_sample_clock(struct describe_clock *clock);

uint64_t describe_now_ns(void); /* CLOCK_MONOTONIC */

struct describe_trace {
	const char *host, *session;
	bool of_functions;
	unsigned char uuid[DESCRIBE_UUID];
	struct describe_clock clock;
};

/*
 * The whole text, to be freed, its length in *size; NULL: out of memory. That of functions is
 * without the types of their events, which come later.
 */
char *describe(const struct describe_trace *trace, size_t *size);

#endif
