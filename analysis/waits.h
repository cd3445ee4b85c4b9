/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_WAITS_H
#define PT_WAITS_H

#include "groups/groups.h"
#include "pythiatop/snapshot/snapshot.h"
#include "registry.h"
#include "requests/requests.h"

/*
 * Who was waited for, of kept requests of groups, into a snapshot that groups_fill() was called
 * for: requests/holders.h says how that is known. Of each group WAITS_REQUESTS of the newest
 * WAITS_LOOKED_AT of the horizon, the slowest of them and others that stand for the rest, weighed
 * so that they stand for all of the horizon; each costs as much as measuring it. What was told of a
 * group in the same second of event time, and of the same horizon, is told again, or, if the focus
 * is thorough, in the same fill.
 */
#define WAITS_REQUESTS  256u
#define WAITS_SLOWEST   128u
#define WAITS_LOOKED_AT 2048u

struct waits_memory;

/* NULL if out of memory. */
struct waits_memory *waits_create(void);
void waits_destroy(struct waits_memory *memory);
/* Does what FOCUS_WAITS asks for. */
enum status waits_fill(struct waits_memory *memory, struct requests *requests,
		struct groups *groups, const struct names *names, const struct contexts *contexts,
		const struct focus *focus, struct snapshot *snapshot);

#endif
