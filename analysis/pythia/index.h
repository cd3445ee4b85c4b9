/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_INDEX_H
#define PT_PYTHIA_INDEX_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers by number: an open hash table that grows. Memory: 24 bytes a key at most. */
#define INDEX_NONE UINT32_MAX

struct index {
	uint64_t *keys;
	uint32_t *values; /* INDEX_NONE: empty */
	uint32_t n, room;
};

void index_release(struct index *index);
/* INDEX_NONE if there is none. */
uint32_t index_find(const struct index *index, uint64_t key);
/* Sets the value of a key, which must not be INDEX_NONE. False if out of memory. */
bool index_set(struct index *index, uint64_t key, uint32_t value);

#endif
