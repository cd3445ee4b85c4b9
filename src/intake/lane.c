/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/lane.h"

#include <stdlib.h>
#include <string.h>

#define ROW_NONE UINT32_MAX

void lane_init(struct lane *lane, const struct intake_sink *sink, const char *key)
{
	memset(lane, 0, sizeof(*lane));
	lane->sink = sink;
	lane->key = key;
	lane->host_asked = "";
	lane->session_asked = "";
}

static void forget_ring(struct lane *lane)
{
	uint32_t i;

	for (i = 0; i < lane->n_types; i++) {
		free(lane->types[i].texts);
	}
	lane->n_types = 0;
	lane->n_map = 0;
	lane->head = LANE_NONE;
	lane->timed = false;
	lane->fault = NULL;
}

void lane_release(struct lane *lane)
{
	uint32_t i;

	forget_ring(lane);
	for (i = 0; i < lane->n_rows; i++) {
		free(lane->rows[i].host);
		free(lane->rows[i].session);
		free(lane->rows[i].channel);
		free(lane->rows[i].release);
	}
	free(lane->rows);
	free(lane->types);
	free(lane->map);
	memset(lane, 0, sizeof(*lane));
}

void lane_open(struct lane *lane, struct ring *ring)
{
	forget_ring(lane);
	lane->ring = ring;
	lane->n_streams = 0;
	lane->bound_ns = 0;
	lane->adjust_ns = 0;
	lane->has_clock = false;
	lane->clock_changed = false;
}

void lane_close(struct lane *lane)
{
	forget_ring(lane);
	lane->ring = NULL;
}

/* A time of the ring on the common clock; a hostile one must not wrap around. */
static inline uint64_t adjusted(const struct lane *lane, uint64_t ts_ns)
{
	int64_t by = lane->adjust_ns;

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
static bool note_texts(struct lane_type *type, const struct field *fields)
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

static bool register_type(struct lane *lane, const struct record_type *in, struct field *fields,
		struct field_label *labels)
{
	struct lane_type *type = &lane->types[lane->n_types];
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
	type->id = lane->sink->add_type(lane->sink->context, &desc);
	lane->n_types++;
	return true;
}

static bool take_type(struct lane *lane, const struct record *record)
{
	const struct record_type *in = (const void *)record;
	struct field *fields;
	struct field_label *labels;
	bool ok = false;

	if (record->size < sizeof(*in) || in->type != lane->n_types ||
			in->n_fields > EVENT_MAX_FIELDS ||
			in->n_labels > record->size / sizeof(struct record_label) ||
			sizeof(*in) + in->n_fields * sizeof(struct record_field) +
							in->n_labels * sizeof(struct record_label) >
					record->size ||
			!grow(&lane->types, lane->n_types, &lane->max_types, LANE_MAX_TYPES,
					sizeof(*lane->types))) {
		return false;
	}
	fields = calloc(in->n_fields + 1u, sizeof(*fields));
	labels = calloc(in->n_labels + 1u, sizeof(*labels));
	if (fields && labels) {
		ok = register_type(lane, in, fields, labels);
	}
	free(fields);
	free(labels);
	return ok;
}

struct row_texts {
	const char *host, *session, *channel, *release;
};

static bool same_stream(const struct lane_row *row, const struct record_stream *in,
		const struct row_texts *texts)
{
	return row->domain == in->domain && strcmp(row->host, texts->host) == 0 &&
	       strcmp(row->session, texts->session) == 0 &&
	       strcmp(row->channel, texts->channel) == 0 &&
	       strcmp(row->release, texts->release) == 0;
}

/* Streams that differ in nothing but their CPU are one stream to the analysis. */
static void identify(struct lane *lane, struct lane_row *row, const struct lane_row *twin)
{
	struct session_desc session = {
			.host = row->host,
			.name = row->session,
			.live = lane->live,
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
	row->session_id = lane->sink->add_session(lane->sink->context, &session);
	stream.session = row->session_id;
	row->stream_id = lane->sink->add_stream(lane->sink->context, &stream);
}

static bool add_row(struct lane *lane, const struct record_stream *in,
		const struct row_texts *texts, const struct lane_row *twin)
{
	struct lane_row *row = &lane->rows[lane->n_rows];

	memset(row, 0, sizeof(*row));
	row->domain = in->domain;
	row->cpu = in->cpu;
	row->host = strdup(texts->host);
	row->session = strdup(texts->session);
	row->channel = strdup(texts->channel);
	row->release = strdup(texts->release);
	row->ours = strncmp(texts->session, "pythiatop-", 10) == 0;
	lane->n_rows++; /* so that lane_release() frees what there is */
	if (!row->host || !row->session || !row->channel || !row->release) {
		return false;
	}
	identify(lane, row, twin);
	return true;
}

/* The row of a stream, a new one if need be; ROW_NONE if there is no room. */
static uint32_t find_row(
		struct lane *lane, const struct record_stream *in, const struct row_texts *texts)
{
	uint32_t i, twin = ROW_NONE;

	for (i = 0; i < lane->n_rows; i++) {
		if (same_stream(&lane->rows[i], in, texts)) {
			if (lane->rows[i].cpu == in->cpu) {
				return i;
			}
			twin = i;
		}
	}
	if (!grow(&lane->rows, lane->n_rows, &lane->max_rows, LANE_MAX_ROWS, sizeof(*lane->rows)) ||
			!add_row(lane, in, texts, twin == ROW_NONE ? NULL : &lane->rows[twin])) {
		return ROW_NONE;
	}
	return lane->n_rows - 1;
}

static void note_clock(struct lane *lane, const struct record_stream *in)
{
	static const uint8_t none[16];

	if (lane->has_clock || memcmp(in->clock_uuid, none, sizeof(none)) == 0) {
		return;
	}
	lane->has_clock = true;
	lane->clock_changed = true;
	memcpy(lane->clock_uuid, in->clock_uuid, sizeof(lane->clock_uuid));
	lane->clock_offset_ns = in->clock_offset_ns;
}

/* Streams are announced in any order: those not told of so far have no row. */
static bool map_reaches(struct lane *lane, uint32_t stream)
{
	while (lane->n_map <= stream) {
		if (stream >= LANE_MAX_STREAMS ||
				!grow(&lane->map, lane->n_map, &lane->max_map, LANE_MAX_STREAMS,
						sizeof(*lane->map))) {
			return false;
		}
		lane->map[lane->n_map++] = ROW_NONE;
	}
	return true;
}

/*
 * A live session is the one that was asked for, whatever its reader says: it could pass for another
 * host's, or for ours. A recording is what it says, where it says it.
 */
static const char *name_of(const struct lane *lane, const char *asked, const char *told)
{
	return (lane->live && asked[0]) || !told[0] ? asked : told;
}

static bool take_stream(struct lane *lane, const struct record *record)
{
	const struct record_stream *in = (const void *)record;
	struct row_texts texts;
	uint32_t row;

	if (record->size < sizeof(*in) || in->domain > DOMAIN_UST ||
			!map_reaches(lane, in->stream) || lane->map[in->stream] != ROW_NONE) {
		return false;
	}
	texts.host = record_text(record, in->host);
	texts.session = record_text(record, in->session);
	texts.channel = record_text(record, in->channel);
	texts.release = record_text(record, in->kernel_release);
	if (!texts.host || !texts.session || !texts.channel || !texts.release) {
		return false;
	}
	texts.host = name_of(lane, lane->host_asked, texts.host);
	texts.session = name_of(lane, lane->session_asked, texts.session);
	if (lane->host_name) {
		texts.host = lane->host_name(lane->context, texts.host, in->clock_uuid);
	}
	row = find_row(lane, in, &texts);
	if (row == ROW_NONE) {
		return false;
	}
	lane->map[in->stream] = row;
	lane->n_streams++;
	note_clock(lane, in);
	return true;
}

/* --- heads ----------------------------------------------------------------------------------- */

/* The bytes of every text must lie inside the event and end in 0, or be told absent. */
static bool texts_end(const struct lane_type *type, const struct event *event)
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
static inline bool take_event(struct lane *lane, const struct record *record)
{
	const struct record_event *in = (const void *)record;
	struct event *event = &lane->event;
	const struct lane_type *type;
	uint32_t number, stream;

	if (record->size < sizeof(*in)) {
		return false;
	}
	number = in->type;
	stream = in->stream;
	event->bytes = in->bytes;
	if (event->bytes > record->size - sizeof(*in) ||
			event->bytes > EVENT_MAX_BYTES || number >= lane->n_types ||
			stream >= lane->n_map || lane->map[stream] == ROW_NONE) {
		return false;
	}
	type = &lane->types[number];
	if (event->bytes < type->n_fields * 8) {
		return false;
	}
	lane->row = lane->map[stream];
	event->ts_ns = adjusted(lane, in->ts_ns);
	event->type = type->id;
	event->stream = lane->rows[lane->row].stream_id;
	event->cpu = in->cpu;
	event->slots = in->slots;
	if (event->ts_ns > LANE_MAX_TS_NS || (type->n_texts && !texts_end(type, event))) {
		return false;
	}
	lane->head = LANE_EVENT;
	return true;
}

static bool take_loss(struct lane *lane, const struct record *record)
{
	const struct record_loss *in = (const void *)record;

	if (record->size < sizeof(*in) || in->stream >= lane->n_map ||
			lane->map[in->stream] == ROW_NONE) {
		return false;
	}
	lane->row = lane->map[in->stream];
	lane->loss = (struct loss){
			.stream = lane->rows[lane->row].stream_id,
			.cpu = lane->rows[lane->row].cpu,
			.begin_ns = adjusted(lane, in->begin_ns),
			.end_ns = adjusted(lane, in->end_ns),
			.count = in->count,
			.packets = in->packets != 0,
	};
	if (lane->loss.begin_ns > LANE_MAX_TS_NS) {
		return false;
	}
	if (lane->loss.end_ns < lane->loss.begin_ns) {
		lane->loss.end_ns = lane->loss.begin_ns;
	}
	lane->head = LANE_LOSS;
	return true;
}

static bool take_watermark(struct lane *lane, const struct record *record)
{
	const struct record_watermark *in = (const void *)record;
	uint64_t ts_ns;

	if (record->size < sizeof(*in)) {
		return false;
	}
	ts_ns = adjusted(lane, in->ts_ns);
	if (ts_ns > LANE_MAX_TS_NS) {
		return false;
	}
	if (ts_ns > lane->bound_ns) {
		lane->bound_ns = ts_ns;
	}
	lane->timed = true;
	return true;
}

static bool take_misdated(struct lane *lane, const struct record *record)
{
	const struct record_misdated *in = (const void *)record;
	struct lane_row *row;

	if (record->size < sizeof(*in) || in->stream >= lane->n_map ||
			lane->map[in->stream] == ROW_NONE) {
		return false;
	}
	row = &lane->rows[lane->map[in->stream]];
	row->events++;
	lane->events++;
	lane->misdated++;
	lane->misdated_ns = in->ts_ns;
	if (lane->sink->misdated) {
		lane->sink->misdated(lane->sink->context, row->session_id, in->ts_ns);
	}
	return true;
}

/* Sizes of the records that are handed on as they are. */
static bool take_note(struct lane *lane, const struct record *record)
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
	if (lane->note) {
		lane->note(lane->context, record);
	}
	return true;
}

static enum lane_status broken(struct lane *lane, const char *fault)
{
	lane->fault = fault;
	return LANE_BROKEN;
}

/*
 * Takes a record that is no event. LANE_MORE: it is done with, or has become the head.
 */
static enum lane_status take_other(struct lane *lane, const struct record *record)
{
	bool ok;

	switch (record->kind) {
	case RECORD_TYPE:
		ok = take_type(lane, record);
		break;
	case RECORD_STREAM:
		ok = take_stream(lane, record);
		break;
	case RECORD_LOSS:
		/* It stays at the front of the ring until it is emitted. */
		return take_loss(lane, record) ? LANE_MORE : broken(lane, "a loss");
	case RECORD_WATERMARK:
		ok = take_watermark(lane, record);
		break;
	case RECORD_MISDATED:
		ok = take_misdated(lane, record);
		break;
	case RECORD_END:
		ring_next(lane->ring);
		return LANE_ENDED;
	default:
		ok = take_note(lane, record);
		break;
	}
	if (!ok) {
		return broken(lane, record->kind == RECORD_TYPE     ? "an event type"
				    : record->kind == RECORD_STREAM ? "a stream"
								    : "a record");
	}
	ring_next(lane->ring);
	return LANE_MORE;
}

static inline uint64_t head_time(const struct lane *lane)
{
	return lane->head == LANE_EVENT ? lane->event.ts_ns : lane->loss.begin_ns;
}

static void emit_late(struct lane *lane)
{
	struct lane_row *row = &lane->rows[lane->row];

	row->late++;
	row->events++;
	lane->late++;
	lane->events++;
	lane->sink->late(lane->sink->context, row->session_id, 1);
}

static void emit_loss(struct lane *lane)
{
	struct lane_row *row = &lane->rows[lane->row];

	/* Ours is cleared a few times before anything is enabled in it: those packets were empty. */
	if (row->ours && lane->loss.packets && row->events == 0) {
		return;
	}
	if (lane->loss.packets) {
		row->discarded_packets += lane->loss.count;
		lane->discarded_packets += lane->loss.count;
	} else {
		row->discarded += lane->loss.count;
		lane->discarded += lane->loss.count;
	}
	lane->sink->lose(lane->sink->context, &lane->loss);
}

static inline void emit(struct lane *lane, uint64_t *now_ns)
{
	if (lane->head == LANE_LOSS) {
		/* A loss is told whenever it comes: it speaks of a past interval anyway. */
		emit_loss(lane);
	} else if (lane->event.ts_ns < *now_ns) {
		emit_late(lane);
	} else {
		*now_ns = lane->event.ts_ns;
		lane->last_ts_ns = lane->event.ts_ns;
		lane->rows[lane->row].events++;
		lane->events++;
		lane->sink->feed(lane->sink->context, &lane->event);
	}
	lane->head = LANE_NONE;
	ring_next(lane->ring);
}

void lane_emit(struct lane *lane, uint64_t *now_ns)
{
	emit(lane, now_ns);
}

enum lane_status lane_run(struct lane *lane, uint64_t limit_ns, uint64_t *now_ns, uint32_t *budget)
{
	const struct record *record;
	enum lane_status status;
	bool wrong = false;

	while (*budget > 0) {
		if (lane->head == LANE_NONE) {
			record = ring_peek(lane->ring, &wrong);
			if (!record) {
				return wrong ? broken(lane, "its order") : LANE_EMPTY;
			}
			if (record->kind == RECORD_EVENT) {
				if (!take_event(lane, record)) {
					return broken(lane, "an event");
				}
			} else {
				status = take_other(lane, record);
				if (status != LANE_MORE) {
					return status;
				}
				(*budget)--;
				if (lane->head == LANE_NONE) {
					if (lane->clock_changed || lane->bound_ns >= limit_ns) {
						return LANE_MORE;
					}
					continue;
				}
			}
			lane->timed = true;
			if (head_time(lane) > lane->bound_ns) {
				lane->bound_ns = head_time(lane);
			}
		}
		if (lane->bound_ns >= limit_ns) {
			return LANE_MORE;
		}
		emit(lane, now_ns);
		(*budget)--;
	}
	return LANE_MORE;
}

void lane_adjust(struct lane *lane, int64_t adjust_ns)
{
	int64_t by = adjust_ns - lane->adjust_ns;

	/* The head is read again with the new adjustment; bound_ns moves along. */
	lane->head = LANE_NONE;
	lane->adjust_ns = adjust_ns;
	if (by < 0 && lane->bound_ns < (uint64_t)-by) {
		lane->bound_ns = 0;
	} else {
		lane->bound_ns += (uint64_t)by;
	}
}
