/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_STREAM_RECORD_H
#define PT_SOURCE_STREAM_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "clocks.h"
#include "outlet.h"

/* What a RECORD_STREAM says; texts are cut at 255 bytes. */
struct stream_description {
	uint32_t number, domain, cpu;
	const char *host, *session, *kernel_release;
	/*
	 * Of the stream's file, "" if it has none. LTTng names it CHANNEL_CPU, or CHANNEL_CPU_FILE
	 * where files are limited in size.
	 */
	const char *file;
	const struct clock_rule *clock;
};

/* False as outlet_begin(). */
bool stream_record_write(struct outlet *outlet, const struct stream_description *stream);

/* Orders events of equal time: by CPU, then domain, channel (the stream class), stream. */
static inline uint64_t stream_rank(uint32_t cpu, uint8_t domain, uint64_t channel, uint64_t id)
{
	return (uint64_t)(cpu & 0xffffff) << 40 | (uint64_t)domain << 38 |
	       (channel & 0x3fff) << 24 | (id & 0xffffff);
}

#endif
