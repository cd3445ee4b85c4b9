/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_WALK_H
#define PT_GROUPS_WALK_H

#include "groups/grouping.h"
#include "requests/walked.h"

/*
 * The kept requests of a group, complete, neither tainted nor skewed, the newest first, each walked
 * span by span: what is asked of the order of things. Walking a request costs as much as measuring
 * it, so that a walk has a bound.
 */
struct walk {
	struct groups *groups;
	struct view view;
	uint64_t since_ns; /* only those that started then or later */
	uint32_t record, left;
	const struct request *request; /* that is walked now */
	struct walked walked;
};

/* Of a horizon, as of now; `most` requests at most. */
struct walk walk_begin(struct groups *groups, enum horizon horizon, uint32_t group_id,
		uint64_t since_ns, uint32_t most);
/* False: that was all. What it walked is borrowed until the next call. */
bool walk_next(struct walk *walk);

#endif
