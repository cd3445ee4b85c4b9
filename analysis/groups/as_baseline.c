/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/baselines.h"
#include "groups/grouping.h"
#include "groups/label.h"

/* False if out of memory. */
static bool baseline_fill_group(
		struct arena *arena, struct baseline_group *out, const struct totals *totals)
{
	static const double ends[2] = {0, 1};
	uint64_t *counts;
	uint32_t bins[2];

	histogram_quantiles(&totals->histogram, ends, 2, bins);
	out->count = totals->moments.count;
	out->mean_ns = moments_mean(&totals->moments);
	out->sd_ns = moments_sd(&totals->moments);
	out->histogram_low = (int32_t)(bins[0] >> HISTOGRAM_SHIFT_PER_16TH);
	out->histogram_bins =
			(bins[1] >> HISTOGRAM_SHIFT_PER_16TH) - (uint32_t)out->histogram_low + 1;
	counts = arena_alloc(arena, out->histogram_bins * sizeof(*counts));
	if (!counts) {
		return false;
	}
	histogram_coarsen(&totals->histogram, HISTOGRAM_SHIFT_PER_16TH,
			(uint32_t)out->histogram_low, out->histogram_bins, counts);
	out->histogram = counts;
	return true;
}

/* Which buckets the horizon has, whole or in part; returns the first of them. */
static uint32_t put_buckets(
		struct baseline *out, const struct timelines *timelines, const struct view *view)
{
	uint32_t skipped = 0, n = 0;

	while (n < TIMELINE_BUCKETS && timelines->begun &&
			timelines->origin_ns + n * timelines->width_ns <= view->at_ns) {
		n++;
		skipped += timelines->origin_ns + n * timelines->width_ns <= view->start_ns;
	}
	out->n_buckets = n > skipped ? n - skipped : 0;
	out->bucket_ns = timelines->width_ns;
	out->bucket_0_ns = timelines->origin_ns + skipped * timelines->width_ns;
	return skipped;
}

const struct baseline *groups_baseline(struct groups *groups, enum horizon horizon, uint64_t at_ns)
{
	struct view view = view_at(groups, horizon, at_ns);
	struct arena *arena = &groups->made_arena;
	struct baseline_group *list;
	uint32_t skipped;

	label_again(groups);
	arena_release(arena);
	list = arena_alloc(arena, (view.n_groups + 1u) * sizeof(*list));
	if (!list) {
		return NULL;
	}
	groups->made = (struct baseline){.origin = "", .time_ns = view.at_ns, .groups = list};
	skipped = put_buckets(&groups->made, &groups->timelines, &view);
	for (uint32_t i = 0; i < view.n_groups; i++) {
		const uint32_t *counts = timelines_of_group(&groups->timelines, i);
		const struct group *group = groups->items[i];
		const struct totals *totals = view_totals(groups, &view, group);

		if (!totals) {
			return NULL;
		}
		if (!totals->histogram.count || !view_has(&view, group)) {
			continue;
		}
		list->type = arena_text(arena, names_text(groups->names, group->type));
		list->path = arena_text(arena, group->label);
		if (!list->type || !list->path || !baseline_fill_group(arena, list, totals)) {
			return NULL;
		}
		list->key = group->key;
		list->counts = counts ? counts + skipped : NULL;
		list++;
		groups->made.n++;
	}
	groups->made.length_ns = view.at_ns > view.start_ns ? view.at_ns - view.start_ns : 0;
	return baseline_types(groups, &view, skipped, &groups->made, arena) ? &groups->made : NULL;
}
