/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/log.h"

#include <stdlib.h>
#include <string.h>

/*
 * Events lie one after the other in chunks; the end of a chunk holds the offsets of its records, so
 * that a number is found by its chunk and an index. Numbers are contiguous within a chunk.
 *
 * A pin sets the chunks of that moment aside (`pinned`): they stay as they are while the window
 * goes on in chunks of its own, and join it again, to expire, when the pin goes.
 */
#define MAX_CHUNK_BYTES (1u << 20)
#define MIN_BUCKETS     1024u
#define AHEAD_BYTES     256u /* of a record that is about to go: a few further ones */

struct record {
	uint64_t ts_ns;
	uint32_t type, stream, cpu, bytes;
	uint32_t holds;
	uint32_t unused; /* keeps the slots that follow aligned */
};

struct chunk {
	struct chunk *next, *previous;
	uint64_t first_number;
	uint32_t n, gone; /* records, and how many of them, from the first, have gone */
	uint32_t size, used;
	uint64_t bytes[]; /* records from the start, their offsets (u32) from the end */
};

struct chunks {
	struct chunk *head, *tail;
};

/* An event that outlived the window, in a list by number and in a hash table. */
struct kept {
	struct kept *next, *previous, *same_bucket;
	uint64_t number;
	struct record record; /* then its slots */
};

struct event_log {
	struct event_log_config config;
	uint64_t last_number;
	struct chunks window, pinned;
	struct chunk *spare;  /* of the usual size */
	uint64_t chunk_bytes; /* of both lists */
	uint64_t spare_bytes;
	bool is_pinned;
	uint64_t before_ns, pin_from_ns, trimmed_ns;
	uint64_t expired_ns; /* after the newest event that expired, of the pinned ones if pinned */

	struct kept *oldest, *newest, *hint; /* hint: where the last one was put */
	struct kept **buckets;
	uint32_t n_buckets, n_kept;
	uint64_t kept_bytes;

	struct kept *scratch; /* window off: the newest event, while it may still be held */
	uint64_t scratch_size;
};

struct event_log *log_create(const struct event_log_config *config)
{
	struct event_log *log = calloc(1, sizeof(*log));

	if (!log) {
		return NULL;
	}
	log->config = *config;
	log->n_buckets = MIN_BUCKETS;
	log->buckets = calloc(log->n_buckets, sizeof(*log->buckets));
	if (!log->buckets) {
		free(log);
		return NULL;
	}
	return log;
}

static void free_list(struct chunk *chunk)
{
	struct chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

void log_destroy(struct event_log *log)
{
	struct kept *next;

	if (!log) {
		return;
	}
	free_list(log->window.head);
	free_list(log->pinned.head);
	free_list(log->spare);
	for (struct kept *kept = log->oldest; kept; kept = next) {
		next = kept->next;
		free(kept);
	}
	free(log->scratch);
	free(log->buckets);
	free(log);
}

/* --- Records ------------------------------------------------------------------------------- */

static void record_write(struct record *record, const struct event *event)
{
	*record = (struct record){
			.ts_ns = event->ts_ns,
			.type = event->type,
			.stream = event->stream,
			.cpu = event->cpu,
			.bytes = event->bytes,
	};
	if (event->bytes) {
		memcpy(record + 1, event->slots, event->bytes);
	}
}

static void record_read(const struct record *record, struct event *out)
{
	*out = (struct event){
			.ts_ns = record->ts_ns,
			.type = record->type,
			.stream = record->stream,
			.cpu = record->cpu,
			.bytes = record->bytes,
			.slots = (const uint64_t *)(record + 1),
	};
}

static uint32_t *chunk_offset(const struct chunk *chunk, uint32_t i)
{
	return (uint32_t *)((char *)chunk->bytes + chunk->size) - 1 - i;
}

static struct record *chunk_record(const struct chunk *chunk, uint32_t i)
{
	return (struct record *)((char *)chunk->bytes + *chunk_offset(chunk, i));
}

static uint32_t record_size(uint32_t bytes)
{
	return (uint32_t)sizeof(struct record) + ((bytes + 7) & ~7u);
}

/* --- Held events that left the window -------------------------------------------------------- */

static struct kept **kept_bucket(const struct event_log *log, uint64_t number)
{
	return &log->buckets[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (log->n_buckets - 1)];
}

static struct kept *kept_find(const struct event_log *log, uint64_t number)
{
	struct kept *kept = *kept_bucket(log, number);

	while (kept && kept->number != number) {
		kept = kept->same_bucket;
	}
	return kept;
}

static uint64_t kept_size(const struct kept *kept)
{
	return sizeof(*kept) + kept->record.bytes;
}

static void kept_remove(struct event_log *log, struct kept *kept)
{
	struct kept **link = kept_bucket(log, kept->number);

	while (*link != kept) {
		link = &(*link)->same_bucket;
	}
	*link = kept->same_bucket;
	*(kept->previous ? &kept->previous->next : &log->oldest) = kept->next;
	*(kept->next ? &kept->next->previous : &log->newest) = kept->previous;
	if (log->hint == kept) {
		log->hint = kept->previous ? kept->previous : kept->next;
	}
	log->n_kept--;
	log->kept_bytes -= kept_size(kept);
	free(kept);
}

/* More buckets for more events; without memory the chains just get longer. */
static void kept_rehash(struct event_log *log)
{
	struct kept **buckets, **bucket;

	if (log->n_kept < log->n_buckets || log->n_buckets > UINT32_MAX / 4) {
		return;
	}
	buckets = calloc((size_t)log->n_buckets * 2, sizeof(*buckets));
	if (!buckets) {
		return;
	}
	free(log->buckets);
	log->buckets = buckets;
	log->n_buckets *= 2;
	for (struct kept *kept = log->oldest; kept; kept = kept->next) {
		bucket = kept_bucket(log, kept->number);
		kept->same_bucket = *bucket;
		*bucket = kept;
	}
}

/* By number. They come nearly in order: a pin's are older than what left the window meanwhile. */
static void kept_insert(struct event_log *log, struct kept *kept)
{
	struct kept *after = log->hint;
	struct kept **bucket;

	while (after && after->number > kept->number) {
		after = after->previous;
	}
	while (after && after->next && after->next->number < kept->number) {
		after = after->next;
	}
	kept->previous = after;
	kept->next = after ? after->next : log->oldest;
	*(after ? &after->next : &log->oldest) = kept;
	*(kept->next ? &kept->next->previous : &log->newest) = kept;
	log->hint = kept;
	log->n_kept++;
	log->kept_bytes += kept_size(kept);
	kept_rehash(log);
	if (!kept_find(log, kept->number)) {
		bucket = kept_bucket(log, kept->number);
		kept->same_bucket = *bucket;
		*bucket = kept;
	}
	while (log->kept_bytes > log->config.max_held_bytes && log->oldest) {
		kept_remove(log, log->oldest);
	}
}

static void keep_record(struct event_log *log, uint64_t number, const struct record *record)
{
	struct kept *kept = malloc(sizeof(*kept) + record->bytes);

	if (!kept) {
		return;
	}
	kept->number = number;
	memcpy(&kept->record, record, sizeof(*record) + record->bytes);
	kept_insert(log, kept);
}

/* --- The window ------------------------------------------------------------------------------- */

static uint64_t usual_size(const struct event_log *log)
{
	uint64_t size = log->config.max_bytes / 16 & ~UINT64_C(7);

	return size > MAX_CHUNK_BYTES ? MAX_CHUNK_BYTES : size;
}

static struct chunk *spare_take(struct event_log *log)
{
	struct chunk *chunk = log->spare;

	if (chunk) {
		log->spare = chunk->next;
		log->spare_bytes -= chunk->size;
	}
	return chunk;
}

/* Beside `bytes` of chunks no more is spare than as much again, and the bound holds for both. */
static void spare_limit(struct event_log *log, uint64_t bytes)
{
	while (log->spare && (log->spare_bytes > bytes + usual_size(log) ||
					     bytes + log->spare_bytes > log->config.max_bytes)) {
		free(spare_take(log));
	}
}

/* What a window takes comes and goes with the load: so that memory does not, it is kept ready. */
static void spare_add(struct event_log *log, struct chunk *chunk)
{
	if (chunk->size != usual_size(log)) {
		free(chunk);
		return;
	}
	chunk->next = log->spare;
	log->spare = chunk;
	log->spare_bytes += chunk->size;
	spare_limit(log, log->chunk_bytes);
}

static void chunks_pop(struct event_log *log, struct chunks *chunks)
{
	struct chunk *chunk = chunks->head;

	chunks->head = chunk->next;
	*(chunks->head ? &chunks->head->previous : &chunks->tail) = NULL;
	log->chunk_bytes -= chunk->size;
	spare_add(log, chunk);
}

/* Lets the oldest event of a list go. */
static void chunks_forget_one(struct event_log *log, struct chunks *chunks)
{
	struct chunk *chunk = chunks->head;
	struct record *record = chunk_record(chunk, chunk->gone);

	__builtin_prefetch((const char *)record + AHEAD_BYTES);
	if (record->holds) {
		keep_record(log, chunk->first_number + chunk->gone, record);
	}
	chunk->gone++;
	if (chunk->gone == chunk->n) {
		chunks_pop(log, chunks);
	}
}

static void expire(struct event_log *log, struct chunks *chunks, uint64_t before_ns)
{
	bool shown = !log->is_pinned || chunks == &log->pinned;
	uint64_t ts_ns;

	while (chunks->head) {
		ts_ns = chunk_record(chunks->head, chunks->head->gone)->ts_ns;
		if (ts_ns >= before_ns) {
			return;
		}
		if (shown && ts_ns >= log->expired_ns) {
			log->expired_ns = ts_ns + 1;
		}
		chunks_forget_one(log, chunks);
	}
}

/* The oldest chunk goes before its time; while pinned, of what came after the pin. */
static bool trim(struct event_log *log)
{
	struct chunks *chunks = log->window.head ? &log->window : &log->pinned;
	struct chunk *chunk = chunks->head;
	uint64_t last_ns;

	if (!chunk) {
		return false;
	}
	last_ns = chunk_record(chunk, chunk->n - 1)->ts_ns;
	log->trimmed_ns = last_ns + 1 > log->trimmed_ns ? last_ns + 1 : log->trimmed_ns;
	while (chunks->head == chunk) {
		chunks_forget_one(log, chunks);
	}
	return true;
}

static struct chunk *chunk_create(struct event_log *log, uint32_t record_bytes)
{
	uint64_t size = usual_size(log);
	struct chunk *chunk = NULL;

	if (size < record_bytes + sizeof(uint64_t)) {
		size = record_bytes + sizeof(uint64_t);
	}
	while (log->chunk_bytes + size > log->config.max_bytes) {
		if (!trim(log)) {
			return NULL;
		}
	}
	if (size == usual_size(log)) {
		chunk = spare_take(log);
	}
	spare_limit(log, log->chunk_bytes + size);
	chunk = chunk ? chunk : malloc(sizeof(*chunk) + size);
	if (!chunk) {
		return NULL;
	}
	*chunk = (struct chunk){.size = (uint32_t)size,
			.first_number = log->last_number,
			.previous = log->window.tail};
	log->chunk_bytes += size;
	*(log->window.tail ? &log->window.tail->next : &log->window.head) = chunk;
	log->window.tail = chunk;
	return chunk;
}

static void add_to_window(struct event_log *log, const struct event *event)
{
	struct chunk *chunk = log->window.tail;
	uint32_t size = record_size(event->bytes);

	if (!chunk || chunk->first_number + chunk->n != log->last_number ||
			chunk->size - chunk->used < size + (chunk->n + 1) * sizeof(uint32_t)) {
		chunk = chunk_create(log, size);
	}
	if (!chunk) {
		log->trimmed_ns = event->ts_ns + 1;
		return;
	}
	*chunk_offset(chunk, chunk->n) = chunk->used;
	record_write((struct record *)((char *)chunk->bytes + chunk->used), event);
	chunk->used += size;
	chunk->n++;
}

static void add_to_scratch(struct event_log *log, const struct event *event)
{
	uint64_t size = sizeof(*log->scratch) + event->bytes;

	if (!log->scratch || log->scratch_size < size) {
		free(log->scratch);
		log->scratch_size = size + 256;
		log->scratch = malloc(log->scratch_size);
		if (!log->scratch) {
			return;
		}
	}
	log->scratch->number = log->last_number;
	record_write(&log->scratch->record, event);
}

uint64_t log_add(struct event_log *log, const struct event *event)
{
	log->last_number++;
	if (log->config.window) {
		add_to_window(log, event);
	} else {
		add_to_scratch(log, event);
	}
	return log->last_number;
}

static struct record *chunks_find(const struct chunks *chunks, uint64_t number)
{
	const struct chunk *chunk = chunks->tail;

	/* From the tail: state mostly asks for recent ones. */
	while (chunk && number < chunk->first_number) {
		chunk = chunk->previous;
	}
	if (!chunk || number < chunk->first_number + chunk->gone ||
			number >= chunk->first_number + chunk->n) {
		return NULL;
	}
	return chunk_record(chunk, (uint32_t)(number - chunk->first_number));
}

/* The record of an event in memory, wherever it lies. */
static struct record *find(const struct event_log *log, uint64_t number)
{
	struct record *record = chunks_find(&log->window, number);
	struct kept *kept;

	record = record ? record : chunks_find(&log->pinned, number);
	if (record) {
		return record;
	}
	kept = kept_find(log, number);
	if (!kept && log->scratch && log->scratch->number == number) {
		kept = log->scratch;
	}
	return kept ? &kept->record : NULL;
}

void log_hold(struct event_log *log, uint64_t number)
{
	struct record *record = find(log, number);

	if (!record) {
		return;
	}
	if (log->scratch && record == &log->scratch->record) {
		record->holds = 1;
		keep_record(log, number, record);
		return;
	}
	record->holds++;
}

void log_release(struct event_log *log, uint64_t number)
{
	struct kept *kept = kept_find(log, number);
	struct record *record = kept ? &kept->record : find(log, number);

	if (!record || !record->holds) {
		return;
	}
	record->holds--;
	/* While pinned it stays: it was referred to at the pin's time. */
	if (kept && !record->holds && !log->is_pinned) {
		kept_remove(log, kept);
	}
}

void log_expire(struct event_log *log, uint64_t before_ns)
{
	log->before_ns = before_ns;
	expire(log, &log->window, before_ns);
	expire(log, &log->pinned, before_ns < log->pin_from_ns ? before_ns : log->pin_from_ns);
}

void log_pin(struct event_log *log, uint64_t from_ns)
{
	if (log->is_pinned) {
		return;
	}
	log->is_pinned = true;
	log->pin_from_ns = from_ns;
	log->pinned = log->window;
	log->window = (struct chunks){.head = NULL};
}

void log_unpin(struct event_log *log)
{
	struct kept *next;

	if (!log->is_pinned) {
		return;
	}
	log->is_pinned = false;
	if (log->pinned.tail) {
		log->pinned.tail->next = log->window.head;
		if (log->window.head) {
			log->window.head->previous = log->pinned.tail;
		}
		log->window.head = log->pinned.head;
		log->window.tail = log->window.tail ? log->window.tail : log->pinned.tail;
		log->pinned = (struct chunks){.head = NULL};
	}
	for (struct kept *kept = log->oldest; kept; kept = next) {
		next = kept->next;
		if (!kept->record.holds) {
			kept_remove(log, kept);
		}
	}
	expire(log, &log->window, log->before_ns);
}

/* --- Reading -----------------------------------------------------------------------------------
 */

bool log_get(const struct event_log *log, uint64_t number, struct event *out)
{
	const struct record *record = find(log, number);

	if (record) {
		record_read(record, out);
	}
	return record != NULL;
}

struct cursor {
	const struct chunk *chunk;
	uint32_t i;
};

static uint64_t cursor_number(const struct cursor *cursor)
{
	return cursor->chunk ? cursor->chunk->first_number + cursor->i : UINT64_MAX;
}

static const struct record *cursor_take(struct cursor *cursor)
{
	const struct record *record = chunk_record(cursor->chunk, cursor->i++);

	if (cursor->i == cursor->chunk->n) {
		cursor->chunk = cursor->chunk->next;
		cursor->i = cursor->chunk ? cursor->chunk->gone : 0;
	}
	return record;
}

static struct cursor cursor_of(const struct chunks *chunks)
{
	return (struct cursor){chunks->head, chunks->head ? chunks->head->gone : 0};
}

/* The next event by number of the held, the pinned and the window's. */
static const struct record *take_next(struct cursor *pinned, struct cursor *window,
		const struct kept **kept, uint64_t *number)
{
	uint64_t from_pinned = cursor_number(pinned), from_window = cursor_number(window);
	uint64_t from_kept = *kept ? (*kept)->number : UINT64_MAX;
	const struct record *record;

	if (from_kept < from_pinned && from_kept < from_window) {
		*number = from_kept;
		record = &(*kept)->record;
		*kept = (*kept)->next;
		return record;
	}
	*number = from_pinned < from_window ? from_pinned : from_window;
	if (*number == UINT64_MAX) {
		return NULL;
	}
	return cursor_take(from_pinned < from_window ? pinned : window);
}

void log_each(const struct event_log *log, uint64_t from_ns, uint64_t to_ns,
		bool (*take)(void *context, uint64_t number, const struct event *event, bool older),
		void *context)
{
	struct cursor pinned = cursor_of(&log->pinned), window = cursor_of(&log->window);
	const struct kept *kept = log->oldest;
	const struct record *record;
	struct event event;
	uint64_t number;
	bool is_held, older;

	for (;;) {
		is_held = kept && kept->number < cursor_number(&pinned) &&
			  kept->number < cursor_number(&window);
		record = take_next(&pinned, &window, &kept, &number);
		if (!record || record->ts_ns > to_ns) {
			return;
		}
		older = record->ts_ns < from_ns;
		if (older && !is_held && !record->holds) {
			continue;
		}
		record_read(record, &event);
		if (!take(context, number, &event, older)) {
			return;
		}
	}
}

uint64_t log_trimmed(const struct event_log *log)
{
	return log->trimmed_ns > log->before_ns ? log->trimmed_ns : 0;
}

uint64_t log_begin(const struct event_log *log)
{
	uint64_t trimmed_ns = log_trimmed(log);

	return trimmed_ns > log->expired_ns ? trimmed_ns : log->expired_ns;
}
