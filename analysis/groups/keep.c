/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "groups/grouping.h"
#include "groups/keep.h"
#include "base/hash.h"

#define NS_PER_S  UINT64_C(1000000000)
#define MEAN_UNIT 256u /* of means: parts of a request */
#define PER_KEPT  4u   /* samples, of which one is kept where they are many */
#define LONG_AGO  64u  /* seconds, after which nothing of a mean is left */
#define BURST     2u   /* seconds' worth of samples, taken in one before fewer are */
#define PER_SLOW  4u   /* samples, for one slow request that is measured beside them */

/* So many of those expected, as a threshold of hashes. */
static uint32_t share_of(uint32_t n, uint32_t expected)
{
	return expected > n ? (uint32_t)(((uint64_t)n << 32) / expected) : UINT32_MAX;
}

/* The bin that the slowest of the window begin at, one for PER_SLOW samples. */
static uint32_t slow_bin_of(const struct group *group, uint32_t usual, uint32_t expected)
{
	const struct histogram *histogram = &group->now.totals[HORIZON_WINDOW].histogram;
	double share = 1 - (double)usual / PER_SLOW / expected;
	uint32_t bin;

	if (expected <= usual || !histogram->count) {
		return UINT32_MAX;
	}
	histogram_quantiles(histogram, &share, 1, &bin);
	return bin + 1;
}

/* Not by the id, which counts what came before: a replay sees more of the first moment. */
static uint32_t draw_of(const struct request *request)
{
	return (uint32_t)hash_pair(request->start_ns, request->end_ns);
}

/* How many requests one stands for whose hash is not above the threshold. */
static uint32_t weight_of(uint32_t threshold)
{
	uint64_t weight = ((uint64_t)PROFILE_WEIGHT << 32) / (threshold + UINT64_C(1));

	return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

/* A burst is remembered for about eight seconds. */
static void turn_second(struct group *group, uint64_t second, uint32_t usual)
{
	struct ring *ring = &group->ring;
	uint64_t passed = second - ring->second;
	uint32_t expected = passed == 1 ? ring->seen : 0;

	ring->mean = passed < LONG_AGO ? ring->mean : 0;
	for (; ring->mean + ring->seen > 0 && passed > 0 && passed < LONG_AGO; passed--) {
		ring->mean += (uint64_t)ring->seen * MEAN_UNIT / 8 - ring->mean / 8;
		ring->seen = 0;
	}
	if (expected < ring->mean / MEAN_UNIT) {
		expected = (uint32_t)(ring->mean / MEAN_UNIT);
	}
	ring->threshold = share_of(usual, expected);
	ring->kept_threshold = share_of((usual + PER_KEPT - 1) / PER_KEPT, expected);
	ring->slow_bin = slow_bin_of(group, usual, expected);
	ring->second = second;
	ring->seen = 0;
	ring->taken = 0;
	ring->slow = 0;
}

/*
 * The share of a second's requests follows from how many the second before had, or those before it
 * on average. Where load grew so much that the share is too large, it is halved for each BURST
 * times samples_per_s that were taken; and none are beyond SAMPLES_PER_S: the sample is then
 * uniform only up to there. Slow requests are few, and most of the variance may be theirs: all of
 * these are taken. Each weighs as many as it stands for: itself, or those left out, too.
 */
enum sampling keep_sample(struct groups *groups, struct group *group, const struct request *request,
		uint32_t bin, uint32_t *weight)
{
	struct ring *ring = &group->ring;
	uint64_t second = request->end_ns / NS_PER_S;
	uint32_t draw = draw_of(request), usual = groups->config.samples_per_s;
	bool slow;

	if (second > ring->second) {
		turn_second(group, second, usual);
	}
	ring->seen += ring->seen < UINT32_MAX;
	slow = bin != UINT32_MAX && bin >= ring->slow_bin && ring->slow < BURST * usual / PER_SLOW;
	ring->slow += slow;
	*weight = slow ? PROFILE_WEIGHT : weight_of(ring->threshold);
	if (ring->taken >= SAMPLES_PER_S || draw > ring->threshold) {
		return slow ? SAMPLING_ADDED : SAMPLING_NONE;
	}
	if (++ring->taken % (BURST * usual) == 0) {
		ring->threshold /= 2;
	}
	return SAMPLING_UNIFORM;
}

/* The ring doubles up to GROUPS_MAX_SAMPLES: most groups never need all of it. */
static bool ring_grow(struct ring *ring)
{
	uint32_t room = ring->room ? ring->room * 2 : 8;
	uint32_t *records = malloc(room * sizeof(*records));

	if (!records) {
		return false;
	}
	for (uint32_t i = 0; i < ring->n; i++) {
		records[i] = ring->records[(ring->first + i) & (ring->room - 1)];
	}
	free(ring->records);
	ring->records = records;
	ring->room = room;
	ring->first = 0;
	return true;
}

static void ring_pop(struct groups *groups, struct ring *ring)
{
	uint32_t record = ring->records[ring->first];

	ring->first = (ring->first + 1) & (ring->room - 1);
	if (--ring->n > 0) {
		__builtin_prefetch(&groups->kept.records[ring->records[ring->first]], 1);
	}
	kept_drop(&groups->kept, record);
}

void keep_trim_sample(struct groups *groups, struct group *group, uint64_t floor)
{
	struct ring *ring = &group->ring;

	while (ring->n) {
		const struct kept *kept = &groups->kept.records[ring->records[ring->first]];
		bool gone = !kept->request || kept->pinned;

		if (!gone && (ring->n <= RING_LEAST ||
					     (int32_t)(kept->quarter - (uint32_t)floor) >= 0)) {
			return;
		}
		ring_pop(groups, ring);
	}
}

static void ring_push(struct groups *groups, struct group *group, uint32_t record)
{
	struct ring *ring = &group->ring;

	keep_trim_sample(groups, group, groups->floor);
	if (ring->n == GROUPS_MAX_SAMPLES) {
		ring_pop(groups, ring);
	} else if (ring->n == ring->room && !ring_grow(ring)) {
		return;
	}
	ring->records[(ring->first + ring->n++) & (ring->room - 1)] = record;
	kept_hold(&groups->kept, record);
}

static bool tops_wants(const struct tops *tops, uint64_t ns)
{
	return tops->n < TOPS_MAX || ns > tops->items[TOPS_MAX - 1].ns;
}

static void tops_insert(struct groups *groups, struct tops *tops, const struct slow *slow)
{
	uint32_t at;

	if (tops->n == TOPS_MAX) {
		kept_drop(&groups->kept, tops->items[--tops->n].record);
	}
	for (at = tops->n++; at > 0 && tops->items[at - 1].ns < slow->ns; at--) {
		tops->items[at] = tops->items[at - 1];
	}
	tops->items[at] = *slow;
	kept_hold(&groups->kept, slow->record);
}

void keep_release_tops(struct groups *groups, struct tops *tops)
{
	for (uint32_t i = 0; i < tops->n; i++) {
		kept_drop(&groups->kept, tops->items[i].record);
	}
	tops->n = 0;
}

static void slice_set_slowest(struct groups *groups, struct group *group, struct slice *slice,
		const struct slow *slow)
{
	if (slice->slowest.record) {
		kept_drop(&groups->kept, slice->slowest.record);
	}
	slice->slowest = *slow;
	kept_hold(&groups->kept, slow->record);
	if (slice->in_window &&
			(!group->window_slowest.record || slow->ns > group->window_slowest.ns)) {
		group->window_slowest = *slow;
	}
}

bool keep_request(struct groups *groups, struct group *group, struct slice *slice,
		struct request *request, bool sampled, bool new_cell)
{
	uint64_t ns = request->end_ns - request->start_ns;
	bool counts = request->state == REQUEST_COMPLETE && !request->tainted;
	bool slowest = counts && slice && (!slice->slowest.record || ns > slice->slowest.ns);
	bool top = counts && tops_wants(&group->tops, ns);
	bool epoch_top = counts && group->epoch && request->start_ns >= group->epoch_ns &&
			 tops_wants(&group->epoch_tops, ns);
	struct slow slow = {.ns = ns, .id = request->id};

	sampled = sampled && draw_of(request) <= group->ring.kept_threshold;
	if (!new_cell && slice && request_failed(request) && !request->tainted &&
			slice->kept_failed < FAILED_PER_QUARTER) {
		slice->kept_failed++;
		new_cell = true; /* for as long as the first of a cell */
	}
	if (!sampled && !new_cell && !slowest && !top && !epoch_top) {
		return false;
	}
	slow.record = kept_add(&groups->kept, request, group->index);
	if (!slow.record) {
		return false;
	}
	groups->kept.records[slow.record].quarter = (uint32_t)(request->end_ns / QUARTER_NS);
	if (sampled) {
		ring_push(groups, group, slow.record);
	}
	if (new_cell) {
		groups->kept.records[slow.record].next_of_slice = slice->kept;
		slice->kept = slow.record;
		kept_hold(&groups->kept, slow.record);
	}
	if (slowest) {
		slice_set_slowest(groups, group, slice, &slow);
	}
	if (top) {
		tops_insert(groups, &group->tops, &slow);
	}
	if (epoch_top) {
		tops_insert(groups, &group->epoch_tops, &slow);
	}
	kept_drop(&groups->kept, slow.record); /* the reference it came with */
	return true;
}

void keep_release_slice(struct groups *groups, struct slice *slice)
{
	uint32_t record, next;

	for (record = slice->kept; record; record = next) {
		next = groups->kept.records[record].next_of_slice;
		__builtin_prefetch(&groups->kept.records[next], 1);
		kept_drop(&groups->kept, record);
	}
	if (slice->slowest.record) {
		kept_drop(&groups->kept, slice->slowest.record);
	}
}

void group_find_window_slowest(struct groups *groups, struct group *group)
{
	memset(&group->window_slowest, 0, sizeof(group->window_slowest));
	for (struct slice *slice = group->newest; slice; slice = slice->older) {
		const struct slow *slow = &slice->slowest;

		if (slice->in_window && slow->record &&
				groups->kept.records[slow->record].request &&
				slow->ns >= group->window_slowest.ns) {
			group->window_slowest = *slow;
		}
	}
}
