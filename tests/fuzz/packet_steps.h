/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_TESTS_FUZZ_PACKET_STEPS_H
#define PT_TESTS_FUZZ_PACKET_STEPS_H

/*
 * What the fuzz targets of packets share: bytes taken as steps that give packets to up to four
 * streams, and what every record must be that comes of them.
 *
 * A step: a byte (its two lowest bits name the stream; the highest: a quiet stream, a clock value
 * of 8 bytes follows; the next: it ends), else a length of 2 bytes, little-endian, and a packet.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"
#include "source/packets.h"

#define RING_BYTES  (32u << 20) /* more than one run can fill */
#define RUN_RECORDS 16
#define STREAMS     4

struct input {
	const uint8_t *at;
	size_t left;
};

static size_t take_length(struct input *input)
{
	size_t length;

	if (input->left < 2) {
		input->left = 0;
		return 0;
	}
	length = (size_t)input->at[0] | (size_t)input->at[1] << 8;
	input->at += 2;
	input->left -= 2;
	return length < input->left ? length : input->left;
}

static void pass(struct input *input, size_t length)
{
	input->at += length;
	input->left -= length;
}

static void check_event(const struct record_event *record, uint64_t *last_ns)
{
	if (record->ts_ns < *last_ns || record->bytes > EVENT_MAX_BYTES ||
			record->bytes + sizeof(*record) > record->record.size) {
		abort();
	}
	*last_ns = record->ts_ns;
}

static void drain(struct ring *reader, uint64_t *last_ns)
{
	const struct record *record;
	bool broken = false;

	while ((record = ring_peek(reader, &broken))) {
		if (record->kind == RECORD_EVENT) {
			check_event((const struct record_event *)record, last_ns);
		}
		ring_next(reader);
	}
	if (broken) {
		abort();
	}
}

static void run(struct packets *packets, struct outlet *outlet, struct ring *reader,
		uint64_t *last_ns)
{
	enum packets_step step;

	do {
		step = packets_run(packets, RUN_RECORDS);
		drain(reader, last_ns);
	} while (step == PACKETS_MORE);
	if (step == PACKETS_ERROR) {
		outlet_flush_all(outlet);
	}
}

static void feed(struct input *input, struct packet_stream **streams)
{
	uint8_t step = *input->at;
	struct packet_stream **stream = &streams[step % STREAMS];
	uint64_t clock = 0;
	unsigned char *bytes;
	size_t length;

	pass(input, 1);
	if (!*stream) {
		return;
	}
	if (step & 0x80) {
		length = input->left < sizeof(clock) ? input->left : sizeof(clock);
		memcpy(&clock, input->at, length);
		pass(input, length);
		packet_stream_quiet(*stream, clock);
		return;
	}
	if (step & 0x40) {
		packet_stream_end(*stream);
		*stream = NULL;
		return;
	}
	length = take_length(input);
	bytes = malloc(length + 1);
	if (bytes) {
		memcpy(bytes, input->at, length);
		packet_stream_give(*stream, bytes, length);
	}
	pass(input, length);
}

/* All steps, into streams of a trace that begin now and end with the last step. */
static void take_steps(struct packets *packets, struct packet_trace *trace, struct outlet *outlet,
		struct ring *reader, struct input *input)
{
	struct packet_stream *streams[STREAMS];
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < STREAMS; i++) {
		streams[i] = packet_trace_stream(trace, i, "channel_0");
	}
	while (input->left > 0) {
		feed(input, streams);
		run(packets, outlet, reader, &last_ns);
	}
	for (uint32_t i = 0; i < STREAMS; i++) {
		if (streams[i]) {
			packet_stream_end(streams[i]);
		}
	}
	run(packets, outlet, reader, &last_ns);
	outlet_flush_all(outlet);
	drain(reader, &last_ns);
}

/* The two ends of a ring that is larger than one run can fill, emptied of the run before. */
static struct ring *ring_ends(struct ring **writer)
{
	static struct ring *reader, *other;
	uint64_t last_ns = 0;

	if (!reader) {
		struct ring_fds fds;

		reader = ring_create(RING_BYTES);
		fds = ring_fds(reader);
		other = ring_attach(&fds);
	}
	drain(reader, &last_ns);
	*writer = other;
	return reader;
}

#endif
