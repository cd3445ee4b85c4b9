/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/internal.h"

uint32_t groups_hold(struct groups *groups, struct request *request)
{
	uint32_t record = kept_find_any(&groups->kept, request->id);

	if (record) {
		kept_hold(&groups->kept, record);
		return record;
	}
	if (!request->group_id) {
		return 0;
	}
	record = kept_add(&groups->kept, request, request->group_id - 1);
	if (record) {
		groups->kept.records[record].quarter = (uint32_t)(request->end_ns / QUARTER_NS);
	}
	return record;
}

void groups_let_go(struct groups *groups, uint32_t held)
{
	kept_drop(&groups->kept, held);
}

uint32_t groups_type(const struct groups *groups, uint32_t group_id)
{
	return group_id && group_id <= groups->n ? groups->items[group_id - 1]->type : 0;
}
