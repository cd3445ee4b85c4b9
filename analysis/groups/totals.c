/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/grouping.h"
#include "groups/totals.h"

bool totals_add_complete(struct totals *totals, struct pool *pool, uint64_t ns, uint32_t bin)
{
	if (!histogram_add(&totals->histogram, pool, bin)) {
		return false;
	}
	moments_add(&totals->moments, ns);
	return true;
}

void totals_count(struct totals *totals, const struct request *request)
{
	if (request->state != REQUEST_COMPLETE) {
		totals->partial++;
		totals->lost += request_failed(request);
	} else {
		totals->tainted++;
	}
}

bool totals_merge(struct totals *totals, struct pool *pool, const struct totals *other)
{
	moments_merge(&totals->moments, &other->moments);
	totals->tainted += other->tainted;
	totals->partial += other->partial;
	totals->failed += other->failed;
	totals->lost += other->lost;
	totals->sampled += other->sampled;
	return histogram_merge(&totals->histogram, pool, &other->histogram);
}

void totals_subtract(struct totals *totals, const struct totals *other)
{
	moments_subtract(&totals->moments, &other->moments);
	totals->tainted -= other->tainted;
	totals->partial -= other->partial;
	totals->failed -= other->failed;
	totals->lost -= other->lost;
	totals->sampled -= other->sampled;
	histogram_subtract(&totals->histogram, &other->histogram);
}

bool totals_copy(struct totals *totals, struct pool *pool, const struct totals *other)
{
	struct histogram histogram = {0};

	if (!histogram_copy(&histogram, pool, &other->histogram)) {
		return false;
	}
	*totals = *other;
	totals->histogram = histogram;
	return true;
}

void totals_clear(struct totals *totals, struct pool *pool)
{
	histogram_clear(&totals->histogram, pool);
	memset(totals, 0, sizeof(*totals));
}
