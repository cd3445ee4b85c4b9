/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SAMPLE_H
#define PT_GROUPS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/profile.h"
#include "groups/texts.h"
#include "base/pool.h"

/*
 * The last sampled requests of each group, in the order of their completion, as what they did in
 * each node of the group's profile: what intervals, tail shares and instants in the past are made
 * of.
 *
 * Items are packed into bytes (numbers of variable length, as in DWARF's LEB128): a request with 20
 * contexts takes some 350 bytes rather than 1.3 KiB, so that the bound lasts for four times as
 * many.
 *
 * Behind the items, of groups that are being explained, stand the key-values of the request, packed
 * in the same way: two or three bytes each. See collect.h.
 *
 * Memory: 1,024 samples a group, and max_bytes of all groups together, the texts of
 * key-values included: then the oldest of any group go. Those that only the pin refers to come on
 * top of that, at most max_bytes again, since it refers to what there was at one instant. Threads:
 * the caller's.
 */
#define SAMPLES_MAX 1024u /* of a group; a power of two */

struct sample {
	struct sample *older, *newer;    /* of all groups, in the order of completion */
	struct sample *next_of_quarter;  /* while in the window */
	struct sample **link_of_quarter; /* what points here */
	uint64_t id, start_ns, end_ns;   /* of the request */
	struct profile_request request;
	uint32_t group; /* its index */
	uint32_t n_items, references;
	uint32_t size, taken; /* bytes with what follows; what the pool gave for that */
	uint16_t n_keys;      /* behind the items */
	bool keyed;           /* key-values were read, if only to find that it has none */
	unsigned char items[];
};

/* A key-value: of which key, and a number or a text. */
struct sample_key {
	uint32_t serial; /* ascending within a sample */
	bool numeric;
	double number;
	uint32_t text; /* of struct samples; with one reference */
};

#define SAMPLE_MAX_KEYS 2048u

struct sample_keys {
	uint32_t n;
	struct sample_key items[SAMPLE_MAX_KEYS];
};

/* Of one group: items[(first + i) % room] for i in 0..n-1, oldest first. */
struct sample_ring {
	struct sample **items;
	uint32_t room, first, n;
	bool dropped; /* it does not reach back to the first sample of all */
};

struct samples {
	struct pool pool;
	struct texts texts; /* that samples in rings refer to */
	struct sample *oldest, *newest;
	uint64_t bytes, max_bytes; /* of those in rings */
	unsigned char *packing;    /* what is being packed */
	size_t packing_room;
};

void samples_init(struct samples *samples, uint64_t max_bytes);
void samples_release(struct samples *samples);

/*
 * Puts a request into a ring, with one reference, which takes over those of the texts of its keys
 * (NULL: they were not read). NULL if out of memory. The caller makes room before: in the ring
 * (SAMPLES_MAX), and in all (samples_full()) afterwards.
 */
struct sample *samples_add(struct samples *samples, struct sample_ring *ring,
		const struct sample *head, const struct profile_items *items,
		const struct sample_keys *keys);
/* The same sample with other keys, in the place of one. False if out of memory: all is as before.
 */
bool samples_set_keys(struct samples *samples, struct sample_ring *ring, uint32_t i,
		const struct sample_keys *keys);
/* It has no keys any more; its size stays. */
void samples_forget_keys(struct samples *samples, struct sample *sample);
/* Takes the oldest sample of a ring out of it, and lets go of it. */
void samples_drop_oldest(struct samples *samples, struct sample_ring *ring);
static inline bool samples_full(const struct samples *samples)
{
	return samples->bytes + samples->texts.bytes > samples->max_bytes;
}

static inline struct sample *ring_at(const struct sample_ring *ring, uint32_t i)
{
	return ring->items[(ring->first + i) & (ring->room - 1)];
}

/* Another ring of the same samples, which holds them too. False if out of memory: it is empty. */
bool sample_ring_copy(struct sample_ring *copy, const struct sample_ring *ring);
/* Lets go of a copy. */
void sample_ring_release(struct samples *samples, struct sample_ring *ring);

/* Reads the items of a sample one after the other, then its keys. */
struct sample_reader {
	const unsigned char *at;
	uint32_t left, keys_left, serial;
};

static inline struct sample_reader sample_read(const struct sample *sample)
{
	return (struct sample_reader){
			.at = sample->items, .left = sample->n_items, .keys_left = sample->n_keys};
}
bool sample_next(struct sample_reader *reader, struct profile_item *item);
/* Begins at the keys; sample_next() must not be asked afterwards. */
struct sample_reader sample_read_keys(const struct sample *sample);
bool sample_next_key(struct sample_reader *reader, struct sample_key *key);

#endif
