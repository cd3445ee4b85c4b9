/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_EVENT_TEXT_H
#define PT_OUTPUT_EVENT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/event.h"

/*
 * Original events as lines of text, as `babeltrace2` prints them, so that the same eyes and scripts
 * can read both:
 *   [10:00:01.000000000] (+0.000012345) host name: { cpu_id = 1 }, { vtid = 7 }, { fd = 4 }
 * The time of day is local. Text of traces is escaped.
 *
 * Memory: that of the longest value. Errors: false with errno.
 */
struct event_text {
	FILE *out;
	uint64_t last_ns; /* 0: there was none */
	char *value;
	size_t value_size;
};

void event_text_init(struct event_text *text, FILE *out);
void event_text_release(struct event_text *text);
bool event_text_write(struct event_text *text, const struct event *event,
		const struct event_type *type, const char *host);

#endif
