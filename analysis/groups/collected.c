/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/collect.h"
#include "groups/collected.h"
#include "groups/grouping.h"
#include "base/hash.h"

#define RARE 100u /* a key that less than one of so many samples have */

_Static_assert(SAMPLE_MAX_KEYS < UINT16_MAX, "places in the table are 16 bits wide");

/* ---- which keys there are ---- */

static uint16_t *slot_of(struct collected *collected, enum explanation_source source,
		uint32_t context, uint32_t name)
{
	uint64_t at = hash_pair((uint64_t)source << 32 | context, name);

	for (;; at++) {
		uint16_t *slot = &collected->table[at & (COLLECTED_SLOTS - 1)];
		const struct collected_key *key = &collected->keys[*slot ? *slot - 1 : 0];

		if (!*slot || (key->source == source && key->context == context &&
					      key->name == name)) {
			return slot;
		}
	}
}

static void remove_key(struct collected *collected, uint32_t place)
{
	collected->n--;
	memmove(&collected->keys[place], &collected->keys[place + 1],
			(collected->n - place) * sizeof(*collected->keys));
	memset(collected->table, 0, sizeof(collected->table));
	for (uint32_t i = 0; i < collected->n; i++) {
		const struct collected_key *key = &collected->keys[i];

		*slot_of(collected, key->source, key->context, key->name) = (uint16_t)(i + 1);
	}
}

/* Makes room for one more key. False: all that there are are met often enough, or were just now. */
static bool make_room(struct collected *collected, uint32_t n_samples)
{
	uint32_t rarest = UINT32_MAX;

	if (collected->n < SAMPLE_MAX_KEYS) {
		return true;
	}
	for (uint32_t i = 0; i < collected->n; i++) {
		const struct collected_key *key = &collected->keys[i];

		if (key->rows * RARE < n_samples &&
				collected->taken - key->last_row >= COLLECT_RECENT &&
				(rarest == UINT32_MAX ||
						key->rows < collected->keys[rarest].rows)) {
			rarest = i;
		}
	}
	if (rarest == UINT32_MAX) {
		return false;
	}
	remove_key(collected, rarest);
	return true;
}

/* The key of a value, made if need be; NULL: there is no room, or it is of another kind. */
static struct collected_key *key_of(struct collected *collected, uint32_t n_samples,
		const struct request_key *of, bool *full)
{
	uint16_t *slot = slot_of(collected, of->source, of->context, of->name);
	struct collected_key *key = &collected->keys[*slot ? *slot - 1 : 0];

	if (*slot) {
		return key->numeric == of->numeric ? key : NULL;
	}
	*full = *full || !make_room(collected, n_samples);
	if (*full) {
		return NULL;
	}
	slot = slot_of(collected, of->source, of->context, of->name); /* others may have moved */
	key = &collected->keys[collected->n++];
	*slot = (uint16_t)collected->n;
	*key = (struct collected_key){.source = of->source,
			.numeric = of->numeric,
			.is_text = of->is_text,
			.context = of->context,
			.name = of->name,
			.serial = collected->next_serial++,
			.last_row = collected->taken + 1};
	return key;
}

/* ---- requests coming in ---- */

/* Welford's sums (1962), of two variables. */
static void count_elapsed(struct elapsed *elapsed, double after, double duration)
{
	double d = duration - elapsed->duration;

	elapsed->n++;
	elapsed->duration += d / elapsed->n;
	elapsed->variance += d * (duration - elapsed->duration);
	elapsed->after += (after - elapsed->after) / elapsed->n;
	elapsed->covariance += d * (after - elapsed->after);
}

/* By serial: where all keys were met before this is the order that they come in, or nearly so. */
static void insert(struct sample_keys *keys, const struct sample_key *key)
{
	uint32_t at = keys->n++;

	for (; at > 0 && keys->items[at - 1].serial > key->serial; at--) {
		keys->items[at] = keys->items[at - 1];
	}
	keys->items[at] = *key;
}

const struct sample_keys *collect_read(
		struct groups *groups, struct group *group, const struct request *request)
{
	struct sample_keys *out = groups->keys_of_one;
	struct request_keys keys;
	bool full = false;

	if (!groups->config.read_keys(groups->config.measurer, request, &keys)) {
		return NULL;
	}
	out->n = 0;
	for (uint32_t i = 0; i < keys.n && out->n < SAMPLE_MAX_KEYS; i++) {
		const struct request_key *from = &keys.items[i];
		struct collected_key *key =
				key_of(group->collected, group->now.observed.ring.n, from, &full);
		struct sample_key one;

		if (!key) {
			continue;
		}
		key->last_row = group->collected->taken + 1; /* this request's: it stays */
		count_elapsed(&key->elapsed, (double)from->after_ns,
				(double)(request->end_ns - request->start_ns));
		one = (struct sample_key){.serial = key->serial,
				.numeric = from->numeric,
				.number = from->number};
		if (!from->numeric) {
			one.text = texts_add(&groups->samples.texts, from->text, from->length);
		}
		if (one.numeric || one.text) {
			insert(out, &one);
		}
	}
	return out;
}

/* Both are by serial: the keys of a sample that there still are. */
static void count_rows(struct collected *collected, struct sample_reader reader, bool away)
{
	uint32_t place = 0;
	struct sample_key key;

	while (sample_next_key(&reader, &key)) {
		while (place < collected->n && collected->keys[place].serial < key.serial) {
			place++;
		}
		if (place < collected->n && collected->keys[place].serial == key.serial) {
			collected->keys[place].rows += away ? UINT32_MAX : 1;
		}
	}
}

void collect_taken(struct group *group, const struct sample *sample)
{
	if (sample->keyed) {
		group->collected->taken++;
		count_rows(group->collected, sample_read_keys(sample), false);
	}
}

void collect_dropped(struct groups *groups, const struct sample_keys *keys)
{
	for (uint32_t i = 0; keys && i < keys->n; i++) {
		if (!keys->items[i].numeric) {
			texts_drop(&groups->samples.texts, keys->items[i].text);
		}
	}
}

void collect_leave(struct group *group, const struct sample *sample)
{
	if (sample->keyed) {
		count_rows(group->collected, sample_read_keys(sample), true);
	}
}
