/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SIBLINGS_H
#define PT_GROUPS_SIBLINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/groups.h"

/*
 * Groups of one type whose requests do the same, but ask another one of several like servers: one
 * that is called alike but for its port, at the same place of the request, and with the like below.
 *
 * Each group is its own by whom it asks, so that none of them varies where one of these servers is
 * slow: only to compare them tells.
 *
 * Pure. Threads: the caller's of groups.h.
 */
struct sibling {
	uint32_t group_id;
	uint32_t own, its; /* contexts of the calls, which are all that tells the two groups apart
			    */
};

/* Those of a group; returns how many, at most max. O(groups of the type x length of the path). */
uint32_t groups_siblings(
		struct groups *groups, uint32_t group_id, struct sibling *out, uint32_t max);

/* Whom a call is made to, "python3:8002", or ":8002" where that is not traced. */
void groups_called(const struct groups *groups, uint32_t group_id, uint32_t call, char *out,
		size_t size);

/*
 * The requests of two groups are asked for alike: the lengths of their messages are distributed
 * alike, by Smirnov's test (1948), which chance fails in SIBLINGS_P of the cases at most. Else it
 * depends on what is asked which server is, and the two are not there for the same. Of kept
 * requests of the window, SIBLINGS_ASKED of each group at most; each costs some 10 us. True where
 * no length is told.
 */
#define SIBLINGS_ASKED 256u
#define SIBLINGS_P     0.01
bool groups_ask_alike(struct groups *groups, uint32_t group_id, uint32_t other_id);

#endif
