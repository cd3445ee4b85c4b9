/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_FAILING_H
#define PT_GROUPS_FAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "groups/groups.h"
#include "requests/request.h"

/*
 * Where requests fail, and how often in each of the last seconds: one place for each type of
 * requests, calling context that failures begin in, and reason. A request that fails goes other
 * ways than one that does not, so it is of another group: types are compared, not groups.
 *
 * Counts are of requests that ended complete, or are lost, and that no loss of events touched. They
 * are of event time, of the live groups, whatever is pinned.
 *
 * Memory: FAILING_PLACES and FAILING_TYPES, 1.3 KiB each at most; what comes beyond is in no place.
 * Threads: one.
 */
#define FAILING_SECONDS 64u
#define FAILING_PLACES  256u
#define FAILING_TYPES   1024u

struct failing;

struct failing *failing_create(void); /* NULL if out of memory */
void failing_destroy(struct failing *failing);
/* A request that was handed to the groups. O(1). */
void failing_add(struct failing *failing, const struct request *request);

/* Of one place, seconds up to the one asked for; the last of the arrays is that. */
struct failing_place {
	uint32_t type, context;
	enum request_why why;
	uint32_t group_id;                                        /* that most of them are of */
	uint64_t failed[FAILING_SECONDS], ended[FAILING_SECONDS]; /* requests of the type */
	uint64_t first_ns[FAILING_SECONDS]; /* begin of the first that failed; 0: none did */
	/* Before these seconds, since the first request of the type. */
	uint64_t failed_before, ended_before;
};

/* How many places there are; they stay in their order. */
uint32_t failing_places(const struct failing *failing);
/* False: nothing failed there in those seconds. */
bool failing_read(const struct failing *failing, uint32_t place, uint64_t second,
		struct failing_place *out);

/* The ones of these groups, which live as long. */
const struct failing *groups_failing(const struct groups *groups);

/* What those that failed in a place since then have in common, of the ones that are kept. */
struct failing_common {
	uint32_t requests; /* that this is of */
	uint32_t n_hosts;  /* where it began */
	uint32_t host;     /* number of the one, if one */
	uint32_t process;  /* interned, if one; 0 */
	uint32_t told;     /* interned: what most exits told; 0: nothing */
	double told_share;
	/*
	 * A value that surely goes with it: nearly all that failed have it, and fewer of the
	 * others;
	 * "" if none. With the shares of both that have it.
	 */
	const char *key, *where, *value; /* from the arena */
	double share, others;
};

/* False if out of memory. Some 10 us a kept request of the type. */
bool groups_failing_common(struct groups *groups, const struct failing_place *place,
		uint64_t since_ns, struct arena *arena, struct failing_common *out);

#endif
