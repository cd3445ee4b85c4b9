/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FIRST_ROOM 16u

uint32_t array_room(uint32_t room, uint32_t n)
{
	uint32_t doubled = room > UINT32_MAX / 2 ? UINT32_MAX : room * 2;

	doubled = doubled < FIRST_ROOM ? FIRST_ROOM : doubled;
	return doubled < n ? n : doubled;
}

bool array_resize_bytes(void *items, size_t n, size_t size)
{
	void *memory, *grown;
	size_t bytes;

	/* Through memcpy, as `items` points to a pointer of any type. */
	memcpy(&memory, items, sizeof(memory));
	grown = __builtin_mul_overflow(n ? n : 1, size, &bytes) ? NULL : realloc(memory, bytes);
	if (!grown) {
		return false;
	}
	memcpy(items, &grown, sizeof(grown));
	return true;
}

bool array_lengthen(void *items, uint32_t *length, uint32_t n, size_t size)
{
	unsigned char *memory;

	if (!array_resize_bytes(items, n, size)) {
		return false;
	}
	memcpy(&memory, items, sizeof(memory));
	memset(memory + *length * size, 0, (n - *length) * size);
	*length = n;
	return true;
}

bool array_grow(void *items, uint32_t *room, uint32_t n, size_t size, bool zeroed)
{
	uint32_t wanted = array_room(*room, n);

	if (zeroed) {
		return array_lengthen(items, room, wanted, size);
	}
	if (!array_resize_bytes(items, wanted, size)) {
		return false;
	}
	*room = wanted;
	return true;
}
