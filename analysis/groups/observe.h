/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_OBSERVE_H
#define PT_GROUPS_OBSERVE_H

#include "groups/keep.h"

/* Sampled requests on their way into what is observed of their group, and out of it. */

/* Measures a sampled request, and counts where its time went. */
void observe_request(struct groups *groups, struct group *group, const struct request *request,
		enum sampling sampling, uint32_t weight, bool in_window);
/* The window begins after that quarter. */
void observe_leave_window(struct groups *groups, uint64_t quarter);
void observe_begin_epoch(struct group *group);
void observe_drop_oldest(struct groups *groups, struct group *group);
/* Drops oldest samples while the bound on all is passed. */
void observe_bound(struct groups *groups);

#endif
