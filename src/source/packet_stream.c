/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet_parts.h"
#include "pythiatop/engine.h"
#include "stream_record.h"

static void free_packet(struct packet_stream *stream)
{
	struct packet *packet = stream->first;

	stream->first = packet->next;
	if (!stream->first) {
		stream->last = &stream->first;
	}
	stream->n_held--;
	stream->held_bytes -= packet->size;
	free(packet->bytes);
	free(packet);
}

void packet_stream_release(struct packet_stream *stream)
{
	while (stream->first) {
		free_packet(stream);
	}
	free(stream->name);
	free(stream);
}

/* Nothing more of this stream can be read; the others go on. */
static void fail(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;

	if (packets->n_failed++ == 0) {
		snprintf(packets->fault, sizeof(packets->fault), "stream %s%s%" PRIu64 ": %s",
				stream->name, stream->name[0] ? ", " : "", stream->id,
				stream->reader.place.fault);
	}
	while (stream->first) {
		free_packet(stream);
	}
	stream->stage = STAGE_NONE;
	stream->state = STREAM_GONE;
}

static void set_cpu(struct packet_stream *stream, uint32_t cpu)
{
	stream->cpu = cpu;
	stream->rank = stream_rank(cpu, stream->domain, stream->reader.stream->id, stream->id);
}

static bool announce(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;
	const struct packet_trace *trace = stream->trace;

	if (stream->announced) {
		return true;
	}
	stream->announced = true;
	stream->number = packets->n_numbers++;
	return stream_record_write(packets->outlet,
			&(struct stream_description){
					.number = stream->number,
					.domain = stream->domain,
					.cpu = stream->cpu,
					.host = packet_trace_text(trace, "hostname", packets->host),
					.session = packet_trace_text(
							trace, "trace_name", packets->session),
					.kernel_release = packet_trace_text(
							trace, "kernel_release", ""),
					.file = stream->name,
					.clock = &stream->clock.rule,
			});
}

/* --- Packets ------------------------------------------------------------------------------------
 */

static uint8_t domain_of(const struct packet_trace *trace)
{
	const char *domain = packet_trace_text(trace, "domain", "");

	if (strcmp(domain, "kernel") == 0) {
		return DOMAIN_KERNEL;
	}
	return strcmp(domain, "ust") == 0 ? DOMAIN_UST : DOMAIN_UNKNOWN;
}

/* At the first packet it turns out what stream it is. */
static bool meet(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;
	const struct ctf_stream *class = stream->reader.stream;

	stream->id = ctf_reader_told(&stream->reader, CTF_MEANS_STREAM, stream->id);
	stream->domain = domain_of(stream->trace);
	stream->has_clock = class->clock != NULL;
	if (class->clock) {
		stream->clock = packet_clock_of(packets, class->clock);
		outlet_set_slack(packets->outlet, packets_clock_spread(packets));
	} else {
		packets->n_without_clock++;
	}
	set_cpu(stream, CPU_NONE);
	stream->class = packet_class_of(stream->trace, class);
	return stream->class != NULL;
}

enum opening {
	OPENED,
	NOT_OPENED, /* it has failed */
	NO_MEMORY,
};

static enum opening open_packet(struct packet_stream *stream)
{
	struct ctf_reader *reader = &stream->reader;

	if (!ctf_reader_open(reader, stream->trace->ctf, stream->first->bytes,
			    stream->first->size)) {
		fail(stream);
		return NOT_OPENED;
	}
	if (!stream->class && !meet(stream)) {
		return NO_MEMORY;
	}
	stream->stage = STAGE_LOST_EVENTS;
	return OPENED;
}

static void close_packet(struct packet_stream *stream)
{
	struct ctf_reader *reader = &stream->reader;

	stream->discarded = ctf_reader_told(reader, CTF_MEANS_DISCARDED, UINT64_MAX);
	stream->sequence = ctf_reader_told(reader, CTF_MEANS_SEQUENCE, UINT64_MAX);
	stream->end = ctf_reader_told(reader, CTF_MEANS_END, UINT64_MAX);
	if (stream->end != UINT64_MAX) {
		reader->place.clock = stream->end;
	}
	free_packet(stream);
	stream->stage = STAGE_NONE;
}

static uint64_t told_ns(const struct packet_stream *stream, uint64_t value)
{
	return stream->has_clock ? packet_clock_ns(&stream->clock, value) : stream->latest_ns;
}

static void be_at_loss(struct packet_stream *stream)
{
	stream->is_event = false;
	stream->ts_ns = stream->loss.begin_ns;
	stream->state = STREAM_READY;
}

static bool has_times(const struct packet_stream *stream)
{
	const struct ctf_stream *class = stream->reader.stream;

	return class->has_begin && class->has_end && stream->has_clock;
}

/*
 * A counter that never goes back tells what was lost since the packet before; the first packet's
 * that something was, before it ended.
 */
static bool find_lost_events(struct packet_stream *stream)
{
	const struct ctf_reader *reader = &stream->reader;
	uint64_t now = ctf_reader_told(reader, CTF_MEANS_DISCARDED, UINT64_MAX);
	uint64_t begin = ctf_reader_told(reader, CTF_MEANS_BEGIN, 0);
	uint64_t end = ctf_reader_told(reader, CTF_MEANS_END, 0);
	bool is_first = stream->discarded == UINT64_MAX;

	if (now == UINT64_MAX || (is_first ? now == 0 : now == stream->discarded)) {
		return false;
	}
	stream->loss = (struct stream_loss){
			.begin_ns = stream->latest_ns, .end_ns = stream->latest_ns};
	if (has_times(stream)) {
		stream->loss.begin_ns = told_ns(stream, is_first ? begin : stream->end);
		stream->loss.end_ns = told_ns(stream, end);
	}
	stream->loss.count = is_first ? 0 : now - stream->discarded;
	return true;
}

static bool find_lost_packets(struct packet_stream *stream)
{
	const struct ctf_reader *reader = &stream->reader;
	uint64_t now = ctf_reader_told(reader, CTF_MEANS_SEQUENCE, UINT64_MAX);

	if (now == UINT64_MAX || stream->sequence == UINT64_MAX || now - stream->sequence <= 1) {
		return false;
	}
	stream->loss = (struct stream_loss){.begin_ns = stream->latest_ns,
			.end_ns = stream->latest_ns,
			.of_packets = true};
	if (has_times(stream)) {
		stream->loss.begin_ns = told_ns(stream, stream->end);
		stream->loss.end_ns = told_ns(stream, ctf_reader_told(reader, CTF_MEANS_BEGIN, 0));
	}
	stream->loss.count = now - stream->sequence - 1;
	return true;
}

static void begin_events(struct packet_stream *stream)
{
	const struct ctf_reader *reader = &stream->reader;
	const struct ctf_field *cpu_field = reader->stream->cpu;
	bool has_begin = reader->stream->has_begin && stream->has_clock;

	if (cpu_field && cpu_field->is_shown) {
		uint64_t cpu = reader->place.kept[cpu_field->kept];

		set_cpu(stream, cpu < CPU_NONE ? (uint32_t)cpu : CPU_NONE);
	}
	stream->packet_ns = has_begin ? told_ns(stream, ctf_reader_told(reader, CTF_MEANS_BEGIN, 0))
				      : 0;
	stream->stage = STAGE_EVENTS;
}

/* --- Events -------------------------------------------------------------------------------------
 */

static bool is_misdated(const struct packet_stream *stream, uint64_t ts_ns)
{
	const struct packets *packets = stream->trace->packets;
	uint64_t begin_ns = stream->packet_ns ? stream->packet_ns : packets->begin_ns;

	return clock_is_misdated(ts_ns, begin_ns, packets->end_ns, packets->wall_ns);
}

/* The whole event, before its record is begun. *plan NULL: it is cut off, and the stream has
 * failed. */
static bool read_event(struct packet_stream *stream, const struct packet_plan **plan)
{
	*plan = packet_plan_of(stream);
	if (!*plan) {
		return false;
	}
	if (!packet_plan_read(*plan, &stream->reader, &stream->trace->packets->desk)) {
		fail(stream);
		*plan = NULL;
		return true;
	}
	return announce(stream);
}

/* An event that cannot have been when it says. False: no memory, console gone. */
static bool put_aside(struct packet_stream *stream, uint64_t ts_ns)
{
	struct packets *packets = stream->trace->packets;
	const struct packet_plan *plan;
	struct record_misdated *record;

	if (!read_event(stream, &plan)) {
		return false;
	}
	if (!plan) {
		return true;
	}
	record = outlet_begin(packets->outlet, sizeof(*record), RECORD_MISDATED);
	if (!record) {
		return false;
	}
	record->stream = stream->number;
	record->reserved = 0;
	record->ts_ns = ts_ns;
	return outlet_commit(packets->outlet);
}

/* Whether the stream has come to an event now. *done: nothing more to do for now. */
static bool next_event(struct packet_stream *stream, bool *done)
{
	uint64_t ts_ns;

	switch (ctf_reader_next(&stream->reader)) {
	case CTF_STEP_END:
		close_packet(stream);
		return true;
	case CTF_STEP_FAULT:
		fail(stream);
		return true;
	default:
		break;
	}
	if (stream->has_clock) {
		ts_ns = packet_clock_ns(&stream->clock, stream->reader.place.clock);
		if (is_misdated(stream, ts_ns)) {
			return put_aside(stream, ts_ns);
		}
		stream->latest_ns = ts_ns;
	}
	stream->is_event = true;
	stream->ts_ns = stream->latest_ns;
	stream->state = STREAM_READY;
	*done = true;
	return true;
}

/*
 * The stream has no packet: it waits, and nothing of it can lie before what is known. Live, the end
 * of its packet tells so as well: where all streams flush at once, nobody then waits for another
 * look. (The next packet of a recording is there at once.)
 */
static void be_without_packet(struct packet_stream *stream)
{
	uint64_t known_ns = stream->quiet_ns;

	/* What was lost after it is told at its last event where packets have no times. */
	if (stream->end != UINT64_MAX && has_times(stream) && stream->trace->packets->end_ns == 0) {
		uint64_t end_ns = told_ns(stream, stream->end);

		if (end_ns > known_ns && !is_misdated(stream, end_ns)) {
			known_ns = end_ns;
		}
	}
	if (known_ns > stream->ts_ns) {
		stream->ts_ns = known_ns;
	}
	stream->state = stream->ended ? STREAM_GONE : STREAM_WAITS;
}

/* One stage on. False: no memory, console gone. */
static bool go_on(struct packet_stream *stream, bool *done)
{
	switch (stream->stage) {
	case STAGE_NONE:
		if (!stream->first) {
			be_without_packet(stream);
			*done = true;
			return true;
		}
		return open_packet(stream) != NO_MEMORY;
	case STAGE_LOST_EVENTS:
		stream->stage = STAGE_LOST_PACKETS;
		*done = find_lost_events(stream);
		break;
	case STAGE_LOST_PACKETS:
		stream->stage = STAGE_BEGIN;
		*done = find_lost_packets(stream);
		break;
	case STAGE_BEGIN:
		begin_events(stream);
		return true;
	default:
		return next_event(stream, done);
	}
	if (*done) {
		be_at_loss(stream);
	}
	return true;
}

bool packet_stream_advance(struct packet_stream *stream)
{
	bool done = false;

	while (!done) {
		if (stream->state == STREAM_GONE) {
			return true;
		}
		if (!go_on(stream, &done)) {
			return false;
		}
	}
	return true;
}

static bool write_loss(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;
	struct record_loss *record;

	if (!announce(stream)) {
		return false;
	}
	record = outlet_begin(packets->outlet, sizeof(*record), RECORD_LOSS);
	if (!record) {
		return false;
	}
	record->stream = stream->number;
	record->packets = stream->loss.of_packets ? 1 : 0;
	record->begin_ns = stream->loss.begin_ns;
	record->end_ns = stream->loss.end_ns;
	record->count = stream->loss.count;
	record->cpu = stream->cpu;
	record->reserved = 0;
	return outlet_commit_at(packets->outlet, stream->ts_ns, stream->rank);
}

static bool write_event(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;
	const struct packet_plan *plan;
	struct record_event *record;

	if (!read_event(stream, &plan)) {
		return false;
	}
	if (!plan) {
		return true;
	}
	record = packet_plan_write(plan, &stream->reader, &packets->desk, packets->outlet);
	if (!record) {
		return false;
	}
	record->ts_ns = stream->ts_ns;
	record->stream = stream->number;
	record->cpu = stream->cpu;
	packets->events++;
	return outlet_commit_at(packets->outlet, stream->ts_ns, stream->rank);
}

bool packet_stream_write(struct packet_stream *stream)
{
	struct packets *packets = stream->trace->packets;

	if (stream->ts_ns > packets->latest_ns) {
		packets->latest_ns = stream->ts_ns;
	}
	return stream->is_event ? write_event(stream) : write_loss(stream);
}
