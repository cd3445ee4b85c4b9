/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/failing.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number_map.h"

#define NS_PER_S UINT64_C(1000000000)

/* Counts by second, and in all. A cell is of the second that is noted with it. */
struct by_second {
	uint64_t total;
	uint64_t second[FAILING_SECONDS];
	uint32_t n[FAILING_SECONDS];
};

struct place {
	uint32_t type, context;
	enum request_why why;
	uint32_t group_id, lead; /* of a majority: votes that it is ahead by (Boyer & Moore 1981) */
	struct by_second failed;
	uint64_t first_ns[FAILING_SECONDS];
};

struct failing {
	struct number_map type_of, place_of;
	struct by_second types[FAILING_TYPES];
	struct place places[FAILING_PLACES];
	uint32_t n_types, n_places;
};

struct failing *failing_create(void)
{
	return calloc(1, sizeof(struct failing));
}

void failing_destroy(struct failing *failing)
{
	if (failing) {
		number_map_release(&failing->type_of);
		number_map_release(&failing->place_of);
		free(failing);
	}
}

/* The cell of a second; false: it is of one that is over by more than the ring holds. */
static bool cell_of(struct by_second *by, uint64_t second, uint32_t *at)
{
	*at = (uint32_t)(second % FAILING_SECONDS);
	if (by->second[*at] > second) {
		return false;
	}
	if (by->second[*at] < second) {
		by->second[*at] = second;
		by->n[*at] = 0;
	}
	return true;
}

static void count(struct by_second *by, uint64_t second)
{
	uint32_t at;

	by->total++;
	if (cell_of(by, second, &at)) {
		by->n[at]++;
	}
}

static struct by_second *type_of(struct failing *failing, uint32_t type)
{
	uint32_t at = number_map_find(&failing->type_of, type);

	if (at == NUMBER_NONE) {
		if (failing->n_types == FAILING_TYPES ||
				!number_map_set(&failing->type_of, type, failing->n_types)) {
			return NULL;
		}
		at = failing->n_types++;
	}
	return &failing->types[at];
}

static struct place *place_of(
		struct failing *failing, const struct request *request, uint32_t context)
{
	const struct request_failure *failure = &request->failure;
	uint64_t key = hash_pair((uint64_t)request->type << 8 | failure->why, context);
	uint32_t at = number_map_find(&failing->place_of, key);

	if (at != NUMBER_NONE) {
		return &failing->places[at];
	}
	if (failing->n_places == FAILING_PLACES ||
			!number_map_set(&failing->place_of, key, failing->n_places)) {
		return NULL;
	}
	at = failing->n_places++;
	failing->places[at] = (struct place){.type = request->type,
			.context = context,
			.why = (enum request_why)failure->why};
	return &failing->places[at];
}

static void add_place(struct failing *failing, const struct request *request, uint32_t context)
{
	struct place *place = place_of(failing, request, context);
	uint32_t at;

	if (!place) {
		return;
	}
	place->lead = place->group_id == request->group_id ? place->lead + 1
		      : place->lead > 0                    ? place->lead - 1
							   : 0;
	if (place->lead == 0) {
		place->group_id = request->group_id;
		place->lead = 1;
	}
	place->failed.total++;
	if (cell_of(&place->failed, request->end_ns / NS_PER_S, &at) &&
			(place->failed.n[at]++ == 0 || request->start_ns < place->first_ns[at])) {
		place->first_ns[at] = request->start_ns;
	}
}

void failing_add(struct failing *failing, const struct request *request)
{
	const struct request_failure *failure = &request->failure;
	struct by_second *type;

	if (request->tainted || (request->state != REQUEST_COMPLETE && !request_failed(request))) {
		return;
	}
	type = type_of(failing, request->type);
	if (!type) {
		return;
	}
	count(type, request->end_ns / NS_PER_S);
	if (failure->why == REQUEST_SOUND) {
		return;
	}
	add_place(failing, request, failure->context);
	for (uint32_t i = 0; i < failure->n_more; i++) {
		add_place(failing, request, failure->more[i]);
	}
}

uint32_t failing_places(const struct failing *failing)
{
	return failing->n_places;
}

bool failing_read(const struct failing *failing, uint32_t at, uint64_t second,
		struct failing_place *out)
{
	const struct place *place = &failing->places[at];
	const struct by_second *type =
			&failing->types[number_map_find(&failing->type_of, place->type)];
	uint64_t failed = 0, ended = 0;

	*out = (struct failing_place){.type = place->type,
			.context = place->context,
			.why = place->why,
			.group_id = place->group_id};
	for (uint32_t i = 0; i < FAILING_SECONDS && i <= second; i++) {
		uint32_t to = FAILING_SECONDS - 1 - i;
		uint32_t from = (uint32_t)((second - i) % FAILING_SECONDS);

		if (type->second[from] == second - i) {
			out->ended[to] = type->n[from];
			ended += type->n[from];
		}
		if (place->failed.second[from] == second - i && place->failed.n[from]) {
			out->failed[to] = place->failed.n[from];
			out->first_ns[to] = place->first_ns[from];
			failed += place->failed.n[from];
		}
	}
	out->failed_before = place->failed.total - failed;
	out->ended_before = type->total - ended;
	return failed > 0;
}
