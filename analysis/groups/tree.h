/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_TREE_H
#define PT_GROUPS_TREE_H

#include "base/arena.h"
#include "groups/view.h"
#include "pythiatop/snapshot/snapshot.h"

/* Where the time of a group went, by calling context, into snapshots. */

#define REST_NAME "(rest)"

/* Memory that trees are made in; grows with the contexts that there are. */
struct tree_work {
	uint64_t *places; /* by context: serial and branch */
	uint32_t n_places, serial;
	struct branch *branches;
	struct profile_sums *sums; /* by branch */
	uint32_t *order;           /* branches by row */
	uint32_t n, room;
};

const char *context_name(const struct groups *groups, uint32_t context);
/* The names of those above a context, outermost first: "server_create›build". Never NULL. */
const char *context_chain(const struct groups *groups, uint32_t context, struct arena *arena);
enum status fill_location(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct group_location *out);
enum status fill_tree(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct tree_view *out);
enum status fill_tree_of_all(struct groups *groups, const struct view *view,
		struct snapshot *snapshot, struct tree_view *out);
void tree_work_release(struct tree_work *work);

#endif
