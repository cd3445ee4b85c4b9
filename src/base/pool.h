/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_POOL_H
#define PT_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Memory by size class, so that what lives for microseconds (spans, requests, copies of events)
 * costs no malloc.
 *
 * Classes are 64 B to 64 KiB, four to the octave; larger pieces come from malloc. What is given
 * back is used again, never returned to the system before pool_destroy(): memory is flat once the
 * largest use has been seen. One thread at a time.
 */
#define POOL_CLASSES 41

struct pool_piece;

struct pool {
	struct pool_piece *free[POOL_CLASSES];
	struct pool_piece *slabs;
	struct pool_piece *plain; /* pieces of malloc's */
	size_t slab_left;
	unsigned char *slab_at, *ready; /* in the newest slab: the next piece; up to where there is
					   memory */
	uint64_t in_use_bytes;          /* handed out, in sizes of classes */
};

void pool_init(struct pool *pool);
/* Everything goes that was not given back. */
void pool_release(struct pool *pool);

/* Not zeroed, aligned to 16 bytes; NULL if out of memory. Give back with the same size. */
void *pool_alloc(struct pool *pool, size_t size);
void pool_free(struct pool *pool, void *memory, size_t size);

#endif
