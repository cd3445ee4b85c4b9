/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/collect.h"

#include <stdlib.h>

#include "groups/grouping.h"
#include "groups/observe.h"

/* Reads the keys of a sample, if its request is still kept. */
static void read_again(struct groups *groups, struct group *group, uint32_t i)
{
	struct sample_ring *ring = &group->now.observed.ring;
	uint64_t id = ring_at(ring, i)->id;
	uint32_t record = kept_find_any(&groups->kept, id);
	struct request *request = record ? groups->kept.records[record].request : NULL;
	const struct sample_keys *keys;

	if (!request) {
		return;
	}
	kept_hold(&groups->kept, record); /* making room for its keys may let it go */
	keys = collect_read(groups, group, request);
	if (keys && i < ring->n && ring_at(ring, i)->id == id &&
			samples_set_keys(&groups->samples, ring, i, keys)) {
		collect_taken(group, ring_at(ring, i));
	} else {
		collect_dropped(groups, keys);
	}
	kept_drop(&groups->kept, record);
}

static bool begin(struct groups *groups, struct group *group)
{
	struct sample_ring *ring = &group->now.observed.ring;
	struct sample_keys *keys = groups->keys_of_one;

	if (!groups->config.read_keys) {
		return false;
	}
	keys = keys ? keys : malloc(sizeof(*keys));
	groups->keys_of_one = keys;
	group->collected = keys ? calloc(1, sizeof(*group->collected)) : NULL;
	if (!group->collected) {
		return false;
	}
	for (uint32_t i = 0; i < ring->n; i++) {
		const struct sample *sample = ring_at(ring, i);

		if (sample->request.counted && !sample->request.added && !sample->keyed) {
			read_again(groups, group, i);
		}
	}
	observe_bound(groups);
	return true;
}

static void end(struct groups *groups, struct group *group)
{
	struct sample_ring *ring = &group->now.observed.ring;

	for (uint32_t i = 0; i < ring->n; i++) {
		struct sample *sample = ring_at(ring, i);

		if (sample->keyed && !samples_set_keys(&groups->samples, ring, i, NULL)) {
			samples_forget_keys(&groups->samples, sample);
		}
	}
	free(group->collected);
	group->collected = NULL;
}

bool groups_collect(struct groups *groups, uint32_t group_id, bool on)
{
	struct group *group;

	if (!group_id || group_id > groups->n) {
		return false;
	}
	group = groups->items[group_id - 1];
	if (on && !group->collected) {
		return begin(groups, group);
	}
	if (!on && group->collected) {
		end(groups, group);
	}
	return true;
}
