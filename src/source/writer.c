/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The trace, stream class and event class that an event is written as. */

bool writer_fail(struct writer *writer, const char *why)
{
	writer->failed = true;
	writer->why = why;
	return false;
}

bool writer_take_type(struct writer *writer, const struct record_type *record)
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
		return writer_fail(writer, "out of memory");
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

bool writer_take_stream(struct writer *writer, const struct record_stream *record)
{
	const char *host = record_text(&record->record, record->host);
	struct out_trace *out = writer->traces;

	if (!array_resize(&writer->streams, writer->n_streams + 1)) {
		return writer_fail(writer, "out of memory");
	}
	while (out && (out->domain != record->domain || strcmp(out->host, host) != 0)) {
		out = out->next;
	}
	out = out ? out : make_trace(writer, record);
	writer->streams[writer->n_streams] = (struct in_stream){.trace = out,
			.channel = strdup(record_text(&record->record, record->channel))};
	return out && writer->streams[writer->n_streams++].channel
			       ? true
			       : writer_fail(writer, "out of memory");
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
		done = out->class &&
		       bt_stream_class_set_default_clock_class(out->class, trace->clock) == 0;
	}
	if (done) {
		bt_stream_class_set_supports_packets(out->class, BT_TRUE, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_events(out->class, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_packets(out->class, BT_TRUE, BT_TRUE);
		done = !has_cpu ||
		       bt_stream_class_set_packet_context_field_class(out->class, packet) == 0;
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

struct out_class *writer_class_of_losses(
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

struct layout *writer_layout_of(struct writer *writer, struct in_type *type,
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
