/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_GROUPS_H
#define PT_GROUPS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "requests/contexts.h"
#include "requests/request.h"

/*
 * Requests that should perform alike, and how they do.
 *
 * The key of a group is (type, set of skeleton calling contexts), so that enabling a tracepoint
 * never moves a request to another group. Each group keeps one-second buckets of mergeable
 * statistics for twice the window (so that stepping back in a frozen screen has its ten seconds at
 * every instant), their sum for the horizons `epoch` and `all`, and a uniform sample of requests.
 *
 * Works on event time alone: the order of calls decides everything.
 */
struct groups;

struct groups_config {
	uint64_t window_ns;
	uint32_t max_groups;	 /* further keys are counted as folded */
	uint64_t max_kept_bytes; /* of kept requests, all groups together */
	uint64_t max_pin_bytes;
};

struct groups *groups_create(const struct groups_config *config, const struct names *names,
		const struct contexts *contexts, struct request_pool *pool);
void groups_destroy(struct groups *groups);

/*
 * Takes one finished request (of any state). The request stays its caller's; what is kept is held.
 * Requests come in the order of their end within the merge's order. Amortised O(1).
 */
void groups_add(struct groups *groups, struct request *request);

/* Event time has reached now_ns: buckets and kept requests older than the window go. */
void groups_advance(struct groups *groups, uint64_t now_ns);

void groups_begin_epoch(struct groups *groups, uint64_t now_ns);

/* The pin: the window ending at now_ns stays as it is until groups_unpin(). */
void groups_pin(struct groups *groups, uint64_t now_ns);
void groups_unpin(struct groups *groups);

/*
 * Fills the parts of a snapshot that are about groups, as of at_ns (the latest time, or an instant
 * of the pinned window). A focus on group 0 is answered by the first row, on request 0 by the
 * slowest kept request of the group: snapshot->focus names them afterwards.
 */
enum status groups_fill(struct groups *groups, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot);

/* A kept request by its id, as of the pin if there is one; NULL if it is not kept (any more). */
struct request *groups_find_request(struct groups *groups, uint64_t id);

#endif
