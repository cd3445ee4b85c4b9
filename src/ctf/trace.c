/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "json.h"

struct ctf_trace {
	struct ctf_metadata *metadata;
	struct arena arena;
	struct ctf_fields made; /* the packet's header */
	bool has_header;
	const struct ctf_stream_class *last_stream; /* that was taken in */
	const struct ctf_event_class *last_event;
	uint32_t n_events;
	struct ctf_stream *streams, **last;
};

struct ctf_trace *ctf_trace_create(void)
{
	struct ctf_trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		return NULL;
	}
	trace->last = &trace->streams;
	trace->metadata = tsdl_create();
	if (!trace->metadata) {
		free(trace);
		return NULL;
	}
	return trace;
}

void ctf_trace_destroy(struct ctf_trace *trace)
{
	if (!trace) {
		return;
	}
	for (struct ctf_stream *stream = trace->streams; stream; stream = stream->next) {
		ctf_program_destroy(stream->header);
		number_map_release(&stream->by_id);
		free(stream->events);
	}
	arena_release(&trace->arena);
	tsdl_release(trace->metadata);
	free(trace);
}

const struct ctf_stream *ctf_trace_streams(const struct ctf_trace *trace)
{
	return trace->streams;
}

const struct ctf_metadata *ctf_trace_metadata(const struct ctf_trace *trace)
{
	return trace->metadata;
}

/* --- Metadata -----------------------------------------------------------------------------------
 */

struct growth { /* of a trace by a piece of metadata */
	struct ctf_trace *trace;
	char *error;
	size_t error_room;
};

static bool refuse(const struct growth *growth, const char *what)
{
	snprintf(growth->error, growth->error_room, "%s", what);
	return false;
}

static struct ctf_stream *find_stream(const struct ctf_trace *trace, uint64_t id)
{
	struct ctf_stream *stream = trace->streams;

	while (stream && stream->id != id) {
		stream = stream->next;
	}
	return stream;
}

static bool add_header(const struct growth *growth)
{
	struct ctf_trace *trace = growth->trace;

	if (trace->has_header || !trace->metadata->streams) {
		return true;
	}
	trace->has_header = true;
	if (trace->metadata->order == CTF_ORDER_TRACE) {
		trace->metadata->order = CTF_ORDER_LITTLE;
	}
	trace->made = (struct ctf_fields){.arena = &trace->arena,
			.metadata = trace->metadata,
			.error = growth->error,
			.error_room = growth->error_room};
	return ctf_fields_add(&trace->made, CTF_PACKET_HEADER, trace->metadata->packet_header) &&
	       (!trace->made.clock || refuse(growth, "a clock in the header of packets"));
}

static void look_at_context(struct ctf_stream *stream, const struct ctf_field *field)
{
	stream->has_begin |= field->meaning == CTF_MEANS_BEGIN;
	stream->has_end |= field->meaning == CTF_MEANS_END;
	stream->has_discarded |= field->meaning == CTF_MEANS_DISCARDED;
	stream->has_sequence |= field->meaning == CTF_MEANS_SEQUENCE;
	for (uint32_t i = 0; i < field->n; i++) {
		look_at_context(stream, &field->inside[i]);
	}
}

static void find_cpu(struct ctf_stream *stream)
{
	const struct ctf_field *context = stream->packet_context;

	for (uint32_t i = 0; i < context->n; i++) {
		const struct ctf_field *field = &context->inside[i];

		if (ctf_field_is_number(field) && !field->is_signed &&
				strcmp(field->name, "cpu_id") == 0) {
			stream->cpu = field;
		}
	}
}

/* CTF 2 names the clock of a stream class. */
static bool name_clock(const struct growth *growth, struct ctf_fields *made, const char *name)
{
	const struct ctf_clock *clock = growth->trace->metadata->clocks;

	if (!name) {
		return true;
	}
	while (clock && strcmp(clock->name, name) != 0) {
		clock = clock->next;
	}
	made->clock = clock;
	return clock || refuse(growth, "a stream class of a clock that is not declared");
}

static bool add_stream(const struct growth *growth, const struct ctf_stream_class *class)
{
	struct ctf_trace *trace = growth->trace;
	struct ctf_stream *stream = arena_alloc(&trace->arena, sizeof(*stream));
	struct ctf_fields *made;

	if (!stream) {
		return refuse(growth, "out of memory");
	}
	if (find_stream(trace, class->id)) {
		return refuse(growth, "two stream classes have one number");
	}
	made = &stream->made;
	*made = trace->made;
	made->error = growth->error;
	made->error_room = growth->error_room;
	stream->id = class->id;
	if (!name_clock(growth, made, class->clock) ||
			!ctf_fields_add(made, CTF_PACKET_CONTEXT, class->packet_context) ||
			!ctf_fields_add(made, CTF_EVENT_HEADER, class->event_header) ||
			!ctf_fields_add(made, CTF_COMMON_CONTEXT, class->event_context)) {
		return false;
	}
	stream->packet_context = made->scopes[CTF_PACKET_CONTEXT];
	stream->event_header = made->scopes[CTF_EVENT_HEADER];
	stream->event_context = made->scopes[CTF_COMMON_CONTEXT];
	if (stream->packet_context) {
		look_at_context(stream, stream->packet_context);
		find_cpu(stream);
	}
	*trace->last = stream;
	trace->last = &stream->next;
	return true;
}

static struct ctf_stream *stream_of(
		const struct ctf_trace *trace, const struct ctf_event_class *class)
{
	bool is_alone = trace->streams && !trace->streams->next;

	return is_alone && !class->has_stream_id ? trace->streams
						 : find_stream(trace, class->stream_id);
}

static bool keep_event(
		const struct growth *growth, struct ctf_stream *stream, struct ctf_event *event)
{
	if (number_map_find(&stream->by_id, event->id) != NUMBER_NONE) {
		return refuse(growth, "two event classes of a stream have one number");
	}
	if (growth->trace->n_events == CTF_CLASSES_MAX) {
		return refuse(growth, "too many event classes");
	}
	if (!array_reserve(&stream->events, &stream->events_room, stream->n_events + 1) ||
			!number_map_set(&stream->by_id, event->id, stream->n_events)) {
		return refuse(growth, "out of memory");
	}
	event->number = stream->n_events;
	stream->events[stream->n_events++] = event;
	growth->trace->n_events++;
	return true;
}

static bool add_event(const struct growth *growth, const struct ctf_event_class *class)
{
	struct ctf_stream *stream = stream_of(growth->trace, class);
	struct ctf_event *event = arena_alloc(&growth->trace->arena, sizeof(*event));
	struct ctf_fields made;

	if (!stream || !event) {
		return refuse(growth, event ? "an event class of a stream that is not declared"
					    : "out of memory");
	}
	made = stream->made;
	made.error = growth->error;
	made.error_room = growth->error_room;
	if (!ctf_fields_add(&made, CTF_SPECIFIC_CONTEXT, class->context) ||
			!ctf_fields_add(&made, CTF_PAYLOAD, class->fields)) {
		return false;
	}
	*event = (struct ctf_event){.id = class->id,
			.name = class->name,
			.context = made.scopes[CTF_SPECIFIC_CONTEXT],
			.fields = made.scopes[CTF_PAYLOAD]};
	if (made.n_kept_of_stream > stream->made.n_kept) {
		stream->made.n_kept = stream->made.n_kept_of_stream = made.n_kept_of_stream;
	}
	stream->made.clock = made.clock;
	ctf_field_show(event->fields);
	ctf_field_show(event->context);
	return keep_event(growth, stream, event);
}

/* The last thing, since what is shown depends on the events. */
static bool finish_stream(const struct growth *growth, struct ctf_stream *stream)
{
	stream->clock = stream->made.clock;
	if (!stream->is_shown) {
		ctf_field_show(stream->event_context);
		ctf_field_show(stream->packet_context);
		stream->is_shown = true;
	}
	if (stream->header && stream->n_kept == stream->made.n_kept) {
		return true;
	}
	ctf_program_destroy(stream->header);
	stream->n_kept = stream->made.n_kept;
	stream->header = ctf_program_create();
	if (!stream->header) {
		return refuse(growth, "out of memory");
	}
	if (stream->event_header) {
		ctf_program_pass(stream->header, stream->event_header);
	}
	return ctf_program_is_whole(stream->header) || refuse(growth, "the header is too long");
}

static bool append(struct ctf_trace *trace, const char *text, size_t length, char *error,
		size_t error_room)
{
	return length > 0 && text[0] == CTF_JSON_BEGIN
			       ? json_append(trace->metadata, text, length, error, error_room)
			       : tsdl_append(trace->metadata, text, length, error, error_room);
}

size_t ctf_trace_whole(const char *text, size_t length)
{
	return length > 0 && text[0] == CTF_JSON_BEGIN ? json_whole(text, length)
						       : tsdl_whole(text, length);
}

bool ctf_trace_add(struct ctf_trace *trace, const char *text, size_t length, char *error,
		size_t error_room)
{
	const struct growth growth = {trace, error, error_room};
	const struct ctf_stream_class *class;
	const struct ctf_event_class *event;

	if (!append(trace, text, length, error, error_room) || !add_header(&growth)) {
		return false;
	}
	class = trace->last_stream ? trace->last_stream->next : trace->metadata->streams;
	for (; class; class = class->next) {
		trace->last_stream = class;
		if (!add_stream(&growth, class)) {
			return false;
		}
	}
	event = trace->last_event ? trace->last_event->next : trace->metadata->events;
	for (; event; event = event->next) {
		trace->last_event = event;
		if (!add_event(&growth, event)) {
			return false;
		}
	}
	for (struct ctf_stream *stream = trace->streams; stream; stream = stream->next) {
		if (!finish_stream(&growth, stream)) {
			return false;
		}
	}
	return true;
}

/* --- Packets ------------------------------------------------------------------------------------
 */

static bool choose_stream(struct ctf_reader *reader, const struct ctf_trace *trace)
{
	const struct ctf_stream *stream = trace->streams;

	if (reader->place.known & (1u << CTF_MEANS_STREAM_CLASS)) {
		stream = find_stream(trace, reader->place.told[CTF_MEANS_STREAM_CLASS]);
	} else if (stream && stream->next) {
		stream = NULL;
	}
	if (!stream) {
		return ctf_fault(&reader->place, "a packet of a stream that is not declared");
	}
	if (reader->stream && reader->stream != stream) {
		return ctf_fault(&reader->place, "packets of two stream classes in one stream");
	}
	reader->stream = stream;
	return true;
}

/* The content ends before the padding. */
static bool set_end(struct ctf_reader *reader, size_t size)
{
	struct ctf_place *place = &reader->place;
	uint64_t whole = ctf_reader_told(reader, CTF_MEANS_PACKET_SIZE, (uint64_t)size * 8);
	uint64_t content = ctf_reader_told(reader, CTF_MEANS_CONTENT_SIZE, whole);

	if (content < place->at || content > whole || content > (uint64_t)size * 8) {
		return ctf_fault(place, "the sizes of a packet contradict each other");
	}
	place->end = content;
	return true;
}

bool ctf_reader_open(struct ctf_reader *reader, const struct ctf_trace *trace,
		const unsigned char *bytes, size_t size)
{
	struct ctf_place *place = &reader->place;
	const struct ctf_field *header = trace->made.scopes[CTF_PACKET_HEADER];

	place->bytes = bytes;
	place->at = 0;
	place->end = (uint64_t)size * 8;
	place->steps = place->end * 2 + CTF_STEPS_MAX;
	place->known = 0;
	place->fault = NULL;
	reader->event = NULL;
	if ((header && !ctf_skip(place, header)) || !choose_stream(reader, trace)) {
		return false;
	}
	reader->context_at = place->at;
	if (reader->stream->packet_context && !ctf_skip(place, reader->stream->packet_context)) {
		return false;
	}
	reader->event_at = UINT64_MAX;
	return set_end(reader, size);
}

static const struct ctf_event *event_of(struct ctf_reader *reader)
{
	const struct ctf_stream *stream = reader->stream;
	uint32_t number = stream->n_events == 1 ? 0 : NUMBER_NONE;

	if (reader->place.known & (1u << CTF_MEANS_EVENT_CLASS)) {
		number = number_map_find(&stream->by_id, reader->place.told[CTF_MEANS_EVENT_CLASS]);
	}
	if (number == NUMBER_NONE) {
		ctf_fault(&reader->place, "an event of a class that is not declared");
		return NULL;
	}
	return stream->events[number];
}

enum ctf_step ctf_reader_next(struct ctf_reader *reader)
{
	struct ctf_place *place = &reader->place;

	if (place->at == place->end) {
		return CTF_STEP_END;
	}
	if (place->at == reader->event_at) {
		ctf_fault(place, "an event without any bits");
		return CTF_STEP_FAULT;
	}
	reader->event_at = place->at;
	place->known &= ~(1u << CTF_MEANS_EVENT_CLASS);
	if (!ctf_program_run(reader->stream->header, place, NULL, NULL)) {
		return CTF_STEP_FAULT;
	}
	reader->event = event_of(reader);
	return reader->event ? CTF_STEP_EVENT : CTF_STEP_FAULT;
}
