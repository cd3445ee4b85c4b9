/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/grouping.h"
#include "groups/keep.h"
#include "groups/observe.h"
#include "groups/slices.h"

/* Puts a slice behind `older` (NULL: first) in its group's order. */
static void slice_link(struct group *group, struct slice *slice, struct slice *older)
{
	slice->older = older;
	slice->newer = older ? older->newer : group->oldest;
	if (older) {
		older->newer = slice;
	} else {
		group->oldest = slice;
	}
	if (slice->newer) {
		slice->newer->older = slice;
	} else {
		group->newest = slice;
	}
}

static void slice_unlink(struct group *group, struct slice *slice)
{
	if (slice->older) {
		slice->older->newer = slice->newer;
	} else {
		group->oldest = slice->newer;
	}
	if (slice->newer) {
		slice->newer->older = slice->older;
	} else {
		group->newest = slice->older;
	}
}

static void slice_free(struct groups *groups, struct slice *slice)
{
	slice_unlink(groups->items[slice->group], slice);
	keep_release_slice(groups, slice);
	totals_clear(&slice->totals, &groups->pool);
	pool_free(&groups->pool, slice, sizeof(*slice));
}

struct slice *slice_of(struct groups *groups, struct group *group, uint64_t quarter, uint32_t epoch)
{
	struct slice *older = group->newest, *slice;

	while (older && older->quarter >= quarter) {
		if (older->quarter == quarter && older->epoch == epoch &&
				older->seal == groups->seal) {
			return older;
		}
		if (older->quarter == quarter && older->seal < groups->seal) {
			break;
		}
		older = older->older;
	}
	if (quarter < groups->floor) {
		return NULL;
	}
	slices_bound(groups);
	slice = pool_alloc(&groups->pool, sizeof(*slice));
	if (!slice) {
		return NULL;
	}
	memset(slice, 0, sizeof(*slice));
	/* The bound may have freed `older`, but then nothing older is left either. */
	for (older = group->newest; older && older->quarter > quarter; older = older->older) {
	}
	slice->quarter = quarter;
	slice->epoch = epoch;
	slice->seal = groups->seal;
	slice->group = group->index;
	slice->in_window = quarter + groups->window > groups->now;
	slice_link(group, slice, older);
	slice->next = groups->slots[quarter % groups->retention];
	groups->slots[quarter % groups->retention] = slice;
	return slice;
}

bool slice_is_shown(const struct groups *groups, const struct slice *slice)
{
	return !groups->pin.on || slice->seal < groups->seal;
}

static void slice_leave_window(struct groups *groups, struct slice *slice)
{
	struct group *group = groups->items[slice->group];
	struct totals *window = &group->now.totals[HORIZON_WINDOW];

	if (!slice->in_window) {
		return;
	}
	group_before_change(groups, group);
	slice->in_window = false;
	totals_subtract(window, &slice->totals);
	if (!window->moments.count) {
		histogram_clear(&window->histogram, &groups->pool);
	}
	if (slice->slowest.record && slice->slowest.record == group->window_slowest.record) {
		group_find_window_slowest(groups, group);
	}
	if (!groups->pin.on) {
		group->rows_valid &= (uint8_t) ~(1u << HORIZON_WINDOW);
	}
}

static uint64_t slice_size(const struct slice *slice)
{
	return sizeof(*slice) + histogram_bytes(&slice->totals.histogram);
}

static void slices_drop(struct groups *groups, uint64_t quarter)
{
	struct slice **slot = &groups->slots[quarter % groups->retention];
	struct slice *slice, *next;

	observe_leave_window(groups, quarter);
	for (slice = *slot; slice; slice = next) {
		next = slice->next;
		slice_leave_window(groups, slice);
		keep_trim_sample(groups, groups->items[slice->group], quarter + 1);
		if (groups->pin.on && slice->seal < groups->seal) {
			slice->next = NULL;
			if (groups->pin.last) {
				groups->pin.last->next = slice;
			} else {
				groups->pin.first = slice;
			}
			groups->pin.last = slice;
			groups->pin.bytes += slice_size(slice);
		} else {
			slice_free(groups, slice);
		}
	}
	*slot = NULL;
}

bool slices_trim_pin(struct groups *groups)
{
	struct slice *slice = groups->pin.first;

	if (!slice) {
		return false;
	}
	groups->pin.first = slice->next;
	if (!groups->pin.first) {
		groups->pin.last = NULL;
	}
	groups->pin.bytes -= slice_size(slice);
	groups->pin.trimmed_floor = slice->quarter + 1;
	slice_free(groups, slice);
	return true;
}

void slices_bound(struct groups *groups)
{
	while (groups->pool.in_use_bytes > groups->config.max_bucket_bytes + groups->pin.bytes &&
			groups->floor < groups->now) {
		slices_drop(groups, groups->floor++);
	}
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void slices_advance_one(struct groups *groups)
{
	uint64_t now = ++groups->now;
	struct slice *slice = groups->slots[(now - groups->window) % groups->retention];

	for (; now >= groups->window && slice; slice = slice->next) {
		slice_leave_window(groups, slice);
	}
	if (now >= groups->window) {
		observe_leave_window(groups, now - groups->window);
	}
	if (now >= groups->retention) {
		slices_drop(groups, now - groups->retention);
	}
	if (groups->floor < minus(now + 1, groups->retention)) {
		groups->floor = minus(now + 1, groups->retention);
	}
}

void slices_advance(struct groups *groups, uint64_t quarter)
{
	/* After a gap longer than what is kept there is nothing left to drop. */
	for (uint32_t i = 0; i < groups->retention && groups->now < quarter; i++) {
		slices_advance_one(groups);
	}
	if (groups->now < quarter) {
		groups->now = quarter;
		groups->floor = minus(quarter + 1, groups->retention);
	}
}
