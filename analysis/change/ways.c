/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "change/rows.h"

/* Ways between services that take longer, and waits for them. */

#define LAG_AND_BACK 2.0 /* answers take as long as what they answer */

struct way {
	uint32_t place;
	struct difference d;
	bool grew, taken;
};

static bool is_end(const struct place *place, const char *service)
{
	if (strcmp(place->caller, service) == 0) {
		return true;
	}
	for (uint32_t i = 0; i < place->n_callees; i++) {
		if (strcmp(place->callees[i], service) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * What ways at a service that have not been taken add, by the share of all its ways that grew: who
 * is slow to reach is so for all, while of the ways of a busy caller one may have grown.
 */
static double weight_of_end(
		const struct work *work, const struct way *ways, uint32_t n, const char *service)
{
	double sum = 0, grew = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_end(&work->matched.places[ways[i].place], service)) {
			continue;
		}
		all += 1;
		grew += ways[i].grew;
		sum += ways[i].grew && !ways[i].taken ? ways[i].d.added : 0;
	}
	return all > 0 ? sum * grew / all : 0;
}

/* Of two ends alike the callee. */
static const char *heaviest_end(const struct work *work, const struct way *ways, uint32_t n)
{
	const char *best = NULL;
	double most = 0;

	for (uint32_t pass = 0; pass < 2; pass++) { /* callees first */
		for (uint32_t i = 0; i < n; i++) {
			const struct place *place = &work->matched.places[ways[i].place];

			for (uint32_t k = 0; k < (pass ? 1 : place->n_callees); k++) {
				const char *end = pass ? place->caller : place->callees[k];
				double weight = ways[i].grew && !ways[i].taken
								? weight_of_end(work, ways, n, end)
								: 0;

				if (weight > most * 1.0001) {
					most = weight;
					best = end;
				}
			}
		}
	}
	return best;
}

static struct found *slower_code_of(struct work *work, const char *service)
{
	for (uint32_t i = 0; i < work->n; i++) {
		struct found *found = &work->found[i];

		if (found->row.kind == CHANGE_SLOWER && found->row.sure &&
				strcmp(found->row.service, service) == 0) {
			return found;
		}
	}
	return NULL;
}

static bool is_in_type(const struct work *work, uint32_t place, uint32_t type)
{
	uint32_t at = work->matched.places[place].first;

	while (at != NO_PAIR && work->matched.pairs[at].type != type) {
		at = work->matched.next[at];
	}
	return at != NO_PAIR;
}

/*
 * Who gathers answers waits for the last one, though no event tells: own time of the sender that
 * grew by no more than the way there and back is that of the way.
 */
static void explain_waits(struct work *work, struct found *found, const struct way *way)
{
	const struct place *place = &work->matched.places[way->place];
	double most = LAG_AND_BACK *
		      (way->d.value + difference_half(way->d.variance, way->d.freedom));

	for (uint32_t i = 0; i < work->n; i++) {
		struct found *code = &work->found[i];
		uint32_t pair = code->row.kind == CHANGE_SLOWER ? found_pair_of(work, code)
								: NO_PAIR;

		if (pair == NO_PAIR || !code->row.sure || code->row.waits_for[0] ||
				strcmp(code->row.service, place->caller) != 0 ||
				code->row.after - code->row.before > most ||
				!is_in_type(work, way->place, work->matched.pairs[pair].type)) {
			continue;
		}
		code->row.waits_for = found->row.service;
		found->row.path_unknown = found->row.path_unknown &&
					  (code->row.path_unknown || code->row.off_path);
		found->row.added_ns_per_s += code->row.added_ns_per_s;
		found->row.added_low += code->row.added_low;
		found->row.added_high += code->row.added_high;
		found->rank += code->rank;
		code->rank /= WAY_FACTOR;
	}
}

static void take_ways(
		struct work *work, struct way *ways, uint32_t n, const char *service, bool sure)
{
	struct found *code = slower_code_of(work, service), *found = NULL;
	double added = 0, variance = 0, most = -1, freedom = 1e6, lag = 0;
	const struct way *largest = NULL;
	const char *others = "";
	uint32_t told = 0;

	found = row_add(work, CHANGE_TRANSIT);
	if (!found) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct place *place = &work->matched.places[ways[i].place];
		bool called = strcmp(place->caller, service) != 0;

		if (!ways[i].grew || ways[i].taken || !is_end(place, service)) {
			continue;
		}
		ways[i].taken = true;
		if (place->lag) {
			lag += ways[i].d.added;
		} else {
			added += ways[i].d.added;
			variance += ways[i].d.added_variance;
		}
		freedom = ways[i].d.freedom < freedom ? ways[i].d.freedom : freedom;
		if (told++ < NAMES_TOLD) {
			others = arena_printf(work->arena, "%s%s%s", others ? others : "",
					told > 1 ? ", " : "",
					called ? place->caller : place->name_of_callees);
		}
		if (ways[i].d.added > most) {
			most = ways[i].d.added;
			largest = &ways[i];
			found->place = ways[i].place;
			found_put_difference(work, &found->row, &ways[i].d, OF_PLACES);
		}
	}
	found_tell_types(work, found->place, &found->row);
	found->row.service = service;
	found->row.name = "(transit)";
	found->row.others = others ? others : "";
	found->row.added_ns_per_s = added;
	found->row.added_low = added - difference_half(variance, freedom);
	found->row.added_high = added + difference_half(variance, freedom);
	found->row.sure = sure;
	found->row.callee_too = code != NULL;
	/* Of lags alone it is not known what requests take longer. */
	found->row.path_unknown = found->row.by_clocks = lag > 0 && added <= 0;
	found->rank = (added + lag / 2) / WAY_FACTOR;
	if (!code && sure && largest && work->matched.places[largest->place].lag) {
		explain_waits(work, found, largest);
	}
	if (code && code->row.sure) { /* who waits for slow code waits for the code */
		code->row.waited_for = true;
		code->rank += code->row.off_path ? 0 : added;
		found->rank = 0;
	}
}

/* A lag on the path is told by the way there. */
static void drop_lags(const struct work *work, struct way *ways, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct place *lag = &work->matched.places[ways[i].place];

		for (uint32_t k = 0; lag->lag && k < n; k++) {
			const struct place *way = &work->matched.places[ways[k].place];

			if (ways[k].grew && !way->lag && strcmp(way->caller, lag->caller) == 0 &&
					is_end(way, lag->service)) {
				ways[i].grew = false;
			}
		}
	}
}

bool ways_find(struct work *work)
{
	const struct matched *matched = &work->matched;
	struct way *ways = arena_alloc(work->arena, (matched->n_places + 1u) * sizeof(*ways));
	const char *service;
	bool any = false;
	uint32_t n = 0;

	if (!ways) {
		return false;
	}
	for (uint32_t i = 0; i < matched->n_places; i++) {
		struct way *way = &ways[n];

		if (matched->places[i].caller &&
				difference_of_place(matched, i, ON_PATH, &way->d)) {
			way->place = i;
			way->taken = false;
			way->grew = found_is_sure(work, &way->d, OF_PLACES) && way->d.value > 0;
			any = any || way->grew;
			n++;
		}
	}
	drop_lags(work, ways, n);
	for (uint32_t i = 0; i < n && !any; i++) {
		ways[i].grew = found_is_likely(&ways[i].d) && ways[i].d.value > 0;
	}
	while ((service = heaviest_end(work, ways, n)) != NULL) {
		take_ways(work, ways, n, service, any);
	}
	return true;
}
