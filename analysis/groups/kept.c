/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_ROOM 256u
#define CACHE_LINE 64u

void kept_store_init(struct kept_store *store, struct request_pool *pool)
{
	memset(store, 0, sizeof(*store));
	store->pool = pool;
}

void kept_store_release(struct kept_store *store)
{
	for (uint32_t i = 1; i < store->n; i++) {
		if (store->records[i].request) {
			request_drop(store->pool, store->records[i].request);
		}
	}
	free(store->records);
	free(store->hash);
	free(store->group_newest);
	memset(store, 0, sizeof(*store));
}

bool kept_store_reserve_groups(struct kept_store *store, uint32_t n)
{
	return array_reserve_zeroed(&store->group_newest, &store->n_groups, n);
}

_Static_assert(sizeof(struct kept) == CACHE_LINE, "a record fits a cache line");

static uint32_t *hash_chain(const struct kept_store *store, uint64_t id)
{
	return &store->hash[hash_u64(id) & (store->chains - 1)]; /* a power of two */
}

/* One chain for each record at most: their number doubles, that of records grows by halves. */
static bool hash_grow(struct kept_store *store, uint32_t room)
{
	uint32_t chains = store->chains ? store->chains : FIRST_ROOM;
	uint32_t *hash;

	while (chains < room) {
		chains *= 2;
	}
	if (chains == store->chains) {
		return true;
	}
	hash = calloc(chains, sizeof(*hash));
	if (!hash) {
		return false;
	}
	free(store->hash);
	store->hash = hash;
	store->chains = chains;
	for (uint32_t i = 1; i < store->n; i++) {
		if (store->records[i].request) {
			uint32_t *chain = hash_chain(store, store->records[i].id);

			store->records[i].next_same_hash = *chain;
			*chain = i;
		}
	}
	return true;
}

static bool store_grow(struct kept_store *store)
{
	uint32_t room = store->room ? store->room + store->room / 4 : FIRST_ROOM;
	struct kept *records;

	if (room > UINT32_MAX / 4) {
		return false;
	}
	records = aligned_alloc(CACHE_LINE, room * sizeof(*records));
	if (!records || !hash_grow(store, room)) {
		free(records);
		return false;
	}
	memset(&records[0], 0, sizeof(records[0]));
	if (store->n) {
		memcpy(records, store->records, store->n * sizeof(*records));
	}
	free(store->records);
	store->records = records;
	store->room = room;
	store->n = store->n ? store->n : 1;
	return true;
}

static void list_append(struct kept_store *store, struct kept_list *list, uint32_t record)
{
	struct kept *kept = &store->records[record];

	kept->older = list->newest;
	kept->newer = 0;
	if (list->newest) {
		store->records[list->newest].newer = record;
	} else {
		list->oldest = record;
	}
	list->newest = record;
	list->bytes += kept->bytes;
}

static void list_remove(struct kept_store *store, struct kept_list *list, uint32_t record)
{
	struct kept *kept = &store->records[record];

	if (kept->older) {
		store->records[kept->older].newer = kept->newer;
	} else {
		list->oldest = kept->newer;
	}
	if (kept->newer) {
		store->records[kept->newer].older = kept->older;
	} else {
		list->newest = kept->older;
	}
	list->bytes -= kept->bytes;
}

uint32_t kept_add(struct kept_store *store, struct request *request, uint32_t group)
{
	uint32_t record = store->unused;
	struct kept *kept;
	uint32_t *chain;

	if (!record && store->n == store->room && !store_grow(store)) {
		return 0;
	}
	request = request_keep(store->pool, request);
	if (!request) {
		return 0;
	}
	if (record) {
		store->unused = store->records[record].older;
		__builtin_prefetch(&store->records[store->unused], 1);
	} else {
		record = store->n++;
	}
	kept = &store->records[record];
	memset(kept, 0, sizeof(*kept));
	kept->request = request;
	kept->id = request->id;
	kept->bytes = request->bytes + (uint32_t)sizeof(*kept);
	kept->arrival = ++store->arrivals;
	kept->group = group;
	kept->references = 1;
	list_append(store, &store->live, record);
	kept->group_older = store->group_newest[group];
	if (kept->group_older) {
		store->records[kept->group_older].group_newer = record;
	}
	store->group_newest[group] = record;
	chain = hash_chain(store, request->id);
	kept->next_same_hash = *chain;
	*chain = record;
	return record;
}

void kept_hold(struct kept_store *store, uint32_t record)
{
	store->records[record].references++;
}

static bool pin_shows(const struct kept_store *store, const struct kept *kept)
{
	return kept->arrival <= store->pinned_arrival;
}

/* Lets go of the request itself; the record stays. */
static void record_empty(struct kept_store *store, uint32_t record)
{
	struct kept *kept = &store->records[record];
	uint32_t *link = hash_chain(store, kept->id);

	while (*link != record) {
		link = &store->records[*link].next_same_hash;
	}
	*link = kept->next_same_hash;
	if (kept->group_older) {
		store->records[kept->group_older].group_newer = kept->group_newer;
	}
	if (kept->group_newer) {
		store->records[kept->group_newer].group_older = kept->group_older;
	} else {
		store->group_newest[kept->group] = kept->group_older;
	}
	list_remove(store, kept->pinned ? &store->pinned : &store->live, record);
	request_drop(store->pool, kept->request);
	kept->request = NULL;
}

static void record_free(struct kept_store *store, uint32_t record)
{
	store->records[record].older = store->unused;
	store->unused = record;
}

/* The pin becomes one of those that refer to it. */
static void record_give_to_pin(struct kept_store *store, uint32_t record)
{
	list_remove(store, &store->live, record);
	store->records[record].pinned = true;
	store->records[record].references++;
	list_append(store, &store->pinned, record);
}

void kept_drop(struct kept_store *store, uint32_t record)
{
	struct kept *kept = &store->records[record];

	if (kept->references == 1 && kept->request && !kept->pinned && pin_shows(store, kept)) {
		record_give_to_pin(store, record);
	}
	if (--kept->references) {
		return;
	}
	if (kept->request) {
		record_empty(store, record);
	}
	record_free(store, record);
}

uint32_t kept_oldest(const struct kept_store *store)
{
	return store->live.oldest;
}

void kept_renew(struct kept_store *store, uint32_t record)
{
	list_remove(store, &store->live, record);
	list_append(store, &store->live, record);
}

bool kept_spare(struct kept_store *store, uint32_t record)
{
	struct kept *kept = &store->records[record];

	if (kept->spared) {
		return false;
	}
	kept->spared = true;
	kept_renew(store, record);
	return true;
}

void kept_forget(struct kept_store *store, uint32_t record)
{
	if (pin_shows(store, &store->records[record])) {
		record_give_to_pin(store, record);
	} else {
		record_empty(store, record);
	}
}

void kept_pin(struct kept_store *store)
{
	store->pinned_arrival = store->arrivals;
}

bool kept_trim_pin(struct kept_store *store)
{
	uint32_t record = store->pinned.oldest;

	if (!record) {
		return false;
	}
	record_empty(store, record);
	store->records[record].pinned = false;
	if (--store->records[record].references == 0) {
		record_free(store, record);
	}
	return true;
}

void kept_unpin(struct kept_store *store)
{
	store->pinned_arrival = 0;
	while (kept_trim_pin(store)) {
	}
}

uint32_t kept_find_any(const struct kept_store *store, uint64_t id)
{
	uint32_t record = store->room ? *hash_chain(store, id) : 0;

	while (record && store->records[record].id != id) {
		record = store->records[record].next_same_hash;
	}
	return record;
}

uint32_t kept_find(const struct kept_store *store, uint64_t id)
{
	uint32_t record = kept_find_any(store, id);

	if (record && store->pinned_arrival && !pin_shows(store, &store->records[record])) {
		return 0;
	}
	return record;
}

static uint32_t skip_hidden(const struct kept_store *store, uint32_t record)
{
	while (record && store->pinned_arrival && !pin_shows(store, &store->records[record])) {
		record = store->records[record].group_older;
	}
	return record;
}

uint32_t kept_newest_of(const struct kept_store *store, uint32_t group)
{
	return group < store->n_groups ? skip_hidden(store, store->group_newest[group]) : 0;
}

uint32_t kept_older_of(const struct kept_store *store, uint32_t record)
{
	return skip_hidden(store, store->records[record].group_older);
}
