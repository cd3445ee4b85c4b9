/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a metadata stream: read, or refused with a message; what is read can be walked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctf/tsdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No type is deeper than it says: each step in goes down by one at least. */
static void walk(const struct ctf_type *type, uint32_t depth_left)
{
	if (!type) {
		return;
	}
	if (type->depth > depth_left || type->align == 0 || (type->align & (type->align - 1))) {
		abort();
	}
	if (type->kind == CTF_INTEGER && (type->bits == 0 || type->bits > 64)) {
		abort();
	}
	if (type->depth > 6) {
		return; /* shared types make the walk exponential */
	}
	for (const struct ctf_member *member = type->members; member; member = member->next) {
		if (!member->type || !member->name) {
			abort();
		}
		walk(member->type, type->depth - 1u);
	}
	if (type->kind == CTF_ARRAY || type->kind == CTF_SEQUENCE) {
		walk(type->of, type->depth - 1u);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[200] = "";
	size_t length;
	char *text = tsdl_text(data, size, &length);
	struct ctf_metadata *metadata;

	if (!text) {
		return 0;
	}
	metadata = tsdl_parse(text, length, error, sizeof(error));
	free(text);
	if (!metadata) {
		if (!error[0]) {
			abort();
		}
		return 0;
	}
	for (const struct ctf_event_class *event = metadata->events; event; event = event->next) {
		walk(event->context, TSDL_MAX_DEPTH);
		walk(event->fields, TSDL_MAX_DEPTH);
	}
	for (const struct ctf_stream_class *stream = metadata->streams; stream;
			stream = stream->next) {
		walk(stream->packet_context, TSDL_MAX_DEPTH);
		walk(stream->event_header, TSDL_MAX_DEPTH);
		walk(stream->event_context, TSDL_MAX_DEPTH);
	}
	tsdl_release(metadata);
	return 0;
}
