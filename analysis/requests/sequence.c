/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/engine.h"
#include "requests/waits.h"

/* A span, with its parts as a list. */
struct sequence_node {
	uint32_t first, last, next; /* SEQUENCE_NONE: none */
	uint32_t step;              /* index, of the innermost that counts at or above it */
	uint64_t hash;              /* of all it consists of */
	uint32_t name, provider;
	bool counts, many, failed, apart; /* apart: on another thread than what it is part of */
	const char *text;
};

void sequencing_release(struct sequencing *s)
{
	free(s->nodes);
	free(s->list);
	free(s->stack);
	free(s->steps);
	*s = (struct sequencing){.room = 0};
}

static bool reserve(struct sequencing *s, uint32_t n)
{
	return array_reserve(&s->nodes, &s->room, n) && array_reserve(&s->list, &s->list_room, n) &&
	       array_reserve(&s->stack, &s->stack_room, n) &&
	       array_reserve(&s->steps, &s->step_room, SEQUENCE_MAX);
}

/* A kernel's points, and calls that wait, are there or not as load has it. */
static bool counts(const struct span *span, const struct sequence_node *node)
{
	static const char prefix[] = "syscall_";
	bool call = strncmp(node->text, prefix, sizeof(prefix) - 1) == 0;

	return node->provider ||
	       (!span->point && wait_class(node->text + (call ? sizeof(prefix) - 1 : 0)) !=
						WAITS_WORK);
}

static void describe(const struct requests *r, const struct span *span, bool is_root,
		struct sequence_node *node)
{
	const struct event_copy *copy = span->entry ? span->entry : span->exit;

	*node = (struct sequence_node){.first = SEQUENCE_NONE,
			.last = SEQUENCE_NONE,
			.next = SEQUENCE_NONE,
			.name = span_name(r, span),
			.provider = copy ? r->plans[copy->type].provider : 0};
	node->text = names_text(r->names, node->name);
	node->counts = is_root || (copy && counts(span, node));
	node->failed = span->exit && span->exit->fails == COPY_FAILS;
}

static void append(struct sequence_node *nodes, struct sequence_node *to, uint32_t i)
{
	nodes[i].next = SEQUENCE_NONE;
	if (to->last == SEQUENCE_NONE) {
		to->first = i;
	} else {
		nodes[to->last].next = i;
	}
	to->last = i;
}

static int compare(const struct sequence_node *a, const struct sequence_node *b)
{
	int order = strcmp(a->text, b->text);

	return order ? order : (a->hash > b->hash) - (a->hash < b->hash);
}

/* By insertion: few parts of a span are on other threads, and mostly they are in order. */
static void sort(const struct sequence_node *nodes, uint32_t *list, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t moved = list[i], at = i;

		for (; at > 0 && i - at < SEQUENCE_MAX &&
				compare(&nodes[moved], &nodes[list[at - 1]]) < 0;
				at--) {
			list[at] = list[at - 1];
		}
		list[at] = moved;
	}
}

/* The parts of a span as a list: its own thread's, then the others. */
static uint32_t arrange(
		const struct sequence_node *nodes, const struct sequence_node *of, uint32_t *list)
{
	uint32_t n = 0, own;

	for (uint32_t i = of->first; i != SEQUENCE_NONE; i = nodes[i].next) {
		if (!nodes[i].apart) {
			list[n++] = i;
		}
	}
	own = n;
	for (uint32_t i = of->first; i != SEQUENCE_NONE; i = nodes[i].next) {
		if (nodes[i].apart) {
			list[n++] = i;
		}
	}
	sort(nodes, list + own, n - own);
	return n;
}

/* How many parts from `at` on repeat the `period` ones that begin there. */
static uint32_t repeats(const struct sequence_node *nodes, const uint32_t *list, uint32_t n,
		uint32_t at, uint32_t period)
{
	uint32_t i = at + period;

	while (i < n && nodes[list[i]].hash == nodes[list[i - period]].hash) {
		i++;
	}
	return (i - at - period) / period * period;
}

/* Leaves one of those that follow each other alike. */
static uint32_t fold(struct sequence_node *nodes, uint32_t *list, uint32_t n)
{
	uint32_t kept = 0, at = 0;

	while (at < n) {
		uint32_t period = 1, more = 0;

		for (; period <= SEQUENCE_PERIOD && more == 0; period += more == 0) {
			more = repeats(nodes, list, n, at, period);
		}
		period = more ? period : 1;
		for (uint32_t i = 0; i < period; i++) {
			nodes[list[at + i]].many |= more > 0;
			list[kept++] = list[at + i];
		}
		at += period + more;
	}
	return kept;
}

/* Puts a span's parts in order. Its name stands for it, and what it consists of. */
static void finish_node(struct sequencing *s, uint32_t at)
{
	struct sequence_node *node = &s->nodes[at];
	uint32_t n = arrange(s->nodes, node, s->list);

	n = fold(s->nodes, s->list, n);
	node->first = node->last = SEQUENCE_NONE;
	node->hash = hash_pair(((uint64_t)node->provider << 32) | node->name, node->failed);
	for (uint32_t i = 0; i < n; i++) {
		const struct sequence_node *part = &s->nodes[s->list[i]];

		node->hash = hash_pair(node->hash, part->hash + part->many);
		append(s->nodes, node, s->list[i]);
	}
}

static void reverse(struct sequence_node *nodes, struct sequence_node *of)
{
	uint32_t before = SEQUENCE_NONE, i = of->first, next;

	of->last = of->first;
	for (; i != SEQUENCE_NONE; i = next) {
		next = nodes[i].next;
		nodes[i].next = before;
		before = i;
	}
	of->first = before;
}

/* Adds a span to the parts of what it is part of; where it does not count, its parts in its place.
 */
static void hand_up(struct sequencing *s, const struct spans *spans, uint32_t at)
{
	const struct span *span = &spans->items[at], *above = &spans->items[span->parent];
	struct sequence_node *node = &s->nodes[at];

	node->apart = span->host != above->host || span->tid != above->tid;
	if (node->counts) {
		append(s->nodes, &s->nodes[span->parent], at);
		return;
	}
	reverse(s->nodes, node); /* the parent's are backwards, too */
	for (uint32_t i = node->first, next; i != SEQUENCE_NONE; i = next) {
		next = s->nodes[i].next;
		s->nodes[i].apart |= node->apart;
		append(s->nodes, &s->nodes[span->parent], i);
	}
}

static void walk(struct sequencing *s, uint32_t root, struct sequence *out)
{
	uint32_t depth = 0;

	s->stack[depth++] = root;
	s->nodes[root].step = SEQUENCE_NONE; /* of what is above it, until it is met */
	while (depth > 0 && out->n < SEQUENCE_MAX) {
		struct sequence_node *node = &s->nodes[s->stack[--depth]];
		uint32_t first = depth;

		s->steps[out->n] = (struct sequence_step){.name = node->name,
				.provider = node->provider,
				.above = node->step,
				.many = node->many,
				.failed = node->failed};
		for (uint32_t i = node->first; i != SEQUENCE_NONE; i = s->nodes[i].next) {
			s->nodes[i].step = out->n;
			s->stack[depth++] = i;
		}
		for (uint32_t i = 0; i < (depth - first) / 2; i++) {
			uint32_t moved = s->stack[first + i];

			s->stack[first + i] = s->stack[depth - 1 - i];
			s->stack[depth - 1 - i] = moved;
		}
		out->n++;
	}
	out->cut = depth > 0;
}

/* Is the root all there is, but for points that do not count? Most system calls are: then no tree
 * is built. */
static bool is_one_step(
		const struct requests *r, const struct request *request, struct sequence_step *step)
{
	const struct kept_request *kept = (const struct kept_request *)(const void *)request;
	const struct event_copy *copy;
	struct copy_chunk *chunk = NULL;
	uint32_t offset = 0;
	bool has_root = false;

	*step = (struct sequence_step){.name = request->type, .above = SEQUENCE_NONE};
	while ((copy = copies_next(&kept->copies, &chunk, &offset))) {
		uint32_t provider = r->plans[copy->type].provider;

		if (copy->role == COPY_ENTRY && copy->seq == kept->root) {
			step->provider = provider;
			has_root = true;
		} else if (copy->role == COPY_EXIT && has_root && copy->span == kept->root) {
			step->failed = copy->fails == COPY_FAILS;
		} else if (copy->role != COPY_POINT || copy->seq == kept->root || provider) {
			return false;
		}
	}
	return has_root;
}

bool requests_sequence(struct requests *r, const struct request *request, struct sequence *out)
{
	struct sequencing *s = &r->sequencing;
	const struct spans *spans = &r->spans;

	*out = (struct sequence){.n = 0};
	requests_refresh(r);
	if (!reserve(s, 1)) {
		return false;
	}
	if (is_one_step(r, request, &s->steps[0])) {
		*out = (struct sequence){.n = 1, .steps = s->steps};
		return true;
	}
	if (!measuring_build(r, request) || !reserve(s, spans->n)) {
		return false;
	}
	for (uint32_t i = 0; i < spans->n; i++) {
		describe(r, &spans->items[i], i == spans->root, &s->nodes[i]);
	}
	s->nodes[spans->root].name = request->type; /* what it is called where no span is */
	/* `order` has parents before their parts: from behind, lists come out backwards. */
	for (uint32_t i = spans->n; i > 0; i--) {
		uint32_t at = spans->order[i - 1];

		reverse(s->nodes, &s->nodes[at]);
		finish_node(s, at);
		if (at != spans->root) {
			hand_up(s, spans, at);
		}
	}
	walk(s, spans->root, out);
	out->steps = s->steps;
	return true;
}

bool requests_used(struct requests *r, struct request *request, struct state_resources *out)
{
	const struct state_resources *known =
			requests_resources(r, (struct kept_request *)(void *)request);

	if (known) {
		*out = *known;
	}
	return known != NULL;
}
