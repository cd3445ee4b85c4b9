/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_TEXTS_H
#define PT_GROUPS_TEXTS_H

#include <stdint.h>

#include "base/pool.h"

/*
 * Texts that samples refer to by number: values of fields, of which there may be as many as there
 * are requests. The same text has the same number, from 1, as long as anybody refers to it;
 * afterwards the number may stand for another text.
 *
 * Memory: each text once, `bytes` in all, plus 12 bytes for as many as there ever were at a time.
 * Threads: the caller's.
 */
struct text;

union text_place {
	struct text *text;
	uint32_t next_unused;
};

struct texts {
	struct pool *pool;
	union text_place *places; /* by number - 1 */
	uint32_t *table;          /* room entries: first number of each chain, by hash */
	uint32_t n, room, unused;
	uint64_t bytes;
};

void texts_init(struct texts *texts, struct pool *pool);
/* The texts themselves go with the pool. */
void texts_release(struct texts *texts);

/* One more reference to a text, which need not end in 0. 0 if out of memory. O(length). */
uint32_t texts_add(struct texts *texts, const char *text, uint32_t length);
void texts_drop(struct texts *texts, uint32_t number);
/* Ends in 0; borrowed until the last reference goes. */
const char *texts_get(const struct texts *texts, uint32_t number);

#endif
