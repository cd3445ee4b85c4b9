/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/key.h"

#define FIRST_SLOTS 1024u

void key_maker_release(struct key_maker *maker)
{
	free(maker->bytes);
	*maker = (struct key_maker){.bytes = NULL};
}

static bool append(struct key_maker *maker, const void *bytes, uint32_t size)
{
	if (!array_reserve(&maker->bytes, &maker->room, maker->size + size)) {
		return false;
	}
	memcpy(maker->bytes + maker->size, bytes, size);
	maker->size += size;
	return true;
}

bool key_number(struct key_maker *maker, uint64_t value)
{
	return append(maker, &value, sizeof(value));
}

bool key_begin(struct key_maker *maker, uint32_t space, uint32_t host)
{
	maker->size = 0;
	return key_number(maker, (uint64_t)space << 32 | host);
}

bool key_bytes(struct key_maker *maker, const void *bytes, uint32_t size)
{
	static const unsigned char zeros[8];

	/* The length first, so that ("ab", "c") and ("a", "bc") differ. */
	return key_number(maker, (uint64_t)1 << 63 | size) && append(maker, bytes, size) &&
	       append(maker, zeros, (8 - size % 8) % 8);
}

struct key key_view(const struct key_maker *maker)
{
	struct key key = {.size = maker->size};

	if (maker->size <= KEY_INLINE) {
		memcpy(key.bytes, maker->bytes, maker->size);
	} else {
		key.far = maker->bytes;
	}
	if (maker->size == 16) {
		key.hash = hash_pair(key.words[0], key.words[1]);
	} else {
		key.hash = hash_bytes(maker->bytes, maker->size);
	}
	return key;
}

bool key_keep(struct pool *pool, struct key *key, const struct key *view)
{
	*key = *view;
	if (view->size > KEY_INLINE) {
		key->far = pool_alloc(pool, view->size);
		if (!key->far) {
			return false;
		}
		memcpy(key->far, view->far, view->size);
	}
	return true;
}

void key_free(struct pool *pool, struct key *key)
{
	if (key->size > KEY_INLINE) {
		pool_free(pool, key->far, key->size);
	}
}

static bool same_key(const struct key *a, const struct key *b)
{
	if (a->size != b->size) {
		return false;
	}
	if (a->size == 16) {
		return a->words[0] == b->words[0] && a->words[1] == b->words[1];
	}
	if (a->size <= KEY_INLINE) {
		return memcmp(a->bytes, b->bytes, a->size) == 0;
	}
	return memcmp(a->far, b->far, a->size) == 0;
}

void key_table_release(struct key_table *table)
{
	free(table->slots);
	*table = (struct key_table){.slots = NULL};
}

struct key *key_table_find(const struct key_table *table, const struct key *key)
{
	uint32_t at;

	if (table->n == 0) {
		return NULL;
	}
	for (at = (uint32_t)key->hash & (table->room - 1); table->slots[at].item;
			at = (at + 1) & (table->room - 1)) {
		if (table->slots[at].hash == key->hash && same_key(table->slots[at].item, key)) {
			return table->slots[at].item;
		}
	}
	return NULL;
}

static void put(struct key_slot *slots, uint32_t room, struct key *item)
{
	uint32_t at = (uint32_t)item->hash & (room - 1);

	while (slots[at].item) {
		at = (at + 1) & (room - 1);
	}
	slots[at] = (struct key_slot){.hash = item->hash, .item = item};
}

bool key_table_insert(struct key_table *table, struct key *item)
{
	if (table->n * 2 >= table->room) {
		uint32_t i, room = table->room ? table->room * 2 : FIRST_SLOTS;
		struct key_slot *slots = calloc(room, sizeof(*slots));

		if (!slots) {
			return false;
		}
		for (i = 0; i < table->room; i++) {
			if (table->slots[i].item) {
				put(slots, room, table->slots[i].item);
			}
		}
		free(table->slots);
		table->slots = slots;
		table->room = room;
	}
	put(table->slots, table->room, item);
	table->n++;
	return true;
}

void key_table_remove(struct key_table *table, struct key *item)
{
	uint32_t mask = table->room - 1;
	uint32_t hole = (uint32_t)item->hash & mask, at;

	while (table->slots[hole].item != item) {
		hole = (hole + 1) & mask;
	}
	/* Moves later ones of the run back, so that no tombstones pile up. (Knuth 6.4, algorithm
	 * R.) */
	for (at = (hole + 1) & mask; table->slots[at].item; at = (at + 1) & mask) {
		uint32_t home = (uint32_t)table->slots[at].hash & mask;

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->slots[hole] = table->slots[at];
			hole = at;
		}
	}
	table->slots[hole].item = NULL;
	table->n--;
}
