/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "packet_parts.h"
#include "pythiatop/engine.h"

#define SPREAD_MAX_NS 1000000000u /* offsets further apart would delay a live view too much */

_Static_assert(sizeof(struct packet_stream) <= PACKET_STREAM_BYTES, "a stream takes more");

struct packets *packets_create(struct outlet *outlet, const struct trace_names *names)
{
	struct packets *packets = calloc(1, sizeof(*packets));

	if (!packets) {
		return NULL;
	}
	packets->outlet = outlet;
	packets->host = strdup(names->host);
	packets->session = strdup(names->session);
	if (!packets->host || !packets->session || !tree_init(&packets->desk.tree)) {
		packets_destroy(packets);
		return NULL;
	}
	return packets;
}

void packets_destroy(struct packets *packets)
{
	if (!packets) {
		return;
	}
	for (uint32_t i = 0; i < packets->n_streams; i++) {
		packet_stream_release(packets->streams[i]);
	}
	while (packets->traces) {
		struct packet_trace *trace = packets->traces;

		packets->traces = trace->next;
		packet_trace_release(trace);
	}
	loser_tree_release(&packets->tree);
	tree_release(&packets->desk.tree);
	free(packets->streams);
	free(packets->failed);
	free(packets->host);
	free(packets->session);
	free(packets);
}

/* --- Traces and streams -------------------------------------------------------------------------
 */

struct packet_trace *packets_trace(struct packets *packets)
{
	struct packet_trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		return NULL;
	}
	trace->ctf = ctf_trace_create();
	if (!trace->ctf) {
		free(trace);
		return NULL;
	}
	trace->packets = packets;
	trace->next = packets->traces;
	packets->traces = trace;
	return trace;
}

/* For one more stream. */
static bool make_room(struct packets *packets)
{
	uint32_t room = packets->streams_room;

	if (packets->n_streams < room) {
		return true;
	}
	room = array_room(room, packets->n_streams + 1);
	if (!array_resize(&packets->streams, room) || !array_resize(&packets->failed, room)) {
		return false;
	}
	packets->streams_room = room;
	return true;
}

struct packet_stream *packet_trace_stream(struct packet_trace *trace, uint64_t id, const char *name)
{
	struct packets *packets = trace->packets;
	struct packet_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		return NULL;
	}
	stream->name = strdup(name);
	if (!stream->name || !make_room(packets)) {
		free(stream->name);
		free(stream);
		return NULL;
	}
	stream->trace = trace;
	stream->id = id;
	stream->last = &stream->first;
	stream->discarded = stream->sequence = stream->end = UINT64_MAX;
	stream->cpu = CPU_NONE;
	packets->streams[packets->n_streams++] = stream;
	packets->changed = true;
	trace->n_streams++;
	return stream;
}

bool packet_stream_give(struct packet_stream *stream, unsigned char *bytes, size_t size)
{
	struct packet *packet = size <= PACKET_MAX_BYTES ? calloc(1, sizeof(*packet)) : NULL;

	if (!packet || stream->state == STREAM_GONE) {
		free(packet);
		free(bytes);
		return stream->state == STREAM_GONE;
	}
	packet->bytes = bytes;
	packet->size = size;
	*stream->last = packet;
	stream->last = &packet->next;
	stream->n_held++;
	stream->held_bytes += size;
	if (stream->state == STREAM_WAITS) {
		stream->trace->packets->changed = true;
	}
	return true;
}

void packet_stream_quiet(struct packet_stream *stream, uint64_t clock_value)
{
	struct packets *packets = stream->trace->packets;
	const struct ctf_clock *clock = ctf_trace_metadata(stream->trace->ctf)->clocks;
	struct packet_clock used;
	uint64_t ns;

	if (stream->has_clock) {
		ns = packet_clock_ns(&stream->clock, clock_value);
	} else if (!stream->class && clock) {
		used = packet_clock_of(packets, clock);
		ns = packet_clock_ns(&used, clock_value);
	} else {
		return;
	}
	if (ns > stream->quiet_ns) {
		stream->quiet_ns = ns;
	}
	if (stream->state == STREAM_WAITS && ns > stream->ts_ns) {
		stream->ts_ns = ns;
		packets->changed = true;
	}
}

bool packet_stream_wants(const struct packet_stream *stream)
{
	return stream->n_held == 0 && stream->state != STREAM_GONE;
}

uint32_t packet_stream_held(const struct packet_stream *stream, size_t *bytes)
{
	*bytes = stream->held_bytes;
	return stream->n_held;
}

void packet_stream_end(struct packet_stream *stream)
{
	stream->ended = true;
	stream->trace->packets->changed = true;
}

void packet_trace_end(struct packet_trace *trace)
{
	struct packets *packets = trace->packets;

	trace->ended = true;
	packets->changed = true;
	for (uint32_t i = 0; i < packets->n_streams; i++) {
		if (packets->streams[i]->trace == trace) {
			packets->streams[i]->ended = true;
		}
	}
}

/* --- The merge ----------------------------------------------------------------------------------
 */

uint64_t packets_clock_spread(const struct packets *packets)
{
	uint64_t spread_ns = (uint64_t)packets->highest_shift - (uint64_t)packets->lowest_shift;

	return spread_ns < SPREAD_MAX_NS ? spread_ns : SPREAD_MAX_NS;
}

/* Forgets traces that are over. */
static void tidy_traces(struct packets *packets)
{
	struct packet_trace **link = &packets->traces;

	while (*link) {
		struct packet_trace *trace = *link;

		if (trace->ended && trace->n_streams == 0) {
			*link = trace->next;
			packet_trace_release(trace);
		} else {
			link = &trace->next;
		}
	}
}

/*
 * Forgets streams that are over. One that has failed is not merged any more, but stays behind the
 * others until whoever gives its packets has ended it.
 */
static void tidy(struct packets *packets)
{
	uint32_t n = 0, n_failed = 0;

	for (uint32_t i = 0; i < packets->n_streams; i++) {
		struct packet_stream *stream = packets->streams[i];

		if (stream->state != STREAM_GONE) {
			packets->streams[n++] = stream;
		} else if (stream->ended) {
			stream->trace->n_streams--;
			packet_stream_release(stream);
		} else {
			packets->failed[n_failed++] = stream;
		}
	}
	if (n_failed > 0) {
		memcpy(packets->streams + n, packets->failed,
				n_failed * sizeof(struct packet_stream *));
	}
	packets->n_merged = n;
	packets->n_streams = n + n_failed;
	tidy_traces(packets);
}

static void set_key(struct packets *packets, uint32_t i)
{
	const struct packet_stream *stream = packets->streams[i];

	packets->tree.keys[i] = (struct merge_key){stream->ts_ns, stream->rank};
}

/* Brings the streams that were waiting to what they have been given, and lets all play. */
static bool set_out(struct packets *packets)
{
	packets->changed = false;
	for (uint32_t i = 0; i < packets->n_streams; i++) {
		if (packets->streams[i]->state == STREAM_WAITS &&
				!packet_stream_advance(packets->streams[i])) {
			return false;
		}
	}
	tidy(packets);
	if (!loser_tree_resize(&packets->tree, packets->n_merged)) {
		return false;
	}
	for (uint32_t i = 0; i < packets->n_merged; i++) {
		set_key(packets, i);
	}
	loser_tree_play(&packets->tree);
	return true;
}

/* All is known up to what the stream that is waited for cannot be before. */
static enum packets_step wait_for(struct packets *packets, const struct packet_stream *stream)
{
	uint64_t spread_ns = packets_clock_spread(packets);
	uint64_t known_ns = stream->ts_ns > spread_ns ? stream->ts_ns - spread_ns - 1 : 0;

	if (known_ns <= packets->told_ns) {
		return PACKETS_WAIT;
	}
	packets->told_ns = known_ns;
	if (known_ns > packets->latest_ns) {
		packets->latest_ns = known_ns;
	}
	if (!outlet_watermark(packets->outlet, known_ns)) {
		return PACKETS_ERROR;
	}
	outlet_flush(packets->outlet, known_ns);
	return PACKETS_WAIT;
}

enum packets_step packets_run(struct packets *packets, uint32_t most)
{
	packets->wall_ns = clock_real_ns();
	for (uint32_t i = 0; i < most; i++) {
		struct packet_stream *stream;
		uint32_t winner;

		if (packets->changed && !set_out(packets)) {
			return PACKETS_ERROR;
		}
		if (packets->n_merged == 0) {
			return PACKETS_END;
		}
		winner = loser_tree_winner(&packets->tree);
		stream = packets->streams[winner];
		if (stream->state == STREAM_WAITS) {
			return wait_for(packets, stream);
		}
		if (!packet_stream_write(stream) || !packet_stream_advance(stream)) {
			return PACKETS_ERROR;
		}
		if (stream->state == STREAM_GONE) {
			packets->changed = true;
		} else {
			set_key(packets, winner);
			loser_tree_replay(&packets->tree);
		}
	}
	return PACKETS_MORE;
}

void packets_expect(struct packets *packets, uint64_t begin_ns, uint64_t end_ns)
{
	packets->begin_ns = begin_ns;
	packets->end_ns = end_ns;
}

void packets_announced(const struct packets *packets, uint32_t *n_streams, uint32_t *n_types)
{
	*n_streams = packets->n_numbers;
	*n_types = packets->n_types;
}

uint64_t packets_events(const struct packets *packets)
{
	return packets->events;
}

uint64_t packets_latest_ns(const struct packets *packets)
{
	return packets->latest_ns;
}

uint32_t packets_without_clock(const struct packets *packets)
{
	return packets->n_without_clock;
}

const char *packets_fault(const struct packets *packets, uint32_t *n_failed)
{
	*n_failed = packets->n_failed;
	return packets->fault;
}
