/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVING_H
#define PT_BEHAVING_H

#include "behaviour/behaviour.h"
#include "groups/groups.h"
#include "pythiatop/snapshot/snapshot.h"
#include "requests/requests.h"

/*
 * What finished requests did, into behaviour/, and from there into snapshots. Requests that lost
 * events, were cut short or mixed up do not count. What was told in the same second of event time
 * is told again, unless the focus is thorough; while the picture is frozen it is what was told
 * first.
 */
struct behaving;

/* NULL if out of memory. */
struct behaving *behaving_create(struct requests *requests, struct groups *groups,
		const struct names *names, uint64_t window_ns);
void behaving_destroy(struct behaving *behaving);

/* A request that is being handed on, and that groups_add() was called for. O(n log n) in spans. */
void behaving_request(struct behaving *behaving, struct request *request);
void behaving_advance(struct behaving *behaving, uint64_t now_ns);
/* As groups_begin_epoch(). */
void behaving_begin_epoch(struct behaving *behaving, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context);

/* Does what FOCUS_SHAPES asks for, in a snapshot that groups_fill() was called for. */
enum status behaving_fill(struct behaving *behaving, const struct focus *focus, bool pinned,
		struct snapshot *snapshot);

#endif
