/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_KEPT_H
#define PT_GROUPS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "requests/request.h"

/*
 * The finished requests that are kept so that a person can open them, of all groups.
 *
 * A request is kept for one or more reasons (a cell of the heat map, the slowest of its time, the
 * sample of its group); each holds a reference to its record, and the request goes with the last.
 * What would go while the screen is frozen, but was there when it froze, passes to the pin instead
 * and goes with it.
 *
 * Memory: the records (one for each reason at most) and the requests; the caller bounds the bytes
 * of the requests with kept_oldest() and kept_forget(), which leaves an empty record to those that
 * still refer to it. Threads: the caller's.
 */
struct kept {                    /* 64 bytes, and a cache line: there may be a million */
	struct request *request; /* NULL: forgotten */
	uint64_t id;             /* of the request */
	uint64_t arrival;        /* counts from 1 in the order of keeping */
	uint32_t bytes;          /* of the request, with this record */
	uint32_t quarter;        /* for its keeper to use: low bits of when it ended */
	uint32_t group;          /* index of its group */
	uint32_t older, newer;   /* among all, or among the pin's own */
	uint32_t group_older, group_newer;
	uint32_t next_same_hash;
	uint32_t next_of_slice; /* for its slice to use */
	uint8_t references;     /* at most one for each reason, see groups/keep.h */
	bool pinned;            /* the pin refers to it, and without the pin it would be gone */
	bool held;              /* as an example of what requests do */
	bool spared;            /* was oldest once, and one of the slowest or held */
};

struct kept_list {
	uint32_t oldest, newest;
	uint64_t bytes; /* of its requests, with their records */
};

struct kept_store {
	struct request_pool *pool;
	struct kept *records; /* record 0 is "none" */
	uint32_t n, room, unused;
	uint32_t *hash; /* first record of each chain, by id */
	uint32_t chains;
	uint32_t *group_newest, n_groups;
	uint64_t arrivals, pinned_arrival; /* 0: no pin */
	struct kept_list live, pinned;
};

void kept_store_init(struct kept_store *store, struct request_pool *pool);
void kept_store_release(struct kept_store *store);

/* Room for groups 0..n-1. False if out of memory. */
bool kept_store_reserve_groups(struct kept_store *store, uint32_t n);

/* Keeps a request (request_keep()), with one reference. 0 if out of memory. O(1) amortised. */
uint32_t kept_add(struct kept_store *store, struct request *request, uint32_t group);
void kept_hold(struct kept_store *store, uint32_t record);
void kept_drop(struct kept_store *store, uint32_t record);

/* The oldest that no pin keeps, 0 if none. The others make it the newest, kept_spare() once. */
uint32_t kept_oldest(const struct kept_store *store);
void kept_renew(struct kept_store *store, uint32_t record);
bool kept_spare(struct kept_store *store, uint32_t record);

/* Lets a request go although it is referred to; to the pin, if it is one that the pin shows. */
void kept_forget(struct kept_store *store, uint32_t record);

/* The pin: what is kept now stays until kept_unpin(). */
void kept_pin(struct kept_store *store);
void kept_unpin(struct kept_store *store);
/* Lets go of the oldest request that only the pin keeps. False if there is none. */
bool kept_trim_pin(struct kept_store *store);

/* The record of a request by its id, as of the pin if there is one; 0 if it is not kept. */
uint32_t kept_find(const struct kept_store *store, uint64_t id);

/* The same, whether a pin shows it or not. */
uint32_t kept_find_any(const struct kept_store *store, uint64_t id);

/* Records of a group that a view may show, newest first: as of the pin if there is one. */
uint32_t kept_newest_of(const struct kept_store *store, uint32_t group);
uint32_t kept_older_of(const struct kept_store *store, uint32_t record);

#endif
