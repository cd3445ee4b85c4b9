/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM     8u
#define NUMBER_BYTES   10 /* of a packed 64-bit number */
#define ITEM_MAX_BYTES (8 * NUMBER_BYTES)
#define KEY_MAX_BYTES  (2 * NUMBER_BYTES)
#define EXACT_MAX      0x1p53 /* an integer below is exact as a double */

/* How the value of a key is packed: the lowest bits of its number. */
enum packed {
	PACKED_INTEGER = 0,
	PACKED_DOUBLE,
	PACKED_TEXT,
	PACKED_BITS = 2,
};

static unsigned char *put(unsigned char *at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7) {
		*at++ = (unsigned char)(0x80 | (number & 0x7f));
	}
	*at++ = (unsigned char)number;
	return at;
}

static uint64_t get(const unsigned char **at)
{
	uint64_t number = 0;
	unsigned int shift = 0;

	for (; **at & 0x80; (*at)++, shift += 7) {
		number |= (uint64_t)(**at & 0x7f) << shift;
	}
	number |= (uint64_t)(**at) << shift;
	(*at)++;
	return number;
}

/* Mostly there is one span, which did not fail: the two lowest bits say whether more is written. */
#define ITEM_PLAIN  1u /* its square need not be */
#define ITEM_FAILED 2u
#define ITEM_BITS   2
static unsigned char *put_item(unsigned char *at, const struct profile_item *item)
{
	bool plain = item->squares == (measured_uint128)item->total_ns * item->total_ns;

	at = put(at, item->node);
	at = put(at, (uint64_t)item->spans << ITEM_BITS | (plain ? ITEM_PLAIN : 0) |
				    (item->failed ? ITEM_FAILED : 0));
	at = put(at, item->total_ns);
	at = put(at, item->self_ns);
	at = put(at, item->segment_ns);
	if (!plain) {
		at = put(at, (uint64_t)item->squares);
		at = put(at, (uint64_t)(item->squares >> 64));
	}
	if (item->failed) {
		at = put(at, item->failed);
	}
	return at;
}

bool sample_next(struct sample_reader *reader, struct profile_item *item)
{
	uint64_t spans;

	if (!reader->left) {
		return false;
	}
	reader->left--;
	item->node = (uint32_t)get(&reader->at);
	spans = get(&reader->at);
	item->spans = (uint32_t)(spans >> ITEM_BITS);
	item->total_ns = get(&reader->at);
	item->self_ns = get(&reader->at);
	item->segment_ns = get(&reader->at);
	if (spans & ITEM_PLAIN) {
		item->squares = (measured_uint128)item->total_ns * item->total_ns;
	} else {
		item->squares = get(&reader->at);
		item->squares |= (measured_uint128)get(&reader->at) << 64;
	}
	item->failed = spans & ITEM_FAILED ? (uint32_t)get(&reader->at) : 0;
	return true;
}

/* Numbers are mostly small integers. Signs take the lowest bit. */
static unsigned char *put_key(unsigned char *at, uint32_t last, const struct sample_key *key)
{
	uint64_t step = (uint64_t)(key->serial - last) << PACKED_BITS;
	bool exact = key->numeric && fabs(key->number) <= EXACT_MAX &&
		     key->number == trunc(key->number);

	if (!key->numeric) {
		return put(put(at, step | PACKED_TEXT), key->text);
	}
	if (exact) {
		int64_t number = (int64_t)key->number;

		return put(put(at, step | PACKED_INTEGER),
				(uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
	}
	at = put(at, step | PACKED_DOUBLE);
	memcpy(at, &key->number, sizeof(key->number));
	return at + sizeof(key->number);
}

struct sample_reader sample_read_keys(const struct sample *sample)
{
	struct sample_reader reader = sample_read(sample);
	struct profile_item item;

	while (sample->n_keys && sample_next(&reader, &item)) {
	}
	return reader;
}

bool sample_next_key(struct sample_reader *reader, struct sample_key *key)
{
	uint64_t step, number;

	if (!reader->keys_left) {
		return false;
	}
	reader->keys_left--;
	step = get(&reader->at);
	*key = (struct sample_key){.serial = reader->serial + (uint32_t)(step >> PACKED_BITS)};
	reader->serial = key->serial;
	switch ((enum packed)(step & ((1u << PACKED_BITS) - 1))) {
	case PACKED_TEXT:
		key->text = (uint32_t)get(&reader->at);
		break;
	case PACKED_DOUBLE:
		key->numeric = true;
		memcpy(&key->number, reader->at, sizeof(key->number));
		reader->at += sizeof(key->number);
		break;
	default:
		key->numeric = true;
		number = get(&reader->at);
		key->number = (double)(int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
	}
	return true;
}

void samples_init(struct samples *samples, uint64_t max_bytes)
{
	*samples = (struct samples){.max_bytes = max_bytes};
	pool_init(&samples->pool);
	texts_init(&samples->texts, &samples->pool);
}

void samples_release(struct samples *samples)
{
	free(samples->packing);
	texts_release(&samples->texts);
	pool_release(&samples->pool);
}

void samples_forget_keys(struct samples *samples, struct sample *sample)
{
	struct sample_reader reader = sample_read_keys(sample);
	struct sample_key key;

	while (sample_next_key(&reader, &key)) {
		if (!key.numeric) {
			texts_drop(&samples->texts, key.text);
		}
	}
	sample->n_keys = 0;
	sample->keyed = false;
}

static void drop(struct samples *samples, struct sample *sample)
{
	if (--sample->references == 0) {
		pool_free(&samples->pool, sample, sample->size);
	}
}

/* The ring doubles up to SAMPLES_MAX: most groups never need all of it. */
static bool ring_grow(struct sample_ring *ring)
{
	uint32_t room = ring->room ? ring->room * 2 : FIRST_ROOM;
	struct sample **items = malloc(room * sizeof(struct sample *));

	if (!items) {
		return false;
	}
	for (uint32_t i = 0; i < ring->n; i++) {
		items[i] = ring_at(ring, i);
	}
	free(ring->items);
	ring->items = items;
	ring->room = room;
	ring->first = 0;
	return true;
}

static unsigned char *put_keys(unsigned char *at, const struct sample_keys *keys)
{
	uint32_t last = 0;

	for (uint32_t i = 0; keys && i < keys->n; i++) {
		at = put_key(at, last, &keys->items[i]);
		last = keys->items[i].serial;
	}
	return at;
}

/* A sample of these bytes; NULL if out of memory. */
static struct sample *make(struct samples *samples, const unsigned char *bytes, size_t n_bytes,
		uint32_t n_items, const struct sample_keys *keys)
{
	uint64_t in_use = samples->pool.in_use_bytes;
	size_t size = sizeof(struct sample) + n_bytes;
	struct sample *sample = pool_alloc(&samples->pool, size);

	if (sample) {
		memset(sample, 0, sizeof(*sample));
		memcpy(sample->items, bytes, n_bytes);
		sample->size = (uint32_t)size;
		sample->taken = (uint32_t)(samples->pool.in_use_bytes - in_use);
		sample->n_items = n_items;
		sample->n_keys = keys ? (uint16_t)keys->n : 0;
		sample->keyed = keys != NULL;
		sample->references = 1;
	}
	return sample;
}

/* Room to pack in, so that only as much is allocated as is needed. NULL if out of memory. */
static unsigned char *reserve(struct samples *samples, size_t size, const struct sample_keys *keys)
{
	unsigned char *grown;

	size += keys ? keys->n * KEY_MAX_BYTES : 0;
	if (size < samples->packing_room) {
		return samples->packing;
	}
	grown = realloc(samples->packing, size * 2 + 1);
	if (grown) {
		samples->packing = grown;
		samples->packing_room = size * 2 + 1;
	}
	return grown;
}

static struct sample *pack(struct samples *samples, const struct profile_items *items,
		const struct sample_keys *keys)
{
	unsigned char *bytes = reserve(samples, (size_t)items->n * ITEM_MAX_BYTES, keys);
	unsigned char *at = bytes;

	if (!bytes) {
		return NULL;
	}
	for (uint32_t i = 0; i < items->n; i++) {
		at = put_item(at, &items->items[i]);
	}
	at = put_keys(at, keys);
	return make(samples, bytes, (size_t)(at - bytes), items->n, keys);
}

/* Puts one into the place of another in the list of all, and of its quarter. */
static void take_place(struct samples *samples, struct sample *sample, struct sample *old)
{
	*(old->older ? &old->older->newer : &samples->oldest) = sample;
	*(old->newer ? &old->newer->older : &samples->newest) = sample;
	sample->older = old->older;
	sample->newer = old->newer;
	sample->next_of_quarter = old->next_of_quarter;
	sample->link_of_quarter = old->link_of_quarter;
	if (old->link_of_quarter) {
		*old->link_of_quarter = sample;
		if (sample->next_of_quarter) {
			sample->next_of_quarter->link_of_quarter = &sample->next_of_quarter;
		}
		old->link_of_quarter = NULL;
	}
	samples->bytes += sample->taken;
	samples->bytes -= old->taken;
}

bool samples_set_keys(struct samples *samples, struct sample_ring *ring, uint32_t i,
		const struct sample_keys *keys)
{
	struct sample **place = &ring->items[(ring->first + i) & (ring->room - 1)];
	struct sample *old = *place, *sample;
	struct sample_reader reader = sample_read(old);
	struct profile_item item;
	unsigned char *bytes, *at;
	size_t n_bytes;

	while (sample_next(&reader, &item)) {
	}
	n_bytes = (size_t)(reader.at - old->items);
	bytes = reserve(samples, n_bytes, keys);
	if (!bytes) {
		return false;
	}
	memcpy(bytes, old->items, n_bytes);
	at = put_keys(bytes + n_bytes, keys);
	sample = make(samples, bytes, (size_t)(at - bytes), old->n_items, keys);
	if (!sample) {
		return false;
	}
	sample->id = old->id;
	sample->start_ns = old->start_ns;
	sample->end_ns = old->end_ns;
	sample->request = old->request;
	sample->group = old->group;
	samples_forget_keys(samples, old);
	take_place(samples, sample, old);
	*place = sample;
	drop(samples, old);
	return true;
}

struct sample *samples_add(struct samples *samples, struct sample_ring *ring,
		const struct sample *head, const struct profile_items *items,
		const struct sample_keys *keys)
{
	struct sample *sample = NULL;

	if (ring->n < ring->room || ring_grow(ring)) {
		sample = pack(samples, items, keys);
	}
	if (!sample) {
		return NULL;
	}
	sample->id = head->id;
	sample->start_ns = head->start_ns;
	sample->end_ns = head->end_ns;
	sample->request = head->request;
	sample->group = head->group;
	sample->older = samples->newest;
	if (sample->older) {
		sample->older->newer = sample;
	} else {
		samples->oldest = sample;
	}
	samples->newest = sample;
	samples->bytes += sample->taken;
	ring->items[(ring->first + ring->n++) & (ring->room - 1)] = sample;
	return sample;
}

void samples_drop_oldest(struct samples *samples, struct sample_ring *ring)
{
	struct sample *sample = ring_at(ring, 0);

	ring->first = (ring->first + 1) & (ring->room - 1);
	ring->n--;
	ring->dropped = true;
	*(sample->older ? &sample->older->newer : &samples->oldest) = sample->newer;
	*(sample->newer ? &sample->newer->older : &samples->newest) = sample->older;
	samples->bytes -= sample->taken;
	samples_forget_keys(samples, sample);
	drop(samples, sample);
}

bool sample_ring_copy(struct sample_ring *copy, const struct sample_ring *ring)
{
	memset(copy, 0, sizeof(*copy));
	copy->dropped = ring->dropped;
	if (!ring->n) {
		return true;
	}
	copy->items = malloc(ring->room * sizeof(struct sample *));
	if (!copy->items) {
		return false;
	}
	memcpy(copy->items, ring->items, ring->room * sizeof(struct sample *));
	copy->room = ring->room;
	copy->first = ring->first;
	copy->n = ring->n;
	for (uint32_t i = 0; i < copy->n; i++) {
		ring_at(copy, i)->references++;
	}
	return true;
}

void sample_ring_release(struct samples *samples, struct sample_ring *ring)
{
	for (uint32_t i = 0; i < ring->n; i++) {
		drop(samples, ring_at(ring, i));
	}
	free(ring->items);
	memset(ring, 0, sizeof(*ring));
}
