/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_record.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 255

static void channel_name(const struct stream_description *stream, char name[NAME_MAX_BYTES + 1])
{
	char suffix[32];
	char *at;

	snprintf(name, NAME_MAX_BYTES + 1, "%s", stream->file);
	snprintf(suffix, sizeof(suffix), "_%u", stream->cpu);
	for (at = strstr(name, suffix); at; at = strstr(at + 1, suffix)) {
		const char *rest = at + strlen(suffix);

		if (!*rest || (*rest == '_' && rest[1] &&
					      rest[1 + strspn(rest + 1, "0123456789")] == '\0')) {
			*at = '\0';
			return;
		}
	}
}

static uint32_t append(unsigned char *record, uint32_t *at, const char *text)
{
	uint32_t start = *at;
	size_t length = strnlen(text, NAME_MAX_BYTES);

	memcpy(record + start, text, length);
	record[start + length] = '\0';
	*at = start + (uint32_t)length + 1;
	return start;
}

bool stream_record_write(struct outlet *outlet, const struct stream_description *stream)
{
	char channel[NAME_MAX_BYTES + 1];
	struct record_stream *record;
	const size_t record_bytes = sizeof(*record) + 4 * (NAME_MAX_BYTES + 1);
	uint32_t at = sizeof(*record);

	channel_name(stream, channel);
	record = outlet_begin(outlet, record_bytes, RECORD_STREAM);
	if (!record) {
		return false;
	}
	record->stream = stream->number;
	record->domain = stream->domain;
	record->cpu = stream->cpu;
	record->host = append((unsigned char *)record, &at, stream->host);
	record->session = append((unsigned char *)record, &at, stream->session);
	record->channel = append((unsigned char *)record, &at, channel);
	record->kernel_release = append((unsigned char *)record, &at, stream->kernel_release);
	memset((unsigned char *)record + at, 0, record_bytes - at);
	record->reserved = 0;
	memcpy(record->clock_uuid, stream->clock->uuid, sizeof(record->clock_uuid));
	record->clock_offset_ns = stream->clock->offset_ns;
	return outlet_commit(outlet);
}
