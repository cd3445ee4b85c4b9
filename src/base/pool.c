/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/pool.h"

#define SMALLEST_BYTES ((size_t)64)
#define LARGEST_BYTES  ((size_t)64 << 10)
#define SLAB_BYTES     ((size_t)2 << 20)   /* of address space: a huge page */
#define READY_BYTES    ((size_t)128 << 10) /* of it that are faulted in at a time */
#define SLAB_HEADER    64                  /* pieces of whole cache lines begin with one, mostly */

#ifndef MADV_COLLAPSE /* Linux 6.1, glibc 2.37 */
#define MADV_COLLAPSE 25
#endif

/* Under AddressSanitizer every piece is one of malloc's, so that it sees uses after they end. */
#if defined(__SANITIZE_ADDRESS__)
#define POOL_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_PLAIN 1
#endif
#endif
#ifndef POOL_PLAIN
#define POOL_PLAIN 0
#endif

struct pool_piece {
	struct pool_piece *next;
	struct pool_piece *prev; /* of plain ones */
};

/* A piece of malloc's, in a list of its own, so that pool_release() finds it. */
static void *plain_alloc(struct pool *pool, size_t size)
{
	struct pool_piece *piece = malloc(sizeof(*piece) + size);

	if (!piece) {
		return NULL;
	}
	piece->prev = NULL;
	piece->next = pool->plain;
	if (pool->plain) {
		pool->plain->prev = piece;
	}
	pool->plain = piece;
	return piece + 1;
}

static void plain_free(struct pool *pool, void *memory)
{
	struct pool_piece *piece = (struct pool_piece *)memory - 1;

	*(piece->prev ? &piece->prev->next : &pool->plain) = piece->next;
	if (piece->next) {
		piece->next->prev = piece->prev;
	}
	free(piece);
}

void pool_init(struct pool *pool)
{
	*pool = (struct pool){.slabs = NULL};
}

static void free_list(struct pool_piece *pieces)
{
	struct pool_piece *next;

	for (; pieces; pieces = next) {
		next = pieces->next;
		free(pieces);
	}
}

void pool_release(struct pool *pool)
{
	free_list(pool->slabs);
	free_list(pool->plain);
	pool_init(pool);
}

static unsigned int class_of(size_t size)
{
	unsigned int octave;

	if (size <= SMALLEST_BYTES) {
		return 0;
	}
	octave = 63 - (unsigned int)__builtin_clzll(size - 1);
	return 4 * (octave - 6) + (unsigned int)((size - 1) >> (octave - 2) & 3) + 1;
}

static size_t class_bytes(unsigned int class)
{
	return (SMALLEST_BYTES + SMALLEST_BYTES / 4 * (class & 3)) << class / 4;
}

/*
 * To fault in what a window of requests takes, page by page, is a tenth of the analysis: so some
 * pages at once, and no more than are about to be used. Where the kernel does not know how,
 * ordinary faults do as well.
 */
static void make_ready(struct pool *pool)
{
	unsigned char *slab = (unsigned char *)pool->slabs;
	size_t ready = (size_t)(pool->ready - slab), wanted = (size_t)(pool->slab_at - slab);

	wanted = (wanted + READY_BYTES - 1) / READY_BYTES * READY_BYTES;
	madvise(pool->ready, wanted - ready, MADV_POPULATE_WRITE);
	pool->ready = slab + wanted;
}

/* The slab before is full: it becomes one huge page, if the kernel has them. */
static bool add_slab(struct pool *pool)
{
	struct pool_piece *slab = aligned_alloc(SLAB_BYTES, SLAB_BYTES);

	if (!slab) {
		return false;
	}
	if (pool->slabs) {
		madvise(pool->slabs, SLAB_BYTES, MADV_COLLAPSE);
	}
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->ready = (unsigned char *)slab;
	pool->slab_at = (unsigned char *)slab + SLAB_HEADER;
	pool->slab_left = SLAB_BYTES - SLAB_HEADER;
	return true;
}

/* What is left of the slab, too short for what is wanted, feeds the smaller classes. */
static void use_up(struct pool *pool)
{
	while (pool->slab_left >= SMALLEST_BYTES) {
		unsigned int small = class_of(pool->slab_left);
		struct pool_piece *piece = (struct pool_piece *)(void *)pool->slab_at;

		if (class_bytes(small) > pool->slab_left) {
			small--;
		}
		piece->next = pool->free[small];
		pool->free[small] = piece;
		pool->slab_at += class_bytes(small);
		pool->slab_left -= class_bytes(small);
	}
}

static void *cut(struct pool *pool, unsigned int class)
{
	size_t bytes = class_bytes(class);
	unsigned char *memory;

	if (pool->slab_left < bytes) {
		use_up(pool);
		if (!add_slab(pool)) {
			return NULL;
		}
	}
	memory = pool->slab_at;
	pool->slab_at += bytes;
	pool->slab_left -= bytes;
	if (pool->slab_at > pool->ready) {
		make_ready(pool);
	}
	return memory;
}

static bool is_plain(size_t size)
{
	return POOL_PLAIN || size > LARGEST_BYTES;
}

/* What a piece takes: the size of its class, if it has one. */
static size_t charge(size_t size)
{
	return size > LARGEST_BYTES ? size : class_bytes(class_of(size));
}

void *pool_alloc(struct pool *pool, size_t size)
{
	unsigned int class;
	struct pool_piece *piece;

	pool->in_use_bytes += charge(size);
	if (is_plain(size)) {
		return plain_alloc(pool, size);
	}
	class = class_of(size);
	piece = pool->free[class];
	if (piece) {
		pool->free[class] = piece->next;
		__builtin_prefetch(piece->next, 1); /* let go of long ago, as a rule */
		return piece;
	}
	return cut(pool, class);
}

void pool_free(struct pool *pool, void *memory, size_t size)
{
	struct pool_piece *piece = memory;
	unsigned int class;

	if (!memory) {
		return;
	}
	pool->in_use_bytes -= charge(size);
	if (is_plain(size)) {
		plain_free(pool, memory);
		return;
	}
	class = class_of(size);
	piece->next = pool->free[class];
	pool->free[class] = piece;
}
