/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/grouping.h"
#include "groups/observe.h"

static void sample_leave_window(struct groups *groups, struct sample *sample)
{
	struct group *group = groups->items[sample->group];

	if (!sample->link_of_quarter) {
		return;
	}
	group_before_change(groups, group);
	*sample->link_of_quarter = sample->next_of_quarter;
	if (sample->next_of_quarter) {
		sample->next_of_quarter->link_of_quarter = sample->link_of_quarter;
	}
	sample->link_of_quarter = NULL;
	observed_count(&group->now.observed, HORIZON_WINDOW, sample, true);
}

void observe_leave_window(struct groups *groups, uint64_t quarter)
{
	struct sample **slot = &groups->sample_slots[quarter % groups->window];

	while (*slot && (*slot)->end_ns / QUARTER_NS == quarter) {
		__builtin_prefetch((*slot)->next_of_quarter, 1);
		sample_leave_window(groups, *slot);
	}
}

void observe_drop_oldest(struct groups *groups, struct group *group)
{
	struct sample_ring *ring = &group->now.observed.ring;

	group_before_change(groups, group);
	sample_leave_window(groups, ring_at(ring, 0));
	collect_leave(group, ring_at(ring, 0));
	samples_drop_oldest(&groups->samples, ring);
	group->now.observed.changes++;
}

void observe_bound(struct groups *groups)
{
	while (samples_full(&groups->samples)) {
		observe_drop_oldest(groups, groups->items[groups->samples.oldest->group]);
	}
}
