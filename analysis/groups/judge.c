/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/grouping.h"
#include "groups/metric.h"

/*
 * When verdicts are given. A verdict holds for as long as the totals that it speaks of, so only
 * rows that have changed are judged anew: the one in focus and those on top in every fill, the
 * others in turn while the fill's work lasts (some 5 ms). Those that have to wait keep the verdict
 * of before, and of a fresh horizon have none. Work is counted, not timed: the same calls give the
 * same snapshots.
 */
#define JUDGED_FIRST 64u
#define WORK_OF_FILL UINT64_C(1000000)

/* False if out of memory. */
static bool judge_group(
		struct groups *groups, const struct view *view, struct group *group, uint64_t *work)
{
	struct groups_row *row = &groups->cache.rows[group->index];
	uint8_t judged = (uint8_t)(1u << groups->cached);
	const struct totals *totals;

	if ((group->rows_judged & judged) || !view_has(view, group)) {
		return true;
	}
	group->rows_judged |= judged;
	if (row->missing || row->lossy || row->idle_wait) {
		return true;
	}
	totals = view_totals(groups, view, group);
	if (!totals) {
		return false;
	}
	*work += detect_row(row, &totals->moments, &totals->histogram, group->was,
			groups->config.cov_limit);
	return true;
}

enum status judge_rows(struct groups *groups, const struct view *view, const struct focus *focus,
		const struct place *places, uint32_t n)
{
	bool all = focus->parts & FOCUS_THOROUGH, ok = true;
	uint32_t i, turn = groups->judge_next;
	uint64_t work = 0;

	if (focus->parts & FOCUS_UNJUDGED) {
		return STATUS_OK;
	}
	if (focus->group_id && focus->group_id <= view->n_groups) {
		ok = judge_group(groups, view, groups->items[focus->group_id - 1], &work);
	}
	if (!(focus->parts & FOCUS_GROUPS)) {
		return ok ? STATUS_OK : STATUS_NO_MEMORY; /* no other row is shown */
	}
	for (i = 0; ok && i < n && i < JUDGED_FIRST; i++) {
		ok = judge_group(groups, view, groups->items[places[i].index], &work);
	}
	for (i = 0; ok && i < view->n_groups && (all || work < WORK_OF_FILL); i++, turn++) {
		turn = turn < view->n_groups ? turn : 0;
		ok = judge_group(groups, view, groups->items[turn], &work);
	}
	groups->judge_next = turn;
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
