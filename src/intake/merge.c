/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/merge.h"

#include <stdlib.h>
#include <string.h>

/* Records without a time that are read in one step, so that a flood of them holds nobody up. */
#define LOOK_AHEAD_RECORDS 65536u

struct clock_entry {
	uint8_t uuid[16];
	int64_t offset_ns;
	bool sealed; /* an event that uses it went out: it stays */
};

struct merge {
	const struct intake_sink *sink;
	struct input_queue **heap; /* queues that take part, the earliest first */
	uint32_t n, max;
	struct input_queue **aside; /* stalled ones */
	uint32_t n_aside, max_aside;
	struct clock_entry *clocks;
	uint32_t n_clocks, max_clocks;
	uint64_t now_ns;
	uint64_t moved_ns; /* when it last did; CLOCK_MONOTONIC */
};

struct merge *merge_create(const struct intake_sink *sink)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge) {
		merge->sink = sink;
	}
	return merge;
}

void merge_destroy(struct merge *merge)
{
	if (!merge) {
		return;
	}
	free(merge->heap);
	free(merge->aside);
	free(merge->clocks);
	free(merge);
}

/* --- order ----------------------------------------------------------------------------------- */

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ties(const struct input_queue *a, const struct input_queue *b)
{
	const struct input_queue_row *row_a = &a->rows[a->row], *row_b = &b->rows[b->row];
	int order = strcmp(row_a->host, row_b->host);

	if (order == 0) {
		order = compare_numbers(a->head == INPUT_QUEUE_EVENT ? a->event.cpu : 0,
				b->head == INPUT_QUEUE_EVENT ? b->event.cpu : 0);
	}
	if (order == 0) {
		order = compare_numbers(row_a->domain, row_b->domain);
	}
	if (order == 0) {
		order = strcmp(row_a->session, row_b->session);
	}
	return order ? order : strcmp(a->key, b->key);
}

/* A queue without a head comes before heads of its time: it may still bring a smaller one. */
static bool before(const struct input_queue *a, const struct input_queue *b)
{
	if (a->bound_ns != b->bound_ns) {
		return a->bound_ns < b->bound_ns;
	}
	if (a->head == INPUT_QUEUE_NONE || b->head == INPUT_QUEUE_NONE) {
		return a->head == INPUT_QUEUE_NONE && b->head != INPUT_QUEUE_NONE;
	}
	return compare_ties(a, b) < 0;
}

static void place(struct merge *merge, uint32_t position, struct input_queue *queue)
{
	merge->heap[position] = queue;
	queue->position = position;
}

static void sift_up(struct merge *merge, uint32_t position)
{
	struct input_queue *queue = merge->heap[position];

	while (position > 0 && before(queue, merge->heap[(position - 1) / 2])) {
		place(merge, position, merge->heap[(position - 1) / 2]);
		position = (position - 1) / 2;
	}
	place(merge, position, queue);
}

static void sift_down(struct merge *merge, uint32_t position)
{
	struct input_queue *queue = merge->heap[position];

	for (;;) {
		uint32_t child = 2 * position + 1;

		if (child >= merge->n) {
			break;
		}
		if (child + 1 < merge->n && before(merge->heap[child + 1], merge->heap[child])) {
			child++;
		}
		if (!before(merge->heap[child], queue)) {
			break;
		}
		place(merge, position, merge->heap[child]);
		position = child;
	}
	place(merge, position, queue);
}

/* The earliest queue may feed alone what is before this time. */
static uint64_t limit_of_first(const struct merge *merge)
{
	uint64_t limit = UINT64_MAX;
	uint32_t i;

	for (i = 1; i < merge->n && i <= 2; i++) {
		if (merge->heap[i]->bound_ns < limit) {
			limit = merge->heap[i]->bound_ns;
		}
	}
	return limit;
}

static void heap_remove(struct merge *merge, uint32_t position)
{
	struct input_queue *last = merge->heap[--merge->n];

	if (position == merge->n) {
		return;
	}
	place(merge, position, last);
	sift_up(merge, position);
	sift_down(merge, last->position);
}

static bool reserve(struct input_queue ***queues, uint32_t n, uint32_t *max)
{
	struct input_queue **bigger;
	uint32_t wanted = *max ? *max * 2 : 16;

	if (n < *max) {
		return true;
	}
	bigger = realloc(*queues, wanted * sizeof(**queues));
	if (!bigger) {
		return false;
	}
	*queues = bigger;
	*max = wanted;
	return true;
}

static void heap_add(struct merge *merge, struct input_queue *queue)
{
	place(merge, merge->n++, queue);
	sift_up(merge, merge->n - 1);
}

/* --- clocks ---------------------------------------------------------------------------------- */

static struct clock_entry *find_clock(struct merge *merge, const uint8_t *uuid)
{
	uint32_t i;

	for (i = 0; i < merge->n_clocks; i++) {
		if (memcmp(merge->clocks[i].uuid, uuid, sizeof(merge->clocks[i].uuid)) == 0) {
			return &merge->clocks[i];
		}
	}
	return NULL;
}

static struct clock_entry *add_clock(struct merge *merge, const uint8_t *uuid, int64_t offset_ns)
{
	struct clock_entry *bigger;
	uint32_t wanted = merge->max_clocks ? merge->max_clocks * 2 : 8;

	if (merge->n_clocks >= MERGE_MAX_CLOCKS) {
		return NULL;
	}
	if (merge->n_clocks == merge->max_clocks) {
		bigger = realloc(merge->clocks, wanted * sizeof(*bigger));
		if (!bigger) {
			return NULL;
		}
		merge->clocks = bigger;
		merge->max_clocks = wanted;
	}
	bigger = &merge->clocks[merge->n_clocks++];
	memcpy(bigger->uuid, uuid, sizeof(bigger->uuid));
	bigger->offset_ns = offset_ns;
	bigger->sealed = false;
	return bigger;
}

/* How far a queue's times must move; offsets that no real clock has are left alone. */
static int64_t adjustment(const struct clock_entry *clock, const struct input_queue *queue)
{
	int64_t by;

	if (__builtin_sub_overflow(clock->offset_ns, queue->clock_offset_ns, &by) ||
			by > INT64_MAX / 4 || by < INT64_MIN / 4) {
		return 0;
	}
	return by;
}

static void adjust_all(struct merge *merge, const struct clock_entry *clock)
{
	uint32_t i;

	for (i = 0; i < merge->n; i++) {
		struct input_queue *queue = merge->heap[i];

		if (queue->has_clock && memcmp(queue->clock_uuid, clock->uuid, 16) == 0) {
			input_queue_adjust(queue, adjustment(clock, queue));
		}
	}
	for (i = merge->n / 2; i-- > 0;) {
		sift_down(merge, i);
	}
}

enum status merge_set_clock(struct merge *merge, const uint8_t *uuid, int64_t offset_ns)
{
	struct clock_entry *clock = find_clock(merge, uuid);

	if (!clock && merge->n_clocks >= MERGE_MAX_CLOCKS) {
		return STATUS_FULL;
	}
	clock = clock ? clock : add_clock(merge, uuid, offset_ns);
	if (!clock) {
		return STATUS_NO_MEMORY;
	}
	clock->offset_ns = offset_ns;
	clock->sealed = true;
	return STATUS_OK;
}

static void meet_clock(struct merge *merge, struct input_queue *queue)
{
	struct clock_entry *clock = find_clock(merge, queue->clock_uuid);

	queue->clock_changed = false;
	if (!clock) {
		add_clock(merge, queue->clock_uuid, queue->clock_offset_ns);
	} else if (!clock->sealed && queue->clock_offset_ns < clock->offset_ns) {
		clock->offset_ns = queue->clock_offset_ns;
		adjust_all(merge, clock);
	} else {
		input_queue_adjust(queue, adjustment(clock, queue));
	}
}

static void seal_clock(struct merge *merge, struct input_queue *queue)
{
	struct clock_entry *clock;

	if (!queue->sealed && queue->has_clock) {
		queue->sealed = true;
		clock = find_clock(merge, queue->clock_uuid);
		if (clock && !clock->sealed) {
			clock->sealed = true;
			if (merge->sink->see_clock) {
				merge->sink->see_clock(merge->sink->context, clock->uuid,
						clock->offset_ns);
			}
		}
	}
}

/* --- taking part ----------------------------------------------------------------------------- */

enum status merge_join(struct merge *merge, struct input_queue *queue, uint64_t mono_ns)
{
	if (merge->n + merge->n_aside >= MERGE_MAX_QUEUES) {
		return STATUS_FULL;
	}
	/* Room in both, so that going aside and coming back never fails. */
	if (!reserve(&merge->heap, merge->n + merge->n_aside, &merge->max) ||
			!reserve(&merge->aside, merge->n + merge->n_aside, &merge->max_aside)) {
		return STATUS_NO_MEMORY;
	}
	queue->joined = true;
	queue->stalled = false;
	queue->sealed = false;
	queue->silent_since_ns = mono_ns;
	if (queue->clock_changed) {
		meet_clock(merge,
				queue); /* it was read up to its first event before it takes part */
	}
	heap_add(merge, queue);
	return STATUS_OK;
}

static void tell_silent(const struct merge *merge, const struct input_queue *queue, bool is)
{
	for (uint32_t i = 0; merge->sink->silent && i < queue->n_rows; i++) {
		merge->sink->silent(merge->sink->context, queue->rows[i].session_id, is);
	}
}

void merge_leave(struct merge *merge, struct input_queue *queue)
{
	if (!queue->joined) {
		return;
	}
	if (queue->stalled) {
		tell_silent(merge, queue, false);
		merge->aside[queue->position] = merge->aside[--merge->n_aside];
		merge->aside[queue->position]->position = queue->position;
	} else {
		heap_remove(merge, queue->position);
	}
	queue->joined = false;
	queue->stalled = false;
}

static void set_aside(struct merge *merge, struct input_queue *queue)
{
	heap_remove(merge, queue->position);
	queue->stalled = true;
	queue->position = merge->n_aside;
	merge->aside[merge->n_aside++] = queue;
	tell_silent(merge, queue, true);
}

static void take_back(struct merge *merge, struct input_queue *queue, uint64_t mono_ns)
{
	merge_leave(merge, queue);
	queue->joined = true;
	queue->silent_since_ns = mono_ns;
	heap_add(merge, queue);
}

/* --- merging --------------------------------------------------------------------------------- */

struct step {
	struct merge *merge;
	uint32_t budget;
	uint64_t mono_ns;
	merge_left_fn left;
	void *context;
};

static void leave(struct step *step, struct input_queue *queue, enum input_queue_status why)
{
	merge_leave(step->merge, queue);
	step->left(step->context, queue, why);
}

/*
 * Reads a queue up to its next head, but feeds nothing. False: it has left.
 */
static bool look_ahead(struct step *step, struct input_queue *queue)
{
	uint64_t unused = 0, before_ns;
	enum input_queue_status status;
	uint32_t budget = LOOK_AHEAD_RECORDS;

	while (queue->head == INPUT_QUEUE_NONE && budget > 0) {
		before_ns = queue->bound_ns;
		status = input_queue_run(queue, 0, &unused, &budget);
		if (status == INPUT_QUEUE_ENDED || status == INPUT_QUEUE_BROKEN) {
			leave(step, queue, status);
			return false;
		}
		if (queue->clock_changed) {
			meet_clock(step->merge, queue);
			continue;
		}
		if (queue->head != INPUT_QUEUE_NONE || queue->bound_ns != before_ns) {
			queue->silent_since_ns = step->mono_ns;
		}
		if (status == INPUT_QUEUE_EMPTY) {
			break;
		}
	}
	return true;
}

/*
 * Recordings are begun in the order of their keys, so that hosts, sessions and types are numbered
 * alike however fast their readers start. Nothing is merged before each is there, so nobody waits
 * longer for that.
 */
static bool waits_its_turn(const struct merge *merge, const struct input_queue *queue)
{
	if (queue->live || queue->n_rows > 0) {
		return false;
	}
	for (uint32_t i = 0; i < merge->n; i++) {
		const struct input_queue *other = merge->heap[i];

		if (!other->live && other->n_rows == 0 && strcmp(other->key, queue->key) < 0) {
			return true;
		}
	}
	return false;
}

/* True: others may be read now that waited, or the heap was reordered. */
static bool look_ahead_in_turn(struct step *step, struct input_queue *queue)
{
	bool new = queue->n_rows == 0;

	queue->waits_turn = waits_its_turn(step->merge, queue);
	return !queue->waits_turn && (!look_ahead(step, queue) || (new && queue->n_rows > 0));
}

/* Every queue that has no head, and something to read. */
static void look_ahead_all(struct step *step)
{
	struct merge *merge = step->merge;
	uint32_t i = 0;

	while (i < merge->n) {
		struct input_queue *queue = merge->heap[i];

		i = queue->head == INPUT_QUEUE_NONE && look_ahead_in_turn(step, queue) ? 0 : i + 1;
	}
	for (i = merge->n / 2; i-- > 0;) {
		sift_down(merge, i);
	}
}

/*
 * Queues that fell silent when everything did (a daemon of theirs was stopped, a network was cut)
 * come back when everything does, but not in the same instant: they are waited for once more.
 */
static void wait_for_all(struct step *step)
{
	struct merge *merge = step->merge;
	uint32_t i = 0;

	while (i < merge->n_aside) {
		struct input_queue *queue = merge->aside[i];

		if (queue->timed && queue->silent_since_ns + 2 * queue->patience_ns >=
						    merge->moved_ns) {
			take_back(merge, queue, step->mono_ns);
		} else {
			i++;
		}
	}
}

/* What stalled queues bring now: late, until one is up to date again. */
static bool hear_stalled(struct step *step)
{
	struct merge *merge = step->merge;
	bool more = false, back = false;
	uint32_t i = 0;

	while (i < merge->n_aside) {
		struct input_queue *queue = merge->aside[i];
		uint64_t now_ns = merge->now_ns;
		enum input_queue_status status =
				input_queue_run(queue, merge->now_ns, &now_ns, &step->budget);

		if (status == INPUT_QUEUE_ENDED || status == INPUT_QUEUE_BROKEN) {
			leave(step, queue, status);
			continue;
		}
		if (queue->clock_changed) {
			meet_clock(merge, queue);
			continue;
		}
		if (queue->timed && queue->bound_ns >= merge->now_ns &&
				(queue->head != INPUT_QUEUE_NONE ||
						queue->bound_ns > merge->now_ns)) {
			take_back(merge, queue, step->mono_ns);
			back = true;
			continue;
		}
		more = more || status == INPUT_QUEUE_MORE;
		i++;
	}
	if (back) {
		wait_for_all(step);
	}
	return more;
}

static bool patience_is_over(const struct input_queue *queue, uint64_t mono_ns)
{
	return queue->live && mono_ns >= queue->silent_since_ns &&
	       mono_ns - queue->silent_since_ns >= queue->patience_ns;
}

/* Event time moves to what every queue is past. */
static void advance(struct merge *merge, uint64_t ts_ns, uint64_t mono_ns)
{
	if (ts_ns > merge->now_ns) {
		merge->now_ns = ts_ns;
		merge->moved_ns = mono_ns;
		merge->sink->advance(merge->sink->context, ts_ns);
	}
}

/* Feeds from the earliest queue, which has a head, as long as it is the earliest. */
static void run_first(struct step *step)
{
	struct merge *merge = step->merge;
	struct input_queue *queue = merge->heap[0];
	uint64_t limit_ns = limit_of_first(merge);
	enum input_queue_status status;

	seal_clock(merge, queue);
	merge->moved_ns = step->mono_ns;
	input_queue_emit(queue, &merge->now_ns);
	step->budget--;
	status = input_queue_run(queue, limit_ns, &merge->now_ns, &step->budget);
	if (status == INPUT_QUEUE_ENDED || status == INPUT_QUEUE_BROKEN) {
		leave(step, queue, status);
		return;
	}
	queue->silent_since_ns = step->mono_ns;
	if (queue->clock_changed) {
		meet_clock(merge, queue);
	}
	sift_down(merge, queue->position);
}

bool merge_step(struct merge *merge, uint32_t budget, uint64_t mono_ns, merge_left_fn left,
		void *context)
{
	struct step step = {
			.merge = merge,
			.budget = budget,
			.mono_ns = mono_ns,
			.left = left,
			.context = context,
	};
	bool more = hear_stalled(&step);

	look_ahead_all(&step);
	while (merge->n > 0 && step.budget > 0) {
		struct input_queue *first = merge->heap[0];

		if (first->head != INPUT_QUEUE_NONE) {
			run_first(&step);
			continue;
		}
		/* Nothing earlier can come from anywhere, but this one may still bring it. */
		if (first->timed) {
			advance(merge, first->bound_ns, mono_ns);
		}
		if (!patience_is_over(first, mono_ns)) {
			return more;
		}
		set_aside(merge, first);
	}
	return merge->n > 0 || more;
}

bool merge_wants(const struct input_queue *queue)
{
	return queue->joined && queue->head == INPUT_QUEUE_NONE && !queue->waits_turn;
}

uint64_t merge_deadline(const struct merge *merge)
{
	const struct input_queue *first = merge->n ? merge->heap[0] : NULL;

	if (!first || first->head != INPUT_QUEUE_NONE || !first->live) {
		return UINT64_MAX;
	}
	return first->silent_since_ns + first->patience_ns;
}
