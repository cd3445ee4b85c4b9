/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_ROOM 64u

struct text {
	uint32_t hash, references, length;
	uint32_t next; /* of the same hash, or unused */
	char bytes[];
};

void texts_init(struct texts *texts, struct pool *pool)
{
	*texts = (struct texts){.pool = pool};
}

void texts_release(struct texts *texts)
{
	free(texts->places);
	free(texts->table);
	texts_init(texts, texts->pool);
}

static uint32_t *chain_of(const struct texts *texts, uint32_t hash)
{
	return &texts->table[hash & (texts->room - 1)]; /* room is a power of two */
}

static void link_in(struct texts *texts, uint32_t number)
{
	struct text *text = texts->places[number - 1].text;
	uint32_t *chain = chain_of(texts, text->hash);

	text->next = *chain;
	*chain = number;
}

static bool grow(struct texts *texts)
{
	uint32_t room = texts->room ? texts->room * 2 : FIRST_ROOM;
	union text_place *places = realloc(texts->places, room * sizeof(*places));
	uint32_t *table = calloc(room, sizeof(*table));

	texts->places = places ? places : texts->places;
	if (!places || !table) {
		free(table);
		return false;
	}
	free(texts->table);
	texts->table = table;
	texts->room = room;
	for (uint32_t i = 1; i <= texts->n; i++) { /* full: each number has its text */
		link_in(texts, i);
	}
	return true;
}

static uint32_t find(const struct texts *texts, uint32_t hash, const char *bytes, uint32_t length)
{
	uint32_t number = texts->room ? *chain_of(texts, hash) : 0;

	while (number) {
		const struct text *text = texts->places[number - 1].text;

		if (text->hash == hash && text->length == length &&
				memcmp(text->bytes, bytes, length) == 0) {
			return number;
		}
		number = text->next;
	}
	return 0;
}

static size_t size_of(uint32_t length)
{
	return sizeof(struct text) + length + 1;
}

/* A number for a new text. */
static uint32_t take_number(struct texts *texts)
{
	uint32_t number = texts->unused;

	if (number) {
		texts->unused = texts->places[number - 1].next_unused;
		return number;
	}
	return texts->n < texts->room || grow(texts) ? ++texts->n : 0;
}

static void give_number(struct texts *texts, uint32_t number)
{
	texts->places[number - 1].next_unused = texts->unused;
	texts->unused = number;
}

uint32_t texts_add(struct texts *texts, const char *bytes, uint32_t length)
{
	uint32_t hash = (uint32_t)hash_bytes(bytes, length);
	uint32_t number = find(texts, hash, bytes, length);
	uint64_t in_use = texts->pool->in_use_bytes;
	struct text *text;

	if (number) {
		texts->places[number - 1].text->references++;
		return number;
	}
	number = take_number(texts);
	text = number ? pool_alloc(texts->pool, size_of(length)) : NULL;
	if (!text) {
		if (number) {
			give_number(texts, number);
		}
		return 0;
	}
	*text = (struct text){.hash = hash, .references = 1, .length = length};
	memcpy(text->bytes, bytes, length);
	text->bytes[length] = '\0';
	texts->places[number - 1].text = text;
	texts->bytes += texts->pool->in_use_bytes - in_use;
	link_in(texts, number);
	return number;
}

void texts_drop(struct texts *texts, uint32_t number)
{
	struct text *text = texts->places[number - 1].text;
	uint64_t in_use = texts->pool->in_use_bytes;
	uint32_t *link = chain_of(texts, text->hash);

	if (--text->references) {
		return;
	}
	while (*link != number) {
		link = &texts->places[*link - 1].text->next;
	}
	*link = text->next;
	pool_free(texts->pool, text, size_of(text->length));
	texts->bytes -= in_use - texts->pool->in_use_bytes;
	give_number(texts, number);
}

const char *texts_get(const struct texts *texts, uint32_t number)
{
	return texts->places[number - 1].text->bytes;
}
