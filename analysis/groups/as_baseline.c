/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/internal.h"

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

const struct baseline *groups_baseline(struct groups *groups, enum horizon horizon, uint64_t at_ns)
{
	struct view view = view_at(groups, horizon, at_ns);
	struct arena *arena = &groups->made_arena;
	struct baseline_group *list;

	label_again(groups);
	arena_release(arena);
	list = arena_alloc(arena, (view.n_groups + 1u) * sizeof(*list));
	if (!list) {
		return NULL;
	}
	groups->made = (struct baseline){.origin = "", .time_ns = view.at_ns, .groups = list};
	for (uint32_t i = 0; i < view.n_groups; i++) {
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
		list++;
		groups->made.n++;
	}
	groups->made.length_ns = view.at_ns > view.start_ns ? view.at_ns - view.start_ns : 0;
	return baseline_types(groups, &view, &groups->made, arena) ? &groups->made : NULL;
}
