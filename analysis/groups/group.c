/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "groups/group.h"
#include "groups/grouping.h"

/* What is cached of a group, or shown of it, before it changes. */

uint64_t group_slowest(const struct group *group, enum horizon horizon)
{
	const struct tops *tops = horizon == HORIZON_EPOCH && group->epoch ? &group->epoch_tops
									   : &group->tops;

	if (horizon == HORIZON_WINDOW) {
		return group->window_slowest.id;
	}
	return tops->n ? tops->items[0].id : 0;
}

void group_before_change(struct groups *groups, struct group *group)
{
	struct horizons *copy;

	if (!groups->pin.on || group->pinned || group->index >= groups->pin.n_groups) {
		return;
	}
	copy = calloc(1, sizeof(*copy));
	if (!copy) {
		groups->pin.trimmed = true;
		return;
	}
	copy->epoch = group->epoch;
	copy->epoch_ns = group->epoch_ns;
	for (uint32_t i = 0; i < HORIZON_COUNT; i++) {
		if (!totals_copy(&copy->totals[i], &groups->pool, &group->now.totals[i])) {
			groups->pin.trimmed = true;
		}
		copy->slowest[i] = group_slowest(group, (enum horizon)i);
		groups->pin.bytes += histogram_bytes(&copy->totals[i].histogram);
	}
	if (!observed_copy(&copy->observed, &group->now.observed)) {
		groups->pin.trimmed = true;
	}
	groups->pin.bytes += sizeof(*copy);
	group->pinned = copy;
}

/* The bit of the epoch is that of everything. */
static uint8_t as_of_all(uint8_t bits)
{
	uint8_t others = bits & (uint8_t) ~(1u << HORIZON_EPOCH);

	return bits & 1u << HORIZON_ALL ? others | 1u << HORIZON_EPOCH : others;
}

void groups_part_epoch(struct groups *groups)
{
	struct row_cache *all = &groups->caches[HORIZON_ALL];
	struct row_cache *epoch = &groups->caches[HORIZON_EPOCH];

	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];

		epoch->rows[i] = all->rows[i];
		epoch->medians[i] = all->medians[i];
		group->rows_valid = as_of_all(group->rows_valid);
		group->rows_judged = as_of_all(group->rows_judged);
	}
}

void group_changed(const struct groups *groups, struct group *group)
{
	if (!groups->pin.on) {
		group->rows_valid = 0;
	}
}
