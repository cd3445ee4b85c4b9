/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_STORE_H
#define PT_STATE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"

/*
 * What things were, and since when: the history of a value over the window.
 *
 * A series is a ring of records in the order of time; a record begins with its time (u64, ns).
 * An attribute is a value with its history: the ongoing value, and the values before it, each in
 * force from its time until the next one's. 0 is "not known". Running totals are attributes too:
 * the difference of two instants is what happened between them.
 *
 * Memory: a series grows while its oldest record is within the horizon, shrinks when a quarter of
 * it is used, and costs no allocation an event in between. store_bytes() is what all of them take;
 * its owner moves the horizon on when that is too much. One thread at a time.
 */
struct store {
	struct pool pool;
	uint64_t horizon_ns; /* what ended before has gone, or goes when looked at next */
	uint64_t trimmed_ns; /* before it detail is missing for want of memory; 0: none */
	uint64_t failed;     /* records that had no room: out of memory */
};

struct series {
	unsigned char *ring;
	uint32_t first, n, room; /* room: 0 or a power of two */
	uint32_t size;           /* of a record, in bytes, a multiple of 8 */
};

struct attribute {
	uint64_t since_ns, value; /* ongoing */
	struct series past;       /* of struct past_value */
	bool cut;                 /* older values have gone */
};

struct past_value {
	uint64_t at_ns, value; /* in force from at_ns on */
};

void store_init(struct store *store);
void store_release(struct store *store);
uint64_t store_bytes(const struct store *store);

/* A fresh record at the end, of `size` bytes, its time set. NULL if out of memory (counted). */
void *series_push(struct store *store, struct series *series, uint32_t size, uint64_t at_ns);
/* Drops records before the horizon; gives back memory that is no longer needed. */
void series_expire(struct store *store, struct series *series);
void series_release(struct store *store, struct series *series);
/* The first record at or after an instant; series->n if none. */
uint32_t series_from(const struct series *series, uint64_t at_ns);

static inline void *series_at(const struct series *series, uint32_t i)
{
	return series->ring + (size_t)((series->first + i) & (series->room - 1)) * series->size;
}

/* Takes a new value from at_ns on; nothing is kept of a value that did not change or last. */
void attribute_set(
		struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t value);
/* The value in force at an instant; 0 before the first one. */
uint64_t attribute_at(const struct attribute *attribute, uint64_t at_ns);
/* The same, and when that value began. */
uint64_t attribute_since(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns);
/* The same for one instant after the other, back in time: *near, of the past, is where the one
 * before was found, and is set; whatever it is, the answer is right. */
uint64_t attribute_since_near(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns,
		uint32_t *near);
/*
 * What happened at an instant, where the same may happen again: value (below 2^63) and when, 0 if
 * it never did. What is marked is read with attribute_marked() alone.
 */
void attribute_mark(
		struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t value);
uint64_t attribute_marked(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns);
/* As attribute_set(value + more), for running totals. */
void attribute_add(struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t more);
/* What a running total gained after from_ns and until to_ns. */
uint64_t attribute_gain(const struct attribute *attribute, uint64_t from_ns, uint64_t to_ns);
void attribute_expire(struct store *store, struct attribute *attribute);
void attribute_release(struct store *store, struct attribute *attribute);

/*
 * How long each value was in force within [from, to), in ns, added to by_value[], which has a place
 * for each value that the attribute ever takes (and 0). The sums of a walk, several times as fast.
 */
void attribute_times(const struct attribute *attribute, uint64_t from_ns, uint64_t to_ns,
		uint64_t *by_value);

/* Walks over the values of [from, to), cut at its ends; `walk` must be zeroed before. */
struct attribute_walk {
	uint32_t next; /* of the past; its n: the ongoing value */
	bool started;
	uint64_t begin_ns, end_ns, value; /* of this step */
	uint64_t since_ns;                /* when the value really began; 0: before the first */
};
/* Where a walk from there begins: walk.next. A walk itself is handed to nobody, so that it stays in
 * registers. */
uint32_t attribute_first(const struct attribute *attribute, uint64_t from_ns);

static inline const struct past_value *attribute_past(const struct attribute *attribute, uint32_t i)
{
	const struct past_value *ring = (const void *)attribute->past.ring;

	return &ring[(attribute->past.first + i) & (attribute->past.room - 1)];
}

/* When the value before ends, and the next begins. */
static inline uint64_t attribute_next_ns(const struct attribute *attribute, uint32_t next)
{
	return next < attribute->past.n ? attribute_past(attribute, next)->at_ns
					: attribute->since_ns;
}

static inline bool attribute_step(const struct attribute *attribute, uint64_t from_ns,
		uint64_t to_ns, struct attribute_walk *walk)
{
	uint64_t end_ns;

	if (!walk->started) {
		walk->started = true;
		walk->end_ns = from_ns;
		walk->next = attribute_first(attribute, from_ns);
	}
	walk->begin_ns = walk->end_ns;
	if (walk->begin_ns >= to_ns) {
		return false;
	}
	if (walk->next == UINT32_MAX) { /* before the first value */
		walk->value = 0;
		walk->since_ns = 0;
		walk->next = 0;
	} else if (walk->next < attribute->past.n) {
		const struct past_value *past = attribute_past(attribute, walk->next++);

		walk->value = past->value;
		walk->since_ns = past->at_ns;
	} else {
		walk->value = attribute->value;
		walk->since_ns = attribute->since_ns;
		walk->end_ns = to_ns;
		return true;
	}
	end_ns = attribute_next_ns(attribute, walk->next);
	walk->end_ns = end_ns < to_ns ? end_ns : to_ns;
	return true;
}

#endif
