/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_SEGMENTS_H
#define UI_SEGMENTS_H

#include "views/view.h"

/*
 * The pane of a group that tells where its time varies: the segments of the critical path as 100 %
 * of the variance, then the pairs that vary together.
 */
struct segments {
	struct table table;
	const struct group_view *group;
	uint32_t shown_id; /* the group that the cursor is of */
};

void segments_init(struct segments *segments);
void segments_release(struct segments *segments);
void segments_update(struct segments *segments, const struct group_view *group);

/* `active`: the keys go here. */
void segments_draw(struct segments *segments, const struct view_frame *frame, struct area area,
		bool active);

/* False: the action is none of this pane's. Enter leads to the context in the tree. */
bool segments_act(struct segments *segments, enum action action, struct view_call *call);

#endif
