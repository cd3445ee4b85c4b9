/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SAMPLE_H
#define PT_GROUPS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/profile.h"
#include "pool.h"

/*
 * The last sampled requests of each group, in the order of their completion, as what they did in
 * each node of the group's profile: what intervals, tail shares and instants in the past are made
 * of.
 *
 * Items are packed into bytes (numbers of variable length, as in DWARF's LEB128): a request with 20
 * contexts takes some 350 bytes rather than 1.3 KiB, so that the bound lasts for four times as
 * many.
 *
 * Memory: 1,024 samples a group, and max_bytes of all groups together: then the oldest of any group
 * go. Those that only the pin refers to come on top of that, at most max_bytes again, since it
 * refers to what there was at one instant. Threads: the caller's.
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
	uint32_t size, taken; /* bytes with the items; what the pool gave for that */
	unsigned char items[];
};

/* Of one group: items[(first + i) % room] for i in 0..n-1, oldest first. */
struct sample_ring {
	struct sample **items;
	uint32_t room, first, n;
	bool dropped; /* it does not reach back to the first sample of all */
};

struct samples {
	struct pool pool;
	struct sample *oldest, *newest;
	uint64_t bytes, max_bytes; /* of those in rings */
};

/*
 * Puts a request into a ring, with one reference. NULL if out of memory. The caller makes room
 * before: in the ring (SAMPLES_MAX), and in all (samples_full()) afterwards.
 */
struct sample *samples_add(struct samples *samples, struct sample_ring *ring,
		const struct sample *head, const struct profile_items *items);
/* Takes the oldest sample of a ring out of it, and lets go of it. */
void samples_drop_oldest(struct samples *samples, struct sample_ring *ring);
static inline bool samples_full(const struct samples *samples)
{
	return samples->bytes > samples->max_bytes;
}

static inline struct sample *ring_at(const struct sample_ring *ring, uint32_t i)
{
	return ring->items[(ring->first + i) & (ring->room - 1)];
}

/* Another ring of the same samples, which holds them too. False if out of memory: it is empty. */
bool sample_ring_copy(struct sample_ring *copy, const struct sample_ring *ring);
/* Lets go of a copy. */
void sample_ring_release(struct samples *samples, struct sample_ring *ring);

/* Reads the items of a sample one after the other. */
struct sample_reader {
	const unsigned char *at;
	uint32_t left;
};

static inline struct sample_reader sample_read(const struct sample *sample)
{
	return (struct sample_reader){.at = sample->items, .left = sample->n_items};
}
bool sample_next(struct sample_reader *reader, struct profile_item *item);

#endif
