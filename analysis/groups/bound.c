/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/grouping.h"
#include "groups/keep.h"

/* What is kept stays within its bounds. */

static bool tops_has(const struct tops *tops, uint32_t record)
{
	for (uint32_t i = 0; i < tops->n; i++) {
		if (tops->items[i].record == record) {
			return true;
		}
	}
	return false;
}

static void tops_remove(struct groups *groups, struct tops *tops, uint32_t record)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tops->n; i++) {
		if (tops->items[i].record == record) {
			kept_drop(&groups->kept, record);
		} else {
			tops->items[n++] = tops->items[i];
		}
	}
	tops->n = n;
}

static bool is_shown(const struct groups *groups, uint32_t record)
{
	for (int i = 0; i < GROUPS_MAX_SHOWN; i++) {
		if (groups->shown[i] == record) {
			return true;
		}
	}
	return false;
}

/* Of what is shown and takes room among what is kept anyway. */
static uint64_t shown_bytes(const struct groups *groups)
{
	uint64_t bytes = 0;

	for (int i = 0; i < GROUPS_MAX_SHOWN; i++) {
		const struct kept *kept;

		if (!groups->shown[i]) {
			continue;
		}
		kept = &groups->kept.records[groups->shown[i]];
		bytes += kept->request && !kept->pinned ? kept->bytes : 0;
	}
	return bytes;
}

/*
 * The oldest kept request goes, unless somebody looks at it, or it is one of the slowest, or an
 * example of what requests do, and was not spared yet.
 */
static void keep_forget_oldest(struct groups *groups)
{
	uint32_t record = kept_oldest(&groups->kept);
	struct group *group = groups->items[groups->kept.records[record].group];
	bool wanted = groups->kept.records[record].held || tops_has(&group->tops, record) ||
		      tops_has(&group->epoch_tops, record);

	if (is_shown(groups, record)) {
		kept_renew(&groups->kept, record);
		return;
	}
	if (wanted && kept_spare(&groups->kept, record)) {
		return;
	}
	group_before_change(groups, group);
	kept_hold(&groups->kept, record);
	tops_remove(groups, &group->tops, record);
	tops_remove(groups, &group->epoch_tops, record);
	kept_forget(&groups->kept, record);
	keep_trim_sample(groups, group, groups->floor);
	if (group->window_slowest.record == record) {
		group_find_window_slowest(groups, group);
	}
	kept_drop(&groups->kept, record);
	group_changed(groups, group);
}

void keep_bound(struct groups *groups)
{
	struct pin *pin = &groups->pin;

	while (groups->kept.live.bytes > groups->config.max_kept_bytes + shown_bytes(groups)) {
		keep_forget_oldest(groups);
	}
	while (pin->on && pin->bytes + groups->kept.pinned.bytes > groups->config.max_pin_bytes) {
		if (!kept_trim_pin(&groups->kept) && !slices_trim_pin(groups)) {
			break;
		}
		pin->trimmed = true;
	}
}
