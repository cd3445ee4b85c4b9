/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_COLLECT_H
#define PT_GROUPS_COLLECT_H

#include "arena.h"
#include "explain/explain.h"
#include "groups/groups.h"

/*
 * Key-values of the sampled requests of the groups that are being explained. They are read from
 * then on as requests come in, and, of those before, from what is kept of them; other groups cost
 * nothing.
 *
 * Memory: EXPLAIN_MAX_KEYS keys a group (those met first), behind the packed items of its samples,
 * within the bound on these.
 */

/* Begins, or ends, to collect them for a group. False if out of memory, or there is no such group.
 */
bool groups_collect(struct groups *groups, uint32_t group_id, bool on);

/*
 * The table of a group: its samples that count in shares and whose requests began at since_ns or
 * later, in the order of completion, with their key-values and the segments of the LOCATE_LISTED
 * largest phi. In the arena. NULL: out of memory, or nothing is collected.
 */
const struct explain_table *groups_table(
		struct groups *groups, uint32_t group_id, uint64_t since_ns, struct arena *arena);

#endif
