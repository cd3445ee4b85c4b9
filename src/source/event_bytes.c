/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event_bytes.h"

#include <string.h>

bool event_put_bytes(struct outlet *outlet, uint64_t *slot, const void *bytes, uint64_t length,
		uint32_t *used)
{
	uint64_t room = EVENT_MAX_BYTES - 8 - *used;
	unsigned char *to;
	uint32_t at;

	if (*used + 8 >= EVENT_MAX_BYTES) {
		*slot = EVENT_ABSENT;
		return true;
	}
	if (length > room) {
		length = room;
	}
	to = outlet_extend(outlet, length + 1, &at);
	if (!to) {
		return false;
	}
	memcpy(to, bytes, length);
	at -= (uint32_t)offsetof(struct record_event, slots);
	*used = at + (((uint32_t)length + 8) & ~7u);
	*slot = (uint64_t)at << 32 | length;
	return true;
}

bool event_put_tree(struct outlet *outlet, uint64_t *slot, const struct tree *tree, uint32_t *used)
{
	/* Half a tree cannot be read: all of it, or nothing. */
	if (*used + tree->size + 16 > EVENT_MAX_BYTES) {
		*slot = EVENT_ABSENT;
		return true;
	}
	return event_put_bytes(outlet, slot, tree->bytes, tree->size, used);
}
