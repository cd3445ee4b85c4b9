/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/state.h"

#define MAX_GAPS 64u

static bool candidates_reserve(struct pythia *pythia, uint32_t n)
{
	uint32_t room = n * 2;

	if (n <= pythia->planning.candidates_room) {
		return true;
	}
	if (!array_resize(&pythia->planning.candidates, room) ||
			!array_resize(&pythia->planning.chosen, room) ||
			!array_resize(&pythia->planning.in_time, room) ||
			!array_resize(&pythia->planning.doubles, 4 * room)) {
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
		uint32_t above, double edge_ns)
{
	double rate = cost_of_point(pythia, point);
	struct candidate *candidate;
	bool known = node != SPACE_NONE && pythia->space.nodes[node].requests && edge_ns > 0;
	double share = known ? pythia->space.nodes[node].total_ns / edge_ns : -1;

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

/* The first of a container is the one that has no begin, if any has none. */
static void set_ordered(struct pythia *pythia)
{
	bool ordered = true;

	for (uint32_t k = 0; k < pythia->planning.n_candidates; k++) {
		struct candidate *at = &pythia->planning.candidates[pythia->planning.in_time[k]];

		if (k == 0 || pythia->planning.candidates[pythia->planning.in_time[k - 1]].above !=
						at->above) {
			ordered = at->begin_ns >= 0;
		}
		at->ordered = ordered;
	}
}

/* By container, then by time; containers stand before what is in them. */
static void sort_in_time(struct pythia *pythia)
{
	const struct candidate *candidates = pythia->planning.candidates;

	for (uint32_t i = 0; i < pythia->planning.n_candidates; i++) {
		pythia->planning.in_time[i] = i;
	}
	/* They are nearly in this order, as code was seen to run: few have to move far. */
	for (uint32_t i = 1; i < pythia->planning.n_candidates; i++) {
		uint32_t moved = pythia->planning.in_time[i], at = i;

		for (; at > 0; at--) {
			const struct candidate *a = &candidates[pythia->planning.in_time[at - 1]],
					       *b = &candidates[moved];

			if (a->above + 1 < b->above + 1 || /* CANDIDATE_NONE + 1 is 0 */
					(a->above == b->above && a->begin_ns <= b->begin_ns)) {
				break;
			}
			pythia->planning.in_time[at] = pythia->planning.in_time[at - 1];
		}
		pythia->planning.in_time[at] = moved;
	}
}

/* Where each lies in the edge's time: as was learned, else as siblings were found. */
static void set_positions(struct pythia *pythia)
{
	double *begin = pythia->planning.doubles, *filled, edge_filled = 0;

	if (pythia->planning.n_candidates == 0) {
		return; /* there may be no scratch yet */
	}
	filled = begin + pythia->planning.candidates_room;
	sort_in_time(pythia);
	for (uint32_t k = 0; k < pythia->planning.n_candidates; k++) {
		uint32_t i = pythia->planning.in_time[k];
		struct candidate *candidate = &pythia->planning.candidates[i];
		double share = candidate->share > 0 ? candidate->share : 0;
		double *used = candidate->above == CANDIDATE_NONE ? &edge_filled
								  : &filled[candidate->above];

		begin[i] = (candidate->above == CANDIDATE_NONE ? 0 : begin[candidate->above]) +
			   *used;
		*used += share;
		filled[i] = 0;
		candidate->position = begin[i] + share / 2;
	}
	set_ordered(pythia);
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
					0);
		}
	}
	free(list);
}

/* --- where they are known to stand --- */

/* A stretch of an edge's time, by the profile: between two of its children that are on. */
struct stretch {
	double from_ns, to_ns;
};

/* Some of the node lies within the stretch; the child that it begins with does not. */
static bool is_within(const struct space *space, uint32_t node, uint32_t edge,
		const struct stretch *stretch)
{
	const struct space_node *at = &space->nodes[node];
	double begin = space_offset(space, node, edge), spans = at->count > 0 ? at->count : 1;

	if (!stretch || begin < 0) {
		return true;
	}
	return begin + at->total_ns / spans >= stretch->from_ns && begin <= stretch->to_ns;
}

static void find_known(struct pythia *pythia, const struct finding *finding, uint32_t edge,
		const struct stretch *stretch)
{
	const struct space *space = &pythia->space;
	double edge_ns = space_own_time(pythia, edge);
	uint32_t at = space_next(space, edge, edge, false);

	pythia->planning.n_candidates = pythia->planning.n_excluded = 0;
	while (at != SPACE_NONE) {
		const struct point *point = &pythia->points.items[space->nodes[at].point];
		bool out = finding_rules_out(finding, space->nodes[at].point) ||
			   !is_within(space, at, edge, stretch);
		bool skip = out || is_visible(point);

		if (!out && can_enable(pythia, point)) {
			add_candidate(pythia, edge, at, space->nodes[at].point,
					container_of(pythia, at, edge), edge_ns);
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
	set_positions(pythia);
}

void candidates_known_within(struct pythia *pythia, const struct finding *finding, uint32_t node)
{
	find_known(pythia, finding, node, NULL);
	set_positions(pythia);
}

/* The row of a context that is directly below another row; UINT32_MAX: there is none. */
static uint32_t child_row(const struct tree_view *tree, uint32_t parent, uint32_t context)
{
	for (uint32_t i = parent + 1; i <= parent + tree->rows[parent].n_below; i++) {
		if (tree->rows[i].parent == parent && tree->rows[i].context == context) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* Where in the time of an edge nearly all of its variation is. False: it is not known. */
static bool find_stretch(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, const struct edge *edge, struct stretch *out)
{
	const struct tree_view *tree = detail->tree;
	const struct tree_row *row = &tree->rows[edge->row];
	struct pythia_gap gaps[MAX_GAPS];
	uint32_t after, n = round->gaps ? round->gaps(round->callback_context, detail->row->id,
							  detail->row->since_ns, row->context, gaps,
							  MAX_GAPS)
					: 0;

	if (n < 2 || gaps[0].phi < GAP_SHARE * row->phi) {
		return false;
	}
	*out = (struct stretch){.from_ns = 0, .to_ns = HUGE_VAL};
	after = gaps[0].after ? child_row(tree, edge->row, gaps[0].after) : edge->row;
	if (after == UINT32_MAX) {
		return false; /* of no point */
	}
	if (gaps[0].after) {
		out->from_ns = space_offset(
				&pythia->space, pythia->locating.nodes[after], edge->node);
	}
	for (uint32_t i = edge->row + 1; i <= edge->row + row->n_below && out->from_ns >= 0; i++) {
		double begin = tree->rows[i].parent == edge->row && pythia->locating.nodes[i] !=
										    SPACE_NONE
					       ? space_offset(&pythia->space,
								 pythia->locating.nodes[i],
								 edge->node)
					       : -1;

		if (begin > out->from_ns && begin < out->to_ns && i != after) {
			out->to_ns = begin;
		}
	}
	return out->from_ns >= 0;
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
	set_positions(pythia);
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
	if (!find_stretch(pythia, detail, round, edge, &stretch)) {
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
			add_candidate(pythia, SPACE_NONE, SPACE_NONE, point, CANDIDATE_NONE, 0);
		}
	}
	set_positions(pythia);
}

void candidates_clear(struct planning *planning)
{
	planning->n_candidates = 0;
}
