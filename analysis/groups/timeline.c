/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/timeline.h"

#include <stdlib.h>

#include "base/array.h"

#define NS_PER_S    UINT64_C(1000000000)
#define FIRST_WIDTH (NS_PER_S / 4)

void timelines_release(struct timelines *timelines)
{
	for (uint32_t i = 0; i < timelines->room; i++) {
		free(timelines->contexts[i]);
	}
	for (uint32_t i = 0; i < timelines->room_of_groups; i++) {
		free(timelines->groups[i]);
	}
	free(timelines->contexts);
	free(timelines->groups);
	*timelines = (struct timelines){.begun = false};
}

static void halve_counts(uint32_t *counts)
{
	for (uint32_t i = 0; i < TIMELINE_BUCKETS; i++) {
		counts[i] = i < TIMELINE_BUCKETS / 2 ? counts[2 * i] + counts[2 * i + 1] : 0;
	}
}

static void halve_buckets(struct baseline_bucket *buckets)
{
	for (uint32_t i = 0; i < TIMELINE_BUCKETS; i++) {
		struct baseline_bucket sum = {.requests = 0};

		for (uint32_t k = 2 * i; k < 2 * i + 2 && k < TIMELINE_BUCKETS; k++) {
			sum.requests += buckets[k].requests;
			sum.spans += buckets[k].spans;
			sum.self_ns += buckets[k].self_ns;
			sum.segment_ns += buckets[k].segment_ns;
		}
		buckets[i] = sum;
	}
}

/* Which bucket an instant is in: what is before the first one is counted there. */
static uint32_t bucket_at(struct timelines *timelines, uint64_t at_ns)
{
	if (!timelines->begun) {
		timelines->begun = true;
		timelines->origin_ns = at_ns - at_ns % NS_PER_S;
		timelines->width_ns = FIRST_WIDTH;
	}
	if (at_ns < timelines->origin_ns) {
		return 0;
	}
	while ((at_ns - timelines->origin_ns) / timelines->width_ns >= TIMELINE_BUCKETS) {
		for (uint32_t i = 0; i < timelines->room; i++) {
			if (timelines->contexts[i]) {
				halve_buckets(timelines->contexts[i]);
			}
		}
		for (uint32_t i = 0; i < timelines->room_of_groups; i++) {
			if (timelines->groups[i]) {
				halve_counts(timelines->groups[i]);
			}
		}
		timelines->width_ns *= 2;
	}
	return (uint32_t)((at_ns - timelines->origin_ns) / timelines->width_ns);
}

void timelines_count(struct timelines *timelines, uint32_t group, uint64_t end_ns)
{
	uint32_t at = bucket_at(timelines, end_ns);

	if (group >= TIMELINE_GROUPS || !array_reserve_zeroed(&timelines->groups,
							&timelines->room_of_groups, group + 1)) {
		return;
	}
	if (!timelines->groups[group]) {
		timelines->groups[group] =
				calloc(TIMELINE_BUCKETS, sizeof(*timelines->groups[group]));
	}
	if (timelines->groups[group]) {
		timelines->groups[group][at]++;
	}
}

void timelines_add(struct timelines *timelines, uint32_t context, uint64_t start_ns, uint32_t spans,
		uint64_t self_ns, uint64_t segment_ns)
{
	uint32_t at = bucket_at(timelines, start_ns);
	struct baseline_bucket *bucket;

	if (!array_reserve_zeroed(&timelines->contexts, &timelines->room, context + 1)) {
		return;
	}
	if (!timelines->contexts[context] && timelines->n < TIMELINE_CONTEXTS) {
		timelines->contexts[context] =
				calloc(TIMELINE_BUCKETS, sizeof(*timelines->contexts[context]));
		timelines->n += timelines->contexts[context] != NULL;
	}
	if (timelines->contexts[context]) {
		bucket = &timelines->contexts[context][at];
		bucket->requests++;
		bucket->spans += spans;
		bucket->self_ns += self_ns;
		bucket->segment_ns += segment_ns;
	}
}

const struct baseline_bucket *timelines_of_context(
		const struct timelines *timelines, uint32_t context)
{
	return context < timelines->room ? timelines->contexts[context] : NULL;
}

const uint32_t *timelines_of_group(const struct timelines *timelines, uint32_t group)
{
	return group < timelines->room_of_groups ? timelines->groups[group] : NULL;
}
