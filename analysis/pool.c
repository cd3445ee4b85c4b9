/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pool.h"

#define SMALLEST_BYTES ((size_t)64)
#define LARGEST_BYTES  ((size_t)64 << 10)
#define SLAB_MIN_BYTES ((size_t)128 << 10)
#define SLAB_MAX_BYTES ((size_t)2 << 20)
#define SLAB_PART      4  /* of what the pool has */
#define SLAB_HEADER    64 /* pieces of whole cache lines begin with one, mostly */

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
 * A slab is an eighth to a quarter of what the pool has, so that a small pool has little more than
 * it needs; large ones are huge pages where the kernel has them. To fault in what a window of
 * requests takes, page by page, is a tenth of the analysis: so all of a slab's pages at once.
 */
static bool add_slab(struct pool *pool)
{
	size_t size = SLAB_MIN_BYTES;
	struct pool_piece *slab;

	while (size < SLAB_MAX_BYTES && 2 * size <= pool->slabs_bytes / SLAB_PART) {
		size *= 2;
	}
	slab = aligned_alloc(size, size);
	if (!slab) {
		return false;
	}
	/* Ordinary pages, one by one, do as well. */
	madvise(slab, size, size == SLAB_MAX_BYTES ? MADV_HUGEPAGE : MADV_POPULATE_WRITE);
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->slabs_bytes += size;
	pool->slab_at = (unsigned char *)slab + SLAB_HEADER;
	pool->slab_left = size - SLAB_HEADER;
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
