/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number_map.h"

#define FIRST_ROOM 64u

void number_map_release(struct number_map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct number_map){.keys = NULL};
}

/* Where the key is, or would be. */
static uint32_t place(const struct number_map *map, uint64_t key)
{
	uint32_t at = (uint32_t)hash_u64(key) & (map->room - 1);

	while (map->values[at] != NUMBER_NONE && map->keys[at] != key) {
		at = (at + 1) & (map->room - 1);
	}
	return at;
}

uint32_t number_map_find(const struct number_map *map, uint64_t key)
{
	return map->room ? map->values[place(map, key)] : NUMBER_NONE;
}

static bool grow(struct number_map *map)
{
	struct number_map larger = {.room = map->room ? map->room * 2 : FIRST_ROOM, .n = map->n};

	larger.keys = malloc(larger.room * sizeof(*larger.keys));
	larger.values = malloc(larger.room * sizeof(*larger.values));
	if (!larger.keys || !larger.values) {
		number_map_release(&larger);
		return false;
	}
	memset(larger.values, 0xff, larger.room * sizeof(*larger.values));
	for (uint32_t i = 0; i < map->room; i++) {
		if (map->values[i] != NUMBER_NONE) {
			uint32_t at = place(&larger, map->keys[i]);

			larger.keys[at] = map->keys[i];
			larger.values[at] = map->values[i];
		}
	}
	number_map_release(map);
	*map = larger;
	return true;
}

bool number_map_set(struct number_map *map, uint64_t key, uint32_t value)
{
	uint32_t at;

	if (map->n * 2 >= map->room && !grow(map)) {
		return false;
	}
	at = place(map, key);
	map->n += map->values[at] == NUMBER_NONE;
	map->keys[at] = key;
	map->values[at] = value;
	return true;
}
