/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/spans.h"

/* What took so many times as long as was left of the span that it began in was handed on there. */
#define HANDED_ON 2.0

enum mark {
	MARK_NEW = 0,
	MARK_WALKING,
	MARK_DONE,
};

static void map_release(struct span_map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct span_map){.keys = NULL};
}

/* An empty map for at most n keys, none of which is UINT64_MAX. */
static bool map_reset(struct span_map *map, uint32_t n)
{
	uint32_t room = 16;

	while (room < n * 2) {
		room *= 2;
	}
	if (room > map->room) {
		map_release(map);
		map->keys = malloc(room * sizeof(*map->keys));
		map->values = malloc(room * sizeof(*map->values));
		if (!map->keys || !map->values) {
			map_release(map);
			return false;
		}
	}
	map->room = room;
	memset(map->keys, 0xff, room * sizeof(*map->keys));
	return true;
}

/* The value of a key, SPAN_NONE when it is new. */
static uint32_t *map_at(struct span_map *map, uint64_t key)
{
	uint32_t at = (uint32_t)hash_u64(key) & (map->room - 1);

	while (map->keys[at] != UINT64_MAX && map->keys[at] != key) {
		at = (at + 1) & (map->room - 1);
	}
	if (map->keys[at] == UINT64_MAX) {
		map->keys[at] = key;
		map->values[at] = SPAN_NONE;
	}
	return &map->values[at];
}

void spans_release(struct spans *spans)
{
	free(spans->items);
	free(spans->order);
	free(spans->events);
	free(spans->open);
	map_release(&spans->by_seq);
	map_release(&spans->tops);
	map_release(&spans->callers);
	map_release(&spans->senders);
	*spans = (struct spans){.n = 0};
}

static bool reserve(struct spans *spans, uint32_t n)
{
	uint32_t room = n + 1; /* a root that was not seen */

	if (room <= spans->room) {
		return true;
	}
	room += room / 2;
	if (!array_resize(&spans->items, room) || !array_resize(&spans->order, room) ||
			!array_resize(&spans->events, room) || !array_resize(&spans->open, room)) {
		return false;
	}
	spans->room = room;
	return true;
}

static bool before(const struct event_copy *a, const struct event_copy *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->seq < b->seq;
}

static int compare(const void *a, const void *b)
{
	const struct event_copy *x = *(const struct event_copy *const *)a;
	const struct event_copy *y = *(const struct event_copy *const *)b;

	return before(x, y) ? -1 : before(y, x);
}

/* Only where fragments were united are copies out of order. */
static bool gather(struct spans *spans, const struct spans_input *input)
{
	struct copy_chunk *chunk = NULL;
	struct event_copy *copy;
	uint32_t offset = 0;
	bool sorted = true;

	spans->n = spans->n_events = spans->n_open = 0;
	spans->skew_ns = 0;
	spans->root = SPAN_NONE;
	if (!reserve(spans, input->copies->n)) {
		return false;
	}
	while ((copy = copies_next(input->copies, &chunk, &offset))) {
		if (input->skeleton_only &&
				(!copy->skeleton || (copy->role == COPY_POINT && !copy->link))) {
			continue;
		}
		if (spans->n_events > 0 && before(copy, spans->events[spans->n_events - 1])) {
			sorted = false;
		}
		spans->events[spans->n_events++] = copy;
	}
	if (!sorted) {
		qsort(spans->events, spans->n_events, sizeof(*spans->events), compare);
	}
	return map_reset(&spans->by_seq, spans->n_events) &&
	       map_reset(&spans->tops, spans->n_events) &&
	       map_reset(&spans->callers, spans->n_events) &&
	       map_reset(&spans->senders, spans->n_events);
}

static uint32_t host_of(const struct spans_input *input, const struct event_copy *copy)
{
	return input->registry->streams[copy->stream].host;
}

/* The span entered last of those open on other threads. */
static uint32_t latest_elsewhere(const struct spans *spans, uint32_t host, int32_t tid)
{
	uint32_t i;

	for (i = spans->n_open; i > 0; i--) {
		const struct span *span = &spans->items[spans->open[i - 1]];

		if (span->host != host || span->tid != tid) {
			return spans->open[i - 1];
		}
	}
	return SPAN_NONE;
}

static void close_open(struct spans *spans, uint32_t index)
{
	uint32_t i;

	for (i = spans->n_open; i > 0; i--) {
		if (spans->open[i - 1] == index) {
			memmove(&spans->open[i - 1], &spans->open[i],
					(spans->n_open - i) * sizeof(*spans->open));
			spans->n_open--;
			return;
		}
	}
}

/* The thread that sent a message hears of it again. */
static void answer(struct spans *spans, const struct event_copy *copy, uint32_t host)
{
	uint32_t sender = *map_at(&spans->callers, copy->link);

	if (sender != SPAN_NONE && spans->items[sender].tid == copy->tid &&
			spans->items[sender].host == host) {
		spans->items[sender].answer_ns = copy->ts_ns;
	}
}

static void enter(struct spans *spans, const struct spans_input *input,
		const struct event_copy *copy, uint32_t *top)
{
	uint32_t index = spans->n++;
	struct span *span = &spans->items[index];
	/* A derived request begins when it was asked for, whatever its thread does then. */
	uint32_t enclosing = copy->derived && copy->keyed && !copy->under ? SPAN_NONE : *top;
	/* What it is said to be below, if its thread has begun nothing since. */
	uint32_t under = copy->under ? *map_at(&spans->by_seq, copy->under) : SPAN_NONE;

	*span = (struct span){
			.entry = copy,
			.parent = enclosing,
			.host = host_of(input, copy),
			.tid = copy->tid,
			.point = copy->role == COPY_POINT,
			.start_ns = copy->ts_ns,
			.end_ns = copy->ts_ns,
			.below = enclosing,
			.cause = SPAN_NONE,
	};
	if (copy->link) {
		uint32_t *first = map_at(enclosing == SPAN_NONE ? &spans->senders : &spans->callers,
				copy->link);

		if (*first == SPAN_NONE) {
			*first = index;
		} else {
			answer(spans, copy, span->host);
		}
	}
	if (under != SPAN_NONE && (enclosing == SPAN_NONE || under > enclosing)) {
		span->parent = under;
	}
	if (span->parent == SPAN_NONE) {
		span->parent = latest_elsewhere(spans, span->host, span->tid);
		span->by_guess = true;
	}
	if (copy->seq == input->root) {
		spans->root = index;
	}
	if (span->point) {
		return;
	}
	*map_at(&spans->by_seq, copy->seq) = index;
	spans->open[spans->n_open++] = index;
	if (!copy->keyed) {
		*top = index;
	}
}

static void leave(struct spans *spans, const struct spans_input *input,
		const struct event_copy *copy, uint32_t *top)
{
	uint32_t index = copy->span ? *map_at(&spans->by_seq, copy->span) : SPAN_NONE;
	struct span *span;

	if (copy->link) {
		answer(spans, copy, host_of(input, copy));
	}
	if (index == SPAN_NONE) {
		if (input->skeleton_only) {
			return;
		}
		index = spans->n++;
		spans->items[index] = (struct span){
				.exit = copy,
				.parent = *top,
				.below = *top,
				.cause = SPAN_NONE,
				.host = host_of(input, copy),
				.tid = copy->tid,
				.start_ns = copy->ts_ns,
				.end_ns = copy->ts_ns,
		};
		return;
	}
	span = &spans->items[index];
	span->exit = copy;
	span->end_ns = copy->ts_ns;
	close_open(spans, index);
	if (!span->entry->keyed) {
		uint32_t *own = map_at(
				&spans->tops, (uint64_t)span->host << 32 | (uint32_t)span->tid);

		/* Down to this one, if it is still on the stack. */
		uint32_t at = *own;

		while (at != SPAN_NONE && at != index) {
			at = spans->items[at].below;
		}
		if (at == index) {
			*own = span->below;
		}
	}
}

/* Messages tell what came before in time cannot: who called whom. */
static void adopt_by_message(struct spans *spans)
{
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		struct span *span = &spans->items[i];
		uint32_t cause, caller;

		if (!span->by_guess || !span->entry || !span->entry->link || i == spans->root) {
			continue;
		}
		cause = *map_at(&spans->callers, span->entry->link);
		if (cause == SPAN_NONE) {
			cause = *map_at(&spans->senders, span->entry->link);
		}
		caller = cause != SPAN_NONE && spans->items[cause].point &&
							 !spans->items[cause].by_guess
					 ? spans->items[cause].parent
					 : cause;
		if (caller != SPAN_NONE && caller != i &&
				(spans->items[caller].tid != span->tid ||
						spans->items[caller].host != span->host)) {
			span->parent = caller;
			span->cause = cause;
			span->by_message = true;
		}
	}
}

/* What was open when it began did no more than hand the work on, or does the same beside it. */
static bool only_handed_on(const struct span *parent, const struct span *span)
{
	if (parent->by_guess && parent->entry && parent->entry->name == span->entry->name) {
		return true;
	}
	return parent->exit && parent->end_ns < span->end_ns &&
	       HANDED_ON * (double)(parent->end_ns - span->start_ns) <
			       (double)(span->end_ns - span->start_ns);
}

/*
 * Work that is handed to another thread begins within the span that hands it on or just after,
 * which is chance, and must not tell requests apart: it is of what encloses that span. So is work
 * that several threads do at the same time.
 */
static void leave_what_handed_on(struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		struct span *span = &spans->items[i];

		while (span->by_guess && !span->by_message && span->exit && i != spans->root &&
				span->parent != SPAN_NONE && span->parent != spans->root &&
				spans->items[span->parent].parent < span->parent && /* no circle */
				only_handed_on(&spans->items[span->parent], span)) {
			span->parent = spans->items[span->parent].parent;
		}
	}
}

/* Parents before children; a circle, which only damaged data can make, is cut at the root. */
static void put_in_order(struct spans *spans)
{
	uint32_t i, n = 0;

	spans->items[spans->root].parent = SPAN_NONE;
	spans->items[spans->root].mark = MARK_DONE;
	spans->order[n++] = spans->root;
	for (i = 0; i < spans->n; i++) {
		uint32_t at = i, depth = 0;

		/* Walks up to what is known, noting the way in `open`, then back down. */
		while (spans->items[at].mark == MARK_NEW) {
			spans->items[at].mark = MARK_WALKING;
			spans->open[depth++] = at;
			if (spans->items[at].parent == SPAN_NONE) {
				spans->items[at].parent = spans->root;
			}
			at = spans->items[at].parent;
		}
		if (depth > 0 && spans->items[at].mark == MARK_WALKING) {
			spans->items[spans->open[depth - 1]].parent = spans->root;
		}
		while (depth > 0) {
			struct span *span = &spans->items[spans->open[--depth]];

			span->mark = MARK_DONE;
			span->depth = spans->items[span->parent].depth + 1;
			spans->order[n++] = spans->open[depth];
		}
	}
}

/* What was not seen is bounded by the parent; what precedes its cause shows how clocks differ. */
static void complete_times(struct spans *spans)
{
	uint32_t i;

	for (i = 1; i < spans->n; i++) {
		struct span *span = &spans->items[spans->order[i]];
		const struct span *parent = &spans->items[span->parent];

		if (!span->entry) {
			span->start_ns = parent->start_ns < span->end_ns ? parent->start_ns
									 : span->end_ns;
		} else if (!span->exit && !span->point) {
			span->end_ns = parent->end_ns > span->start_ns ? parent->end_ns
								       : span->start_ns;
		}
		if (span->by_message && span->host != parent->host &&
				span->start_ns < parent->start_ns) {
			span->skewed = true;
			if (parent->start_ns - span->start_ns > spans->skew_ns) {
				spans->skew_ns = parent->start_ns - span->start_ns;
			}
		}
	}
}

bool spans_build(struct spans *spans, const struct spans_input *input)
{
	uint32_t i;

	if (!gather(spans, input)) {
		return false;
	}
	for (i = 0; i < spans->n_events; i++) {
		const struct event_copy *copy = spans->events[i];
		uint32_t *top = map_at(&spans->tops,
				(uint64_t)host_of(input, copy) << 32 | (uint32_t)copy->tid);

		if (copy->role == COPY_EXIT) {
			leave(spans, input, copy, top);
		} else {
			enter(spans, input, copy, top);
		}
	}
	if (spans->root == SPAN_NONE) {
		spans->root = spans->n++;
		spans->items[spans->root] = (struct span){.parent = SPAN_NONE,
				.tid = -1,
				.below = SPAN_NONE,
				.cause = SPAN_NONE};
	}
	spans->items[spans->root].start_ns = input->start_ns;
	spans->items[spans->root].end_ns = input->end_ns;
	adopt_by_message(spans);
	leave_what_handed_on(spans);
	put_in_order(spans);
	complete_times(spans);
	return true;
}
