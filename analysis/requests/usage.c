/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/usage.h"

/* Room for one more of `size` bytes; NULL: out of memory, or of the bound. */
static void *grow(struct pool *pool, void *items, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 4;
	void *grown;

	if (n < *room) {
		return items;
	}
	grown = n < USAGE_MAX_THREADS ? pool_alloc(pool, more * size) : NULL;
	if (!grown) {
		return NULL;
	}
	if (n > 0) {
		memcpy(grown, items, n * size);
	}
	pool_free(pool, items, *room * size);
	*room = more;
	return grown;
}

static void add_thread(struct pool *pool, struct usage *usage, uint32_t host, uint64_t key)
{
	struct usage_thread *threads;
	uint32_t i;

	for (i = usage->n_threads; i > 0; i--) { /* the last one most often */
		if (usage->threads[i - 1].key == key && usage->threads[i - 1].host == host) {
			return;
		}
	}
	threads = grow(pool, usage->threads, usage->n_threads, &usage->thread_room,
			sizeof(*threads));
	if (threads) {
		usage->threads = threads;
		threads[usage->n_threads++] = (struct usage_thread){.host = host, .key = key};
	}
}

static void add_owner(struct pool *pool, struct usage *usage, uint64_t owner)
{
	uint64_t *owners;
	uint32_t i;

	for (i = usage->n_owners; i > 0; i--) {
		if (usage->owners[i - 1] == owner) {
			return;
		}
	}
	owners = grow(pool, usage->owners, usage->n_owners, &usage->owner_room, sizeof(*owners));
	if (owners) {
		usage->owners = owners;
		owners[usage->n_owners++] = owner;
	}
}

void usage_add(struct pool *pool, struct usage *usage, const struct thread *thread, uint64_t owner)
{
	add_thread(pool, usage, thread->host, thread->key);
	add_owner(pool, usage, owner);
}

void usage_append(struct pool *pool, struct usage *usage, struct usage *from)
{
	uint32_t i;

	for (i = 0; i < from->n_threads; i++) {
		add_thread(pool, usage, from->threads[i].host, from->threads[i].key);
	}
	for (i = 0; i < from->n_owners; i++) {
		add_owner(pool, usage, from->owners[i]);
	}
	usage_release(pool, from);
}

void usage_release(struct pool *pool, struct usage *usage)
{
	pool_free(pool, usage->threads, usage->thread_room * sizeof(*usage->threads));
	pool_free(pool, usage->owners, usage->owner_room * sizeof(*usage->owners));
	*usage = (struct usage){.n_threads = 0};
}

struct state_resources usage_sum(
		struct state *state, const struct usage *usage, uint64_t from_ns, uint64_t to_ns)
{
	struct state_resources sum = {.no_thread = usage->n_threads == 0};
	uint32_t i;

	for (i = 0; i < usage->n_threads; i++) {
		state_add_resources(state, usage->threads[i].host, usage->threads[i].key, from_ns,
				to_ns, usage->owners, usage->n_owners, &sum);
	}
	return sum;
}
