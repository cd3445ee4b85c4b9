/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"

#define FIRST_SLOTS 256

struct entry {
	const char *text;
	const char *shown; /* NULL: as it is */
	size_t length;
	uint64_t hash;
};

/* Texts live in chunks that never move, so that names_text() stays valid. */
struct text_chunk {
	struct text_chunk *next;
	size_t used, size;
	char text[];
};

struct names {
	struct entry *entries; /* by number; entry 0 is "" */
	uint32_t n, room, max;
	uint32_t *slots; /* numbers by hash; 0: empty */
	uint32_t n_slots;
	struct text_chunk *chunks;
};

struct names *names_create(uint32_t max)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names) {
		return NULL;
	}
	names->max = max;
	names->n_slots = FIRST_SLOTS;
	names->room = FIRST_SLOTS / 2;
	names->slots = calloc(names->n_slots, sizeof(*names->slots));
	names->entries = calloc(names->room, sizeof(*names->entries));
	if (!names->slots || !names->entries) {
		names_destroy(names);
		return NULL;
	}
	names->entries[0].text = "";
	names->n = 1;
	return names;
}

void names_destroy(struct names *names)
{
	struct text_chunk *chunk, *next;

	if (!names) {
		return;
	}
	for (chunk = names->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(names->entries);
	free(names->slots);
	free(names);
}

static const char *keep_text(struct names *names, const char *text, size_t length)
{
	struct text_chunk *chunk = names->chunks;
	char *copy;

	if (!chunk || chunk->size - chunk->used < length + 1) {
		size_t size = length + 1 > 16384 ? length + 1 : 16384;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk) {
			return NULL;
		}
		chunk->used = 0;
		chunk->size = size;
		chunk->next = names->chunks;
		names->chunks = chunk;
	}
	copy = chunk->text + chunk->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	chunk->used += length + 1;
	return copy;
}

static bool grow(struct names *names)
{
	uint32_t n_slots = names->n_slots * 2;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	struct entry *entries = realloc(names->entries, n_slots / 2 * sizeof(*entries));
	uint32_t i;

	if (entries) {
		names->entries = entries;
	}
	if (!slots || !entries) {
		free(slots);
		return false;
	}
	names->room = n_slots / 2;
	for (i = 1; i < names->n; i++) {
		uint32_t at = (uint32_t)entries[i].hash & (n_slots - 1);

		while (slots[at]) {
			at = (at + 1) & (n_slots - 1);
		}
		slots[at] = i;
	}
	free(names->slots);
	names->slots = slots;
	names->n_slots = n_slots;
	return true;
}

uint32_t names_add(struct names *names, const char *text, size_t length)
{
	uint64_t hash;
	uint32_t at;
	const char *copy;

	if (length == 0) {
		return 0;
	}
	hash = hash_bytes(text, length);
	for (at = (uint32_t)hash & (names->n_slots - 1); names->slots[at];
			at = (at + 1) & (names->n_slots - 1)) {
		const struct entry *entry = &names->entries[names->slots[at]];

		if (entry->hash == hash && entry->length == length &&
				memcmp(entry->text, text, length) == 0) {
			return names->slots[at];
		}
	}
	if (names->n > names->max || (names->n == names->room && !grow(names))) {
		return 0;
	}
	copy = keep_text(names, text, length);
	if (!copy) {
		return 0;
	}
	at = (uint32_t)hash & (names->n_slots - 1);
	while (names->slots[at]) {
		at = (at + 1) & (names->n_slots - 1);
	}
	names->entries[names->n] = (struct entry){.text = copy, .length = length, .hash = hash};
	names->slots[at] = names->n;
	return names->n++;
}

const char *names_text(const struct names *names, uint32_t name)
{
	const struct entry *entry = &names->entries[name < names->n ? name : 0];

	return entry->shown ? entry->shown : entry->text;
}

const char *names_own_text(const struct names *names, uint32_t name)
{
	return name < names->n ? names->entries[name].text : "";
}

bool names_show(struct names *names, uint32_t name, const char *text)
{
	const char *shown = names_text(names, name);

	if (name == 0 || name >= names->n || strcmp(shown, text) == 0) {
		return name > 0 && name < names->n;
	}
	shown = keep_text(names, text, strlen(text));
	if (shown) {
		names->entries[name].shown = shown;
	}
	return shown != NULL;
}
