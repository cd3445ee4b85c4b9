/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/kept.h"

/* A small request fits into the first chunk; each further one is four times as large. */
#define FIRST_CHUNK 512u
#define LAST_CHUNK  65536u

static struct copy_chunk *add_chunk(struct pool *pool, struct copies *copies, uint32_t need)
{
	uint32_t size = copies->last ? copies->last->size * 4 : FIRST_CHUNK;
	struct copy_chunk *chunk;

	size = size > LAST_CHUNK ? LAST_CHUNK : size;
	while (size < need + sizeof(*chunk)) {
		size *= 2;
	}
	chunk = pool_alloc(pool, size);
	if (!chunk) {
		return NULL;
	}
	*chunk = (struct copy_chunk){.size = size};
	if (copies->last) {
		copies->last->next = chunk;
	} else {
		copies->first = chunk;
	}
	copies->last = chunk;
	copies->bytes += size;
	return chunk;
}

struct event_copy *copies_add(struct pool *pool, struct copies *copies, const struct event *event)
{
	uint32_t need = (uint32_t)sizeof(struct event_copy) + (event->bytes + 7) / 8 * 8;
	struct copy_chunk *chunk = copies->last;
	struct event_copy *copy;

	if (!chunk || chunk->size - sizeof(*chunk) - chunk->used < need) {
		chunk = add_chunk(pool, copies, need);
		if (!chunk) {
			return NULL;
		}
	}
	copy = (struct event_copy *)(void *)((char *)chunk->data + chunk->used);
	chunk->used += need;
	copies->n++;
	copy->bytes = event->bytes;
	if (event->bytes) {
		memcpy(copy->slots, event->slots, event->bytes);
	}
	return copy;
}

void copies_append(struct copies *copies, struct copies *tail)
{
	if (!tail->first) {
		return;
	}
	if (copies->last) {
		copies->last->next = tail->first;
	} else {
		copies->first = tail->first;
	}
	copies->last = tail->last;
	copies->n += tail->n;
	copies->bytes += tail->bytes;
	*tail = (struct copies){.first = NULL};
}

void copies_free(struct pool *pool, struct copies *copies)
{
	struct copy_chunk *chunk, *next;

	for (chunk = copies->first; chunk; chunk = next) {
		next = chunk->next;
		pool_free(pool, chunk, chunk->size);
	}
	*copies = (struct copies){.first = NULL};
}

static uint32_t round_up(size_t bytes)
{
	return (uint32_t)((bytes + 7) / 8 * 8);
}

/* Bytes of the copies in one chunk, without its head. */
static uint32_t used_bytes(const struct copies *copies)
{
	const struct copy_chunk *chunk;
	uint32_t used = 0;

	for (chunk = copies->first; chunk; chunk = chunk->next) {
		used += chunk->used;
	}
	return used;
}

/* One chunk of all copies, at `at`. */
static void unite_chunks(struct copies *copies, void *at, uint32_t used)
{
	struct copy_chunk *chunk, *one = at;

	*one = (struct copy_chunk){.size = used + (uint32_t)sizeof(*one)};
	for (chunk = copies->first; chunk; chunk = chunk->next) {
		memcpy((char *)one->data + one->used, chunk->data, chunk->used);
		one->used += chunk->used;
	}
	copies->first = copies->last = one;
}

struct request *request_keep(struct request_pool *pool, struct request *request)
{
	struct kept_request *kept = (struct kept_request *)(void *)request, *copy;
	uint32_t used = used_bytes(&kept->copies), head = round_up(kept->size);
	uint32_t resources = kept->measures ? (uint32_t)sizeof(*kept->resources) : 0;
	uint32_t chunk = used ? used + (uint32_t)sizeof(struct copy_chunk) : 0;
	uint32_t size = head + resources + chunk;

	if (size > REQUEST_COMPACT_BYTES) {
		request->references++;
		return request;
	}
	copy = pool_alloc(&pool->pool, size);
	if (!copy) {
		return NULL;
	}
	memcpy(copy, kept, kept->size);
	copy->request.references = 1;
	copy->request.bytes = copy->size = size;
	copy->request.path = copy->path;
	copy->request.compact = true;
	copy->resources = resources ? (void *)((char *)copy + head) : NULL;
	if (used) {
		unite_chunks(&copy->copies, (char *)copy + head + resources, used);
	}
	kept->copy = copy;
	return &copy->request;
}

void request_drop(struct request_pool *pool, struct request *request)
{
	struct kept_request *kept = (struct kept_request *)(void *)request;

	if (--request->references > 0) {
		return;
	}
	if (request->compact) {
		pool_free(&pool->pool, kept, request->bytes);
		return;
	}
	copies_free(&pool->pool, &kept->copies);
	pool_free(&pool->pool, kept->resources, sizeof(*kept->resources));
	pool_free(&pool->pool, kept, kept->size);
}
