/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces.h"

#include <stdlib.h>
#include <string.h>

#include "pointer_map.h"
#include "pythiatop/engine.h"
#include "stream_record.h"

#define SPREAD_MAX_NS  1000000000u /* offsets further apart would delay a live view too much */

/* What belongs to one trace, to be forgotten with it. */
struct known_trace {
	struct traces *traces;
	const bt_trace *trace;
	struct known_trace *next;
	struct pointer_map streams;       /* bt_stream -> known_stream */
	struct pointer_map event_classes; /* bt_event_class -> plan */
};

struct traces {
	struct outlet *outlet;
	char *host, *session;
	struct clocks clocks;
	int64_t lowest_shift, highest_shift;
	uint32_t n_streams; /* announced */
	uint32_t n_without_clock, n_types;
	struct known_trace *first;
	struct pointer_map streams; /* of all traces */
	struct pointer_map plans;
};

struct traces *traces_create(struct outlet *outlet, const struct trace_names *names)
{
	struct traces *traces = calloc(1, sizeof(*traces));

	if (!traces) {
		return NULL;
	}
	traces->outlet = outlet;
	traces->host = strdup(names->host);
	traces->session = strdup(names->session);
	if (!traces->host || !traces->session) {
		traces_destroy(traces);
		return NULL;
	}
	return traces;
}

void traces_go_on(struct traces *traces, uint32_t n_streams, uint32_t n_types)
{
	traces->n_streams = n_streams;
	traces->n_types = n_types;
}

static void trace_release(struct known_trace *trace)
{
	struct traces *traces = trace->traces;

	for (uint32_t i = 0; i < trace->streams.room; i++) {
		if (trace->streams.pairs[i].key) {
			pointer_map_remove(&traces->streams, trace->streams.pairs[i].key);
			free(trace->streams.pairs[i].value);
		}
	}
	for (uint32_t i = 0; i < trace->event_classes.room; i++) {
		if (trace->event_classes.pairs[i].key) {
			pointer_map_remove(&traces->plans, trace->event_classes.pairs[i].key);
			plan_destroy(trace->event_classes.pairs[i].value);
		}
	}
	pointer_map_release(&trace->streams);
	pointer_map_release(&trace->event_classes);
	free(trace);
}

void traces_destroy(struct traces *traces)
{
	if (!traces) {
		return;
	}
	while (traces->first) {
		struct known_trace *trace = traces->first;

		traces->first = trace->next;
		trace_release(trace);
	}
	pointer_map_release(&traces->streams);
	pointer_map_release(&traces->plans);
	free(traces->host);
	free(traces->session);
	free(traces);
}

static void trace_ended(const bt_trace *ended, void *data)
{
	struct known_trace *trace = data;
	struct known_trace **link = &trace->traces->first;

	(void)ended;
	while (*link != trace) {
		link = &(*link)->next;
	}
	*link = trace->next;
	trace_release(trace);
}

static struct known_trace *find_trace(struct traces *traces, const bt_trace *bt_trace)
{
	struct known_trace *trace = traces->first;
	bt_listener_id id;

	while (trace && trace->trace != bt_trace) {
		trace = trace->next;
	}
	if (trace) {
		return trace;
	}
	trace = calloc(1, sizeof(*trace));
	if (!trace) {
		return NULL;
	}
	trace->traces = traces;
	trace->trace = bt_trace;
	if (bt_trace_add_destruction_listener(bt_trace, trace_ended, trace, &id) !=
			BT_TRACE_ADD_LISTENER_STATUS_OK) {
		free(trace);
		return NULL;
	}
	trace->next = traces->first;
	traces->first = trace;
	return trace;
}

/* A text of the trace's environment, or `otherwise`. */
static const char *env_text(const bt_trace *trace, const char *name, const char *otherwise)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	if (!value || !bt_value_is_string(value) || !bt_value_string_get(value)[0]) {
		return otherwise;
	}
	return bt_value_string_get(value);
}

static uint8_t trace_domain(const bt_trace *trace)
{
	const char *domain = env_text(trace, "domain", "");

	if (strcmp(domain, "kernel") == 0) {
		return DOMAIN_KERNEL;
	}
	return strcmp(domain, "ust") == 0 ? DOMAIN_UST : DOMAIN_UNKNOWN;
}

static int32_t find_cpu_member(const bt_stream_class *stream_class)
{
	const bt_field_class *context =
			bt_stream_class_borrow_packet_context_field_class_const(stream_class);
	uint64_t n = context ? bt_field_class_structure_get_member_count(context) : 0;

	for (uint64_t i = 0; i < n && i < INT32_MAX; i++) {
		const bt_field_class_structure_member *member =
				bt_field_class_structure_borrow_member_by_index_const(context, i);
		bt_field_class_type type = bt_field_class_get_type(
				bt_field_class_structure_member_borrow_field_class_const(member));

		if (strcmp(bt_field_class_structure_member_get_name(member), "cpu_id") == 0 &&
				bt_field_class_type_is(
						type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
			return (int32_t)i;
		}
	}
	return -1;
}

static void set_cpu(struct known_stream *stream, uint32_t cpu)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->stream);
	uint64_t channel = bt_stream_class_get_id(class), id = bt_stream_get_id(stream->stream);

	stream->cpu = cpu;
	stream->rank = stream_rank(cpu, stream->domain, channel, id);
}

static struct known_stream *add_stream(struct traces *traces, const bt_stream *bt_stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(bt_stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	const bt_trace *bt_trace = bt_stream_borrow_trace_const(bt_stream);
	struct known_trace *trace = find_trace(traces, bt_trace);
	struct known_stream *stream = trace ? calloc(1, sizeof(*stream)) : NULL;

	if (!stream) {
		return NULL;
	}
	if (!pointer_map_add(&trace->streams, bt_stream, stream)) {
		free(stream);
		return NULL;
	}
	if (!pointer_map_add(&traces->streams, bt_stream, stream)) {
		return NULL;
	}
	stream->stream = bt_stream;
	stream->cpu_member = find_cpu_member(class);
	stream->domain = trace_domain(bt_trace);
	stream->has_clock = clock != NULL;
	set_cpu(stream, CPU_NONE);
	if (!clock) {
		traces->n_without_clock++;
	} else {
		struct clock_description description = {
				.uuid = bt_clock_class_get_uuid(clock),
				.frequency = bt_clock_class_get_frequency(clock),
		};

		bt_clock_class_get_offset(clock, &description.offset_s, &description.offset_cycles);
		stream->clock = clocks_rule(&traces->clocks, &description);
		if (stream->clock.shift_ns < traces->lowest_shift) {
			traces->lowest_shift = stream->clock.shift_ns;
		}
		if (stream->clock.shift_ns > traces->highest_shift) {
			traces->highest_shift = stream->clock.shift_ns;
		}
	}
	return stream;
}

uint32_t traces_without_clock(const struct traces *traces)
{
	return traces->n_without_clock;
}

uint64_t traces_clock_spread(const struct traces *traces)
{
	uint64_t spread_ns = (uint64_t)traces->highest_shift - (uint64_t)traces->lowest_shift;

	return spread_ns < SPREAD_MAX_NS ? spread_ns : SPREAD_MAX_NS;
}

/* Announces the event classes of a stream class that have come since the last time. */
static bool announce_classes(struct traces *traces, const bt_stream_class *class)
{
	const bt_trace_class *trace_class = bt_stream_class_borrow_trace_class_const(class);
	struct known_trace *trace = traces->first;
	uint64_t n = bt_stream_class_get_event_class_count(class);

	while (trace && bt_trace_borrow_class_const(trace->trace) != trace_class) {
		trace = trace->next;
	}
	if (!trace) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		const bt_event_class *event_class =
				bt_stream_class_borrow_event_class_by_index_const(class, i);
		struct plan *plan;

		if (pointer_map_find(&trace->event_classes, event_class)) {
			continue;
		}
		plan = plan_create(event_class, traces->n_types, traces->outlet);
		if (!plan) {
			return false;
		}
		traces->n_types++;
		if (!pointer_map_add(&trace->event_classes, event_class, plan)) {
			plan_destroy(plan);
			return false;
		}
		if (!pointer_map_add(&traces->plans, event_class, plan)) {
			return false;
		}
	}
	return true;
}

struct known_stream *traces_stream(struct traces *traces, const bt_stream *bt_stream)
{
	struct known_stream *stream = pointer_map_find(&traces->streams, bt_stream);

	if (!stream) {
		stream = add_stream(traces, bt_stream);
		if (stream && !announce_classes(traces, bt_stream_borrow_class_const(bt_stream))) {
			return NULL;
		}
	}
	return stream;
}

const struct plan *traces_plan(struct traces *traces, const bt_event_class *event_class)
{
	const struct plan *plan = pointer_map_find(&traces->plans, event_class);

	if (!plan && announce_classes(traces,
				     bt_event_class_borrow_stream_class_const(event_class))) {
		plan = pointer_map_find(&traces->plans, event_class);
	}
	return plan;
}

void traces_begin_packet(struct known_stream *stream, const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet);
	uint64_t cpu;

	if (stream->cpu_member < 0 || !context) {
		return;
	}
	cpu = bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(
					context, (uint64_t)stream->cpu_member));
	set_cpu(stream, cpu < CPU_NONE ? (uint32_t)cpu : CPU_NONE);
}

static const char *file_name(const struct known_stream *stream)
{
	const char *path = bt_stream_get_name(stream->stream);
	const char *base = path ? strrchr(path, '/') : NULL;

	return base ? base + 1 : ""; /* a live stream's name is no file's */
}

bool traces_announce(struct traces *traces, struct known_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream->stream);

	if (stream->announced) {
		return true;
	}
	stream->announced = true;
	stream->number = traces->n_streams++;
	return stream_record_write(traces->outlet, &(struct stream_description){
			.number = stream->number,
			.domain = stream->domain,
			.cpu = stream->cpu,
			.host = env_text(trace, "hostname", traces->host),
			.session = env_text(trace, "trace_name", traces->session),
			.kernel_release = env_text(trace, "kernel_release", ""),
			.file = file_name(stream),
			.clock = &stream->clock,
	});
}
