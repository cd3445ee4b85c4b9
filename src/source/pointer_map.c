/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pointer_map.h"

#include <stdlib.h>

void pointer_map_release(struct pointer_map *map)
{
	free(map->pairs);
	*map = (struct pointer_map){0};
}

static void insert(struct pointer_map *map, const void *key, void *value)
{
	uint32_t i = pointer_map_home(map, key);

	while (map->pairs[i].key) {
		i = (i + 1) & (map->room - 1);
	}
	map->pairs[i] = (struct pointer_pair){.key = key, .value = value};
}

static bool grow(struct pointer_map *map)
{
	struct pointer_map larger = {.n = map->n, .room = map->room ? 2 * map->room : 64};

	larger.pairs = calloc(larger.room, sizeof(*larger.pairs));
	if (!larger.pairs) {
		return false;
	}
	for (uint32_t i = 0; i < map->room; i++) {
		if (map->pairs[i].key) {
			insert(&larger, map->pairs[i].key, map->pairs[i].value);
		}
	}
	free(map->pairs);
	*map = larger;
	return true;
}

bool pointer_map_add(struct pointer_map *map, const void *key, void *value)
{
	if (2 * (map->n + 1) > map->room && !grow(map)) {
		return false;
	}
	insert(map, key, value);
	map->n++;
	return true;
}

void pointer_map_remove(struct pointer_map *map, const void *key)
{
	uint32_t mask = map->room - 1, i;

	if (!pointer_map_find(map, key)) {
		return;
	}
	for (i = pointer_map_home(map, key); map->pairs[i].key != key; i = (i + 1) & mask) {
	}
	map->pairs[i].key = NULL;
	map->n--;
	/* What follows may have been pushed here by this one: put it in again. */
	for (i = (i + 1) & mask; map->pairs[i].key; i = (i + 1) & mask) {
		struct pointer_pair pair = map->pairs[i];

		map->pairs[i].key = NULL;
		insert(map, pair.key, pair.value);
	}
}
