/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_BASELINES_H
#define PT_GROUPS_BASELINES_H

#include "base/arena.h"
#include "groups/view.h"

/* What groups are compared with: those of another time or run. */

struct baseline_copy;

/* Fills what a baseline tells of types; its buckets are those after the `skipped` first ones. False
 * if out of memory. */
bool baseline_types(struct groups *groups, const struct view *view, uint32_t skipped,
		struct baseline *baseline, struct arena *arena);
/* Looks the group up in the baseline. */
void baseline_apply(struct groups *groups, struct group *group);
void baseline_copy_destroy(struct baseline_copy *copy);

#endif
