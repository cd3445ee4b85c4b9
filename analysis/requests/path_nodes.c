/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "requests/path_nodes.h"

#define FEW 48u /* so few are sorted by insertion */

int path_compare_keys(const void *a, const void *b)
{
	const struct path_key *x = a, *y = b;

	if (x->major != y->major) {
		return x->major < y->major ? -1 : 1;
	}
	if (x->minor_ns != y->minor_ns) {
		return x->minor_ns < y->minor_ns ? -1 : 1;
	}
	return x->index < y->index ? -1 : x->index > y->index;
}

void path_sort_keys(struct path_key *keys, uint32_t n)
{
	uint32_t i, j;

	if (n > FEW) {
		qsort(keys, n, sizeof(*keys), path_compare_keys);
		return;
	}
	for (i = 1; i < n; i++) {
		struct path_key key = keys[i];

		for (j = i; j > 0 && path_compare_keys(&key, &keys[j - 1]) < 0; j--) {
			keys[j] = keys[j - 1];
		}
		keys[j] = key;
	}
}

/* Damaged times may be anything: no sum of a few of these overflows. */
static int64_t clamp(int64_t ns)
{
	return ns > FAR_NS ? FAR_NS : ns < -FAR_NS ? -FAR_NS : ns;
}

/* --- the clocks of hosts --------------------------------------------------------------------- */

static bool crosses_hosts(const struct spans *spans, const struct span *span)
{
	return span->by_message && span->parent != SPAN_NONE && span->cause != SPAN_NONE &&
	       spans->items[span->parent].host != span->host;
}

/* A call's longest stretch in which its thread had no other span open. */
static void add_gap(struct path_node *call, int64_t to_ns)
{
	if (to_ns - call->cursor_ns > call->gap_ns) {
		call->gap_from_ns = call->cursor_ns;
		call->gap_ns = to_ns - call->cursor_ns;
	}
}

/* Of calls to other hosts: how long they could have waited. Times by the caller's own clock. */
static void find_gaps(const struct spans *spans, struct path_node *nodes)
{
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		struct path_node *parent;

		if (span->parent == SPAN_NONE || !path_takes_time(span) ||
				span->below != span->parent || span->by_guess) {
			continue;
		}
		parent = &nodes[span->parent];
		if (parent->is_call && path_since(spans, span->end_ns) > parent->cursor_ns) {
			add_gap(parent, path_since(spans, span->start_ns));
			parent->cursor_ns = path_since(spans, span->end_ns);
		}
	}
	for (i = 0; i < spans->n; i++) {
		if (nodes[i].is_call) {
			add_gap(&nodes[i], path_since(spans, spans->items[i].end_ns));
		}
	}
}

/* Marks the calls to other hosts, and of their callees the one that ended last. */
static bool mark_calls(const struct spans *spans, struct path_node *nodes)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		struct path_node *call;

		if (span->point || !crosses_hosts(spans, span)) {
			continue;
		}
		any = true;
		call = &nodes[span->parent];
		if (!path_is_called(span) || spans->items[span->parent].point) {
			continue;
		}
		if (!call->is_call) {
			call->is_call = true;
			call->cursor_ns = path_since(spans, spans->items[span->parent].start_ns);
			call->callee = i;
		} else if (spans->items[call->callee].host == span->host &&
				spans->items[call->callee].end_ns < span->end_ns) {
			call->callee = i;
		}
	}
	return any;
}

/* When the caller of a span waited for it, by the caller's own clock; false: not known. */
static bool find_wait(const struct spans *spans, const struct path_node *nodes, uint32_t index,
		int64_t *from_ns, int64_t *to_ns)
{
	const struct span *span = &spans->items[index];
	const struct span *parent = &spans->items[span->parent];
	const struct span *cause = &spans->items[span->cause];
	const struct path_node *call = &nodes[span->parent];

	if (parent->point) {
		return false;
	}
	if (!path_is_called(span)) {
		*from_ns = path_since(spans, cause->start_ns);
		*to_ns = path_since(spans, cause->answer_ns);
		return cause->answer_ns > cause->start_ns && cause->answer_ns <= parent->end_ns &&
		       cause->start_ns >= parent->start_ns;
	}
	*from_ns = call->gap_from_ns;
	*to_ns = call->gap_from_ns + call->gap_ns;
	if (span->end_ns - span->start_ns > (uint64_t)call->gap_ns) {
		*from_ns = path_since(spans, parent->start_ns);
		*to_ns = path_since(spans, parent->end_ns);
	}
	return true;
}

/* Lays a callee into its caller's wait, at the end of it. */
static void place_callee(const struct spans *spans, struct path_node *nodes, uint32_t index)
{
	const struct span *span = &spans->items[index];
	struct path_node *node = &nodes[index];
	const struct path_node *parent = &nodes[span->parent];
	uint32_t last = path_is_called(span) ? parent->callee : index;
	int64_t from_ns, to_ns;

	if (last == SPAN_NONE || spans->items[last].host != span->host) {
		last = index;
	}
	if (!find_wait(spans, nodes, last, &from_ns, &to_ns)) {
		return;
	}
	node->shift_ns = clamp(
			parent->shift_ns + to_ns - path_since(spans, spans->items[last].end_ns));
	node->wait_ns = from_ns + parent->shift_ns;
	node->callee_of_wait = last == index;
	node->retry = last != index;
}

static void set_times(const struct spans *spans, struct path_node *nodes)
{
	bool any = mark_calls(spans, nodes);
	uint32_t i;

	if (any) {
		find_gaps(spans, nodes);
	}
	for (i = 0; i < spans->n; i++) {
		uint32_t index = spans->order[i];
		const struct span *span = &spans->items[index];
		struct path_node *node = &nodes[index];

		if (any && index != spans->root) {
			if (!span->point && crosses_hosts(spans, span)) {
				place_callee(spans, nodes, index);
			} else if (spans->items[span->parent].host == span->host) {
				node->shift_ns = nodes[span->parent].shift_ns;
			}
		}
		node->start_ns = path_since(spans, span->start_ns) + node->shift_ns;
		node->end_ns = path_since(spans, span->end_ns) + node->shift_ns;
	}
}

/* --- who could have waited for whom ---------------------------------------------------------- */

/*
 * The nearest ancestor that ends no earlier. Along a chain of joins ends only grow, so it is found
 * by jumps whose lengths are those of the skew-binary numbers: O(log n). (Myers, "An applicative
 * random-access stack", 1983.)
 */
static uint32_t find_join(const struct path_node *nodes, uint32_t parent, int64_t end_ns)
{
	uint32_t at = parent;

	while (at != SPAN_NONE && nodes[at].end_ns < end_ns) {
		uint32_t jump = nodes[at].jump;

		at = jump != SPAN_NONE && nodes[jump].end_ns < end_ns ? jump : nodes[at].join;
	}
	return at;
}

static void set_jump(struct path_node *nodes, uint32_t index)
{
	struct path_node *node = &nodes[index];
	uint32_t join = node->join, jump = join == SPAN_NONE ? SPAN_NONE : nodes[join].jump;

	node->height = join == SPAN_NONE ? 0 : nodes[join].height + 1;
	node->jump = join;
	if (jump != SPAN_NONE && nodes[jump].jump != SPAN_NONE &&
			nodes[join].height - nodes[jump].height ==
					nodes[jump].height - nodes[nodes[jump].jump].height) {
		node->jump = nodes[jump].jump;
	}
}

/* Lists for each span those that join it. Of two that end together, the one that took longer comes
 * first. */
static void set_joins(struct path *path, const struct spans *spans)
{
	struct path_node *nodes = path->nodes;
	uint32_t i, n = 0;

	for (i = 0; i < spans->n; i++) {
		uint32_t index = spans->order[i];
		const struct span *span = &spans->items[index];
		struct path_node *node = &nodes[index];

		node->join = index == spans->root ? SPAN_NONE
			     : node->callee_of_wait || node->retry
					     ? span->parent
					     : find_join(nodes, span->parent, node->end_ns);
		set_jump(nodes, index);
		if (!path_takes_time(span) || node->join == SPAN_NONE) {
			continue;
		}
		path->keys[n++] = (struct path_key){
				.major = (uint64_t)node->end_ns ^ (UINT64_C(1) << 63),
				.minor_ns = -node->start_ns,
				.index = index};
	}
	path_sort_keys(path->keys, n);
	for (i = 0; i < n; i++) {
		uint32_t index = path->keys[i].index;
		struct path_node *join = &nodes[nodes[index].join];

		nodes[index].next = join->first;
		join->first = index;
	}
}

void path_set_nodes(struct path *path, const struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		path->nodes[i] = (struct path_node){
				.callee = SPAN_NONE, .first = SPAN_NONE, .next = SPAN_NONE};
	}
	set_times(spans, path->nodes);
	set_joins(path, spans);
}
