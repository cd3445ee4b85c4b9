/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Chunks grow with the arena: few calls for a large one, little waste in a small one. */
#define FIRST_CHUNK_BYTES 4096u
#define MOST_CHUNK_BYTES  (64u << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	const size_t align = alignof(max_align_t);
	void *memory;

	if (size > SIZE_MAX / 2) {
		return NULL;
	}
	size = (size + align - 1) / align * align;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = chunk ? chunk->size * 2 : FIRST_CHUNK_BYTES;

		room = room > MOST_CHUNK_BYTES ? MOST_CHUNK_BYTES : room;
		room = room < size ? size : room;
		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk) {
			return NULL;
		}
		chunk->size = room;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	memory = chunk->bytes + chunk->used;
	chunk->used += size;
	return memory;
}

char *arena_text_n(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (copy) {
		memcpy(copy, text, length);
	}
	return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
	return arena_text_n(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
	if (text) {
		vsnprintf(text, (size_t)length + 1, format, again);
	}
	va_end(again);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

void arena_release(struct arena *arena)
{
	struct arena_chunk *chunk, *next;

	for (chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	arena->chunks = NULL;
}
