/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "pythiatop/engine.h"
#include "tree.h"

#define EVENTS_PER_RUN 2048

/* Where one input stands: at a message that has a time, or at its end. */
struct input {
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t n, next;
	uint64_t ts_ns, rank;        /* of messages[next] */
	struct known_stream *stream; /* of messages[next] */
	bool is_event;
};

struct reader {
	struct outlet *outlet;
	struct traces *traces;
	struct tree tree;
	struct input *inputs;
	uint32_t n_inputs;
	struct input **heap; /* the inputs that are at a message, least first */
	uint32_t n_heap;
	uint32_t starting; /* the first input that has not been brought to its first message */
	uint64_t events;
	uint64_t latest_ns;
	uint64_t wall_ns;          /* when this run began */
	uint64_t begin_ns, end_ns; /* of what can be read; end 0: not known, so before tomorrow */
	uint32_t n_failed;
	struct fault fault;
};

struct reader *reader_create(struct outlet *outlet, struct traces *traces, uint32_t n_inputs)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		return NULL;
	}
	reader->outlet = outlet;
	reader->traces = traces;
	reader->n_inputs = n_inputs;
	reader->inputs = calloc(n_inputs + 1, sizeof(*reader->inputs));
	reader->heap = calloc(n_inputs + 1, sizeof(*reader->heap));
	if (!tree_init(&reader->tree) || !reader->inputs || !reader->heap) {
		reader_destroy(reader);
		return NULL;
	}
	return reader;
}

static void input_close(struct input *input)
{
	while (input->next < input->n) {
		bt_message_put_ref(input->messages[input->next++]);
	}
	bt_message_iterator_put_ref(input->iterator);
	input->iterator = NULL;
}

void reader_close(struct reader *reader)
{
	for (uint32_t i = 0; reader->inputs && i < reader->n_inputs; i++) {
		input_close(&reader->inputs[i]);
	}
	reader->n_heap = 0;
}

void reader_destroy(struct reader *reader)
{
	if (reader) {
		reader_close(reader);
		tree_release(&reader->tree);
		free(reader->inputs);
		free(reader->heap);
		free(reader);
	}
}

void reader_set_input(struct reader *reader, uint32_t index, bt_message_iterator *iterator)
{
	reader->inputs[index].iterator = iterator;
}

uint64_t reader_events(const struct reader *reader)
{
	return reader->events;
}

uint64_t reader_latest_ns(const struct reader *reader)
{
	return reader->latest_ns;
}

const struct fault *reader_fault(const struct reader *reader, uint32_t *n_failed)
{
	*n_failed = reader->n_failed;
	return &reader->fault;
}

static bool input_before(const struct input *a, const struct input *b)
{
	if (a->ts_ns != b->ts_ns) {
		return a->ts_ns < b->ts_ns;
	}
	return a->rank != b->rank ? a->rank < b->rank : a < b;
}

static void heap_sink(struct reader *reader, uint32_t i)
{
	struct input **heap = reader->heap, *input = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= reader->n_heap) {
			break;
		}
		if (child + 1 < reader->n_heap && input_before(heap[child + 1], heap[child])) {
			child++;
		}
		if (!input_before(heap[child], input)) {
			break;
		}
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = input;
}

static void heap_add(struct reader *reader, struct input *input)
{
	uint32_t i = reader->n_heap++;

	while (i > 0 && input_before(input, reader->heap[(i - 1) / 2])) {
		reader->heap[i] = reader->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	reader->heap[i] = input;
}

static struct known_stream *stream_of(
		struct reader *reader, struct input *input, const bt_stream *stream)
{
	input->stream = traces_stream(reader->traces, stream);
	return input->stream;
}

void reader_expect(struct reader *reader, uint64_t begin_ns, uint64_t end_ns)
{
	reader->begin_ns = begin_ns;
	reader->end_ns = end_ns;
}

static uint64_t snapshot_ns(const struct known_stream *stream, const bt_clock_snapshot *snapshot)
{
	int64_t ns;

	/* Of other clocks as the library rounds, so that every tool shows the same time. */
	if (stream->clock.frequency != 1000000000u &&
			bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) ==
					BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK &&
			!__builtin_add_overflow(ns, stream->clock.shift_ns, &ns)) {
		return ns < 0 ? 0 : (uint64_t)ns;
	}
	return clock_rule_ns(&stream->clock, bt_clock_snapshot_get_value(snapshot));
}

static void input_at(struct input *input, const struct known_stream *stream, uint64_t ts_ns)
{
	input->ts_ns = ts_ns;
	input->rank = stream->rank;
}

/* Between which instants something was lost: the stream may not tell. */
struct span {
	uint64_t begin_ns, end_ns;
};

static struct span loss_span(const struct known_stream *stream, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->stream);
	struct span span = {stream->latest_ns, stream->latest_ns};

	if (!stream->has_clock) {
		return span;
	}
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		if (bt_stream_class_discarded_events_have_default_clock_snapshots(class)) {
			span.begin_ns = snapshot_ns(stream,
					bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
							message));
			span.end_ns = snapshot_ns(stream,
					bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
							message));
		}
	} else if (bt_stream_class_discarded_packets_have_default_clock_snapshots(class)) {
		span.begin_ns = snapshot_ns(stream,
				bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
						message));
		span.end_ns = snapshot_ns(stream,
				bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
						message));
	}
	return span;
}

static bool write_loss(struct reader *reader, struct input *input, const bt_message *message)
{
	struct known_stream *stream = input->stream;
	struct span span = loss_span(stream, message);
	struct record_loss *record;
	bt_property_availability known;
	uint64_t count = 0;
	bool packets = bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_PACKETS;

	if (!traces_announce(reader->traces, stream)) {
		return false;
	}
	known = packets ? bt_message_discarded_packets_get_count(message, &count)
			: bt_message_discarded_events_get_count(message, &count);
	record = outlet_begin(reader->outlet, sizeof(*record), RECORD_LOSS);
	if (!record) {
		return false;
	}
	record->stream = stream->number;
	record->packets = packets ? 1 : 0;
	record->begin_ns = span.begin_ns;
	record->end_ns = span.end_ns;
	record->count = known == BT_PROPERTY_AVAILABILITY_AVAILABLE ? count : 0;
	record->cpu = stream->cpu;
	record->reserved = 0;
	return outlet_commit_at(reader->outlet, span.begin_ns, stream->rank);
}

static bool write_event(struct reader *reader, struct input *input, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct plan *plan = traces_plan(reader->traces, bt_event_borrow_class_const(event));
	struct known_stream *stream = input->stream;
	struct record_event *record;

	if (!plan || (!stream->announced && !traces_announce(reader->traces, stream)) ||
			!plan_write(plan, event, reader->outlet, &reader->tree, &record)) {
		return false;
	}
	record->ts_ns = input->ts_ns;
	record->stream = stream->number;
	record->cpu = stream->cpu;
	reader->events++;
	return outlet_commit_at(reader->outlet, input->ts_ns, input->rank);
}

/* Live: no stream has anything before this instant. */
static bool write_inactivity(struct reader *reader, const bt_message *message)
{
	const bt_clock_snapshot *snapshot =
			bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message);
	uint64_t spread = traces_clock_spread(reader->traces), ts_ns;
	int64_t ns;

	if (bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) !=
					BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK ||
			ns < 0 || (uint64_t)ns < spread) {
		return true;
	}
	ts_ns = (uint64_t)ns - spread;
	if (ts_ns > reader->latest_ns) {
		reader->latest_ns = ts_ns;
	}
	return outlet_watermark(reader->outlet, ts_ns);
}

enum arrival {
	ARRIVAL_TIMED,   /* to be merged by its time */
	ARRIVAL_HANDLED, /* done with */
	ARRIVAL_ERROR,
};

/* By how much clocks of one trace disagree is far less than what makes an event misdated. */
static bool is_misdated(
		const struct reader *reader, const struct known_stream *stream, uint64_t ts_ns)
{
	uint64_t begin_ns = stream->packet_ns ? stream->packet_ns : reader->begin_ns;

	return clock_is_misdated(ts_ns, begin_ns, reader->end_ns, reader->wall_ns);
}

static enum arrival put_aside(struct reader *reader, struct known_stream *stream, uint64_t ts_ns)
{
	struct record_misdated *record;

	if (!traces_announce(reader->traces, stream)) {
		return ARRIVAL_ERROR;
	}
	record = outlet_begin(reader->outlet, sizeof(*record), RECORD_MISDATED);
	if (!record) {
		return ARRIVAL_ERROR;
	}
	record->stream = stream->number;
	record->reserved = 0;
	record->ts_ns = ts_ns;
	return outlet_commit(reader->outlet) ? ARRIVAL_HANDLED : ARRIVAL_ERROR;
}

static enum arrival arrive_event(
		struct reader *reader, struct input *input, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	struct known_stream *stream = stream_of(reader, input, bt_event_borrow_stream_const(event));

	if (!stream) {
		return ARRIVAL_ERROR;
	}
	input->is_event = true;
	if (stream->has_clock) {
		uint64_t ts_ns = snapshot_ns(stream,
				bt_message_event_borrow_default_clock_snapshot_const(message));

		if (is_misdated(reader, stream, ts_ns)) {
			return put_aside(reader, stream, ts_ns);
		}
		stream->latest_ns = ts_ns;
	}
	input_at(input, stream, stream->latest_ns);
	return ARRIVAL_TIMED;
}

static enum arrival arrive_loss(struct reader *reader, struct input *input,
		const bt_message *message, const bt_stream *bt_stream)
{
	struct known_stream *stream = stream_of(reader, input, bt_stream);

	if (!stream) {
		return ARRIVAL_ERROR;
	}
	input->is_event = false;
	input_at(input, stream, loss_span(stream, message).begin_ns);
	return ARRIVAL_TIMED;
}

static uint64_t packet_ns(const struct known_stream *stream, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->stream);

	if (!stream->has_clock ||
			!bt_stream_class_packets_have_beginning_default_clock_snapshot(class)) {
		return 0;
	}
	return snapshot_ns(stream,
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
}

static enum arrival arrive(struct reader *reader, struct input *input, const bt_message *message)
{
	struct known_stream *stream;
	const bt_packet *packet;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return arrive_event(reader, input, message);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return arrive_loss(reader, input, message,
				bt_message_discarded_events_borrow_stream_const(message));
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return arrive_loss(reader, input, message,
				bt_message_discarded_packets_borrow_stream_const(message));
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		stream = stream_of(reader, input,
				bt_message_stream_beginning_borrow_stream_const(message));
		outlet_set_slack(reader->outlet, traces_clock_spread(reader->traces));
		return stream ? ARRIVAL_HANDLED : ARRIVAL_ERROR;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		packet = bt_message_packet_beginning_borrow_packet_const(message);
		stream = stream_of(reader, input, bt_packet_borrow_stream_const(packet));
		if (!stream) {
			return ARRIVAL_ERROR;
		}
		traces_begin_packet(stream, packet);
		stream->packet_ns = packet_ns(stream, message);
		return ARRIVAL_HANDLED;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return write_inactivity(reader, message) ? ARRIVAL_HANDLED : ARRIVAL_ERROR;
	default:
		return ARRIVAL_HANDLED;
	}
}

/* Fetches the next batch of messages. READER_END: the input is done, or has failed. */
static enum reader_step input_fetch(struct reader *reader, struct input *input)
{
	struct fault fault;

	input->n = input->next = 0;
	switch (bt_message_iterator_next(input->iterator, &input->messages, &input->n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		return READER_MORE;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		input->n = 0;
		return READER_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		break;
	default:
		fault_take(&fault, "the library gave no reason");
		if (reader->n_failed++ == 0) {
			reader->fault = fault;
		}
		break;
	}
	input->n = 0;
	input_close(input);
	return READER_END;
}

/* Brings the input to its next message with a time, dealing with those without on the way. */
static enum reader_step input_advance(struct reader *reader, struct input *input)
{
	for (;;) {
		enum arrival arrival;

		if (input->next == input->n) {
			enum reader_step step = input_fetch(reader, input);

			if (step != READER_MORE) {
				return step;
			}
		}
		arrival = arrive(reader, input, input->messages[input->next]);
		if (arrival == ARRIVAL_TIMED) {
			return READER_MORE;
		}
		bt_message_put_ref(input->messages[input->next++]);
		if (arrival == ARRIVAL_ERROR) {
			return READER_ERROR;
		}
	}
}

/* Before anything is merged, each input must stand at its first message. */
static enum reader_step start_inputs(struct reader *reader)
{
	while (reader->starting < reader->n_inputs) {
		struct input *input = &reader->inputs[reader->starting];
		enum reader_step step = input_advance(reader, input);

		if (step == READER_AGAIN || step == READER_ERROR) {
			return step;
		}
		if (step == READER_MORE) {
			heap_add(reader, input);
		}
		reader->starting++;
	}
	return READER_MORE;
}

static bool write_message(struct reader *reader, struct input *input)
{
	const bt_message *message = input->messages[input->next];
	bool written = input->is_event ? write_event(reader, input, message)
				       : write_loss(reader, input, message);

	if (input->ts_ns > reader->latest_ns) {
		reader->latest_ns = input->ts_ns;
	}
	bt_message_put_ref(message);
	input->next++;
	return written;
}

enum reader_step reader_run(struct reader *reader)
{
	enum reader_step step;

	reader->wall_ns = clock_real_ns();
	step = start_inputs(reader);
	for (uint32_t i = 0; step == READER_MORE && i < EVENTS_PER_RUN; i++) {
		struct input *input;

		if (reader->n_heap == 0) {
			return READER_END;
		}
		input = reader->heap[0];
		if (!write_message(reader, input)) {
			return READER_ERROR;
		}
		step = input_advance(reader, input);
		if (step == READER_MORE) {
			heap_sink(reader, 0);
		} else if (step == READER_END) {
			step = READER_MORE;
			reader->heap[0] = reader->heap[--reader->n_heap];
			heap_sink(reader, 0);
		} else if (step == READER_AGAIN) {
			/* Live, so the only input: it starts anew. */
			reader->n_heap = 0;
			reader->starting = 0;
		}
	}
	return step;
}
