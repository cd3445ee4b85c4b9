/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_TOTALS_H
#define PT_GROUPS_TOTALS_H

#include "base/pool.h"
#include "groups/groups.h"
#include "stats/histogram.h"
#include "stats/moments.h"

/* What is counted of requests: how many, how long they took, and how they ended. */

struct totals {
	struct moments moments; /* of complete, untainted requests */
	struct histogram histogram;
	uint64_t tainted, partial;
	uint64_t failed;  /* of the complete, untainted ones; */
	uint64_t lost;    /* of the partial ones: what fell silent, or whose thread ended */
	uint64_t sampled; /* of all these, how many were taken into the sample */
};

/* False if out of memory: then nothing, or a part, was counted. */
bool totals_add_complete(struct totals *totals, struct pool *pool, uint64_t ns, uint32_t bin);
void totals_count(struct totals *totals, const struct request *request);
bool totals_merge(struct totals *totals, struct pool *pool, const struct totals *other);
void totals_subtract(struct totals *totals, const struct totals *other);
bool totals_copy(struct totals *totals, struct pool *pool, const struct totals *other);
void totals_clear(struct totals *totals, struct pool *pool);

#endif
