/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "packet_parts.h"

#define NS_PER_S 1000000000u

/* --- Classes ------------------------------------------------------------------------------------
 */

/* Announces the event classes that have come since the last time. */
static bool announce(struct packet_trace *trace, struct packet_class *class)
{
	struct packets *packets = trace->packets;
	const struct ctf_stream *stream = class->stream;

	if (class->n_plans == stream->n_events) {
		return true;
	}
	if (!array_resize(&class->plans, stream->n_events)) {
		return false;
	}
	while (class->n_plans < stream->n_events) {
		struct packet_plan *plan = packet_plan_create(stream,
				stream->events[class->n_plans], packets->n_types, packets->outlet);

		if (!plan) {
			return false;
		}
		class->plans[class->n_plans++] = plan;
		packets->n_types++;
	}
	return true;
}

struct packet_class *packet_class_of(struct packet_trace *trace, const struct ctf_stream *stream)
{
	struct packet_class *class = trace->classes;

	while (class && class->stream != stream) {
		class = class->next;
	}
	if (!class) {
		class = calloc(1, sizeof(*class));
		if (!class) {
			return NULL;
		}
		class->stream = stream;
		class->next = trace->classes;
		trace->classes = class;
	}
	return announce(trace, class) ? class : NULL;
}

const struct packet_plan *packet_plan_of(struct packet_stream *stream)
{
	uint32_t number = stream->reader.event->number;

	if (number >= stream->class->n_plans && !announce(stream->trace, stream->class)) {
		return NULL;
	}
	return stream->class->plans[number];
}

void packet_trace_release(struct packet_trace *trace)
{
	while (trace->classes) {
		struct packet_class *class = trace->classes;

		trace->classes = class->next;
		for (uint32_t i = 0; i < class->n_plans; i++) {
			packet_plan_destroy(class->plans[i]);
		}
		free(class->plans);
		free(class);
	}
	ctf_trace_destroy(trace->ctf);
	free(trace->rest);
	free(trace);
}

/* --- Metadata -----------------------------------------------------------------------------------
 */

const char *packet_trace_text(
		const struct packet_trace *trace, const char *name, const char *otherwise)
{
	const struct ctf_variable *variable = ctf_trace_metadata(trace->ctf)->environment;

	for (; variable; variable = variable->next) {
		if (strcmp(variable->name, name) == 0) {
			return variable->text[0] ? variable->text : otherwise;
		}
	}
	return otherwise;
}

/* Appends what has come to the rest of last time. */
static bool append_text(struct packet_trace *trace, const char *text, size_t length)
{
	char *rest;

	if (length > TSDL_MAX_BYTES - trace->rest_bytes) {
		return false;
	}
	rest = realloc(trace->rest, trace->rest_bytes + length + 1);
	if (!rest) {
		return false;
	}
	memcpy(rest + trace->rest_bytes, text, length);
	trace->rest = rest;
	trace->rest_bytes += length;
	return true;
}

/* Reads what is whole, and keeps what is left. */
static bool read_text(struct packet_trace *trace, char *error, size_t room)
{
	size_t whole = ctf_trace_whole(trace->rest, trace->rest_bytes);

	if (whole > 0 && !ctf_trace_add(trace->ctf, trace->rest, whole, error, room)) {
		return false;
	}
	trace->rest_bytes -= whole;
	memmove(trace->rest, trace->rest + whole, trace->rest_bytes);
	return true;
}

bool packet_trace_metadata(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		char *error, size_t room)
{
	size_t length;
	char *text;
	bool appended;

	if (trace->broken) {
		snprintf(error, room, "metadata that could not be read before");
		return false;
	}
	trace->broken = true;
	text = tsdl_text(bytes, size, &length);
	if (!text) {
		snprintf(error, room, "the packets of the metadata contradict each other");
		return false;
	}
	appended = append_text(trace, text, length);
	free(text);
	if (!appended) {
		snprintf(error, room, "too much metadata, or out of memory");
		return false;
	}
	trace->broken = !read_text(trace, error, room);
	return !trace->broken;
}

bool packet_trace_is_whole(const struct packet_trace *trace, char *error, size_t room)
{
	for (size_t i = 0; i < trace->rest_bytes; i++) {
		if (!isspace((unsigned char)trace->rest[i])) {
			snprintf(error, room, "its metadata ends in the middle of a statement");
			return false;
		}
	}
	if (!ctf_trace_streams(trace->ctf)) {
		snprintf(error, room, "its metadata declares no stream");
		return false;
	}
	return true;
}

/* --- Clocks -------------------------------------------------------------------------------------
 */

/* As text; false if it is none. */
static bool parse_uuid(const char *text, uint8_t uuid[16])
{
	for (uint32_t i = 0; i < 16; i++) {
		unsigned int byte;

		text += *text == '-';
		if (sscanf(text, "%2x", &byte) != 1) {
			return false;
		}
		uuid[i] = (uint8_t)byte;
		text += 2;
	}
	return *text == '\0';
}

struct packet_clock packet_clock_of(struct packets *packets, const struct ctf_clock *clock)
{
	uint8_t uuid[16];
	struct clock_description description = {
			.uuid = strlen(clock->uuid) >= 32 && parse_uuid(clock->uuid, uuid) ? uuid
											   : NULL,
			.frequency = clock->hz,
			.offset_s = clock->offset_s,
			.offset_cycles = clock->offset_cycles,
	};
	struct packet_clock used = {
			.offset_s = clock->offset_s + (int64_t)(clock->offset_cycles / clock->hz),
			.offset_cycles = clock->offset_cycles % clock->hz,
			.rule = clocks_rule(&packets->clocks, &description),
	};

	if (used.rule.shift_ns < packets->lowest_shift) {
		packets->lowest_shift = used.rule.shift_ns;
	}
	if (used.rule.shift_ns > packets->highest_shift) {
		packets->highest_shift = used.rule.shift_ns;
	}
	return used;
}

/* As libbabeltrace2 does it, so that every tool shows the same time. False where it would not. */
static bool rounded_ns(uint64_t cycles, uint64_t hz, int64_t *ns)
{
	double value = 1e9 * (double)cycles / (double)hz;

	if (value >= (double)INT64_MAX) {
		return false;
	}
	*ns = (int64_t)value;
	return true;
}

static bool clock_ns_rounded(const struct packet_clock *clock, uint64_t value, int64_t *ns)
{
	int64_t seconds, cycles;

	return rounded_ns(clock->offset_cycles, clock->rule.frequency, &cycles) &&
	       rounded_ns(value, clock->rule.frequency, ns) &&
	       !__builtin_mul_overflow(clock->offset_s, (int64_t)NS_PER_S, &seconds) &&
	       !__builtin_add_overflow(*ns, seconds, ns) &&
	       !__builtin_add_overflow(*ns, cycles, ns) &&
	       !__builtin_add_overflow(*ns, clock->rule.shift_ns, ns);
}

uint64_t packet_clock_ns(const struct packet_clock *clock, uint64_t value)
{
	int64_t ns;

	if (clock->rule.frequency != NS_PER_S && clock_ns_rounded(clock, value, &ns)) {
		return ns < 0 ? 0 : (uint64_t)ns;
	}
	return clock_rule_ns(&clock->rule, value);
}

/* --- A look at a packet -------------------------------------------------------------------------
 */

static uint64_t look_ns(struct packet_trace *trace, const struct ctf_reader *reader,
		enum ctf_meaning meaning)
{
	const struct ctf_clock *clock = reader->stream->clock;
	struct packet_clock used;

	if (!clock || !(reader->place.known & (1u << meaning))) {
		return 0;
	}
	used = packet_clock_of(trace->packets, clock);
	return packet_clock_ns(&used, reader->place.told[meaning]);
}

bool packet_trace_look(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		struct packet_look *look, char *error, size_t room)
{
	struct ctf_reader *reader = calloc(1, sizeof(*reader));
	uint64_t bits;

	if (!reader) {
		snprintf(error, room, "out of memory");
		return false;
	}
	if (!ctf_reader_open(reader, trace->ctf, bytes, size)) {
		snprintf(error, room, "%s", reader->place.fault);
		free(reader);
		return false;
	}
	bits = ctf_reader_told(reader, CTF_MEANS_PACKET_SIZE, 0);
	bits = bits ? bits : ctf_reader_told(reader, CTF_MEANS_CONTENT_SIZE, 0);
	*look = (struct packet_look){.class_id = reader->stream->id,
			.stream_id = ctf_reader_told(reader, CTF_MEANS_STREAM, UINT64_MAX),
			.bytes = bits ? bits / 8 + (bits % 8 != 0) : size,
			.begin_ns = look_ns(trace, reader, CTF_MEANS_BEGIN),
			.end_ns = look_ns(trace, reader, CTF_MEANS_END)};
	free(reader);
	return true;
}
