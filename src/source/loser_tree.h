/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_LOSER_TREE_H
#define PT_SOURCE_LOSER_TREE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which of many sorted runs comes next: a tournament whose inner nodes keep the losers, so that the
 * winner's next value is compared with those on its way up alone (Knuth, TAOCP 3, 5.4.1).
 * Equal keys: the lower number wins. Memory: 24 bytes a run.
 */
struct merge_key {
	uint64_t ts_ns, rank;
};

struct loser_tree {
	uint32_t n;
	struct merge_key *keys; /* by number of the run */
	uint32_t *nodes;        /* [0]: the winner; [1] to [n - 1]: losers */
	uint32_t room;
};

void loser_tree_release(struct loser_tree *tree);

/* Room for n keys, to be set before loser_tree_play(). False if out of memory. */
bool loser_tree_resize(struct loser_tree *tree, uint32_t n);

/* After keys have changed: plays all. O(n). */
void loser_tree_play(struct loser_tree *tree);

/* After the winner's key has changed. O(log n). */
void loser_tree_replay(struct loser_tree *tree);

/* n has to be at least 1. */
static inline uint32_t loser_tree_winner(const struct loser_tree *tree)
{
	return tree->nodes[0];
}

#endif
