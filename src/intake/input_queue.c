/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/input_queue.h"

#include <stdlib.h>
#include <string.h>

#define ROW_NONE UINT32_MAX

void input_queue_init(struct input_queue *queue, const struct intake_sink *sink, const char *key)
{
	memset(queue, 0, sizeof(*queue));
	queue->sink = sink;
	queue->key = key;
	queue->host_asked = "";
	queue->session_asked = "";
}

static void forget_ring(struct input_queue *queue)
{
	uint32_t i;

	for (i = 0; i < queue->n_types; i++) {
		free(queue->types[i].texts);
	}
	queue->n_types = 0;
	queue->n_map = 0;
	queue->head = INPUT_QUEUE_NONE;
	queue->timed = false;
	queue->fault = NULL;
}

void input_queue_release(struct input_queue *queue)
{
	uint32_t i;

	forget_ring(queue);
	for (i = 0; i < queue->n_rows; i++) {
		free(queue->rows[i].host);
		free(queue->rows[i].session);
		free(queue->rows[i].channel);
		free(queue->rows[i].release);
	}
	free(queue->rows);
	free(queue->types);
	free(queue->map);
	memset(queue, 0, sizeof(*queue));
}

void input_queue_open(struct input_queue *queue, struct ring *ring)
{
	forget_ring(queue);
	queue->ring = ring;
	queue->n_streams = 0;
	queue->bound_ns = 0;
	queue->adjust_ns = 0;
	queue->has_clock = false;
	queue->clock_changed = false;
}

void input_queue_close(struct input_queue *queue)
{
	forget_ring(queue);
	queue->ring = NULL;
}

/* A time of the ring on the common clock; a hostile one must not wrap around. */
static inline uint64_t adjusted(const struct input_queue *queue, uint64_t ts_ns)
{
	int64_t by = queue->adjust_ns;

	if (by >= 0) {
		return ts_ns > UINT64_MAX - (uint64_t)by ? UINT64_MAX : ts_ns + (uint64_t)by;
	}
	return ts_ns < (uint64_t)-by ? 0 : ts_ns - (uint64_t)-by;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Doubles an array so that one more fits; false where the bound or the memory ends. */
static bool grow(void *array, uint32_t n, uint32_t *max, uint32_t bound, size_t size)
{
	void **memory = array;
	uint32_t wanted;
	void *bigger;

	if (n < *max) {
		return true;
	}
	if (n >= bound) {
		return false;
	}
	wanted = *max ? *max * 2 : 16;
	bigger = realloc(*memory, wanted * size);
	if (!bigger) {
		return false;
	}
	*memory = bigger;
	*max = wanted;
	return true;
}

static bool read_fields(
		const struct record_type *in, struct field *fields, struct field_label *labels)
{
	const struct record_field *from = (const void *)(in + 1);
	const struct record_label *names = (const void *)(from + in->n_fields);
	uint32_t i;

	for (i = 0; i < in->n_labels; i++) {
		labels[i].name = record_text(&in->record, names[i].name);
		labels[i].lower = names[i].lower;
		labels[i].upper = names[i].upper;
		if (!labels[i].name) {
			return false;
		}
	}
	for (i = 0; i < in->n_fields; i++) {
		uint32_t first = from[i].first_label, n = from[i].n_labels;

		fields[i] = (struct field){
				.name = record_text(&in->record, from[i].name),
				.kind = from[i].kind,
				.scope = from[i].scope,
				.base = from[i].base,
				.n_labels = n,
				.labels = n ? labels + first : NULL,
				.width = from[i].width,
		};
		if (!fields[i].name || fields[i].kind < FIELD_UINT || fields[i].kind > FIELD_TREE ||
				fields[i].scope > SCOPE_CONTEXT || first > in->n_labels ||
				n > in->n_labels - first) {
			return false;
		}
	}
	return true;
}

/* Remembers which slots of the type are bytes. */
static bool note_texts(struct input_queue_type *type, const struct field *fields)
{
	uint32_t i;

	type->texts = malloc((type->n_fields ? type->n_fields : 1) * sizeof(*type->texts));
	if (!type->texts) {
		return false;
	}
	for (i = 0; i < type->n_fields; i++) {
		if (fields[i].kind == FIELD_STRING || fields[i].kind == FIELD_TREE) {
			type->texts[type->n_texts++] = (uint16_t)i;
		}
	}
	return true;
}

static bool register_type(struct input_queue *queue, const struct record_type *in,
		struct field *fields, struct field_label *labels)
{
	struct input_queue_type *type = &queue->types[queue->n_types];
	struct event_type desc = {
			.name = record_text(&in->record, in->name),
			.n_fields = in->n_fields,
			.fields = fields,
	};

	memset(type, 0, sizeof(*type));
	type->n_fields = in->n_fields;
	if (!desc.name || !read_fields(in, fields, labels) || !note_texts(type, fields)) {
		return false;
	}
	type->id = queue->sink->add_type(queue->sink->context, &desc);
	queue->n_types++;
	return true;
}

static bool take_type(struct input_queue *queue, const struct record *record)
{
	const struct record_type *in = (const void *)record;
	struct field *fields;
	struct field_label *labels;
	bool ok = false;

	if (record->size < sizeof(*in) || in->type != queue->n_types ||
			in->n_fields > EVENT_MAX_FIELDS ||
			in->n_labels > record->size / sizeof(struct record_label) ||
			sizeof(*in) + in->n_fields * sizeof(struct record_field) +
							in->n_labels * sizeof(struct record_label) >
					record->size ||
			!grow(&queue->types, queue->n_types, &queue->max_types,
					INPUT_QUEUE_MAX_TYPES, sizeof(*queue->types))) {
		return false;
	}
	fields = calloc(in->n_fields + 1u, sizeof(*fields));
	labels = calloc(in->n_labels + 1u, sizeof(*labels));
	if (fields && labels) {
		ok = register_type(queue, in, fields, labels);
	}
	free(fields);
	free(labels);
	return ok;
}

struct row_texts {
	const char *host, *session, *channel, *release;
};

static bool same_stream(const struct input_queue_row *row, const struct record_stream *in,
		const struct row_texts *texts)
{
	return row->domain == in->domain && strcmp(row->host, texts->host) == 0 &&
	       strcmp(row->session, texts->session) == 0 &&
	       strcmp(row->channel, texts->channel) == 0 &&
	       strcmp(row->release, texts->release) == 0;
}

/* Streams that differ in nothing but their CPU are one stream to the analysis. */
static void identify(struct input_queue *queue, struct input_queue_row *row,
		const struct input_queue_row *twin)
{
	struct session_desc session = {
			.host = row->host,
			.name = row->session,
			.live = queue->live,
			.ours = row->ours,
	};
	struct stream_desc stream = {
			.domain = (enum event_domain)row->domain,
			.channel = row->channel,
			.kernel_release = row->release,
	};

	if (twin) {
		row->session_id = twin->session_id;
		row->stream_id = twin->stream_id;
		return;
	}
	row->session_id = queue->sink->add_session(queue->sink->context, &session);
	stream.session = row->session_id;
	row->stream_id = queue->sink->add_stream(queue->sink->context, &stream);
}

static bool add_row(struct input_queue *queue, const struct record_stream *in,
		const struct row_texts *texts, const struct input_queue_row *twin)
{
	struct input_queue_row *row = &queue->rows[queue->n_rows];

	memset(row, 0, sizeof(*row));
	row->domain = in->domain;
	row->cpu = in->cpu;
	row->host = strdup(texts->host);
	row->session = strdup(texts->session);
	row->channel = strdup(texts->channel);
	row->release = strdup(texts->release);
	row->ours = strncmp(texts->session, "pythiatop-", 10) == 0;
	queue->n_rows++; /* so that input_queue_release() frees what there is */
	if (!row->host || !row->session || !row->channel || !row->release) {
		return false;
	}
	identify(queue, row, twin);
	return true;
}

/* The row of a stream, a new one if need be; ROW_NONE if there is no room. */
static uint32_t find_row(struct input_queue *queue, const struct record_stream *in,
		const struct row_texts *texts)
{
	uint32_t i, twin = ROW_NONE;

	for (i = 0; i < queue->n_rows; i++) {
		if (same_stream(&queue->rows[i], in, texts)) {
			if (queue->rows[i].cpu == in->cpu) {
				return i;
			}
			twin = i;
		}
	}
	if (!grow(&queue->rows, queue->n_rows, &queue->max_rows, INPUT_QUEUE_MAX_ROWS,
			    sizeof(*queue->rows)) ||
			!add_row(queue, in, texts, twin == ROW_NONE ? NULL : &queue->rows[twin])) {
		return ROW_NONE;
	}
	return queue->n_rows - 1;
}

static void note_clock(struct input_queue *queue, const struct record_stream *in)
{
	static const uint8_t none[16];

	if (queue->has_clock || memcmp(in->clock_uuid, none, sizeof(none)) == 0) {
		return;
	}
	queue->has_clock = true;
	queue->clock_changed = true;
	memcpy(queue->clock_uuid, in->clock_uuid, sizeof(queue->clock_uuid));
	queue->clock_offset_ns = in->clock_offset_ns;
}

/* Streams are announced in any order: those not told of so far have no row. */
static bool map_reaches(struct input_queue *queue, uint32_t stream)
{
	while (queue->n_map <= stream) {
		if (stream >= INPUT_QUEUE_MAX_STREAMS ||
				!grow(&queue->map, queue->n_map, &queue->max_map,
						INPUT_QUEUE_MAX_STREAMS, sizeof(*queue->map))) {
			return false;
		}
		queue->map[queue->n_map++] = ROW_NONE;
	}
	return true;
}

/*
 * A live session is the one that was asked for, whatever its reader says: it could pass for another
 * host's, or for ours. A recording is what it says, where it says it.
 */
static const char *name_of(const struct input_queue *queue, const char *asked, const char *told)
{
	return (queue->live && asked[0]) || !told[0] ? asked : told;
}

static bool take_stream(struct input_queue *queue, const struct record *record)
{
	const struct record_stream *in = (const void *)record;
	struct row_texts texts;
	uint32_t row;

	if (record->size < sizeof(*in) || in->domain > DOMAIN_UST ||
			!map_reaches(queue, in->stream) || queue->map[in->stream] != ROW_NONE) {
		return false;
	}
	texts.host = record_text(record, in->host);
	texts.session = record_text(record, in->session);
	texts.channel = record_text(record, in->channel);
	texts.release = record_text(record, in->kernel_release);
	if (!texts.host || !texts.session || !texts.channel || !texts.release) {
		return false;
	}
	texts.host = name_of(queue, queue->host_asked, texts.host);
	texts.session = name_of(queue, queue->session_asked, texts.session);
	if (queue->host_name) {
		texts.host = queue->host_name(queue->context, texts.host, in->clock_uuid);
	}
	row = find_row(queue, in, &texts);
	if (row == ROW_NONE) {
		return false;
	}
	queue->map[in->stream] = row;
	queue->n_streams++;
	note_clock(queue, in);
	return true;
}

/* --- heads ----------------------------------------------------------------------------------- */

/* The bytes of every text must lie inside the event and end in 0, or be told absent. */
static bool texts_end(const struct input_queue_type *type, const struct event *event)
{
	uint32_t i, length;
	const char *bytes;

	for (i = 0; i < type->n_texts; i++) {
		bytes = event_bytes(event, type->texts[i], &length);
		if (bytes ? bytes[length] != '\0' : event->slots[type->texts[i]] != EVENT_ABSENT) {
			return false;
		}
	}
	return true;
}

/* Makes the event at the front of the ring the head. */
static inline bool take_event(struct input_queue *queue, const struct record *record)
{
	const struct record_event *in = (const void *)record;
	struct event *event = &queue->event;
	const struct input_queue_type *type;
	uint32_t number, stream;

	if (record->size < sizeof(*in)) {
		return false;
	}
	number = in->type;
	stream = in->stream;
	event->bytes = in->bytes;
	if (event->bytes > record->size - sizeof(*in) || event->bytes > EVENT_MAX_BYTES ||
			number >= queue->n_types || stream >= queue->n_map ||
			queue->map[stream] == ROW_NONE) {
		return false;
	}
	type = &queue->types[number];
	if (event->bytes < type->n_fields * 8) {
		return false;
	}
	queue->row = queue->map[stream];
	event->ts_ns = adjusted(queue, in->ts_ns);
	event->type = type->id;
	event->stream = queue->rows[queue->row].stream_id;
	event->cpu = in->cpu;
	event->slots = in->slots;
	if (event->ts_ns > INPUT_QUEUE_MAX_TS_NS || (type->n_texts && !texts_end(type, event))) {
		return false;
	}
	queue->head = INPUT_QUEUE_EVENT;
	return true;
}

static bool take_loss(struct input_queue *queue, const struct record *record)
{
	const struct record_loss *in = (const void *)record;

	if (record->size < sizeof(*in) || in->stream >= queue->n_map ||
			queue->map[in->stream] == ROW_NONE) {
		return false;
	}
	queue->row = queue->map[in->stream];
	queue->loss = (struct loss){
			.stream = queue->rows[queue->row].stream_id,
			.cpu = queue->rows[queue->row].cpu,
			.begin_ns = adjusted(queue, in->begin_ns),
			.end_ns = adjusted(queue, in->end_ns),
			.count = in->count,
			.packets = in->packets != 0,
	};
	if (queue->loss.begin_ns > INPUT_QUEUE_MAX_TS_NS) {
		return false;
	}
	if (queue->loss.end_ns < queue->loss.begin_ns) {
		queue->loss.end_ns = queue->loss.begin_ns;
	}
	queue->head = INPUT_QUEUE_LOSS;
	return true;
}

static bool take_watermark(struct input_queue *queue, const struct record *record)
{
	const struct record_watermark *in = (const void *)record;
	uint64_t ts_ns;

	if (record->size < sizeof(*in)) {
		return false;
	}
	ts_ns = adjusted(queue, in->ts_ns);
	if (ts_ns > INPUT_QUEUE_MAX_TS_NS) {
		return false;
	}
	if (ts_ns > queue->bound_ns) {
		queue->bound_ns = ts_ns;
	}
	queue->timed = true;
	return true;
}

static bool take_misdated(struct input_queue *queue, const struct record *record)
{
	const struct record_misdated *in = (const void *)record;
	struct input_queue_row *row;

	if (record->size < sizeof(*in) || in->stream >= queue->n_map ||
			queue->map[in->stream] == ROW_NONE) {
		return false;
	}
	row = &queue->rows[queue->map[in->stream]];
	row->events++;
	queue->events++;
	queue->misdated++;
	queue->misdated_ns = in->ts_ns;
	if (queue->sink->misdated) {
		queue->sink->misdated(queue->sink->context, row->session_id, in->ts_ns);
	}
	return true;
}

/* Sizes of the records that are handed on as they are. */
static bool take_note(struct input_queue *queue, const struct record *record)
{
	size_t least;

	switch (record->kind) {
	case RECORD_STATE:
		least = sizeof(struct record_state) + 1;
		break;
	case RECORD_PROGRESS:
		least = sizeof(struct record_progress);
		break;
	case RECORD_LISTED:
		least = sizeof(struct record_listed);
		break;
	case RECORD_LIST_END:
		least = sizeof(struct record);
		break;
	default:
		return false;
	}
	if (record->size < least) {
		return false;
	}
	if (queue->note) {
		queue->note(queue->context, record);
	}
	return true;
}

static enum input_queue_status broken(struct input_queue *queue, const char *fault)
{
	queue->fault = fault;
	return INPUT_QUEUE_BROKEN;
}

/*
 * Takes a record that is no event. INPUT_QUEUE_MORE: it is done with, or has become the head.
 */
static enum input_queue_status take_other(struct input_queue *queue, const struct record *record)
{
	bool ok;

	switch (record->kind) {
	case RECORD_TYPE:
		ok = take_type(queue, record);
		break;
	case RECORD_STREAM:
		ok = take_stream(queue, record);
		break;
	case RECORD_LOSS:
		/* It stays at the front of the ring until it is emitted. */
		return take_loss(queue, record) ? INPUT_QUEUE_MORE : broken(queue, "a loss");
	case RECORD_WATERMARK:
		ok = take_watermark(queue, record);
		break;
	case RECORD_MISDATED:
		ok = take_misdated(queue, record);
		break;
	case RECORD_END:
		ring_next(queue->ring);
		return INPUT_QUEUE_ENDED;
	default:
		ok = take_note(queue, record);
		break;
	}
	if (!ok) {
		return broken(queue, record->kind == RECORD_TYPE     ? "an event type"
				     : record->kind == RECORD_STREAM ? "a stream"
								     : "a record");
	}
	ring_next(queue->ring);
	return INPUT_QUEUE_MORE;
}

static inline uint64_t head_time(const struct input_queue *queue)
{
	return queue->head == INPUT_QUEUE_EVENT ? queue->event.ts_ns : queue->loss.begin_ns;
}

static void emit_late(struct input_queue *queue)
{
	struct input_queue_row *row = &queue->rows[queue->row];

	row->late++;
	row->events++;
	queue->late++;
	queue->events++;
	queue->sink->late(queue->sink->context, row->session_id, 1);
}

static void emit_loss(struct input_queue *queue)
{
	struct input_queue_row *row = &queue->rows[queue->row];

	/* Ours is cleared a few times before anything is enabled in it: those packets were empty.
	 */
	if (row->ours && queue->loss.packets && row->events == 0) {
		return;
	}
	if (queue->loss.packets) {
		row->discarded_packets += queue->loss.count;
		queue->discarded_packets += queue->loss.count;
	} else {
		row->discarded += queue->loss.count;
		queue->discarded += queue->loss.count;
	}
	queue->sink->lose(queue->sink->context, &queue->loss);
}

static inline void emit(struct input_queue *queue, uint64_t *now_ns)
{
	if (queue->head == INPUT_QUEUE_LOSS) {
		/* A loss is told whenever it comes: it speaks of a past interval anyway. */
		emit_loss(queue);
	} else if (queue->event.ts_ns < *now_ns) {
		emit_late(queue);
	} else {
		*now_ns = queue->event.ts_ns;
		queue->last_ts_ns = queue->event.ts_ns;
		queue->rows[queue->row].events++;
		queue->events++;
		queue->sink->feed(queue->sink->context, &queue->event);
	}
	queue->head = INPUT_QUEUE_NONE;
	ring_next(queue->ring);
}

void input_queue_emit(struct input_queue *queue, uint64_t *now_ns)
{
	emit(queue, now_ns);
}

enum input_queue_status input_queue_run(
		struct input_queue *queue, uint64_t limit_ns, uint64_t *now_ns, uint32_t *budget)
{
	const struct record *record;
	enum input_queue_status status;
	bool wrong = false;

	while (*budget > 0) {
		if (queue->head == INPUT_QUEUE_NONE) {
			record = ring_peek(queue->ring, &wrong);
			if (!record) {
				return wrong ? broken(queue, "its order") : INPUT_QUEUE_EMPTY;
			}
			if (record->kind == RECORD_EVENT) {
				if (!take_event(queue, record)) {
					return broken(queue, "an event");
				}
			} else {
				status = take_other(queue, record);
				if (status != INPUT_QUEUE_MORE) {
					return status;
				}
				(*budget)--;
				if (queue->head == INPUT_QUEUE_NONE) {
					if (queue->clock_changed || queue->bound_ns >= limit_ns) {
						return INPUT_QUEUE_MORE;
					}
					continue;
				}
			}
			queue->timed = true;
			if (head_time(queue) > queue->bound_ns) {
				queue->bound_ns = head_time(queue);
			}
		}
		if (queue->bound_ns >= limit_ns) {
			return INPUT_QUEUE_MORE;
		}
		emit(queue, now_ns);
		(*budget)--;
	}
	return INPUT_QUEUE_MORE;
}

void input_queue_adjust(struct input_queue *queue, int64_t adjust_ns)
{
	int64_t by = adjust_ns - queue->adjust_ns;

	/* The head is read again with the new adjustment; bound_ns moves along. */
	queue->head = INPUT_QUEUE_NONE;
	queue->adjust_ns = adjust_ns;
	if (by < 0 && queue->bound_ns < (uint64_t)-by) {
		queue->bound_ns = 0;
	} else {
		queue->bound_ns += (uint64_t)by;
	}
}
