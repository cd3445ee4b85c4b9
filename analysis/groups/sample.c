/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/sample.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM     8u
#define NUMBER_BYTES   10 /* of a packed 64-bit number */
#define ITEM_MAX_BYTES (7 * NUMBER_BYTES)

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

/* Mostly there is one span, whose square need not be written: the lowest bit says so. */
static unsigned char *put_item(unsigned char *at, const struct profile_item *item)
{
	bool plain = item->squares == (measured_uint128)item->total_ns * item->total_ns;

	at = put(at, item->node);
	at = put(at, (uint64_t)item->spans << 1 | plain);
	at = put(at, item->total_ns);
	at = put(at, item->self_ns);
	at = put(at, item->segment_ns);
	if (!plain) {
		at = put(at, (uint64_t)item->squares);
		at = put(at, (uint64_t)(item->squares >> 64));
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
	item->spans = (uint32_t)(spans >> 1);
	item->total_ns = get(&reader->at);
	item->self_ns = get(&reader->at);
	item->segment_ns = get(&reader->at);
	if (spans & 1) {
		item->squares = (measured_uint128)item->total_ns * item->total_ns;
	} else {
		item->squares = get(&reader->at);
		item->squares |= (measured_uint128)get(&reader->at) << 64;
	}
	return true;
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

/* Packs into stack memory where that will do, so that only as much is allocated as is needed. */
static struct sample *pack(struct samples *samples, const struct profile_items *items)
{
	unsigned char small[64 * ITEM_MAX_BYTES], *bytes = small, *at;
	uint64_t in_use = samples->pool.in_use_bytes;
	struct sample *sample;
	size_t size;

	if (items->n > 64) {
		bytes = malloc((size_t)items->n * ITEM_MAX_BYTES);
	}
	if (!bytes) {
		return NULL;
	}
	at = bytes;
	for (uint32_t i = 0; i < items->n; i++) {
		at = put_item(at, &items->items[i]);
	}
	size = sizeof(*sample) + (size_t)(at - bytes);
	sample = pool_alloc(&samples->pool, size);
	if (sample) {
		memset(sample, 0, sizeof(*sample));
		memcpy(sample->items, bytes, (size_t)(at - bytes));
		sample->size = (uint32_t)size;
		sample->taken = (uint32_t)(samples->pool.in_use_bytes - in_use);
		sample->n_items = items->n;
	}
	if (bytes != small) {
		free(bytes);
	}
	return sample;
}

struct sample *samples_add(struct samples *samples, struct sample_ring *ring,
		const struct sample *head, const struct profile_items *items)
{
	struct sample *sample = NULL;

	if (ring->n < ring->room || ring_grow(ring)) {
		sample = pack(samples, items);
	}
	if (!sample) {
		return NULL;
	}
	sample->id = head->id;
	sample->start_ns = head->start_ns;
	sample->end_ns = head->end_ns;
	sample->request = head->request;
	sample->group = head->group;
	sample->references = 1;
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
