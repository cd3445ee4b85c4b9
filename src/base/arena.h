/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_ARENA_H
#define PT_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Memory that goes all at once: copies of descriptions that live as long as their owner.
 * Bound: what is put in. One thread at a time.
 */
struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
};

/* Zeroed, aligned for any type; NULL if out of memory. */
void *arena_alloc(struct arena *arena, size_t size);
/* A copy of the first `length` bytes of text with a 0 after them; NULL if out of memory. */
char *arena_text_n(struct arena *arena, const char *text, size_t length);
char *arena_text(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
		__attribute__((format(printf, 2, 0)));
void arena_release(struct arena *arena);

#endif
