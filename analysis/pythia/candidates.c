/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/state.h"
#include "pythia/stretch.h"

static bool candidates_reserve(struct pythia *pythia, uint32_t n)
{
	uint32_t room = n * 2;

	if (n <= pythia->planning.candidates_room) {
		return true;
	}
	if (!array_resize(&pythia->planning.candidates, room) ||
			!array_resize(&pythia->planning.chosen, room) ||
			!array_resize(&pythia->planning.ranks, room) ||
			!array_resize(&pythia->planning.places, room) ||
			!array_resize(&pythia->planning.parts, 2 * room + 1)) {
		return false;
	}
	pythia->planning.candidates_room = room;
	return true;
}

static bool can_enable(struct pythia *pythia, const struct point *point)
{
	/* A moment has no time of its own: it would split nothing. */
	bool can = point->entry && (point->exit || point->kernel) && point_off(point);

	pythia->planning.n_excluded += can && point->excluded > pythia->epoch;
	return can && point->excluded <= pythia->epoch;
}

/* Whether it stands in the tree now: what is in it is not the edge's own time. */
static bool is_visible(const struct point *point)
{
	return (point->recorded | point->ours) != 0;
}

static uint32_t container_of(const struct pythia *pythia, uint32_t node, uint32_t edge)
{
	for (node = pythia->space.nodes[node].parent; node != edge;
			node = pythia->space.nodes[node].parent) {
		for (uint32_t i = pythia->planning.n_candidates; i > 0; i--) {
			if (pythia->planning.candidates[i - 1].node == node) {
				return i - 1;
			}
		}
	}
	return CANDIDATE_NONE;
}

double space_own_time(const struct pythia *pythia, uint32_t edge)
{
	const struct space *space = &pythia->space;
	double ns = space->nodes[edge].total_ns;
	uint32_t at = space_next(space, edge, edge, false);

	while (at != SPACE_NONE) {
		bool visible = is_visible(&pythia->points.items[space->nodes[at].point]);

		ns -= visible ? space->nodes[at].total_ns : 0;
		at = space_next(space, edge, at, visible);
	}
	return ns > 0 ? ns : 0;
}

static void add_candidate(struct pythia *pythia, uint32_t edge, uint32_t node, uint32_t point,
		uint32_t above, double of_ns, double edge_ns)
{
	double rate = cost_of_point(pythia, point);
	struct candidate *candidate;
	bool known = node != SPACE_NONE && pythia->space.nodes[node].requests && edge_ns > 0;
	double share = known ? of_ns / edge_ns : -1;

	if (!candidates_reserve(pythia, pythia->planning.n_candidates + 1)) {
		return;
	}
	candidate = &pythia->planning.candidates[pythia->planning.n_candidates++];
	*candidate = (struct candidate){.node = node,
			.point = point,
			.above = above,
			.begin_ns = node == SPACE_NONE ? -1
						       : space_offset(&pythia->space, node, edge),
			.depth = above == CANDIDATE_NONE
						 ? 1
						 : pythia->planning.candidates[above].depth + 1,
			.share = share > 1 ? 1 : share,
			.events_per_s = rate < 0 ? 0 : rate,
			.explained = pythia->points.items[point].explained,
			.kernel = pythia->points.items[point].kernel};
}

static void set_order(struct planning *planning)
{
	planning->first = candidates_order(planning->candidates, planning->n_candidates);
}

/* --- where points stand is not known --- */

/* How many words, as underscores part them, two names have in common. */
static uint32_t likeness(const char *a, const char *b)
{
	uint32_t n = 0;

	while (*a) {
		size_t length = strcspn(a, "_");

		for (const char *at = b; *at && length;) {
			size_t other = strcspn(at, "_");

			n += other == length && memcmp(a, at, length) == 0;
			at += other + (at[other] == '_');
		}
		a += length + (a[length] == '_');
	}
	return n;
}

/* A point as it stands among those of its provider. */
struct namesake {
	const char *name;
	uint32_t point, like;
	uint32_t rank; /* among those whose names begin with the same word */
};

static int by_name(const void *left, const void *right)
{
	const struct namesake *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* What is named like the edge first; then one of each kind of name, another of each, and so on. */
static int by_worth(const void *left, const void *right)
{
	const struct namesake *a = left, *b = right;

	if (a->like != b->like) {
		return a->like > b->like ? -1 : 1;
	}
	return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : by_name(a, b);
}

static bool same_word(const char *a, const char *b)
{
	size_t length = strcspn(a, "_");

	return length == strcspn(b, "_") && memcmp(a, b, length) == 0;
}

/* The points of a provider, those that are on or were tried too, in the order of their worth. */
static struct namesake *list_points(
		const struct pythia *pythia, uint32_t provider, const char *edge, uint32_t *n)
{
	struct namesake *list = calloc(pythia->points.n + 1, sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; list && i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (point->provider == provider && !point->kernel) {
			const char *name = names_text(pythia->names, point->name);

			list[(*n)++] = (struct namesake){
					.name = name, .point = i, .like = likeness(name, edge)};
		}
	}
	if (list) {
		qsort(list, *n, sizeof(*list), by_name);
	}
	for (uint32_t i = 1; i < *n; i++) {
		list[i].rank = same_word(list[i].name, list[i - 1].name) ? list[i - 1].rank + 1 : 0;
	}
	if (list) {
		qsort(list, *n, sizeof(*list), by_worth);
	}
	return list;
}

/* Points that nobody saw fire, of the provider whose time the edge is. */
static void add_never_seen(struct pythia *pythia, const struct finding *finding, uint32_t edge)
{
	const struct point *of = &pythia->points.items[pythia->space.nodes[edge].point];
	struct namesake *list;
	uint32_t n;

	list = list_points(pythia, of->provider, names_text(pythia->names, of->name), &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct point *point = &pythia->points.items[list[i].point];

		if (!point->placed && !point->ever && !point->skeleton &&
				!finding_rules_out(finding, list[i].point) &&
				can_enable(pythia, point)) {
			add_candidate(pythia, SPACE_NONE, SPACE_NONE, list[i].point, CANDIDATE_NONE,
					0, 0);
		}
	}
	free(list);
}

/* --- where they are known to stand --- */

static void find_known(struct pythia *pythia, const struct finding *finding, uint32_t edge,
		const struct stretch *stretch)
{
	const struct space *space = &pythia->space;
	double edge_ns = stretch ? stretch->to_ns - stretch->from_ns : space_own_time(pythia, edge);
	uint32_t at = space_next(space, edge, edge, false);

	pythia->planning.n_candidates = pythia->planning.n_excluded = 0;
	while (at != SPACE_NONE) {
		const struct point *point = &pythia->points.items[space->nodes[at].point];
		bool out = finding_rules_out(finding, space->nodes[at].point) ||
			   (stretch && !stretch_has(space, at, edge, stretch));
		bool skip = out || is_visible(point);

		if (!out && can_enable(pythia, point)) {
			add_candidate(pythia, edge, at, space->nodes[at].point,
					container_of(pythia, at, edge),
					stretch ? stretch_overlap(space, at, edge, stretch)
						: space->nodes[at].total_ns,
					edge_ns);
		}
		at = space_next(space, edge, at, skip);
	}
}

static void find_candidates(struct pythia *pythia, const struct finding *finding, uint32_t edge,
		const struct stretch *stretch)
{
	find_known(pythia, finding, edge, stretch);
	if (pythia->planning.n_candidates == 0 && !pythia->space.learned) {
		add_never_seen(pythia, finding, edge);
	}
	set_order(&pythia->planning);
}

void candidates_known_within(struct pythia *pythia, const struct finding *finding, uint32_t node)
{
	find_known(pythia, finding, node, NULL);
	set_order(&pythia->planning);
}

/*
 * When all was on, what varies in the edge now varied in its own time alone, beside whatever it
 * calls: there is nothing in it to look for.
 */
static bool varied_itself(
		const struct pythia *pythia, const struct edge *edge, const struct tree_row *row)
{
	const struct space_node *node = &pythia->space.nodes[edge->node];

	return pythia->planning.n_candidates > 0 && row->segment_sd_ns > 0 &&
	       node->sd_ns >= ITSELF_SHARE * row->segment_sd_ns;
}

/*
 * Of the candidates those alone that varied when all was on, if they varied as much together as the
 * edge does now. False: they did not, or it is not known.
 */
static bool keep_varying(struct pythia *pythia, const struct tree_row *row)
{
	double sum = 0, least;
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->planning.n_candidates; i++) {
		uint32_t node = pythia->planning.candidates[i].node;
		double sd = node == SPACE_NONE ? -1 : pythia->space.nodes[node].sd_ns;

		if (sd < 0) {
			return false;
		}
		sum += sd * sd;
	}
	least = VARYING_SHARE * row->segment_sd_ns;
	if (sum == 0 || sum < least * least) {
		return false;
	}
	for (uint32_t i = 0; i < pythia->planning.n_candidates; i++) {
		struct candidate candidate = pythia->planning.candidates[i];
		double sd = pythia->space.nodes[candidate.node].sd_ns;

		if (sd * sd >= VARYING_EACH * sum) {
			candidate.above = CANDIDATE_NONE;
			candidate.depth = 1;
			pythia->planning.candidates[n++] = candidate;
		}
	}
	pythia->planning.n_candidates = n;
	set_order(&pythia->planning);
	return n > 0;
}

/*
 * The points of an edge that are off; of those, where that is known, in which it can vary: as was
 * seen when all was on, unless that was in vain, or what all take longer is asked for, which was
 * not seen then; else by where in its time it varies. Where the budget has room for none of those
 * that varied, all: what encloses them fires less often.
 */
void candidates_of_edge(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edge)
{
	const struct tree_row *row = &detail->tree->rows[edge->row];
	bool seen = !finding->slow && !(finding->edge == edge->node && finding->fruitless);
	struct stretch stretch;

	find_candidates(pythia, finding, edge->node, NULL);
	if (pythia->planning.strategy->whole) {
		return;
	}
	edge->itself = seen && varied_itself(pythia, edge, row);
	if (edge->itself) {
		pythia->planning.n_candidates = 0;
		return;
	}
	if (pythia->planning.n_candidates <= pythia->planning.budget.points) {
		return;
	}
	if (seen && keep_varying(pythia, row)) {
		if (!split_any_fits(pythia, finding)) {
			find_candidates(pythia, finding, edge->node, NULL);
		}
		return;
	}
	if (!stretch_find(pythia, detail, round, edge, &stretch)) {
		return;
	}
	find_candidates(pythia, finding, edge->node, &stretch);
	if (pythia->planning.n_candidates == 0) {
		find_candidates(pythia, finding, edge->node, NULL);
	}
}

/* Kernel events, where the code itself has no more points and a host offers them. */
void candidates_of_kernel(struct pythia *pythia)
{
	const char *event;

	pythia->planning.n_candidates = 0;
	for (uint32_t e = 0; (event = kernel_event_name(e)) != NULL; e++) {
		uint32_t point = points_of_event(&pythia->points, pythia_intern(pythia, event));

		if (point != POINT_NONE && can_enable(pythia, &pythia->points.items[point])) {
			add_candidate(pythia, SPACE_NONE, SPACE_NONE, point, CANDIDATE_NONE, 0, 0);
		}
	}
	set_order(&pythia->planning);
}

void candidates_clear(struct planning *planning)
{
	planning->n_candidates = 0;
}
