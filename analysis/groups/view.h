/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_VIEW_H
#define PT_GROUPS_VIEW_H

#include "groups/locate.h"
#include "groups/slices.h"

/* What is shown, at which instant. */

struct view {
	uint64_t at_ns, start_ns; /* of the horizon */
	uint64_t quarter;         /* of at_ns */
	uint64_t floor;           /* first quarter with slices */
	bool latest;              /* the latest instant, or the pin itself: totals answer */
	bool pinned;
	enum horizon horizon;
	uint32_t epoch; /* of the group that it was narrowed to */
	uint32_t n_groups;
	uint64_t epoch_ns, folded;
};

/* Where time went at an instant; borrowed until the next look. */
struct instant {
	struct view view;
	const struct profile *profile;
	const struct sample_ring *ring;
	uint64_t changes;
};

/* The location made last, kept while it holds. */
struct located {
	bool valid;
	uint32_t group;
	uint64_t changes;
	struct view view;
	struct location location;
};

struct view view_at(const struct groups *groups, enum horizon horizon, uint64_t at_ns);
/* As it shows this group: of its epoch. */
struct view view_of(
		const struct groups *groups, const struct view *view, const struct group *group);
/* The group existed then. */
bool view_has(const struct view *view, const struct group *group);
/* Of the view's time, what any of the hosts was not recorded in, on purpose, in ns. */
uint64_t groups_unrecorded(const struct groups *groups, uint64_t hosts, const struct view *view);
/* The slice belongs to the window that ends then. */
bool view_in_window(
		const struct groups *groups, const struct view *view, const struct slice *slice);
/* Borrowed until the next call. NULL if out of memory. */
const struct totals *view_totals(
		struct groups *groups, const struct view *view, const struct group *group);
/* Id of the slowest complete request kept of the horizon, 0 if none is. */
uint64_t view_slowest(
		const struct groups *groups, const struct view *view, const struct group *group);
/* A request with these ends had ended by then, within the horizon. */
bool view_shows(const struct groups *groups, const struct view *view, uint64_t start_ns,
		uint64_t end_ns);
bool view_shows_request(const struct groups *groups, const struct view *view,
		const struct request *request);
/* False if out of memory. */
bool instant_at(struct groups *groups, const struct view *view, const struct group *group,
		struct instant *out);
/* Borrowed until the next call. NULL if out of memory. */
const struct location *instant_location(
		struct groups *groups, const struct instant *instant, const struct group *group);

#endif
