/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/space.h"

void space_init(struct space *space)
{
	*space = (struct space){.nodes = NULL};
}

void space_release(struct space *space)
{
	free(space->nodes);
	number_map_release(&space->roots);
	space_init(space);
}

static uint32_t add_node(struct space *space, uint32_t parent, uint32_t point, uint32_t type)
{
	uint32_t at = space->n;

	if (space->n == SPACE_MAX_NODES) {
		return SPACE_NONE;
	}
	if (!array_reserve(&space->nodes, &space->room, space->n + 1)) {
		return SPACE_NONE;
	}
	space->nodes[at] = (struct space_node){.parent = parent,
			.first = SPACE_NONE,
			.next = SPACE_NONE,
			.point = point,
			.offset_ns = -1,
			.sd_ns = -1,
			.type = type};
	space->n++;
	return at;
}

/* Children stand in the order they were made. */
static void link_child(struct space *space, uint32_t parent, uint32_t child)
{
	uint32_t *at = &space->nodes[parent].first;

	while (*at != SPACE_NONE) {
		at = &space->nodes[*at].next;
	}
	*at = child;
	space->nodes[child].parent = parent;
	space->nodes[child].next = SPACE_NONE;
	space->nodes[child].offset_ns = -1; /* of another parent */
}

static void unlink_child(struct space *space, uint32_t child)
{
	uint32_t *at = &space->nodes[space->nodes[child].parent].first;

	while (*at != child) {
		at = &space->nodes[*at].next;
	}
	*at = space->nodes[child].next;
}

uint32_t space_type(const struct space *space, uint32_t type)
{
	return number_map_find(&space->roots, type);
}

uint32_t space_add_type(struct space *space, uint32_t type)
{
	uint32_t root = space_type(space, type);

	if (root != NUMBER_NONE) {
		return root;
	}
	root = add_node(space, SPACE_NONE, POINT_NONE, type);
	if (root != SPACE_NONE && !number_map_set(&space->roots, type, root)) {
		space->n--;
		return SPACE_NONE;
	}
	return root;
}

static uint32_t child_of(const struct space *space, uint32_t parent, uint32_t point)
{
	uint32_t at = space->nodes[parent].first;

	while (at != SPACE_NONE && space->nodes[at].point != point) {
		at = space->nodes[at].next;
	}
	return at;
}

uint32_t space_add(struct space *space, uint32_t parent, uint32_t point)
{
	uint32_t child = child_of(space, parent, point);

	if (child != SPACE_NONE) {
		return child;
	}
	child = add_node(space, parent, point, space->nodes[parent].type);
	if (child != SPACE_NONE) {
		link_child(space, parent, child);
	}
	return child;
}

bool space_is_whole(const struct space *space, uint32_t root)
{
	uint32_t at = space->nodes[root].first;

	while (at != SPACE_NONE && space->nodes[at].guessed) {
		at = space->nodes[at].next;
	}
	return at != SPACE_NONE;
}

uint32_t space_next(const struct space *space, uint32_t root, uint32_t at, bool skip)
{
	if (!skip && space->nodes[at].first != SPACE_NONE) {
		return space->nodes[at].first;
	}
	while (at != root && space->nodes[at].next == SPACE_NONE) {
		at = space->nodes[at].parent;
	}
	return at == root ? SPACE_NONE : space->nodes[at].next;
}

/*
 * What is between may be off now. A request whose events came in part has places of its own, so of
 * several the one that most spans were seen at is meant; of equal ones the child. One within another
 * is called again by itself: the outer one is meant.
 */
uint32_t space_find(const struct space *space, uint32_t parent, uint32_t point)
{
	uint32_t best = child_of(space, parent, point), at = space_next(space, parent, parent, false);

	while (at != SPACE_NONE) {
		bool same = space->nodes[at].point == point;

		if (same && (best == SPACE_NONE ||
					    space->nodes[at].count > space->nodes[best].count)) {
			best = at;
		}
		at = space_next(space, parent, at, same);
	}
	return best;
}

double space_offset(const struct space *space, uint32_t node, uint32_t above)
{
	double sum = 0;

	for (; node != above && node != SPACE_NONE; node = space->nodes[node].parent) {
		if (space->nodes[node].offset_ns < 0) {
			return -1;
		}
		sum += space->nodes[node].offset_ns;
	}
	return sum;
}

/* `node` is `above`, or below it: code that calls itself. */
static bool is_within(const struct space *space, uint32_t node, uint32_t above)
{
	while (node != SPACE_NONE && node != above) {
		node = space->nodes[node].parent;
	}
	return node == above;
}

/* Where a point that was seen below that node stands; made if need be. */
static uint32_t place_point(struct space *space, uint32_t parent, uint32_t point)
{
	uint32_t at = space_find(space, parent, point), above;

	if (at != SPACE_NONE) {
		return at;
	}
	for (above = space->nodes[parent].parent; above != SPACE_NONE;
			above = space->nodes[above].parent) {
		at = child_of(space, above, point);
		if (at != SPACE_NONE && space->nodes[at].guessed && !is_within(space, parent, at)) {
			unlink_child(space, at);
			link_child(space, parent, at);
			return at;
		}
	}
	at = space_add(space, parent, point);
	if (at != SPACE_NONE) {
		space->nodes[at].guessed = true;
	}
	return at;
}

static uint32_t place_row(struct space *space, struct points *points, const struct tree_row *row,
		uint32_t parent, bool all_on)
{
	uint32_t provider = names_add(points->names, row->provider, strlen(row->provider));
	uint32_t name = names_add(points->names, row->name, strlen(row->name));
	uint32_t point = points_add(points, provider, name, !provider), node;

	if (point == POINT_NONE) {
		return SPACE_NONE;
	}
	node = all_on ? space_add(space, parent, point) : place_point(space, parent, point);
	if (node != SPACE_NONE && all_on) {
		space->nodes[node].guessed = false;
	}
	points->items[point].placed |= node != SPACE_NONE;
	return node;
}

static void place_rows(struct space *space, struct points *points, uint32_t type,
		const struct tree_view *tree, bool all_on, uint32_t *nodes)
{
	uint32_t root = space_add_type(space, type);

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		uint32_t parent = row->parent == UINT32_MAX ? root : nodes[row->parent];

		nodes[i] = parent == SPACE_NONE || row->mark == TREE_NO_POINT
					   ? SPACE_NONE
					   : place_row(space, points, row, parent, all_on);
	}
}

void space_place(struct space *space, struct points *points, uint32_t type,
		const struct tree_view *tree, uint32_t *nodes)
{
	place_rows(space, points, type, tree, false, nodes);
}

void space_observe(struct space *space, struct points *points, uint32_t type,
		const struct tree_view *tree, const double *offset_ns, bool all_on, uint32_t *nodes)
{
	place_rows(space, points, type, tree, all_on, nodes);
	for (uint32_t i = 0; i < tree->n && tree->requests >= SPACE_FEW; i++) {
		const struct tree_row *row = &tree->rows[i];
		struct space_node *node;

		if (nodes[i] == SPACE_NONE) {
			continue;
		}
		/* Several groups of a type differ: the one that more requests speak for wins. */
		node = &space->nodes[nodes[i]];
		if (tree->requests * 2 >= node->requests) {
			node->count = (double)row->count / (double)tree->requests;
			node->total_ns = row->total_ns / (double)tree->requests;
			node->requests = tree->requests;
			node->offset_ns = all_on && offset_ns ? offset_ns[i] : node->offset_ns;
			node->sd_ns = all_on ? row->segment_sd_ns : node->sd_ns;
		}
	}
}

void space_look_up(const struct space *space, const struct points *points, uint32_t type,
		const struct tree_view *tree, uint32_t *nodes)
{
	uint32_t root = space_type(space, type);

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		uint32_t parent = row->parent == UINT32_MAX ? root : nodes[row->parent], point;

		nodes[i] = SPACE_NONE;
		if (parent == SPACE_NONE || row->mark == TREE_NO_POINT) {
			continue;
		}
		point = points_find(points,
				names_add(points->names, row->provider, strlen(row->provider)),
				names_add(points->names, row->name, strlen(row->name)));
		if (point != POINT_NONE) {
			nodes[i] = space_find(space, parent, point);
		}
	}
}
