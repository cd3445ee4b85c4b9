/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_NUMBER_MAP_H
#define PT_BASE_NUMBER_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers by number: an open hash table that grows. Memory: 24 bytes a key at most. */
#define NUMBER_NONE UINT32_MAX

struct number_map {
	uint64_t *keys;
	uint32_t *values; /* NUMBER_NONE: empty */
	uint32_t n, room;
};

void number_map_release(struct number_map *map);
/* NUMBER_NONE if there is none. */
uint32_t number_map_find(const struct number_map *map, uint64_t key);
/* Sets the value of a key, which must not be NUMBER_NONE. False if out of memory. */
bool number_map_set(struct number_map *map, uint64_t key, uint32_t value);

#endif
