/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_LABEL_H
#define PT_GROUPS_LABEL_H

#include "groups/group.h"

/* The texts that groups are known by. */

struct groups;

/* Fills key, services and, until the next look, label of a new group. False if out of memory. */
bool label_group(struct groups *groups, struct group *group);
/* Gives labels where groups are new, or functions have got names since. O(groups) then, else
 * nothing. */
void label_again(struct groups *groups);
/* What goes by a group's type and path: its objective, and itself in the baseline. */
void group_named(struct groups *groups, struct group *group);

#endif
