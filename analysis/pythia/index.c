/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pythia/index.h"

#define FIRST_ROOM 64u

void index_release(struct index *index)
{
	free(index->keys);
	free(index->values);
	*index = (struct index){.keys = NULL};
}

/* Where the key is, or would be. */
static uint32_t place(const struct index *index, uint64_t key)
{
	uint32_t at = (uint32_t)hash_u64(key) & (index->room - 1);

	while (index->values[at] != INDEX_NONE && index->keys[at] != key) {
		at = (at + 1) & (index->room - 1);
	}
	return at;
}

uint32_t index_find(const struct index *index, uint64_t key)
{
	return index->room ? index->values[place(index, key)] : INDEX_NONE;
}

static bool grow(struct index *index)
{
	struct index larger = {.room = index->room ? index->room * 2 : FIRST_ROOM, .n = index->n};

	larger.keys = malloc(larger.room * sizeof(*larger.keys));
	larger.values = malloc(larger.room * sizeof(*larger.values));
	if (!larger.keys || !larger.values) {
		index_release(&larger);
		return false;
	}
	memset(larger.values, 0xff, larger.room * sizeof(*larger.values));
	for (uint32_t i = 0; i < index->room; i++) {
		if (index->values[i] != INDEX_NONE) {
			uint32_t at = place(&larger, index->keys[i]);

			larger.keys[at] = index->keys[i];
			larger.values[at] = index->values[i];
		}
	}
	index_release(index);
	*index = larger;
	return true;
}

bool index_set(struct index *index, uint64_t key, uint32_t value)
{
	uint32_t at;

	if (index->n * 2 >= index->room && !grow(index)) {
		return false;
	}
	at = place(index, key);
	index->n += index->values[at] == INDEX_NONE;
	index->keys[at] = key;
	index->values[at] = value;
	return true;
}
