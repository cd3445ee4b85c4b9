/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "write.h"

#include <babeltrace2/babeltrace.h>
#include <ctype.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fault.h"
#include "library.h"
#include "pythiatop/engine.h"
#include "shape.h"

/* Messages of one loss: a stream's beginning, two packets, the loss; an event has fewer. */
#define PENDING_MAX 6

/* One CTF trace: a host's events of one domain. */
struct out_trace {
	struct out_trace *next;
	char *host;
	uint32_t domain;
	bt_trace_class *class;
	bt_trace *trace;
	bt_clock_class *clock;
	struct out_class *classes;
};

/* A stream class: the contexts that its events have in common. */
struct out_class {
	struct out_class *next;
	struct out_trace *trace;
	char *key;
	bool has_cpu;
	bt_stream_class *class;
	struct out_stream *streams;
};

struct out_stream {
	struct out_stream *next;
	struct out_class *class;
	uint32_t cpu;
	bt_stream *stream;
	bt_packet *packet;
	uint64_t end_ns; /* of the packet, so far; of a stream of losses: of the last one */
	uint64_t cut_ns; /* when the packet ends at the latest */
};

/* An event class: a type in one shape. */
struct layout {
	struct layout *next;
	char *shape;
	struct out_class *class;
	bt_event_class *event_class;
};

struct in_type {
	struct event_type type;
	void *copy; /* of the record: names point into it */
	struct field *fields;
	struct field_label *labels;
	struct layout *layouts; /* the last used first */
	uint32_t n_layouts;
};

/* A stream of the ring. */
struct in_stream {
	struct out_trace *trace;
	char *channel;
};

struct writer {
	struct ring *ring;
	const char *directory;
	bt_self_component *self;
	struct in_type *types;
	uint32_t n_types;
	struct in_stream *streams; /* by number of the ring's streams */
	uint32_t n_streams;
	struct out_trace *traces;
	struct shape shape;
	const bt_message *messages[PENDING_MAX];
	uint32_t n_pending;
	bool ended, failed;
	const char *why; /* it failed; NULL: the library knows */
};

/* --- Types and streams of the ring -------------------------------------------------------------
 */

static bool fail(struct writer *writer, const char *why)
{
	writer->failed = true;
	writer->why = why;
	return false;
}

static bool take_type(struct writer *writer, const struct record_type *record)
{
	struct record_type *copy = malloc(record->record.size);
	struct field *fields = calloc(record->n_fields + 1, sizeof(*fields));
	struct field_label *labels = calloc(record->n_labels + 1, sizeof(*labels));
	const struct record_field *from;
	const struct record_label *names;

	if (!array_resize(&writer->types, writer->n_types + 1) || !copy || !fields || !labels) {
		free(copy);
		free(fields);
		free(labels);
		return fail(writer, "out of memory");
	}
	memcpy(copy, record, record->record.size);
	from = (const struct record_field *)(copy + 1);
	names = (const struct record_label *)(from + copy->n_fields);
	for (uint32_t i = 0; i < copy->n_labels; i++) {
		labels[i] = (struct field_label){record_text(&copy->record, names[i].name),
				names[i].lower, names[i].upper};
	}
	for (uint32_t i = 0; i < copy->n_fields; i++) {
		fields[i] = (struct field){.name = record_text(&copy->record, from[i].name),
				.kind = from[i].kind,
				.scope = from[i].scope,
				.base = from[i].base,
				.n_labels = from[i].n_labels,
				.labels = labels + from[i].first_label};
	}
	writer->types[writer->n_types++] = (struct in_type){
			.type = {record_text(&copy->record, copy->name), copy->n_fields, fields},
			.copy = copy,
			.fields = fields,
			.labels = labels};
	return true;
}

static const char *domain_name(uint32_t domain)
{
	return domain == DOMAIN_KERNEL ? "kernel" : domain == DOMAIN_UST ? "ust" : "other";
}

/* A host's name as that of one folder: no path, nothing that a terminal obeys. */
static void folder_name(char *to, size_t size, const char *host)
{
	snprintf(to, size, "%s%s", host[0] == '.' ? "_" : "", host[0] ? host : "unknown");
	for (; *to; to++) {
		*to = *to == '/' || *to == '\\' || iscntrl((unsigned char)*to) ? '_' : *to;
	}
}

/* sink.ctf.fs takes the trace's name for its path below the directory. */
static bool name_trace(const struct out_trace *out)
{
	char folder[200], name[sizeof(folder) + 16];

	folder_name(folder, sizeof(folder), out->host);
	snprintf(name, sizeof(name), "%s/%s", folder, domain_name(out->domain));
	return bt_trace_set_name(out->trace, name) == 0;
}

static bool describe_trace(const struct out_trace *out, const struct record_stream *record)
{
	const char *release = record_text(&record->record, record->kernel_release);

	return name_trace(out) &&
	       bt_trace_set_environment_entry_string(out->trace, "hostname", out->host) == 0 &&
	       bt_trace_set_environment_entry_string(
			       out->trace, "domain", domain_name(out->domain)) == 0 &&
	       bt_trace_set_environment_entry_string(out->trace, "trace_name",
			       record_text(&record->record, record->session)) == 0 &&
	       (!release[0] || bt_trace_set_environment_entry_string(
					       out->trace, "kernel_release", release) == 0);
}

static struct out_trace *make_trace(struct writer *writer, const struct record_stream *record)
{
	struct out_trace *out = calloc(1, sizeof(*out));

	if (!out) {
		return NULL;
	}
	out->next = writer->traces;
	writer->traces = out;
	out->domain = record->domain;
	out->host = strdup(record_text(&record->record, record->host));
	out->class = bt_trace_class_create(writer->self);
	out->trace = out->class ? bt_trace_create(out->class) : NULL;
	out->clock = bt_clock_class_create(writer->self);
	if (!out->host || !out->trace || !out->clock || !describe_trace(out, record)) {
		return NULL;
	}
	bt_clock_class_set_frequency(out->clock, 1000000000u);
	return out;
}

static bool take_stream(struct writer *writer, const struct record_stream *record)
{
	const char *host = record_text(&record->record, record->host);
	struct out_trace *out = writer->traces;

	if (!array_resize(&writer->streams, writer->n_streams + 1)) {
		return fail(writer, "out of memory");
	}
	while (out && (out->domain != record->domain || strcmp(out->host, host) != 0)) {
		out = out->next;
	}
	out = out ? out : make_trace(writer, record);
	writer->streams[writer->n_streams] = (struct in_stream){.trace = out,
			.channel = strdup(record_text(&record->record, record->channel))};
	return out && writer->streams[writer->n_streams++].channel
			       ? true
			       : fail(writer, "out of memory");
}

/* --- Classes -----------------------------------------------------------------------------------
 */

static bt_field_class *packet_context(bt_trace_class *trace_class)
{
	bt_field_class *class = bt_field_class_structure_create(trace_class);
	bt_field_class *cpu = bt_field_class_integer_unsigned_create(trace_class);

	if (!class || !cpu || bt_field_class_structure_append_member(class, "cpu_id", cpu) != 0) {
		bt_field_class_put_ref(class);
		class = NULL;
	}
	bt_field_class_put_ref(cpu);
	return class;
}

static bool set_up_class(const struct writer *writer, struct out_class *out,
		const struct event_type *type, const struct event *event)
{
	bt_trace_class *trace_class = out->trace->class;
	bt_field_class *packet = packet_context(trace_class);
	bt_field_class *context =
			shape_class(&writer->shape, trace_class, type, event, SCOPE_CONTEXT);
	bool done = packet && context &&
		    bt_stream_class_set_default_clock_class(out->class, out->trace->clock) == 0;

	if (done) {
		bt_stream_class_set_supports_packets(out->class, BT_TRUE, BT_TRUE, BT_TRUE);
	}
	if (done && out->has_cpu) {
		done = bt_stream_class_set_packet_context_field_class(out->class, packet) == 0;
	}
	if (done && bt_field_class_structure_get_member_count(context) > 0) {
		done = bt_stream_class_set_event_common_context_field_class(out->class, context) ==
		       0;
	}
	bt_field_class_put_ref(packet);
	bt_field_class_put_ref(context);
	return done;
}

/*
 * Of losses alone: a stream for each channel and CPU, since those of one never overlap. Its packets
 * have no events; they are where a loss begins and ends, as CTF tells one by a packet's counter.
 */
static struct out_class *make_class_of_losses(struct out_trace *trace, char *key, bool has_cpu)
{
	struct out_class *out = calloc(1, sizeof(*out));
	bt_field_class *packet = packet_context(trace->class);
	bool done = false;

	if (out && packet) {
		*out = (struct out_class){.trace = trace, .key = key, .has_cpu = has_cpu};
		out->class = bt_stream_class_create(trace->class);
		done = out->class && bt_stream_class_set_default_clock_class(
						     out->class, trace->clock) == 0;
	}
	if (done) {
		bt_stream_class_set_supports_packets(out->class, BT_TRUE, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_events(out->class, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_packets(out->class, BT_TRUE, BT_TRUE);
		done = !has_cpu || bt_stream_class_set_packet_context_field_class(
						   out->class, packet) == 0;
	}
	bt_field_class_put_ref(packet);
	if (!done) {
		if (out) {
			bt_stream_class_put_ref(out->class);
		}
		free(out);
		free(key);
		return NULL;
	}
	out->next = trace->classes;
	trace->classes = out;
	return out;
}

static struct out_class *class_of_losses(
		const struct in_stream *stream, uint32_t number, bool has_cpu)
{
	struct out_class *out = stream->trace->classes;
	char *key;

	if (asprintf(&key, "lost %" PRIu32 " %d", number, has_cpu) < 0) {
		return NULL;
	}
	while (out && strcmp(out->key, key) != 0) {
		out = out->next;
	}
	if (out) {
		free(key);
		return out;
	}
	return make_class_of_losses(stream->trace, key, has_cpu);
}

static struct out_class *make_class(const struct writer *writer, struct out_trace *trace, char *key,
		const struct event_type *type, const struct event *event)
{
	struct out_class *out = calloc(1, sizeof(*out));

	if (!out) {
		free(key);
		return NULL;
	}
	out->trace = trace;
	out->key = key;
	out->has_cpu = event->cpu != CPU_NONE;
	out->class = bt_stream_class_create(trace->class);
	if (!out->class || !set_up_class(writer, out, type, event)) {
		bt_stream_class_put_ref(out->class);
		free(key);
		free(out);
		return NULL;
	}
	out->next = trace->classes;
	trace->classes = out;
	return out;
}

/* Types with the same contexts share a stream class: this names it. */
static char *class_key(const struct writer *writer, const struct event_type *type,
		const struct event *event)
{
	size_t size = writer->shape.context + 8, n;
	char *key;

	for (uint32_t i = 0; i < type->n_fields; i++) {
		size += strlen(type->fields[i].name) + 32;
	}
	key = malloc(size);
	if (!key) {
		return NULL;
	}
	n = (size_t)snprintf(key, size, "%d%.*s", event->cpu != CPU_NONE,
			(int)writer->shape.context, writer->shape.text);
	for (uint32_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->scope == SCOPE_CONTEXT) {
			n += (size_t)snprintf(key + n, size - n, ",%s %u %u %u", field->name,
					field->kind, field->base, field->n_labels);
		}
	}
	return key;
}

static struct out_class *find_class(const struct writer *writer, struct out_trace *trace,
		const struct event_type *type, const struct event *event)
{
	char *key = class_key(writer, type, event);
	struct out_class *out = trace->classes;

	if (!key) {
		return NULL;
	}
	while (out && strcmp(out->key, key) != 0) {
		out = out->next;
	}
	if (!out) {
		return make_class(writer, trace, key, type, event);
	}
	free(key);
	return out;
}

static struct layout *make_layout(const struct writer *writer, struct out_trace *trace,
		const struct event_type *type, const struct event *event)
{
	struct layout *layout = calloc(1, sizeof(*layout));
	bt_field_class *payload =
			shape_class(&writer->shape, trace->class, type, event, SCOPE_PAYLOAD);
	bool done = false;

	if (layout && payload) {
		layout->shape = strdup(writer->shape.text);
		layout->class = find_class(writer, trace, type, event);
	}
	if (layout && layout->shape && layout->class) {
		layout->event_class = bt_event_class_create(layout->class->class);
		done = layout->event_class &&
		       bt_event_class_set_name(layout->event_class, type->name) == 0 &&
		       bt_event_class_set_payload_field_class(layout->event_class, payload) == 0;
	}
	bt_field_class_put_ref(payload);
	if (!done && layout) {
		bt_event_class_put_ref(layout->event_class);
		free(layout->shape);
		free(layout);
	}
	return done ? layout : NULL;
}

static struct layout *find_layout(struct in_type *type, const struct out_trace *trace, bool has_cpu,
		const char *shape)
{
	for (struct layout **link = &type->layouts; *link; link = &(*link)->next) {
		struct layout *layout = *link;

		if (layout->class->trace == trace && layout->class->has_cpu == has_cpu &&
				strcmp(layout->shape, shape) == 0) {
			*link = layout->next;
			layout->next = type->layouts;
			type->layouts = layout;
			return layout;
		}
	}
	return NULL;
}

static struct layout *layout_of(struct writer *writer, struct in_type *type,
		struct out_trace *trace, const struct event *event)
{
	bool has_cpu = event->cpu != CPU_NONE;
	struct layout *layout;

	if (!shape_read(&writer->shape, &type->type, event, false)) {
		return NULL;
	}
	layout = find_layout(type, trace, has_cpu, writer->shape.text);
	if (!layout && type->n_layouts >= WRITE_MAX_SHAPES) {
		if (!shape_read(&writer->shape, &type->type, event, true)) {
			return NULL;
		}
		layout = find_layout(type, trace, has_cpu, writer->shape.text);
	}
	if (!layout) {
		layout = make_layout(writer, trace, &type->type, event);
		if (layout) {
			layout->next = type->layouts;
			type->layouts = layout;
			type->n_layouts++;
		}
	}
	return layout;
}

/* --- Messages ----------------------------------------------------------------------------------
 */

static bool push(struct writer *writer, const bt_message *message)
{
	if (!message) {
		return false;
	}
	writer->messages[writer->n_pending++] = message;
	return true;
}

static bool begin_packet(struct writer *writer, bt_self_message_iterator *iterator,
		struct out_stream *out, uint64_t ts_ns)
{
	out->packet = bt_packet_create(out->stream);
	if (!out->packet) {
		return false;
	}
	if (out->class->has_cpu) {
		bt_field_integer_unsigned_set_value(
				bt_field_structure_borrow_member_field_by_index(
						bt_packet_borrow_context_field(out->packet), 0),
				out->cpu);
	}
	out->cut_ns = (ts_ns / WRITE_PACKET_NS + 1) * WRITE_PACKET_NS;
	return push(writer, bt_message_packet_beginning_create_with_default_clock_snapshot(
					    iterator, out->packet, ts_ns));
}

static bool end_packet(
		struct writer *writer, bt_self_message_iterator *iterator, struct out_stream *out)
{
	bool done = push(writer, bt_message_packet_end_create_with_default_clock_snapshot(
						 iterator, out->packet, out->end_ns));

	bt_packet_put_ref(out->packet);
	out->packet = NULL;
	return done;
}

static struct out_stream *make_stream(struct writer *writer, bt_self_message_iterator *iterator,
		struct out_class *class, uint32_t cpu, const char *base)
{
	struct out_stream *out = calloc(1, sizeof(*out));
	char name[NAME_MAX + 1];

	if (!out) {
		return NULL;
	}
	out->class = class;
	out->cpu = cpu;
	out->stream = bt_stream_create(class->class, class->trace->trace);
	if (cpu == CPU_NONE) {
		snprintf(name, sizeof(name), "%.200s", base);
	} else {
		snprintf(name, sizeof(name), "%.200s_%" PRIu32, base, cpu);
	}
	if (!out->stream || bt_stream_set_name(out->stream, name) != 0 ||
			!push(writer, bt_message_stream_beginning_create(iterator, out->stream))) {
		bt_stream_put_ref(out->stream);
		free(out);
		return NULL;
	}
	out->next = class->streams;
	class->streams = out;
	return out;
}

static struct out_stream *stream_of(struct writer *writer, bt_self_message_iterator *iterator,
		struct out_class *class, uint32_t cpu, const char *base)
{
	struct out_stream *out = class->streams;

	while (out && out->cpu != cpu) {
		out = out->next;
	}
	return out ? out : make_stream(writer, iterator, class, cpu, base);
}

static bool fill(const struct writer *writer, bt_message *message, const struct event_type *type,
		const struct event *event)
{
	bt_event *to = bt_message_event_borrow_event(message);
	bt_field *context = bt_event_borrow_common_context_field(to);

	return (!context || shape_fill(&writer->shape, context, type, event, SCOPE_CONTEXT)) &&
	       shape_fill(&writer->shape, bt_event_borrow_payload_field(to), type, event,
			       SCOPE_PAYLOAD);
}

static bool write_event(struct writer *writer, bt_self_message_iterator *iterator,
		const struct record_event *record)
{
	struct event event = {record->ts_ns, record->type, record->stream, record->cpu,
			record->bytes, record->slots};
	struct in_type *type = &writer->types[event.type];
	struct layout *layout = layout_of(writer, type, writer->streams[event.stream].trace, &event);
	struct out_stream *out =
			layout ? stream_of(writer, iterator, layout->class, event.cpu, "stream") : NULL;
	bt_message *message;

	if (!out) {
		return false;
	}
	if (out->packet && event.ts_ns >= out->cut_ns) {
		out->end_ns = out->cut_ns;
		if (!end_packet(writer, iterator, out)) {
			return false;
		}
	}
	if (!out->packet && !begin_packet(writer, iterator, out, event.ts_ns)) {
		return false;
	}
	out->end_ns = event.ts_ns;
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
			iterator, layout->event_class, out->packet, event.ts_ns);
	if (!message || !fill(writer, message, &type->type, &event)) {
		bt_message_put_ref(message);
		return false;
	}
	return push(writer, message);
}

static bool empty_packet(struct writer *writer, bt_self_message_iterator *iterator,
		struct out_stream *out, uint64_t ts_ns)
{
	out->end_ns = ts_ns;
	return begin_packet(writer, iterator, out, ts_ns) && end_packet(writer, iterator, out);
}

/* Between the end of one packet and of the next: so CTF 1.8 has it. */
static bt_message *loss_message(bt_self_message_iterator *iterator, const struct out_stream *out,
		const struct record_loss *record, uint64_t begin_ns, uint64_t end_ns)
{
	bt_message *message;

	if (record->packets) {
		message = bt_message_discarded_packets_create_with_default_clock_snapshots(
				iterator, out->stream, begin_ns, end_ns);
		if (message && record->count) {
			bt_message_discarded_packets_set_count(message, record->count);
		}
		return message;
	}
	message = bt_message_discarded_events_create_with_default_clock_snapshots(
			iterator, out->stream, begin_ns, end_ns);
	if (message && record->count) {
		bt_message_discarded_events_set_count(message, record->count);
	}
	return message;
}

static bool write_loss(struct writer *writer, bt_self_message_iterator *iterator,
		const struct record_loss *record)
{
	const struct in_stream *stream = &writer->streams[record->stream];
	struct out_class *class =
			class_of_losses(stream, record->stream, record->cpu != CPU_NONE);
	struct out_stream *out =
			class ? stream_of(writer, iterator, class, record->cpu,
						stream->channel[0] ? stream->channel : "lost")
			      : NULL;
	uint64_t begin_ns = record->begin_ns, end_ns = record->end_ns;

	if (!out) {
		return false;
	}
	begin_ns = begin_ns > out->end_ns ? begin_ns : out->end_ns;
	end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	return empty_packet(writer, iterator, out, begin_ns) &&
	       push(writer, loss_message(iterator, out, record, begin_ns, end_ns)) &&
	       empty_packet(writer, iterator, out, end_ns);
}

/* One stream after the other; false: all have ended. */
static bool end_one(struct writer *writer, bt_self_message_iterator *iterator)
{
	for (struct out_trace *trace = writer->traces; trace; trace = trace->next) {
		for (struct out_class *class = trace->classes; class; class = class->next) {
			struct out_stream *out = class->streams;

			if (!out) {
				continue;
			}
			class->streams = out->next;
			if ((out->packet && !end_packet(writer, iterator, out)) ||
					!push(writer, bt_message_stream_end_create(
								      iterator, out->stream))) {
				fail(writer, "out of memory");
			}
			bt_stream_put_ref(out->stream);
			free(out);
			return true;
		}
	}
	return false;
}

static void wait_for_records(const struct writer *writer)
{
	struct pollfd data = {.fd = ring_wait_fd(writer->ring), .events = POLLIN};

	if (ring_arm(writer->ring)) {
		poll(&data, 1, -1);
	}
}

/* Takes one record; the messages it gives are pending then. */
static bool take(struct writer *writer, bt_self_message_iterator *iterator)
{
	bool broken, done = true;
	const struct record *record = ring_peek(writer->ring, &broken);

	if (broken) {
		return fail(writer, "pythiatop broke the ring's format");
	}
	if (!record) {
		wait_for_records(writer);
		return true;
	}
	switch (record->kind) {
	case RECORD_TYPE:
		done = take_type(writer, (const struct record_type *)record);
		break;
	case RECORD_STREAM:
		done = take_stream(writer, (const struct record_stream *)record);
		break;
	case RECORD_EVENT:
		done = write_event(writer, iterator, (const struct record_event *)record) ||
		       fail(writer, "out of memory");
		break;
	case RECORD_LOSS:
		done = write_loss(writer, iterator, (const struct record_loss *)record) ||
		       fail(writer, "out of memory");
		break;
	case RECORD_END:
		writer->ended = true;
		break;
	default:
		break;
	}
	ring_next(writer->ring);
	return done;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *iterator,
		bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct writer *writer = bt_self_component_get_data(
			bt_self_message_iterator_borrow_component(iterator));
	uint64_t n = 0;

	while (n + PENDING_MAX <= capacity) {
		writer->n_pending = 0;
		if (writer->ended ? !end_one(writer, iterator) : !take(writer, iterator)) {
			break;
		}
		for (uint32_t i = 0; i < writer->n_pending; i++) {
			messages[n++] = writer->messages[i];
		}
	}
	if (writer->failed) {
		for (uint64_t i = 0; i < n; i++) {
			bt_message_put_ref(messages[i]);
		}
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	*count = n;
	return n ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		 : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* --- The graph ---------------------------------------------------------------------------------
 */

static bt_component_class_initialize_method_status initialize(bt_self_component_source *self,
		bt_self_component_source_configuration *configuration, const bt_value *parameters,
		void *data)
{
	struct writer *writer = data;

	(void)configuration;
	(void)parameters;
	writer->self = bt_self_component_source_as_self_component(self);
	bt_self_component_set_data(writer->self, writer);
	return bt_self_component_source_add_output_port(self, "out", NULL, NULL) == 0
			       ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK
			       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
}

static const bt_component_source *add_source(bt_graph *graph, struct writer *writer)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_source *class =
			iterator ? bt_component_class_source_create("ring", iterator) : NULL;
	const bt_component_source *source = NULL;

	if (class) {
		bt_component_class_source_set_initialize_method(class, initialize);
		bt_graph_add_source_component_with_initialize_method_data(
				graph, class, "ring", NULL, writer, BT_LOGGING_LEVEL_NONE, &source);
	}
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterator);
	return source;
}

/* Where the library knows another version; where not, it refuses the parameter. */
static bool ask_for_ctf_1(bt_value *parameters)
{
	return !library_knows_ctf_2() ||
	       bt_value_map_insert_string_entry(parameters, "ctf-version", "1") == 0;
}

static const bt_component_sink *add_sink(bt_graph *graph, const char *directory)
{
	bt_value *parameters = bt_value_map_create();
	const bt_component_class_sink *class = NULL;
	const bt_component_sink *sink = NULL;
	const bt_plugin *plugin = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) == 0) {
		class = bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
	}
	if (class && parameters && ask_for_ctf_1(parameters) &&
			bt_value_map_insert_string_entry(parameters, "path", directory) == 0 &&
			bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE) == 0) {
		bt_graph_add_sink_component(
				graph, class, "fs", parameters, BT_LOGGING_LEVEL_NONE, &sink);
	}
	bt_plugin_put_ref(plugin);
	bt_value_put_ref(parameters);
	return sink;
}

static bool run(bt_graph *graph, struct writer *writer)
{
	const bt_component_source *source = add_source(graph, writer);
	const bt_component_sink *sink = source ? add_sink(graph, writer->directory) : NULL;

	return sink &&
	       bt_graph_connect_ports(graph,
			       bt_component_source_borrow_output_port_by_index_const(source, 0),
			       bt_component_sink_borrow_input_port_by_index_const(sink, 0),
			       NULL) == 0 &&
	       bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
}

static void release_type(struct in_type *type)
{
	struct layout *next;

	for (struct layout *layout = type->layouts; layout; layout = next) {
		next = layout->next;
		bt_event_class_put_ref(layout->event_class);
		free(layout->shape);
		free(layout);
	}
	free(type->copy);
	free(type->fields);
	free(type->labels);
}

static void release_class(struct out_class *class)
{
	struct out_stream *next;

	for (struct out_stream *out = class->streams; out; out = next) {
		next = out->next;
		bt_packet_put_ref(out->packet);
		bt_stream_put_ref(out->stream);
		free(out);
	}
	bt_stream_class_put_ref(class->class);
	free(class->key);
	free(class);
}

static void release_trace(struct out_trace *trace)
{
	struct out_class *next;

	for (struct out_class *class = trace->classes; class; class = next) {
		next = class->next;
		release_class(class);
	}
	bt_clock_class_put_ref(trace->clock);
	bt_trace_put_ref(trace->trace);
	bt_trace_class_put_ref(trace->class);
	free(trace->host);
	free(trace);
}

static void release(struct writer *writer)
{
	struct out_trace *next;

	for (uint32_t i = 0; i < writer->n_types; i++) {
		release_type(&writer->types[i]);
	}
	for (struct out_trace *trace = writer->traces; trace; trace = next) {
		next = trace->next;
		release_trace(trace);
	}
	for (uint32_t i = 0; i < writer->n_streams; i++) {
		free(writer->streams[i].channel);
	}
	free(writer->types);
	free(writer->streams);
	shape_release(&writer->shape);
}

/* --- Is it all there? --------------------------------------------------------------------------
 */

/* Opens the trace whose metadata file this is, as any reader would. */
static int open_again(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	const bt_component_class_source *class = NULL;
	const bt_component_source *source = NULL;
	const bt_plugin *plugin = NULL;
	bt_value *parameters, *inputs = NULL;
	bt_graph *graph;
	char *directory;

	(void)info;
	if (kind != FTW_F || strcmp(path + place->base, "metadata") != 0) {
		return 0;
	}
	directory = strndup(path, (size_t)place->base);
	parameters = bt_value_map_create();
	graph = bt_graph_create(0);
	if (directory && graph && parameters &&
			bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) == 0 &&
			bt_value_array_append_string_element(inputs, directory) == 0 &&
			bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE,
					&plugin) == 0) {
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	}
	if (class) {
		bt_graph_add_source_component(
				graph, class, "fs", parameters, BT_LOGGING_LEVEL_NONE, &source);
	}
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	bt_value_put_ref(parameters);
	free(directory);
	return source ? 0 : -1;
}

int write_trace(struct ring *ring, const char *directory)
{
	struct writer writer = {.ring = ring, .directory = directory};
	bt_graph *graph = bt_graph_create(0);
	struct fault fault = {.text = ""};
	bool done = graph && run(graph, &writer);

	if (!done) {
		fault_take(&fault, "out of memory");
	}
	/* Descriptions are written when the traces go, and those are the writer's and the graph's.
	 */
	release(&writer);
	bt_graph_put_ref(graph);
	if (done && nftw(directory, open_again, 16, FTW_PHYS) != 0) {
		done = false;
		fault_take(&fault, "what was written cannot be read");
	}
	if (!done) {
		fprintf(stderr, "%s\n", writer.why ? writer.why : fault.text);
	}
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
