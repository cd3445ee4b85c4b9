/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loser_tree.h"

#include <stdlib.h>

#include "base/array.h"

void loser_tree_release(struct loser_tree *tree)
{
	free(tree->keys);
	free(tree->nodes);
	*tree = (struct loser_tree){.n = 0};
}

bool loser_tree_resize(struct loser_tree *tree, uint32_t n)
{
	if (n > tree->room) {
		uint32_t room = array_room(tree->room, n);

		/* Twice as many nodes: the upper half is for playing all. */
		if (!array_resize(&tree->keys, room) ||
				!array_resize(&tree->nodes, 2 * (size_t)room)) {
			return false;
		}
		tree->room = room;
	}
	tree->n = n;
	return true;
}

static bool is_before(const struct loser_tree *tree, uint32_t a, uint32_t b)
{
	const struct merge_key *first = &tree->keys[a], *second = &tree->keys[b];

	if (first->ts_ns != second->ts_ns) {
		return first->ts_ns < second->ts_ns;
	}
	return first->rank != second->rank ? first->rank < second->rank : a < b;
}

/* Leaf i is node n + i, and the nodes 2 k and 2 k + 1 play at node k. */
void loser_tree_play(struct loser_tree *tree)
{
	uint32_t n = tree->n, *winners;

	if (n == 0) {
		return;
	}
	winners = tree->nodes + n;
	/* Winners of the nodes k are kept at the nodes' own places, until they have played. */
	for (uint32_t i = 0; i < n; i++) {
		winners[i] = i;
	}
	for (uint32_t k = n - 1; k > 0; k--) {
		uint32_t a = tree->nodes[2 * k], b = tree->nodes[2 * k + 1];

		tree->nodes[k] = is_before(tree, a, b) ? a : b;
	}
	tree->nodes[0] = tree->nodes[1];
	/* From the top down each winner gives its place to the one it has beaten. */
	for (uint32_t k = 1; k < n; k++) {
		uint32_t a = tree->nodes[2 * k], b = tree->nodes[2 * k + 1];

		tree->nodes[k] = tree->nodes[k] == a ? b : a;
	}
}

void loser_tree_replay(struct loser_tree *tree)
{
	uint32_t winner = tree->nodes[0];

	for (uint32_t k = (tree->n + winner) / 2; k > 0; k /= 2) {
		uint32_t other = tree->nodes[k];

		if (is_before(tree, other, winner)) {
			tree->nodes[k] = winner;
			winner = other;
		}
	}
	tree->nodes[0] = winner;
}
