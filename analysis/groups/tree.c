/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "groups/detect.h"
#include "groups/grouping.h"
#include "groups/tree.h"
#include "stats/share.h"

/*
 * Rows in the making: a branch for each context that was visited, and for those above it. Branch 0
 * is what all hang from.
 */
struct branch {
	uint32_t context, parent;
	uint32_t node;        /* of the group's profile; NO_NODE: none */
	uint32_t child, next; /* the first below it; the next one of its parent; 0: none */
	uint32_t row;
	double weight; /* what children are ordered by */
};

#define NO_NODE       UINT32_MAX
#define NO_ROW        UINT32_MAX
#define PREFETCH_ROWS 8
#define CACHE_LINE    64

void tree_work_release(struct tree_work *work)
{
	free(work->places);
	free(work->branches);
	free(work->sums);
	free(work->order);
	memset(work, 0, sizeof(*work));
}

/* Every context may have a branch; the last use is forgotten by counting on. */
static bool tree_work_begin(struct tree_work *work, uint32_t n_contexts)
{
	if (!array_reserve_zeroed(&work->places, &work->n_places, n_contexts)) {
		return false;
	}
	work->serial++;
	work->n = 0;
	return true;
}

static bool branches_grow(struct tree_work *work)
{
	uint32_t room = array_room(work->room, work->n + 1);

	if (!array_resize(&work->branches, room) || !array_resize(&work->order, room) ||
			!array_resize(&work->sums, room)) {
		return false;
	}
	work->room = room;
	return true;
}

static uint32_t branch_add(struct tree_work *work, uint32_t context, uint32_t parent)
{
	struct branch *branch;

	if (work->n == work->room && !branches_grow(work)) {
		return NO_NODE;
	}
	memset(&work->sums[work->n], 0, sizeof(*work->sums));
	branch = &work->branches[work->n];
	*branch = (struct branch){.context = context, .parent = parent, .node = NO_NODE};
	if (work->n) { /* the first is what all hang from */
		branch->next = work->branches[parent].child;
		work->branches[parent].child = work->n;
	}
	work->places[context] = (uint64_t)work->serial << 32 | work->n;
	return work->n++;
}

static uint32_t branch_find(const struct tree_work *work, uint32_t context)
{
	uint64_t place = work->places[context];

	return place >> 32 == work->serial ? (uint32_t)place : NO_NODE;
}

/* The branch of a context, made with those above it if need be. */
static uint32_t branch_of(struct groups *groups, uint32_t context)
{
	struct tree_work *work = &groups->tree;
	uint32_t missing[PROFILE_MAX_DEPTH + 1], n = 0, branch;

	while ((branch = branch_find(work, context)) == NO_NODE && n <= PROFILE_MAX_DEPTH) {
		missing[n++] = context;
		context = contexts_get(groups->contexts, context)->parent;
	}
	while (n && branch != NO_NODE) {
		branch = branch_add(work, missing[--n], branch);
	}
	return branch;
}

/* Lags, off the path or not, are no part of the time that a tree divides. */
static bool is_visited(const struct profile_node *node, const struct profile_sums *sums)
{
	return sums->spans || sums->segment || (sums->self && !node->context);
}

/* What is weighed is added as that of as many requests as were measured. */
static void sums_add(struct profile_sums *sums, const struct profile_sums *other,
		const struct profile_counts *counts)
{
	sums->spans += other->spans;
	sums->failed += other->failed;
	sums->requests += other->requests;
	sums->total += other->total;
	sums->squares += other->squares;
	sums->self += other->self;
	sums->segment += counts->weight ? other->segment * counts->counted / counts->weight : 0;
}

/* Adds what a group did; the rest hangs from nowhere, and is a row of its own. */
static bool grow(struct groups *groups, const struct instant *instant, uint32_t *rest)
{
	const struct profile *profile = instant->profile;

	for (uint32_t i = 0; i < profile->n; i++) {
		const struct profile_node *node = &profile->nodes[i];
		const struct profile_sums *sums = &node->sums[instant->view.horizon];
		uint32_t branch;

		if (i + PREFETCH_ROWS < profile->n) {
			const void *ahead = &node[PREFETCH_ROWS].sums[instant->view.horizon];

			__builtin_prefetch(ahead);
			__builtin_prefetch((const char *)ahead + CACHE_LINE);
		}
		if (!is_visited(node, sums)) {
			continue;
		}
		if (!node->context) {
			if (*rest == NO_NODE) {
				*rest = branch_add(&groups->tree, 0, 0);
				groups->tree.places[0] = (uint64_t)groups->tree.serial << 32;
			}
			branch = *rest;
		} else {
			branch = branch_of(groups, node->context);
		}
		if (branch == NO_NODE) {
			return false;
		}
		groups->tree.branches[branch].node = i;
		sums_add(&groups->tree.sums[branch], sums,
				&profile->counts[instant->view.horizon]);
	}
	return true;
}

/* Of two lists of siblings the one whose first comes first: the heavier, of equal ones the older.
 */
static bool is_before(const struct tree_work *work, uint32_t a, uint32_t b)
{
	double left = work->branches[a].weight, right = work->branches[b].weight;

	return left > right || (left == right && a < b);
}

static uint32_t merge(struct tree_work *work, uint32_t a, uint32_t b)
{
	uint32_t first = 0, *link = &first;

	while (a && b) {
		uint32_t *from = is_before(work, a, b) ? &a : &b;

		*link = *from;
		link = &work->branches[*from].next;
		*from = *link;
	}
	*link = a ? a : b;
	return first;
}

/* Merge sort of a list, bottom up: lists[i] is sorted, of 2^i branches, or empty. */
static uint32_t sort_siblings(struct tree_work *work, uint32_t list)
{
	uint32_t lists[32] = {0}, sorted = 0;

	while (list) {
		uint32_t one = list, i;

		list = work->branches[one].next;
		work->branches[one].next = 0;
		for (i = 0; lists[i]; i++) {
			one = merge(work, lists[i], one);
			lists[i] = 0;
		}
		lists[i] = one;
	}
	for (uint32_t i = 0; i < 32; i++) {
		sorted = merge(work, lists[i], sorted);
	}
	return sorted;
}

/* Children in the order of their time; those without spans, of their part of the path. */
static void order(struct tree_work *work)
{
	for (uint32_t i = 0; i < work->n; i++) {
		const struct profile_sums *sums = &work->sums[i];

		work->branches[i].weight =
				sums->spans ? (double)sums->total : (double)sums->segment;
	}
	for (uint32_t i = 0; i < work->n; i++) {
		uint32_t child = work->branches[i].child;

		if (child && work->branches[child].next) {
			work->branches[i].child = sort_siblings(work, child);
		}
	}
}

/* The next branch depth first; 0 after the last. */
static uint32_t next_branch(const struct tree_work *work, uint32_t at)
{
	if (work->branches[at].child) {
		return work->branches[at].child;
	}
	while (at && !work->branches[at].next) {
		at = work->branches[at].parent;
	}
	return at ? work->branches[at].next : 0;
}

/* What is known of a context's point. Those that no tracepoint tells have names in parentheses. */
static enum tree_mark mark_of(const char *name)
{
	return name[0] == '(' ? TREE_NO_POINT : TREE_ON;
}

/* Names recur: copies made last are used again. */
struct copies {
	struct {
		uint32_t name;
		const char *text;
	} of[256];
};

static const char *copy_name(const struct groups *groups, struct copies *copies, uint32_t name,
		struct snapshot *snapshot)
{
	uint32_t at = name % 256;

	if (!name) {
		return "";
	}
	if (copies->of[at].name != name) {
		copies->of[at].name = name;
		copies->of[at].text = snapshot_text(snapshot, names_text(groups->names, name));
	}
	return copies->of[at].text;
}

static void row_name(const struct groups *groups, struct tree_row *row, uint32_t context,
		struct copies *copies, struct snapshot *snapshot)
{
	const struct context *known = contexts_get(groups->contexts, context);

	row->context = context;
	row->name = context ? copy_name(groups, copies, known->name, snapshot) : REST_NAME;
	row->provider = copy_name(groups, copies, known->provider, snapshot);
	row->mark = mark_of(row->name);
}

static void row_sums(struct tree_row *row, const struct profile_sums *sums)
{
	struct moments spans = {.count = sums->spans, .sum = sums->total, .squares = sums->squares};

	row->count = sums->spans;
	row->requests = sums->requests;
	row->failed = sums->failed;
	share_bounds(sums->failed, sums->spans, SHARE_95, &row->failed_low, &row->failed_high);
	row->total_ns = (double)sums->total;
	row->self_ns = (double)sums->self;
	row->mean_ns = moments_mean(&spans);
	row->sd_ns = moments_sd(&spans);
}

static void row_locate(struct tree_row *row, const struct located_segment *segment)
{
	row->segment_mean_ns = segment->mean_ns;
	row->segment_sd_ns = segment->sd_ns;
	row->phi = row->phi_below = segment->phi;
	row->phi_low = segment->phi_low;
	row->phi_high = segment->phi_high;
	row->tail_share = segment->tail_share;
}

/* Numbers the branches depth first; returns how many rows that makes. */
static uint32_t number_rows(struct tree_work *work)
{
	uint32_t n = 0;

	for (uint32_t at = next_branch(work, 0); at; at = next_branch(work, at)) {
		work->branches[at].row = n;
		work->order[n++] = at;
	}
	return n;
}

static void fill_tree_row(struct groups *groups, const struct branch *branch,
		const struct location *location, struct tree_row *rows)
{
	const struct tree_work *work = &groups->tree;
	struct tree_row *row = &rows[branch->row];

	row->parent = branch->parent ? work->branches[branch->parent].row : NO_ROW;
	row->depth = branch->parent ? rows[row->parent].depth + 1 : 0;
	row_sums(row, &work->sums[branch - work->branches]);
	if (location && location->located && branch->node != NO_NODE) {
		row_locate(row, &location->nodes[branch->node]);
	}
}

/* `location` may be NULL: rows have no shares then. */
static enum status fill_tree_rows(struct groups *groups, const struct location *location,
		struct snapshot *snapshot, struct tree_view *out)
{
	struct tree_work *work = &groups->tree;
	struct tree_row *rows = snapshot_alloc(snapshot, work->n * sizeof(*rows));
	struct copies copies = {0};

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	out->n = number_rows(work);
	out->rows = rows;
	for (uint32_t i = 0; i < out->n; i++) {
		const struct branch *branch = &work->branches[work->order[i]];

		if (i + PREFETCH_ROWS < out->n) { /* there may be more than fit a cache */
			uint32_t ahead = work->order[i + PREFETCH_ROWS];

			__builtin_prefetch(&work->branches[ahead]);
			__builtin_prefetch(&work->sums[ahead]);
			__builtin_prefetch((const char *)&work->sums[ahead] + CACHE_LINE);
		}
		row_name(groups, &rows[i], branch->context, &copies, snapshot);
		fill_tree_row(groups, branch, location, rows);
	}
	for (uint32_t i = out->n; i-- > 0;) {
		if (rows[i].parent != NO_ROW) {
			rows[rows[i].parent].n_below += rows[i].n_below + 1;
			rows[rows[i].parent].phi_below += rows[i].phi_below;
		}
	}
	return STATUS_OK;
}

static bool tree_begin(struct groups *groups, uint32_t *rest)
{
	*rest = NO_NODE;
	return tree_work_begin(&groups->tree, contexts_count(groups->contexts)) &&
	       branch_add(&groups->tree, 0, 0) != NO_NODE;
}

static void count(struct tree_view *out, const struct instant *instant, const struct totals *totals,
		uint64_t *all)
{
	const struct profile_counts *counts = &instant->profile->counts[instant->view.horizon];

	out->requests += counts->requests;
	out->counted += counts->counted;
	out->folded_spans += counts->folded_spans;
	*all += totals->moments.count + totals->tainted + totals->partial;
}

static void count_end(struct tree_view *out, uint64_t all)
{
	double share = all ? (double)out->requests / (double)all : 0;

	out->sampled_share = share < 1 ? share : 1; /* slices may have gone before samples do */
	out->max_depth = PROFILE_MAX_DEPTH;
}

enum status fill_tree(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct tree_view *out)
{
	const struct totals *totals = view_totals(groups, view, group);
	const struct location *location;
	struct instant instant;
	uint64_t all = 0;
	uint32_t rest;

	out->group_id = group->index + 1;
	out->type = snapshot_text(snapshot, names_text(groups->names, group->type));
	out->path = snapshot_text(snapshot, group->label);
	if (!totals || !instant_at(groups, view, group, &instant)) {
		return STATUS_NO_MEMORY;
	}
	count(out, &instant, totals, &all);
	count_end(out, all);
	out->lossy = detect_is_lossy(totals->moments.count, totals->tainted);
	location = instant_location(groups, &instant, group);
	if (!location || !tree_begin(groups, &rest) || !grow(groups, &instant, &rest)) {
		return STATUS_NO_MEMORY;
	}
	order(&groups->tree);
	out->missing = out->lossy ? 0 : location->missing;
	out->located = location->located && !out->lossy;
	return fill_tree_rows(groups, out->lossy ? NULL : location, snapshot, out);
}

enum status fill_tree_of_all(struct groups *groups, const struct view *view,
		struct snapshot *snapshot, struct tree_view *out)
{
	struct instant instant;
	uint64_t all = 0;
	uint32_t rest;

	out->all = true;
	out->type = out->path = "";
	if (!tree_begin(groups, &rest)) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < view->n_groups; i++) {
		const struct totals *totals;

		if (!view_has(view, groups->items[i])) {
			continue;
		}
		totals = view_totals(groups, view, groups->items[i]);
		if (!totals || !instant_at(groups, view, groups->items[i], &instant)) {
			return STATUS_NO_MEMORY;
		}
		count(out, &instant, totals, &all);
		if (!grow(groups, &instant, &rest)) {
			return STATUS_NO_MEMORY;
		}
	}
	count_end(out, all);
	order(&groups->tree);
	return fill_tree_rows(groups, NULL, snapshot, out);
}
