/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_OBSERVED_H
#define PT_GROUPS_OBSERVED_H

#include "groups/profile.h"
#include "groups/sample.h"

/* Where the time of sampled requests went, as it is or as it was. */

struct observed {
	struct profile profile;  /* sums of each horizon */
	struct sample_ring ring; /* the last of them */
	uint64_t changes;        /* counts up */
};

struct groups;

/* Counts a sample in a horizon, or takes it away again. */
void observed_count(struct observed *observed, enum horizon horizon, const struct sample *sample,
		bool away);
/* Counts a request with the items at hand that its sample was made of: they need not be unpacked.
 */
void observed_count_fresh(struct observed *observed, enum horizon horizon,
		const struct profile_request *request, const struct profile_items *items);
/* False if out of memory: *copy is empty then. */
bool observed_copy(struct observed *copy, const struct observed *observed);
void observed_release(struct groups *groups, struct observed *observed);

#endif
