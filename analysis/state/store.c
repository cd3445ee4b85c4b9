/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/store.h"

#define LEAST_BYTES 64u
#define NEAR        8u

void store_init(struct store *store)
{
	*store = (struct store){.horizon_ns = 0};
	pool_init(&store->pool);
}

void store_release(struct store *store)
{
	pool_release(&store->pool);
}

uint64_t store_bytes(const struct store *store)
{
	return store->pool.in_use_bytes;
}

/* --- series ---------------------------------------------------------------------------------- */

static uint32_t least_room(uint32_t size)
{
	uint32_t room = 1;

	while (room * size < LEAST_BYTES) {
		room *= 2;
	}
	return room;
}

static uint64_t time_at(const struct series *series, uint32_t i)
{
	uint64_t at_ns;

	memcpy(&at_ns, series_at(series, i), sizeof(at_ns));
	return at_ns;
}

/* Moves the records to a ring of another size; they fit. */
static bool set_room(struct store *store, struct series *series, uint32_t room)
{
	unsigned char *ring = pool_alloc(&store->pool, (size_t)room * series->size);
	uint32_t ahead = series->room - series->first; /* before the old ring wraps */
	uint32_t straight = series->n < ahead ? series->n : ahead;
	size_t bytes = (size_t)straight * series->size;

	if (!ring) {
		return false;
	}
	if (straight > 0) {
		memcpy(ring, series_at(series, 0), bytes);
		memcpy(ring + bytes, series->ring, (size_t)series->n * series->size - bytes);
	}
	pool_free(&store->pool, series->ring, (size_t)series->room * series->size);
	series->ring = ring;
	series->room = room;
	series->first = 0;
	return true;
}

static void drop_first(struct series *series)
{
	series->first = (series->first + 1) & (series->room - 1);
	series->n--;
}

static void shrink(struct store *store, struct series *series)
{
	uint32_t room = series->room;

	if (series->n == 0) {
		series_release(store, series);
		return;
	}
	while (room > least_room(series->size) && series->n * 4 <= room) {
		room /= 2;
	}
	if (room < series->room) {
		set_room(store, series, room); /* else it stays as it is */
	}
}

void *series_push(struct store *store, struct series *series, uint32_t size, uint64_t at_ns)
{
	void *record;

	if (series->n == series->room) {
		uint32_t room = series->room ? series->room * 2 : least_room(size);

		series->size = size;
		if (room == 0 || !set_room(store, series, room)) {
			store->failed++;
			return NULL;
		}
	}
	record = series_at(series, series->n++);
	memcpy(record, &at_ns, sizeof(at_ns));
	return record;
}

void series_expire(struct store *store, struct series *series)
{
	uint32_t n = series->n;

	while (series->n > 0 && time_at(series, 0) <= store->horizon_ns) {
		drop_first(series);
	}
	if (n > 0 && series->n * 4 <= series->room) {
		shrink(store, series);
	}
}

void series_release(struct store *store, struct series *series)
{
	pool_free(&store->pool, series->ring, (size_t)series->room * series->size);
	*series = (struct series){.ring = NULL};
}

uint32_t series_from(const struct series *series, uint64_t at_ns)
{
	uint32_t low = 0, high = series->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (time_at(series, middle) < at_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* --- attributes ------------------------------------------------------------------------------ */

static bool is_fresh(const struct attribute *attribute)
{
	return attribute->since_ns == 0 && attribute->value == 0;
}

/* What began and ended before the horizon; makes room without growing where it can. */
static void drop_past(const struct store *store, struct attribute *attribute)
{
	while (attribute->past.n > 0) {
		uint64_t end_ns = attribute->past.n > 1 ? attribute_past(attribute, 1)->at_ns
							: attribute->since_ns;

		if (end_ns > store->horizon_ns) {
			return;
		}
		drop_first(&attribute->past);
		attribute->cut = true;
	}
}

void attribute_set(struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t value)
{
	struct past_value *past;

	if (attribute->value == value) {
		return;
	}
	if (is_fresh(attribute) || attribute->since_ns >= at_ns) {
		uint32_t n = attribute->past.n;

		if (n > 0 && attribute_past(attribute, n - 1)->value == value) {
			attribute->since_ns = attribute_past(attribute, n - 1)->at_ns;
			attribute->past.n--;
		} else if (attribute->since_ns < at_ns) {
			attribute->since_ns = at_ns;
		}
		attribute->value = value;
		return;
	}
	if (attribute->past.n == attribute->past.room) {
		drop_past(store, attribute);
	}
	past = series_push(store, &attribute->past, sizeof(*past), attribute->since_ns);
	if (past) {
		past->value = attribute->value;
	} else {
		attribute->cut = true; /* no memory: that time takes on its predecessor's value */
	}
	attribute->since_ns = at_ns;
	attribute->value = value;
}

/* The lowest bit alternates, so that no value is as the one before. */
void attribute_mark(
		struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t value)
{
	attribute_set(store, attribute, at_ns, value << 1 | (~attribute->value & 1));
}

uint64_t attribute_marked(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns)
{
	return attribute_since(attribute, at_ns, since_ns) >> 1;
}

void attribute_add(struct store *store, struct attribute *attribute, uint64_t at_ns, uint64_t more)
{
	attribute_set(store, attribute, at_ns, attribute->value + more);
}

/* The index of the past value in force at an instant, most often a little before `near`;
 * UINT32_MAX: before the first. */
static uint32_t past_index(const struct attribute *attribute, uint64_t at_ns, uint32_t near)
{
	uint32_t n = attribute->past.n, i;

	if (near >= n || near + 1 == n || attribute_past(attribute, near + 1)->at_ns > at_ns) {
		uint32_t end = near < n ? near + 1 : n;

		for (i = 1; i <= end && i <= NEAR; i++) {
			if (attribute_past(attribute, end - i)->at_ns <= at_ns) {
				return end - i;
			}
		}
	}
	n = series_from(&attribute->past, at_ns + 1);
	return n > 0 ? n - 1 : UINT32_MAX;
}

uint64_t attribute_since_near(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns,
		uint32_t *near)
{
	uint32_t i;

	*since_ns = 0;
	if (at_ns >= attribute->since_ns) {
		*since_ns = attribute->since_ns;
		return attribute->value;
	}
	i = past_index(attribute, at_ns, *near);
	if (i == UINT32_MAX) {
		return 0;
	}
	*near = i;
	*since_ns = attribute_past(attribute, i)->at_ns;
	return attribute_past(attribute, i)->value;
}

uint64_t attribute_since(const struct attribute *attribute, uint64_t at_ns, uint64_t *since_ns)
{
	uint32_t last = UINT32_MAX;

	return attribute_since_near(attribute, at_ns, since_ns, &last);
}

uint64_t attribute_at(const struct attribute *attribute, uint64_t at_ns)
{
	uint64_t since_ns;

	return attribute_since(attribute, at_ns, &since_ns);
}

uint64_t attribute_gain(const struct attribute *attribute, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t since_ns, from = attribute_since(attribute, from_ns, &since_ns);
	uint64_t to = attribute_at(attribute, to_ns);

	/* Of a total whose beginning has gone, the oldest known value is where it counts from. */
	if (since_ns == 0 && attribute->cut) {
		from = attribute->past.n > 0 ? attribute_past(attribute, 0)->value
					     : attribute->value;
	}
	return to > from ? to - from : 0;
}

void attribute_expire(struct store *store, struct attribute *attribute)
{
	uint32_t n = attribute->past.n;

	drop_past(store, attribute);
	if (n > 0 && attribute->past.n * 4 <= attribute->past.room) {
		shrink(store, &attribute->past);
	}
}

void attribute_release(struct store *store, struct attribute *attribute)
{
	series_release(store, &attribute->past);
	*attribute = (struct attribute){.value = 0};
}

uint32_t attribute_first(const struct attribute *attribute, uint64_t from_ns)
{
	return from_ns >= attribute->since_ns ? attribute->past.n
					      : past_index(attribute, from_ns, UINT32_MAX);
}

void attribute_times(const struct attribute *attribute, uint64_t from_ns, uint64_t to_ns,
		uint64_t *by_value)
{
	const struct past_value *ring = (const void *)attribute->past.ring;
	uint32_t n = attribute->past.n, first = attribute->past.first;
	uint32_t mask = attribute->past.room - 1;
	uint32_t i = from_ns < attribute->since_ns ? past_index(attribute, from_ns, UINT32_MAX) : n;
	uint64_t at_ns = from_ns, value = 0;

	if (i == UINT32_MAX) {
		i = 0; /* 0 is in force until the first value */
	} else if (i < n) {
		value = ring[(first + i++) & mask].value;
	} else {
		value = attribute->value;
	}
	for (; i < n; i++) {
		const struct past_value past = ring[(first + i) & mask];

		if (past.at_ns >= to_ns) {
			break;
		}
		by_value[value] += past.at_ns - at_ns;
		at_ns = past.at_ns;
		value = past.value;
	}
	if (i == n && attribute->since_ns > at_ns && attribute->since_ns < to_ns) {
		by_value[value] += attribute->since_ns - at_ns;
		at_ns = attribute->since_ns;
		value = attribute->value;
	}
	by_value[value] += to_ns > at_ns ? to_ns - at_ns : 0;
}
