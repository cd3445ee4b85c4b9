/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "groups/grouping.h"
#include "groups/keep.h"
#include "groups/observe.h"

/* Made of the items at hand. */
static void sample_enter_window(struct groups *groups, struct group *group, struct sample *sample)
{
	struct sample **slot = &groups->sample_slots[sample->end_ns / QUARTER_NS % groups->window];

	sample->next_of_quarter = *slot;
	if (*slot) {
		(*slot)->link_of_quarter = &sample->next_of_quarter;
	}
	*slot = sample;
	sample->link_of_quarter = slot;
	observed_count_fresh(&group->now.observed, HORIZON_WINDOW, &sample->request,
			&groups->items_of_one);
}

/* Room for one more; and what is old goes, so that memory does not grow for as long as it takes the
 * slowest groups to fill their rings; but not where key-values are looked at, as these take many.
 */
static void make_room(struct groups *groups, struct group *group)
{
	const struct sample_ring *ring = &group->now.observed.ring;
	uint64_t age_ns = groups->retention * QUARTER_NS;

	while (ring->n == SAMPLES_MAX ||
			(ring->n > SAMPLES_LEAST && !group->collected &&
					ring_at(ring, 0)->end_ns + age_ns < groups->now_ns)) {
		observe_drop_oldest(groups, group);
	}
}

void observe_begin_epoch(struct group *group)
{
	profile_clear(&group->now.observed.profile, HORIZON_EPOCH);
	group->now.observed.changes++;
}

/* Requests that are complete alone know their path: as the profile counts them. */
static void count_in_time(
		struct groups *groups, const struct group *group, const struct sample *head)
{
	const struct profile *profile = &group->now.observed.profile;

	for (uint32_t i = 0; i < groups->items_of_one.n; i++) {
		const struct profile_item *item = &groups->items_of_one.items[i];

		if (profile->nodes[item->node].context) {
			timelines_add(&groups->timelines, profile->nodes[item->node].context,
					head->start_ns, item->spans, item->self_ns,
					head->request.counted ? item->segment_ns : 0);
		}
	}
}

void observe_request(struct groups *groups, struct group *group, const struct request *request,
		enum sampling sampling, uint32_t weight, bool in_window)
{
	struct observed *observed = &group->now.observed;
	struct sample *sample, head = {.group = group->index};
	const struct sample_keys *keys = NULL;
	struct measured measured;
	bool complete = request->state == REQUEST_COMPLETE;

	if (!groups->config.measure || request->tainted ||
			!groups->config.measure(groups->config.measurer, request, &measured) ||
			!profile_list(&observed->profile, &groups->contexts_bound, groups->contexts,
					&measured, &groups->items_of_one)) {
		return;
	}
	head.id = request->id;
	head.start_ns = request->start_ns;
	head.end_ns = request->end_ns;
	head.request.duration_ns = request->end_ns - request->start_ns;
	head.request.folded_spans = groups->items_of_one.folded_spans;
	head.request.skewed = complete && measured.skewed;
	head.request.counted = complete && !head.request.skewed &&
			       head.request.duration_ns <= MOMENTS_MAX_NS;
	head.request.weight = weight;
	head.request.added = sampling == SAMPLING_ADDED;
	if (head.request.added && !head.request.counted) {
		return;
	}
	if (group->collected && head.request.counted && !head.request.added) {
		keys = collect_read(groups, group, request);
	}
	make_room(groups, group);
	sample = samples_add(&groups->samples, &observed->ring, &head, &groups->items_of_one, keys);
	if (!sample) {
		collect_dropped(groups, keys);
		return;
	}
	collect_taken(group, sample);
	if (!head.request.added) {
		count_in_time(groups, group, &head);
	}
	observed_count_fresh(observed, HORIZON_ALL, &head.request, &groups->items_of_one);
	if (group->epoch && request->start_ns >= group->epoch_ns) {
		observed_count_fresh(observed, HORIZON_EPOCH, &head.request, &groups->items_of_one);
	}
	if (in_window) {
		sample_enter_window(groups, group, sample);
	}
	observe_bound(groups);
}
