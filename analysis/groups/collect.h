/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_COLLECT_H
#define PT_GROUPS_COLLECT_H

#include "base/arena.h"
#include "explain/explain.h"
#include "groups/groups.h"

/*
 * Key-values of the sampled requests of the groups that are being explained. They are read from
 * then on as requests come in, and, of those before, from what is kept of them; other groups cost
 * nothing. Only requests that count in shares are read. All of it is of the live groups, whatever
 * is pinned.
 *
 * Which keys (requests/keys.h): those met first, SAMPLE_MAX_KEYS (2,048) of a group. Where there are
 * more, a new one takes the place of the one that the fewest samples have, if these are less than 1
 * % of them and none of the last COLLECT_RECENT: so what a tracepoint tells that is enabled later
 * finds room. How often contexts ran is in the samples already, and costs nothing.
 *
 * Memory: two or three bytes a key and sample, behind its packed items, and each text once: both
 * within the bound on samples. 92 KiB a group that is collected, and 80 once.
 */
#define COLLECT_RECENT 100u

/*
 * Begins, or ends, to collect them for a group. False if out of memory, or there is no such group.
 * Beginning reads up to 1,024 requests, some 10 us each; ending gives all memory back.
 */
bool groups_collect(struct groups *groups, uint32_t group_id, bool on);

/*
 * The table of a group: its samples that count in shares, whose keys were read, and whose requests
 * began at since_ns or later, in the order of completion, with their key-values and the segments of
 * the LOCATE_LISTED largest phi. In the arena. NULL: out of memory, or nothing is collected.
 *
 * Of EXPLANATION_COUNT there is a key for each context whose number of spans varies: 0 where a
 * request between the first and the last one that have it has none; before and after nobody knows
 * whether it was recorded, so that the value is NAN.
 *
 * At most EXPLAIN_MAX_KEYS keys, ordered by (source, context, name). Which ones does not depend on
 * durations: first those that vary and are told from each other, then categories that differ in
 * every request, then those that say the same as one before in every request (the second ones of
 * all, then the third ones...), then those that never vary; of each kind those that most requests
 * have, then those met first. What code tells comes before what the kernel's events do
 * (descriptors, lengths, sectors): there are many more of these.
 *
 * Cost: some 25 us a key of 1,024 rows. Memory: 8 bytes a key and row while it is made, in the
 * arena as much of what is given back.
 */
const struct explain_table *groups_table(
		struct groups *groups, uint32_t group_id, uint64_t since_ns, struct arena *arena);
/* How many rows it would have. */
uint32_t groups_table_rows(const struct groups *groups, uint32_t group_id, uint64_t since_ns);

#endif
