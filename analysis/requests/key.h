/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_KEY_H
#define PT_REQUESTS_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"

/*
 * Values that name something (a request id, a connection, a disk request), and a table to find the
 * thing by them. Integers compare by value, strings in full: a hash alone never joins two things.
 */
#define KEY_INLINE 32

struct key {
	uint64_t hash;
	uint32_t size;
	union {
		uint64_t words[KEY_INLINE / 8];
		unsigned char bytes[KEY_INLINE];
		unsigned char *far; /* from the pool, where size > KEY_INLINE */
	};
};

/* A key in the making: `bytes` is the caller's scratch, kept and grown from one use to the next. */
struct key_maker {
	unsigned char *bytes;
	uint32_t size, room;
};

void key_maker_release(struct key_maker *maker);
/* `space` and `host` say whose values these are. False if out of memory. */
bool key_begin(struct key_maker *maker, uint32_t space, uint32_t host);
bool key_number(struct key_maker *maker, uint64_t value);
bool key_bytes(struct key_maker *maker, const void *bytes, uint32_t size);
/* A view of what was made, valid until the maker's next use. */
struct key key_view(const struct key_maker *maker);
/* A key that lasts; false if out of memory. Give its memory back with key_free(). */
bool key_keep(struct pool *pool, struct key *key, const struct key *view);
void key_free(struct pool *pool, struct key *key);

/* Items of a table begin with their key. Open addressing, grows by doubling. */
struct key_slot {
	uint64_t hash;
	struct key *item;
};

struct key_table {
	struct key_slot *slots;
	uint32_t n, room;
};

void key_table_release(struct key_table *table);
struct key *key_table_find(const struct key_table *table, const struct key *key);
/* The key must not be there. False if out of memory. */
bool key_table_insert(struct key_table *table, struct key *item);
void key_table_remove(struct key_table *table, struct key *item);

#endif
