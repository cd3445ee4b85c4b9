/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "change/since.h"

/*
 * Groups whose requests go another way than before: of a type whose groups have other shares of its
 * requests, those that surely have less, and those that surely have more. One group is as before
 * where its path is, by its key; without keys (an older file) by its name.
 */
#define SPLIT_LEVEL  0.001 /* that chance makes such a row in a comparison */
#define SPLIT_LEAST  0.05  /* of the type's requests: smaller shares are not told */
#define SPLIT_ENOUGH 20u   /* requests of the type on either side */
#define BEGINS_SHARE 0.5   /* of the requests that go another way */

static int by_group(const void *left, const void *right)
{
	const struct matched_group *a = left, *b = right;
	uint64_t keys[2] = {(a->sides[0] ? a->sides[0] : a->sides[1])->key,
			(b->sides[0] ? b->sides[0] : b->sides[1])->key};

	if (a->type != b->type) {
		return a->type < b->type ? -1 : 1;
	}
	if (keys[0] && keys[1]) {
		return (keys[0] > keys[1]) - (keys[0] < keys[1]);
	}
	return strcmp((a->sides[0] ? a->sides[0] : a->sides[1])->path,
			(b->sides[0] ? b->sides[0] : b->sides[1])->path);
}

static uint32_t type_of_group(const struct work *work, const struct baseline_group *group)
{
	for (uint32_t i = 0; i < work->matched.n_types; i++) {
		const struct matched_type *type = &work->matched.types[i];

		if (type->sides[0] && type->sides[1] && group->type &&
				!strcmp(type->sides[0]->type, group->type)) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* Keys are compared only where both sides have them. */
static bool any_keys(const struct baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->n; i++) {
		if (baseline->groups[i].key) {
			return true;
		}
	}
	return false;
}

static int by_name(const void *left, const void *right)
{
	const struct matched_group *a = left, *b = right;

	if (a->type != b->type) {
		return a->type < b->type ? -1 : 1;
	}
	return strcmp((a->sides[0] ? a->sides[0] : a->sides[1])->path,
			(b->sides[0] ? b->sides[0] : b->sides[1])->path);
}

/* Of types that are on both sides. */
static bool list_groups(struct work *work, const struct baseline *const sides[2])
{
	struct matched_group *items =
			arena_alloc(work->arena, (sides[0]->n + sides[1]->n + 1u) * sizeof(*items));
	int (*compare)(const void *, const void *) =
			any_keys(sides[0]) && any_keys(sides[1]) ? by_group : by_name;
	uint32_t n = 0, kept = 0;

	for (uint32_t side = 0; items && side < 2; side++) {
		for (uint32_t i = 0; i < sides[side]->n; i++) {
			const struct baseline_group *group = &sides[side]->groups[i];
			uint32_t type = type_of_group(work, group);

			if (type != UINT32_MAX) {
				items[n] = (struct matched_group){.type = type};
				items[n++].sides[side] = group;
			}
		}
	}
	if (!items) {
		return false;
	}
	qsort(items, n, sizeof(*items), compare);
	for (uint32_t i = 0; i < n; i++) { /* the same ones are neighbours now */
		struct matched_group *last = kept ? &items[kept - 1] : NULL;

		if (last && compare(last, &items[i]) == 0) {
			for (uint32_t side = 0; side < 2; side++) {
				last->sides[side] = items[i].sides[side] ? items[i].sides[side]
									 : last->sides[side];
			}
		} else {
			items[kept++] = items[i];
		}
	}
	work->groups = (struct matched_groups){.items = items, .n = kept};
	return true;
}

/* Of two shares that requests of a type have before and after (Agresti & Caffo 2000). */
static void difference_of_share(const struct matched_type *type, double const n[2],
		double const counts[2], struct difference *out)
{
	*out = (struct difference){.freedom = 1e6, .n = {(uint64_t)n[0], (uint64_t)n[1]}};
	for (uint32_t i = 0; i < 2; i++) {
		double share = (counts[i] + 1) / (n[i] + 2);

		out->variance += share * (1 - share) / (n[i] + 2) * inflation_of_side(type, i);
	}
	out->before = counts[0] / n[0];
	out->after = counts[1] / n[1];
	out->value = out->after - out->before;
}

static double count_of(const struct baseline_group *group)
{
	return group ? (double)group->count : 0;
}

/* Which groups of a type have surely fewer or more of its requests; returns how many do. */
static uint32_t judge_groups(
		struct work *work, struct matched_group *groups, uint32_t n, double requests[2])
{
	uint32_t moved = 0;

	requests[0] = requests[1] = 0;
	for (uint32_t i = 0; i < n; i++) {
		requests[0] += count_of(groups[i].sides[0]);
		requests[1] += count_of(groups[i].sides[1]);
	}
	for (uint32_t i = 0; i < n && requests[0] >= SPLIT_ENOUGH && requests[1] >= SPLIT_ENOUGH;
			i++) {
		double counts[2] = {count_of(groups[i].sides[0]), count_of(groups[i].sides[1])};
		struct difference d;
		bool surely;

		difference_of_share(&work->matched.types[groups[i].type], requests, counts, &d);
		surely = difference_p(&d) * work->groups.n < SPLIT_LEVEL &&
			 fabs(d.value) >= SPLIT_LEAST;
		groups[i].share[0] = d.before;
		groups[i].share[1] = d.after;
		groups[i].shrank = surely && d.value < 0;
		groups[i].grew = surely && d.value > 0;
		moved += surely;
	}
	return moved;
}

/* "api›sched (60 %), api›sched +retry (40 %)": those that grew, or shrank. */
static const char *tell_groups(
		struct work *work, const struct matched_group *groups, uint32_t n, bool grew)
{
	const char *text = "";
	uint32_t told = 0;

	for (uint32_t i = 0; i < n && text; i++) {
		const struct matched_group *pair = &groups[i];
		const struct baseline_group *group =
				pair->sides[grew] ? pair->sides[grew] : pair->sides[!grew];

		if (!(grew ? pair->grew : pair->shrank) || told++ >= NAMES_TOLD) {
			continue;
		}
		text = arena_printf(work->arena, "%s%s%s (%.0f %% -> %.0f %%)", text,
				told > 1 ? ", " : "", group->path[0] ? group->path : group->type,
				100 * pair->share[0], 100 * pair->share[1]);
	}
	return text ? text : "";
}

/* Of the type's requests, how many more are in a context now. */
static double presence_of(const struct work *work, const struct pair *pair)
{
	double share[2] = {0, 0};

	for (uint32_t i = 0; i < 2; i++) {
		const struct baseline_type *type = work->matched.types[pair->type].sides[i];

		if (pair->sides[i] && type->requests) {
			share[i] = (double)pair->sides[i]->requests / (double)type->requests;
		}
	}
	return fabs(share[1] - share[0]);
}

static uint32_t common_of(const struct work *work, uint32_t a, uint32_t b)
{
	while (a != b && a != NO_PAIR && b != NO_PAIR) { /* parents stand before */
		if (a > b) {
			a = work->matched.pairs[a].parent;
		} else {
			b = work->matched.pairs[b].parent;
		}
	}
	return a == b ? a : NO_PAIR;
}

/* The deepest place above all that is there more or less often. */
static uint32_t where_it_begins(const struct work *work, uint32_t type, double moved)
{
	uint32_t common = NO_PAIR;
	bool any = false;

	for (uint32_t i = 0; i < work->matched.n; i++) {
		const struct pair *pair = &work->matched.pairs[i];

		if (pair->type != type || pair->part || pair->parent == NO_PAIR ||
				presence_of(work, pair) < BEGINS_SHARE * moved) {
			continue;
		}
		common = any ? common_of(work, common, pair->parent) : pair->parent;
		any = true;
	}
	return common;
}

static void put_split(struct work *work, const struct matched_group *groups, uint32_t n,
		double const requests[2])
{
	uint32_t shrank = 0, grew = 0, type = groups[0].type;
	double counts[2] = {0, 0};
	struct difference d;
	struct found *found;
	uint32_t place;

	for (uint32_t i = 0; i < n; i++) {
		shrank += groups[i].shrank;
		grew += groups[i].grew;
		if (groups[i].grew) {
			counts[0] += count_of(groups[i].sides[0]);
			counts[1] += count_of(groups[i].sides[1]);
		}
	}
	if (!shrank || !grew) {
		return;
	}
	found = row_add(work, shrank > grew ? CHANGE_MERGE : CHANGE_SPLIT);
	if (!found) {
		return;
	}
	difference_of_share(&work->matched.types[type], requests, counts, &d);
	place = where_it_begins(work, type, d.value);
	if (place != NO_PAIR) {
		found->pair = place;
		found->place = work->matched.pairs[place].place;
		found_put_place(work, found);
	}
	found_put_difference(work, &found->row, &d, OF_PLACES);
	found->type = type;
	found->row.p = difference_p(&d) * work->groups.n;
	found->row.sure = true;
	found->row.path_unknown = true; /* what it costs is told by places */
	found->row.type = work->matched.types[type].sides[1]->type;
	found->row.types = 1;
	found->row.from = tell_groups(work, groups, n, false);
	found->row.others = tell_groups(work, groups, n, true);
	found->rank = -1; /* as of rates: what is slow for it is told before */
}

/* Which groups could not be compared. */
static void tell_unmatched(struct work *work, struct changes_view *out)
{
	const char *names[2] = {"", ""};
	uint32_t told[2] = {0, 0};

	for (uint32_t i = 0; i < work->groups.n; i++) {
		const struct matched_group *pair = &work->groups.items[i];

		out->n_groups += pair->sides[0] && pair->sides[1];
		for (uint32_t side = 0; side < 2; side++) {
			const struct baseline_group *group = pair->sides[side];

			if (pair->sides[1 - side] || told[side]++ >= NAMES_TOLD || !names[side]) {
				continue;
			}
			names[side] = arena_printf(work->arena, "%s%s%s%s%s", names[side],
					told[side] > 1 ? ", " : "", group->type,
					group->path[0] ? " " : "", group->path);
		}
	}
	out->n_groups_gone = told[0];
	out->n_groups_new = told[1];
	out->groups_gone = names[0] ? names[0] : "";
	out->groups_new = names[1] ? names[1] : "";
}

bool split_find(struct work *work, const struct baseline *before, const struct baseline *after,
		struct changes_view *out)
{
	const struct baseline *sides[2] = {before, after};
	struct matched_group *items;
	double requests[2];

	if (!list_groups(work, sides)) {
		return false;
	}
	items = work->groups.items;
	for (uint32_t i = 0, n; i < work->groups.n; i += n) {
		for (n = 1; i + n < work->groups.n && items[i + n].type == items[i].type;) {
			n++;
		}
		if (judge_groups(work, &items[i], n, requests) > 1) {
			put_split(work, &items[i], n, requests);
		}
	}
	tell_unmatched(work, out);
	return true;
}

void split_list(const struct work *work, const struct baseline *after, const struct found *found,
		struct series *out)
{
	const struct baseline_type *type = work->matched.types[found->type].sides[1];

	out->counts = true;
	out->before = found->row.before;
	for (uint32_t bucket = 0; type->counts && bucket < after->n_buckets; bucket++) {
		double sum = 0;

		for (uint32_t i = 0; i < work->groups.n; i++) {
			const struct matched_group *pair = &work->groups.items[i];

			if (pair->type == found->type && pair->grew && pair->sides[1] &&
					pair->sides[1]->counts) {
				sum += pair->sides[1]->counts[bucket];
			}
		}
		series_add(out, bucket, sum, type->counts[bucket]);
	}
}
