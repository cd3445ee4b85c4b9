/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "views/state_screen.h"

/* The tree of processes: whom each thread was made by, or belongs to. */

#define NONE UINT32_MAX

/* By thread of the snapshot: its place in the tree while it is made. */
struct state_place {
	uint32_t parent, first, next; /* threads; NONE: none */
	bool placed;
};

void state_tree_release(struct state_tree *tree)
{
	free(tree->nodes);
	free(tree->places);
	free(tree->sorted);
	tree->nodes = NULL;
	tree->places = NULL;
	tree->sorted = NULL;
	tree->n = tree->room = 0;
}

static bool make_room(struct state_tree *tree, uint32_t n)
{
	if (n <= tree->room) {
		return true;
	}
	if (!array_resize(&tree->nodes, n) || !array_resize(&tree->places, n) ||
			!array_resize(&tree->sorted, n)) {
		return false;
	}
	tree->room = n;
	return true;
}

static int compare_ids(const char *host, int64_t tid, const struct state_thread *thread)
{
	int order = strcmp(host, thread->host);

	return order ? order : tid < thread->tid ? -1 : tid > thread->tid;
}

static int compare_threads(const void *a, const void *b, void *context)
{
	const struct state_thread *threads = context;
	const struct state_thread *one = &threads[*(const uint32_t *)a];
	int order = compare_ids(one->host, one->tid, &threads[*(const uint32_t *)b]);

	/* Of two generations of a tid the living one is asked for: it comes last. */
	return order ? order
		     : (threads[*(const uint32_t *)b].status == THREAD_DEAD) -
					       (one->status == THREAD_DEAD);
}

/* The last thread with this id, or NONE. */
static uint32_t find(const struct state_tree *tree, const struct state_view *state,
		const char *host, int64_t tid)
{
	uint32_t low = 0, high = tree->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_ids(host, tid, &state->threads[tree->sorted[middle]]) < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (low == 0 || compare_ids(host, tid, &state->threads[tree->sorted[low - 1]]) != 0) {
		return NONE;
	}
	return tree->sorted[low - 1];
}

static void find_parents(struct state_tree *tree, const struct state_view *state)
{
	uint32_t i, parent;

	for (i = 0; i < tree->n; i++) {
		tree->sorted[i] = i;
		tree->places[i] = (struct state_place){NONE, NONE, NONE, false};
	}
	qsort_r(tree->sorted, tree->n, sizeof(tree->sorted[0]), compare_threads,
			(void *)(uintptr_t)state->threads);
	/* From the last on, so that children come in the order of the threads. */
	for (i = tree->n; i-- > 0;) {
		const struct state_thread *thread = &state->threads[i];
		int64_t above = thread->tid == thread->pid ? thread->ppid : thread->pid;

		parent = above > 0 ? find(tree, state, thread->host, above) : NONE;
		if (parent == NONE || parent == i) {
			continue;
		}
		tree->places[i].parent = parent;
		tree->places[i].next = tree->places[parent].first;
		tree->places[parent].first = i;
	}
}

static bool is_folded(const struct state_tree *tree, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < tree->n_folded; i++) {
		if (tree->folded[i] == id) {
			return true;
		}
	}
	return false;
}

static void place(struct state_tree *tree, const struct state_view *state, uint32_t thread,
		uint32_t parent, uint32_t *n)
{
	const struct state_node *above = parent == NONE ? NULL : &tree->nodes[parent];
	struct state_node *node = &tree->nodes[*n];

	tree->places[thread].placed = true;
	*node = (struct state_node){.thread = thread,
			.parent = parent,
			.depth = above ? above->depth + 1 : 0,
			.parental = tree->places[thread].first != NONE,
			.hidden = above && (above->hidden || above->folded)};
	node->folded = node->parental && is_folded(tree, state->threads[thread].id);
	(*n)++;
}

/* The thread and all below it, each before its children. Reused ids could make a circle. */
static void place_all(
		struct state_tree *tree, const struct state_view *state, uint32_t root, uint32_t *n)
{
	struct state_place *above;
	uint32_t at = *n, next;

	place(tree, state, root, NONE, n);
	while (at != NONE) {
		above = &tree->places[tree->nodes[at].thread];
		next = above->first;
		if (next != NONE) {
			above->first = tree->places[next].next;
		}
		if (next != NONE && !tree->places[next].placed) {
			place(tree, state, next, at, n);
			at = *n - 1;
		} else if (next == NONE) {
			at = tree->nodes[at].parent;
		}
	}
}

void state_tree_update(struct state_screen *screen)
{
	struct state_tree *tree = &screen->tree;
	uint32_t i, n = 0;

	if (!tree->on || !make_room(tree, screen->state->n_threads)) {
		tree->on = false;
		return;
	}
	tree->n = screen->state->n_threads;
	find_parents(tree, screen->state);
	for (i = 0; i < tree->n; i++) {
		if (tree->places[i].parent == NONE) {
			place_all(tree, screen->state, i, &n);
		}
	}
	for (i = 0; i < tree->n; i++) {
		if (!tree->places[i].placed) {
			place_all(tree, screen->state, i, &n);
		}
	}
}

static void set_folded(struct state_tree *tree, uint64_t id, bool fold)
{
	uint32_t i;

	for (i = 0; i < tree->n_folded && tree->folded[i] != id; i++) {
	}
	if (!fold && i < tree->n_folded) {
		tree->folded[i] = tree->folded[--tree->n_folded];
	} else if (fold && i == tree->n_folded && i < STATE_MAX_FOLDED) {
		tree->folded[tree->n_folded++] = id;
	}
}

bool state_tree_fold(struct state_screen *screen, bool fold)
{
	struct table *table = &screen->tables[STATE_CPU];
	uint32_t row = table_row(table);
	const struct state_node *node;

	if (!screen->tree.on || row >= screen->tree.n) {
		return false;
	}
	node = &screen->tree.nodes[row];
	if (node->parental && node->folded != fold) {
		set_folded(&screen->tree, screen->state->threads[node->thread].id, fold);
		state_tree_update(screen);
		table_update(table, screen, screen->tree.n);
		return true;
	}
	return fold && node->parent != NONE &&
	       table_select(table, state_cpu_thread(screen, node->parent)->id);
}
