/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/snapshot/snapshot.h"

#define CHUNK_BYTES (32u << 10)

struct snapshot_chunk {
	struct snapshot_chunk *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

struct snapshot *snapshot_create(void)
{
	return calloc(1, sizeof(struct snapshot));
}

void snapshot_destroy(struct snapshot *snapshot)
{
	struct snapshot_chunk *chunk, *next;

	if (!snapshot) {
		return;
	}
	for (chunk = snapshot->arena; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(snapshot);
}

void *snapshot_alloc(struct snapshot *snapshot, size_t size)
{
	struct snapshot_chunk *chunk = snapshot->arena;
	const size_t align = alignof(max_align_t);
	void *memory;

	if (size > SIZE_MAX / 2) {
		return NULL;
	}
	size = (size + align - 1) / align * align;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk) {
			return NULL;
		}
		chunk->size = room;
		chunk->next = snapshot->arena;
		snapshot->arena = chunk;
	}
	memory = chunk->bytes + chunk->used;
	chunk->used += size;
	return memory;
}

const char *snapshot_text(struct snapshot *snapshot, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = snapshot_alloc(snapshot, size);

	return copy ? memcpy(copy, text, size) : "";
}

const char *snapshot_printf(struct snapshot *snapshot, const char *format, ...)
{
	va_list args;
	int length;
	char *text;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0) {
		return "";
	}
	text = snapshot_alloc(snapshot, (size_t)length + 1);
	if (!text) {
		return "";
	}
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}
