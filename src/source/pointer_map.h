/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_POINTER_MAP_H
#define PT_SOURCE_POINTER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From addresses to addresses: what the library's objects are to us. Looked at for every event, so
 * the look-up is one multiplication and mostly one comparison. At most half full, grows by itself.
 */
struct pointer_map {
	struct pointer_pair {
		const void *key; /* NULL: free */
		void *value;
	} * pairs;
	uint32_t n, room; /* room is 0 or a power of two */
};

void pointer_map_release(struct pointer_map *map);

/* False if out of memory. The key must not be in the map. */
bool pointer_map_add(struct pointer_map *map, const void *key, void *value);
void pointer_map_remove(struct pointer_map *map, const void *key);

static inline uint32_t pointer_map_home(const struct pointer_map *map, const void *key)
{
	uint64_t mixed = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 32) & (map->room - 1);
}

static inline void *pointer_map_find(const struct pointer_map *map, const void *key)
{
	if (map->room == 0) {
		return NULL;
	}
	for (uint32_t i = pointer_map_home(map, key);; i = (i + 1) & (map->room - 1)) {
		if (map->pairs[i].key == key) {
			return map->pairs[i].value;
		}
		if (!map->pairs[i].key) {
			return NULL;
		}
	}
}

#endif
