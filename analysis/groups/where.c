/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/detect.h"
#include "groups/grouping.h"

#define UNLIKE     (2.0 / 3) /* of the group's standard deviation, or the sample's */
#define CHAIN_LINK "\u203a"

/* ---- profile and samples of an instant ---- */

static void count_shown(
		struct groups *groups, const struct view *view, const struct sample_ring *ring)
{
	profile_clear(&groups->past.profile, view->horizon);
	for (uint32_t i = 0; i < ring->n; i++) {
		const struct sample *sample = ring_at(ring, i);

		if (view_shows(groups, view, sample->start_ns, sample->end_ns)) {
			observed_count(&groups->past, view->horizon, sample, false);
		}
	}
}

static void take_later_away(
		struct groups *groups, const struct view *view, const struct sample_ring *ring)
{
	for (uint32_t i = 0; i < ring->n; i++) {
		const struct sample *sample = ring_at(ring, i);
		bool counts = view->horizon == HORIZON_ALL || sample->start_ns >= view->epoch_ns;

		if (counts && sample->end_ns / QUARTER_NS >= view->quarter) {
			observed_count(&groups->past, view->horizon, sample, true);
		}
	}
}

/* The window of an instant in the past is made of its samples; longer horizons are the pin's less
 * the samples since, or, where these are no longer all there, made of its samples, too. */
static bool go_back(struct groups *groups, const struct view *view, const struct observed *pinned)
{
	const struct sample_ring *ring = &pinned->ring;
	bool reaches = !ring->dropped ||
		       (ring->n && ring_at(ring, 0)->end_ns / QUARTER_NS < view->quarter);

	profile_release(&groups->past.profile);
	if (!profile_copy(&groups->past.profile, &pinned->profile)) {
		return false;
	}
	if (view->horizon == HORIZON_EPOCH && view->at_ns <= view->epoch_ns) {
		profile_clear(&groups->past.profile, view->horizon); /* it had not begun then */
	} else if (view->horizon == HORIZON_WINDOW || !reaches) {
		count_shown(groups, view, ring);
	} else {
		take_later_away(groups, view, ring);
	}
	return true;
}

bool instant_at(struct groups *groups, const struct view *view, const struct group *group,
		struct instant *out)
{
	const struct observed *observed = view->pinned && group->pinned ? &group->pinned->observed
									: &group->now.observed;

	out->view = view_of(groups, view, group);
	if (view->horizon == HORIZON_EPOCH && !out->view.epoch) {
		out->view.horizon = HORIZON_ALL; /* until an epoch is begun it is everything */
	}
	out->ring = &observed->ring;
	out->changes = observed->changes;
	out->profile = &observed->profile;
	if (!view->latest) {
		out->profile = &groups->past.profile;
		return go_back(groups, &out->view, observed);
	}
	return true;
}

/* ---- the location, of the group in focus made once as long as nothing changes ---- */

static bool located_is(const struct located *located, const struct instant *instant,
		const struct group *group)
{
	const struct view *a = &located->view, *b = &instant->view;

	return located->valid && located->group == group->index &&
	       located->changes == instant->changes && a->horizon == b->horizon &&
	       a->epoch == b->epoch && a->latest == b->latest &&
	       (a->latest || (a->quarter == b->quarter && a->floor == b->floor &&
					     a->pinned == b->pinned));
}

const struct location *instant_location(
		struct groups *groups, const struct instant *instant, const struct group *group)
{
	struct located *located = &groups->located;
	struct sample *samples[SAMPLES_MAX];
	uint32_t n = 0;

	if (located_is(located, instant, group)) {
		return &located->location;
	}
	for (uint32_t i = 0; i < instant->ring->n; i++) {
		struct sample *sample = ring_at(instant->ring, i);

		if (sample->request.counted && view_shows(groups, &instant->view, sample->start_ns,
							       sample->end_ns)) {
			samples[n++] = sample;
		}
	}
	location_release(&located->location);
	located->valid = location_make(&located->location, instant->profile, instant->view.horizon,
			samples, n, ENOUGH_REQUESTS);
	located->group = group->index;
	located->changes = instant->changes;
	located->view = instant->view;
	return located->valid ? &located->location : NULL;
}

/* ---- into snapshots ---- */

const char *context_name(const struct groups *groups, uint32_t context)
{
	return names_text(groups->names, contexts_get(groups->contexts, context)->name);
}

const char *context_chain(const struct groups *groups, uint32_t context, struct arena *arena)
{
	const char *names[PROFILE_MAX_DEPTH];
	uint32_t n = 0;
	size_t length = 0;
	char *text, *at;

	while (n < PROFILE_MAX_DEPTH &&
			(context = contexts_get(groups->contexts, context)->parent) != 0) {
		names[n++] = context_name(groups, context);
		length += strlen(names[n - 1]) + strlen(CHAIN_LINK);
	}
	text = at = arena_alloc(arena, length + 1);
	if (!text) {
		return "";
	}
	while (n-- > 0) {
		at = stpcpy(at, names[n]);
		at = n ? stpcpy(at, CHAIN_LINK) : at;
	}
	return text;
}

static void segment_set(struct group_segment *out, const struct located_segment *segment)
{
	out->mean_ns = segment->mean_ns;
	out->sd_ns = segment->sd_ns;
	out->phi = segment->phi;
	out->phi_low = segment->phi_low;
	out->phi_high = segment->phi_high;
	out->tail_share = segment->tail_share;
	out->disagrees = location_disagrees(segment);
}

static enum status fill_segments(const struct groups *groups, const struct instant *instant,
		const struct location *location, struct snapshot *snapshot,
		struct group_location *out)
{
	uint32_t n = location->n_listed + location->has_rest;
	struct group_segment *segments = snapshot_alloc(snapshot, n * sizeof(*segments));
	struct group_pair *pairs = snapshot_alloc(snapshot, location->n_pairs * sizeof(*pairs));

	if (!segments || !pairs) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < location->n_listed; i++) {
		uint32_t node = location->listed[i];
		uint32_t context = instant->profile->nodes[node].context;

		segment_set(&segments[i], &location->nodes[node]);
		segments[i].context = context;
		segments[i].name = context ? snapshot_text(snapshot, context_name(groups, context))
					   : REST_NAME;
		segments[i].where = context_chain(groups, context, snapshot->arena);
	}
	if (location->has_rest) {
		segment_set(&segments[n - 1], &location->rest);
		segments[n - 1].name = REST_NAME;
		segments[n - 1].where = "";
	}
	memcpy(pairs, location->pairs, location->n_pairs * sizeof(*pairs));
	out->n_segments = n;
	out->segments = segments;
	out->n_pairs = location->n_pairs;
	out->pairs = pairs;
	return STATUS_OK;
}

enum status fill_location(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct group_location *out)
{
	const struct totals *totals = view_totals(groups, view, group);
	const struct location *location;
	struct instant instant;
	bool lossy;

	if (!totals) {
		return STATUS_NO_MEMORY;
	}
	lossy = detect_is_lossy(totals->moments.count, totals->tainted);
	if (!instant_at(groups, view, group, &instant)) {
		return STATUS_NO_MEMORY;
	}
	location = instant_location(groups, &instant, group);
	if (!location) {
		return STATUS_NO_MEMORY;
	}
	out->requests = location->requests;
	out->skewed = location->skewed;
	out->sampled_share = totals->moments.count ? (double)location->requests /
								     (double)totals->moments.count
						   : 0;
	out->sampled_share = out->sampled_share < 1 ? out->sampled_share : 1;
	out->sample_sd_ns = sqrt(location->variance);
	out->unlike = out->sample_sd_ns < UNLIKE * moments_sd(&totals->moments) ||
		      out->sample_sd_ns * UNLIKE > moments_sd(&totals->moments);
	out->missing = lossy ? 0 : location->missing;
	out->located = location->located && !lossy;
	if (!out->located) {
		return STATUS_OK;
	}
	out->first_component = location->first_component;
	out->common_cause = location->common_cause;
	return fill_segments(groups, &instant, location, snapshot, out);
}
