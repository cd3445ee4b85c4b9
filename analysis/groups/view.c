/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "groups/grouping.h"
#include "groups/view.h"

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* First quarter of the window that ends with the view's. */
static uint64_t window_begin(const struct groups *groups, const struct view *view)
{
	uint64_t begin =
			view->quarter + 1 > groups->window ? view->quarter + 1 - groups->window : 0;

	return later_of(begin, view->floor);
}

static uint64_t horizon_begin(const struct groups *groups, const struct view *view)
{
	if (view->horizon == HORIZON_WINDOW) {
		return later_of(groups->first_ns, window_begin(groups, view) * QUARTER_NS);
	}
	if (view->horizon == HORIZON_EPOCH && view->epoch) {
		return view->epoch_ns;
	}
	return groups->first_ns;
}

/* A frozen screen steps by quarters, at most a window back, and no further than slices are left. */
static void view_step_back(const struct groups *groups, struct view *view, uint64_t at_ns)
{
	const struct pin *pin = &groups->pin;
	uint64_t quarter = at_ns / QUARTER_NS;

	if (quarter + groups->window < pin->quarter) {
		quarter = pin->quarter - groups->window;
	}
	quarter = later_of(quarter, pin->trimmed_floor);
	view->quarter = quarter;
	view->at_ns = later_of(quarter * QUARTER_NS, groups->first_ns);
	view->floor = later_of(pin->floor, pin->trimmed_floor);
}

struct view view_at(const struct groups *groups, enum horizon horizon, uint64_t at_ns)
{
	const struct pin *pin = &groups->pin;
	struct view view = {.horizon = horizon, .pinned = pin->on};

	view.latest = !pin->on || at_ns >= pin->ns;
	view.at_ns = pin->on ? pin->ns : groups->now_ns;
	view.quarter = pin->on ? pin->quarter : groups->now;
	view.floor = pin->on ? pin->floor : groups->floor;
	view.n_groups = pin->on ? pin->n_groups : groups->n;
	view.folded = pin->on ? pin->folded : groups->folded;
	if (!view.latest) {
		view_step_back(groups, &view, at_ns);
	}
	view.start_ns = horizon_begin(groups, &view);
	return view;
}

struct view view_of(const struct groups *groups, const struct view *view, const struct group *group)
{
	const struct horizons *pinned = view->pinned ? group->pinned : NULL;
	struct view own = *view;

	own.epoch = pinned ? pinned->epoch : group->epoch;
	own.epoch_ns = pinned ? pinned->epoch_ns : group->epoch_ns;
	own.start_ns = horizon_begin(groups, &own);
	return own;
}

/* Quarters that the view shows nothing of begin here. */
static uint64_t view_end(const struct view *view)
{
	return view->latest ? view->quarter + 1 : view->quarter;
}

bool view_has(const struct view *view, const struct group *group)
{
	return group->index < view->n_groups && group->first_quarter < view_end(view);
}

bool view_in_window(const struct groups *groups, const struct view *view, const struct slice *slice)
{
	return slice_is_shown(groups, slice) && slice->quarter >= window_begin(groups, view) &&
	       slice->quarter < view_end(view);
}

/* The window of an instant in the past is the sum of its slices. */
static const struct totals *sum_window(
		struct groups *groups, const struct view *view, const struct group *group)
{
	const struct slice *slice = group->newest;

	for (; slice && slice->quarter >= window_begin(groups, view); slice = slice->older) {
		if (view_in_window(groups, view, slice) &&
				!totals_merge(&groups->scratch, &groups->pool, &slice->totals)) {
			return NULL;
		}
	}
	return &groups->scratch;
}

/* Longer horizons of an instant in the past are the pin's less the slices since. */
static const struct totals *subtract_since(struct groups *groups, const struct view *view,
		const struct group *group, enum horizon horizon)
{
	const struct horizons *pinned = group->pinned ? group->pinned : &group->now;
	const struct slice *slice = group->newest;

	if (!totals_copy(&groups->scratch, &groups->pool, &pinned->totals[horizon])) {
		return NULL;
	}
	for (; slice && slice->quarter >= view->quarter; slice = slice->older) {
		if (slice_is_shown(groups, slice) &&
				(horizon == HORIZON_ALL || slice->epoch == view->epoch)) {
			totals_subtract(&groups->scratch, &slice->totals);
		}
	}
	return &groups->scratch;
}

const struct totals *view_totals(
		struct groups *groups, const struct view *view, const struct group *group)
{
	struct view own = view_of(groups, view, group);
	enum horizon horizon = view->horizon;

	if (horizon == HORIZON_EPOCH && !own.epoch) {
		horizon = HORIZON_ALL;
	}
	if (view->latest) {
		const struct horizons *latest =
				view->pinned && group->pinned ? group->pinned : &group->now;

		return &latest->totals[horizon];
	}
	totals_clear(&groups->scratch, &groups->pool);
	if (horizon == HORIZON_WINDOW) {
		return sum_window(groups, view, group);
	}
	if (horizon == HORIZON_EPOCH && view->at_ns <= own.epoch_ns) {
		return &groups->scratch; /* it had not begun then */
	}
	return subtract_since(groups, &own, group, horizon);
}

bool view_shows(const struct groups *groups, const struct view *view, uint64_t start_ns,
		uint64_t end_ns)
{
	uint64_t quarter = end_ns / QUARTER_NS;

	if (quarter >= view_end(view)) {
		return false;
	}
	if (view->horizon == HORIZON_WINDOW) {
		return quarter >= window_begin(groups, view);
	}
	return view->horizon == HORIZON_ALL || !view->epoch || start_ns >= view->epoch_ns;
}

bool view_shows_request(
		const struct groups *groups, const struct view *view, const struct request *request)
{
	return view_shows(groups, view, request->start_ns, request->end_ns);
}

static uint64_t search_slowest(
		const struct groups *groups, const struct view *view, const struct group *group)
{
	uint32_t record = kept_newest_of(&groups->kept, group->index);
	struct view own = view_of(groups, view, group);
	uint64_t slowest_ns = 0, id = 0;

	for (; record; record = kept_older_of(&groups->kept, record)) {
		const struct request *request = groups->kept.records[record].request;
		uint64_t ns = request->end_ns - request->start_ns;

		/* Of equal ones the earlier, which comes later here. */
		if (request->state == REQUEST_COMPLETE && !request->tainted && ns >= slowest_ns &&
				view_shows_request(groups, &own, request)) {
			slowest_ns = ns;
			id = request->id;
		}
	}
	return id;
}

uint64_t view_slowest(
		const struct groups *groups, const struct view *view, const struct group *group)
{
	uint64_t id;

	if (!view->latest) {
		return search_slowest(groups, view, group);
	}
	if (!view->pinned || !group->pinned) {
		return group_slowest(group, view->horizon);
	}
	id = group->pinned->slowest[view->horizon];
	return id && kept_find(&groups->kept, id) ? id : 0;
}
