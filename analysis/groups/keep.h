/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_KEEP_H
#define PT_GROUPS_KEEP_H

#include "groups/group.h"

/* Which requests are kept for drill-down, which belong to the sample, and the bounds of both. */

#define SAMPLES_LEAST 256u /* measured ones: so many stay when buckets of their time have gone */
#define SAMPLES_PER_S 2000u

/* Whether a request belongs to the sample of its group. */
enum sampling {
	SAMPLING_NONE,
	SAMPLING_UNIFORM,
	SAMPLING_ADDED, /* for shares of the variance only */
};

/* Keeps the request for the reasons that hold; false: none does, or no memory. `new_cell`: first of
 * its cell of the heat map. */
bool keep_request(struct groups *groups, struct group *group, struct slice *slice,
		struct request *request, bool sampled, bool new_cell);
/*
 * Decides, by the hash of when it began and ended, whether the request belongs to the sample of its
 * group; `bin`: of its duration, UINT32_MAX of one that is of no use to statistics. Sets what it
 * weighs in shares of the variance.
 */
enum sampling keep_sample(struct groups *groups, struct group *group, const struct request *request,
		uint32_t bin, uint32_t *weight);
/* Lets go of the group's sampled requests that ended in a quarter before `floor`, but for the last
 * RING_LEAST; and of those that are kept no more. */
void keep_trim_sample(struct groups *groups, struct group *group, uint64_t floor);
void keep_release_slice(struct groups *groups, struct slice *slice);
void keep_release_tops(struct groups *groups, struct tops *tops);
/* Brings kept requests, and what the pin holds, within their bounds. */
void keep_bound(struct groups *groups);

#endif
