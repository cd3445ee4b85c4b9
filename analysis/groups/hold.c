/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/grouping.h"

uint32_t groups_hold(struct groups *groups, struct request *request)
{
	uint32_t record = kept_find_any(&groups->kept, request->id);

	if (record) {
		kept_hold(&groups->kept, record);
	} else if (request->group_id) {
		record = kept_add(&groups->kept, request, request->group_id - 1);
		if (record) {
			groups->kept.records[record].quarter =
					(uint32_t)(request->end_ns / QUARTER_NS);
		}
	}
	if (record) {
		groups->kept.records[record].held = true;
	}
	return record;
}

enum request_kept groups_held(const struct groups *groups, uint32_t held)
{
	const struct kept *record = &groups->kept.records[held];

	if (!record->request) {
		return REQUEST_GONE;
	}
	return record->spared ? REQUEST_AGING : REQUEST_KEPT;
}

void groups_show(struct groups *groups, const uint64_t ids[GROUPS_MAX_SHOWN])
{
	uint32_t before[GROUPS_MAX_SHOWN];

	for (int i = 0; i < GROUPS_MAX_SHOWN; i++) {
		before[i] = groups->shown[i];
		groups->shown[i] = ids[i] ? kept_find(&groups->kept, ids[i]) : 0;
		if (groups->shown[i]) {
			kept_hold(&groups->kept, groups->shown[i]);
		}
	}
	for (int i = 0; i < GROUPS_MAX_SHOWN; i++) {
		if (before[i]) {
			kept_drop(&groups->kept, before[i]);
		}
	}
}

void groups_let_go(struct groups *groups, uint32_t held)
{
	groups->kept.records[held].held = false;
	kept_drop(&groups->kept, held);
}

uint32_t groups_type(const struct groups *groups, uint32_t group_id)
{
	return group_id && group_id <= groups->n ? groups->items[group_id - 1]->type : 0;
}
