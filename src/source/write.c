/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "write.h"

#include <babeltrace2/babeltrace.h>
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
#include "writer.h"

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
	struct layout *layout =
			writer_layout_of(writer, type, writer->streams[event.stream].trace, &event);
	struct out_stream *out =
			layout ? stream_of(writer, iterator, layout->class, event.cpu, "stream")
			       : NULL;
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
			writer_class_of_losses(stream, record->stream, record->cpu != CPU_NONE);
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
				writer_fail(writer, "out of memory");
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
		return writer_fail(writer, "pythiatop broke the ring's format");
	}
	if (!record) {
		wait_for_records(writer);
		return true;
	}
	switch (record->kind) {
	case RECORD_TYPE:
		done = writer_take_type(writer, (const struct record_type *)record);
		break;
	case RECORD_STREAM:
		done = writer_take_stream(writer, (const struct record_stream *)record);
		break;
	case RECORD_EVENT:
		done = write_event(writer, iterator, (const struct record_event *)record) ||
		       writer_fail(writer, "out of memory");
		break;
	case RECORD_LOSS:
		done = write_loss(writer, iterator, (const struct record_loss *)record) ||
		       writer_fail(writer, "out of memory");
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
