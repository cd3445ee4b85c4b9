/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "outlet.h"

#include <stdlib.h>
#include <string.h>

#define STAGED_MAX       8192u
#define STAGED_BYTES_MAX (1u << 20)
/*
 * Shown in steps of this: a wake-up is a system call, so not one for each handful of events. Small
 * enough that reader and writer work side by side.
 */
#define SHOW_BYTES (64u << 10)

struct staged {
	uint64_t ts_ns, rank;
	uint64_t start; /* position in the ring */
};

struct outlet {
	struct ring *ring;
	uint64_t slack_ns;
	uint64_t final;                /* nothing before this position can change any more */
	uint64_t shown;                /* published up to here */
	uint64_t newest;               /* latest time that was committed */
	uint64_t floor_ns, floor_rank; /* of the latest record that was let go */
	uint64_t clamped;

	uint64_t open; /* where the record being written starts */
	unsigned char *open_at;

	/* Held back, in order: entries [first, end). */
	uint32_t first, end;
	struct staged staged[STAGED_MAX];

	unsigned char *spare; /* for moving a record */
	size_t spare_bytes;
};

struct outlet *outlet_create(struct ring *ring)
{
	struct outlet *outlet = calloc(1, sizeof(*outlet));

	if (outlet) {
		outlet->ring = ring;
		outlet->final = outlet->shown = ring_position(ring);
	}
	return outlet;
}

void outlet_destroy(struct outlet *outlet)
{
	if (outlet) {
		free(outlet->spare);
		free(outlet);
	}
}

void outlet_set_slack(struct outlet *outlet, uint64_t slack_ns)
{
	if (slack_ns > outlet->slack_ns) {
		outlet->slack_ns = slack_ns;
	}
}

uint64_t outlet_clamped(const struct outlet *outlet)
{
	return outlet->clamped;
}

size_t outlet_limit(const struct outlet *outlet)
{
	size_t quarter = ring_bytes(outlet->ring) / 4;

	return quarter < RING_MAX_RECORD ? quarter : RING_MAX_RECORD;
}

static void show(struct outlet *outlet)
{
	if (outlet->shown != outlet->final) {
		outlet->shown = outlet->final;
		ring_publish(outlet->ring, outlet->final);
	}
}

/* Forgets staged entries before `index`: they are in their final places. */
static void let_go(struct outlet *outlet, uint32_t index, uint64_t position)
{
	if (index > outlet->first) {
		outlet->floor_ns = outlet->staged[index - 1].ts_ns;
		outlet->floor_rank = outlet->staged[index - 1].rank;
	}
	outlet->first = index;
	outlet->final = index < outlet->end ? outlet->staged[index].start : position;
	if (outlet->first == outlet->end) {
		outlet->first = outlet->end = 0;
	}
}

static void make_room(struct outlet *outlet, uint64_t position)
{
	uint32_t n = outlet->end - outlet->first;

	if (n == STAGED_MAX || (n > 1 && position - outlet->final > STAGED_BYTES_MAX)) {
		let_go(outlet, outlet->first + n / 2, position);
		show(outlet);
	}
	if (outlet->end == STAGED_MAX) {
		n = outlet->end - outlet->first;
		memmove(outlet->staged, outlet->staged + outlet->first, n * sizeof(struct staged));
		outlet->first = 0;
		outlet->end = n;
	}
}

void *outlet_begin(struct outlet *outlet, size_t size, uint32_t kind)
{
	struct record *record;

	if (outlet->final - outlet->shown >= SHOW_BYTES) {
		show(outlet);
	}
	outlet->open = ring_position(outlet->ring);
	record = ring_reserve(outlet->ring, size);
	outlet->open_at = (unsigned char *)record;
	if (record) {
		record->kind = kind;
	}
	return record;
}

void *outlet_extend(struct outlet *outlet, size_t size, uint32_t *at)
{
	uint64_t start = ring_position(outlet->ring);
	unsigned char *bytes;

	if (!ring_reserve(outlet->ring, size)) {
		return NULL;
	}
	*at = (uint32_t)(start - outlet->open);
	/* The data is mapped twice in a row: what follows in the ring follows in memory. */
	bytes = outlet->open_at + *at;
	memset(bytes + ((size - 1) & ~(size_t)7), 0, 8);
	return bytes;
}

static bool keep_spare(struct outlet *outlet, size_t size)
{
	if (size > outlet->spare_bytes) {
		unsigned char *spare = realloc(outlet->spare, size);

		if (!spare) {
			return false;
		}
		outlet->spare = spare;
		outlet->spare_bytes = size;
	}
	return true;
}

/* Moves the open record, the last one, before the entry `index`. */
static bool move_open(struct outlet *outlet, uint32_t index, uint64_t size)
{
	uint64_t place = outlet->staged[index].start;
	unsigned char *to = ring_at(outlet->ring, place);

	if (!keep_spare(outlet, size)) {
		return false;
	}
	memcpy(outlet->spare, outlet->open_at, size);
	memmove(to + size, to, outlet->open - place);
	memcpy(to, outlet->spare, size);
	for (uint32_t i = index; i < outlet->end; i++) {
		outlet->staged[i].start += size;
	}
	outlet->open = place;
	return true;
}

static void set_time(void *record, uint64_t ts_ns)
{
	struct record *head = record;

	switch (head->kind) {
	case RECORD_EVENT:
		((struct record_event *)record)->ts_ns = ts_ns;
		break;
	case RECORD_WATERMARK:
		((struct record_watermark *)record)->ts_ns = ts_ns;
		break;
	default:
		((struct record_loss *)record)->begin_ns = ts_ns;
		break;
	}
}

static bool commit_sorted(struct outlet *outlet, uint64_t ts_ns, uint64_t rank, uint64_t size)
{
	uint64_t position = outlet->open + size;
	uint32_t index;

	if (ts_ns < outlet->floor_ns || (ts_ns == outlet->floor_ns && rank < outlet->floor_rank)) {
		/* Too late for its place: the first instant that is still open. */
		ts_ns = outlet->floor_ns + 1;
		set_time(outlet->open_at, ts_ns);
		outlet->clamped++;
	}
	make_room(outlet, outlet->open);
	for (index = outlet->end; index > outlet->first; index--) {
		const struct staged *before = &outlet->staged[index - 1];

		if (before->ts_ns < ts_ns || (before->ts_ns == ts_ns && before->rank <= rank)) {
			break;
		}
	}
	if (index < outlet->end) {
		if (!move_open(outlet, index, size)) {
			return false;
		}
		memmove(outlet->staged + index + 1, outlet->staged + index,
				(outlet->end - index) * sizeof(struct staged));
	}
	outlet->staged[index] =
			(struct staged){.ts_ns = ts_ns, .rank = rank, .start = outlet->open};
	outlet->end++;
	if (ts_ns > outlet->newest) {
		outlet->newest = ts_ns;
	}
	for (index = outlet->first; index < outlet->end; index++) {
		if (outlet->staged[index].ts_ns + outlet->slack_ns >= outlet->newest) {
			break;
		}
	}
	let_go(outlet, index, position);
	return true;
}

bool outlet_commit_at(struct outlet *outlet, uint64_t ts_ns, uint64_t rank)
{
	uint64_t size = ring_position(outlet->ring) - outlet->open;

	((struct record *)outlet->open_at)->size = (uint32_t)size;
	if (ts_ns <= outlet->newest || outlet->slack_ns != 0) {
		return commit_sorted(outlet, ts_ns, rank, size);
	}
	/* Later than all before it, as nearly always: only this one may still see an equal. */
	let_go(outlet, outlet->end, outlet->open);
	outlet->staged[0] = (struct staged){.ts_ns = ts_ns, .rank = rank, .start = outlet->open};
	outlet->end = 1;
	outlet->newest = ts_ns;
	return true;
}

bool outlet_commit(struct outlet *outlet)
{
	uint64_t size = ring_position(outlet->ring) - outlet->open;

	((struct record *)outlet->open_at)->size = (uint32_t)size;
	if (outlet->first != outlet->end && !move_open(outlet, outlet->first, size)) {
		return false;
	}
	outlet->final = outlet->open + size;
	return true;
}

void outlet_flush(struct outlet *outlet, uint64_t ts_ns)
{
	uint32_t index = outlet->first;

	while (index < outlet->end && outlet->staged[index].ts_ns <= ts_ns) {
		index++;
	}
	let_go(outlet, index, ring_position(outlet->ring));
	show(outlet);
}

void outlet_flush_all(struct outlet *outlet)
{
	outlet_flush(outlet, UINT64_MAX);
}

uint64_t outlet_sleep(struct outlet *outlet, uint64_t least_ns)
{
	return ring_sleep(outlet->ring, least_ns);
}

bool outlet_is_crowded(const struct outlet *outlet)
{
	return ring_room(outlet->ring) < ring_bytes(outlet->ring) / 2;
}

bool outlet_state(struct outlet *outlet, enum source_state state, const char *text)
{
	size_t length = strnlen(text, STATE_TEXT_MAX);
	struct record_state *record =
			outlet_begin(outlet, sizeof(*record) + length + 1, RECORD_STATE);

	if (!record) {
		return false;
	}
	record->state = state;
	record->reserved = 0;
	memcpy(record->text, text, length);
	record->text[length] = '\0';
	if (!outlet_commit(outlet)) {
		return false;
	}
	show(outlet);
	return true;
}

bool outlet_progress(struct outlet *outlet, uint64_t done, uint64_t total)
{
	struct record_progress *record = outlet_begin(outlet, sizeof(*record), RECORD_PROGRESS);

	if (!record) {
		return false;
	}
	record->done = done;
	record->total = total;
	return outlet_commit(outlet);
}

bool outlet_watermark(struct outlet *outlet, uint64_t ts_ns)
{
	struct record_watermark *record;

	/* Nothing new is said by going back, or by repeating. */
	if (ts_ns <= outlet->floor_ns) {
		return true;
	}
	record = outlet_begin(outlet, sizeof(*record), RECORD_WATERMARK);
	if (!record) {
		return false;
	}
	record->ts_ns = ts_ns;
	return outlet_commit_at(outlet, ts_ns, 0);
}

bool outlet_end(struct outlet *outlet)
{
	outlet_flush_all(outlet);
	if (!outlet_begin(outlet, sizeof(struct record), RECORD_END) || !outlet_commit(outlet)) {
		return false;
	}
	show(outlet);
	ring_wake(outlet->ring); /* also one that sleeps */
	return true;
}
