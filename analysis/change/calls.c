/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "change/rows.h"

/* Calls that are made more or less often, and rows that follow from others. */

/* All that one context calls more, or less, often is one row. */
static struct found *calls_of(struct work *work, enum change_kind kind, uint32_t place)
{
	for (uint32_t i = 0; i < work->n; i++) {
		if (work->found[i].row.kind == kind && work->found[i].place == place) {
			return &work->found[i];
		}
	}
	return NULL;
}

static int by_places(const void *a, const void *b)
{
	const struct calls *x = a, *y = b;

	if (x->above != y->above) {
		return x->above < y->above ? -1 : 1;
	}
	if (x->place != y->place) {
		return x->place < y->place ? -1 : 1;
	}
	return (x->pair > y->pair) - (x->pair < y->pair);
}

static void put_calls(struct work *work, const struct difference *d, uint32_t pair,
		enum family family, bool sure)
{
	const char *name = pair_either(&work->matched.pairs[pair])->name;
	enum change_kind kind = d->value > 0 ? CHANGE_MORE : CHANGE_FEWER;
	uint32_t parent = work->matched.pairs[pair].parent;
	struct found *found = calls_of(work, kind, work->matched.pairs[parent].place);
	double half;

	if (!found || (sure && !found->row.sure)) {
		found = found ? found : row_add(work, kind);
		if (!found) {
			return;
		}
		found->place = work->matched.pairs[parent].place;
		found->pair = parent;
		found_put_place(work, found);
		found_put_difference(work, &found->row, d, family);
		found->called = pair;
		found->row.sure = sure;
		found->row.others = name;
	} else if (sure == found->row.sure) {
		struct change_row *row = &found->row, sum = *row;

		if (found_p(work, d, family) < row->p) {
			found_put_difference(work, row, d, family);
			found->called = pair;
		}
		half = difference_half(d->added_variance, d->freedom);
		row->added_ns_per_s = sum.added_ns_per_s + d->added;
		row->added_low = sum.added_low + d->added - half;
		row->added_high = sum.added_high + d->added + half;
		if (!strstr(row->others, name)) {
			row->others = arena_printf(work->arena, "%s, %s", row->others, name);
			row->others = row->others ? row->others : name;
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct baseline_type *type =
				work->matched.types[work->matched.pairs[pair].type].sides[i];

		found->row.path_unknown |= !type || !type->complete;
	}
	found->rank = fabs(found->row.added_ns_per_s);
}

/* Of n contexts in which a place calls another: together, else of the surest of them. */
static void find_calls(struct work *work, const struct calls *calls, uint32_t n)
{
	struct difference best = {.variance = 0}, d;
	enum family family = OF_PLACES;
	uint32_t of = calls[0].pair;
	bool any = difference_of_calls(&work->matched, &calls[0].pair, sizeof(*calls), n, &best);

	for (uint32_t i = 0; n > 1 && i < n; i++) {
		if (difference_of_calls(&work->matched, &calls[i].pair, sizeof(*calls), 1, &d) &&
				(!any || found_p(work, &d, OF_CONTEXTS) <
								found_p(work, &best, family))) {
			best = d;
			family = OF_CONTEXTS;
			of = calls[i].pair;
			any = true;
		}
	}
	if (any && found_is_likely(&best)) {
		put_calls(work, &best, of, family, found_is_sure(work, &best, family));
	}
}

void calls_find(struct work *work)
{
	for (uint32_t i = 0, n; i < work->n_calls; i += n) {
		for (n = 1; i + n < work->n_calls &&
				work->calls[i + n].above == work->calls[i].above &&
				work->calls[i + n].place == work->calls[i].place;) {
			n++;
		}
		find_calls(work, &work->calls[i], n);
	}
}

bool calls_list(struct work *work)
{
	const struct matched *matched = &work->matched;

	work->calls = arena_alloc(work->arena, (matched->n + 1u) * sizeof(*work->calls));
	for (uint32_t i = 0; work->calls && i < matched->n; i++) {
		const struct pair *pair = &matched->pairs[i];

		if (!pair->part && pair->parent != NO_PAIR &&
				matched->pairs[pair->parent].sides[0] &&
				matched->pairs[pair->parent].sides[1]) {
			work->calls[work->n_calls++] =
					(struct calls){.above = matched->pairs[pair->parent].place,
							.place = pair->place,
							.pair = i};
		}
	}
	if (work->calls) {
		qsort(work->calls, work->n_calls, sizeof(*work->calls), by_places);
	}
	return work->calls != NULL;
}

static bool is_below(const struct work *work, uint32_t pair, uint32_t above)
{
	while (pair != NO_PAIR && pair != above) {
		pair = work->matched.pairs[pair].parent;
	}
	return pair == above;
}

void calls_follow(struct work *work)
{
	for (uint32_t i = 0; i < work->n; i++) {
		struct found *above = &work->found[i], *deepest = NULL;

		if (above->row.kind != CHANGE_FEWER || !above->row.sure) {
			continue;
		}
		for (uint32_t k = 0; k < work->n; k++) {
			struct found *below = &work->found[k];

			if (k != i && below->row.kind == CHANGE_FEWER && below->row.sure &&
					is_below(work, below->pair, above->pair) &&
					(!deepest || is_below(work, below->pair, deepest->pair))) {
				deepest = below;
			}
		}
		if (deepest) {
			above->follows = true;
			deepest->rank += above->rank;
		}
	}
}

void calls_follow_messages(struct work *work)
{
	for (uint32_t i = 0; i < work->n; i++) {
		struct found *way = &work->found[i];

		if (way->row.kind != CHANGE_TRANSIT || !way->row.by_clocks) {
			continue;
		}
		for (uint32_t k = 0; k < work->n; k++) {
			struct found *calls = &work->found[k];
			uint32_t at = work->matched.places[way->place].first;

			if (calls->row.kind != CHANGE_MORE || !calls->row.sure) {
				continue;
			}
			while (at != NO_PAIR && !is_below(work, at, calls->pair)) {
				at = work->matched.next[at];
			}
			if (at != NO_PAIR) {
				calls->rank += way->rank;
				way->rank /= WAY_FACTOR;
			}
		}
	}
}
