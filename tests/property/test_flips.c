/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reader process that was taken over changes records while the console reads them: what was
 * checked is what is used, for each kind of record and each field that bounds another. Built with
 * AddressSanitizer, whatever lies outside is found; without, the sink looks.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "intake/input_queue.h"
#include "pythiatop/engine.h"
#include "ring/ring.h"

#define ROUNDS  60u
#define RECORDS 200u /* of a round */
#define MAX     512u /* bytes of one record */

/* Which bytes of a record alternate between what they are and what they must not be. */
struct flip {
	const char *name;
	uint32_t kind;
	size_t at;
	uint32_t width;
	uint64_t bad;
};

struct flipper {
	const struct flip *flip;
	unsigned char *records[RECORDS];
	uint32_t n;
	_Atomic bool stop;
};

/* --- what reaches the analysis --------------------------------------------------------------- */

static uint32_t n_told;

static void check_text(const char *text)
{
	assert_non_null(text);
	assert_true(strlen(text) < MAX);
}

static uint32_t add_type(void *context, const struct event_type *type)
{
	(void)context;
	check_text(type->name);
	assert_true(type->n_fields <= EVENT_MAX_FIELDS);
	for (uint32_t i = 0; i < type->n_fields; i++) {
		check_text(type->fields[i].name);
		for (uint32_t k = 0; k < type->fields[i].n_labels; k++) {
			check_text(type->fields[i].labels[k].name);
		}
	}
	return n_told++;
}

static uint32_t add_session(void *context, const struct session_desc *session)
{
	(void)context;
	check_text(session->host);
	check_text(session->name);
	return n_told++;
}

static uint32_t add_stream(void *context, const struct stream_desc *stream)
{
	(void)context;
	check_text(stream->channel);
	check_text(stream->kernel_release);
	return n_told++;
}

static void end_session(void *context, uint32_t session)
{
	(void)context;
	(void)session;
}

static void feed(void *context, const struct event *event)
{
	uint32_t length;
	const char *bytes = event_bytes(event, 1, &length);

	(void)context;
	assert_true(event->bytes <= MAX);
	if (bytes) {
		assert_int_equal(strlen(bytes), length);
	}
	n_told++;
}

static void lose(void *context, const struct loss *loss)
{
	(void)context;
	(void)loss;
	n_told++;
}

static void late(void *context, uint32_t session, uint64_t count)
{
	(void)context;
	(void)session;
	(void)count;
}

static void advance(void *context, uint64_t ts_ns)
{
	(void)context;
	(void)ts_ns;
}

static void note(void *context, const struct record *record)
{
	const struct record_listed *listed = (const void *)record;
	const char *host;

	(void)context;
	if (record->kind == RECORD_LISTED) {
		host = record_text(record, listed->host);
		if (host) {
			check_text(host);
		}
	}
	n_told++;
}

/* --- records --------------------------------------------------------------------------------- */

static uint32_t put_text(unsigned char *record, uint32_t *used, const char *text)
{
	uint32_t at = *used;

	memcpy(record + at, text, strlen(text) + 1);
	*used += (uint32_t)strlen(text) + 1;
	return at;
}

static uint32_t make_type(unsigned char *to, uint32_t number)
{
	struct record_type *type = (void *)to;
	struct record_field *fields = (void *)(type + 1);
	struct record_label *labels = (void *)(fields + 2);
	uint32_t used = (uint32_t)(sizeof(*type) + 2 * sizeof(*fields) + sizeof(*labels));

	*type = (struct record_type){.type = number, .n_fields = 2, .n_labels = 1};
	fields[0] = (struct record_field){.kind = FIELD_UINT, .base = 10, .width = 8, .n_labels = 1};
	fields[1] = (struct record_field){.kind = FIELD_STRING};
	labels[0] = (struct record_label){.lower = 1, .upper = 2};
	type->name = put_text(to, &used, "app:thing");
	fields[0].name = put_text(to, &used, "number");
	fields[1].name = put_text(to, &used, "words");
	labels[0].name = put_text(to, &used, "one");
	return used;
}

static uint32_t make_stream(unsigned char *to, uint32_t number)
{
	struct record_stream *stream = (void *)to;
	uint32_t used = sizeof(*stream);

	*stream = (struct record_stream){.stream = number, .domain = DOMAIN_UST, .cpu = number};
	stream->host = put_text(to, &used, "host");
	stream->session = put_text(to, &used, "session");
	stream->channel = put_text(to, &used, "channel");
	stream->kernel_release = put_text(to, &used, "");
	return used;
}

static uint32_t make_event(unsigned char *to, uint32_t number)
{
	struct record_event *event = (void *)to;

	*event = (struct record_event){.ts_ns = 1000 + number, .bytes = 8 * 3};
	event->slots[0] = number;
	event->slots[1] = UINT64_C(16) << 32 | 5;
	memcpy(&event->slots[2], "words\0\0", 8);
	return sizeof(*event) + 8 * 3;
}

static uint32_t make_listed(unsigned char *to, uint32_t number)
{
	struct record_listed *listed = (void *)to;
	uint32_t used = sizeof(*listed);

	*listed = (struct record_listed){.id = number};
	listed->host = put_text(to, &used, "host");
	listed->session = put_text(to, &used, "session");
	return used;
}

static uint32_t make(unsigned char *to, uint32_t kind, uint32_t number)
{
	switch (kind) {
	case RECORD_TYPE:
		return make_type(to, number);
	case RECORD_STREAM:
		return make_stream(to, number);
	case RECORD_EVENT:
		return make_event(to, number);
	case RECORD_LISTED:
		return make_listed(to, number);
	case RECORD_LOSS:
		*(struct record_loss *)to = (struct record_loss){.begin_ns = 5, .end_ns = 6};
		return sizeof(struct record_loss);
	case RECORD_MISDATED:
		*(struct record_misdated *)to = (struct record_misdated){.ts_ns = 7};
		return sizeof(struct record_misdated);
	case RECORD_WATERMARK:
		*(struct record_watermark *)to = (struct record_watermark){.ts_ns = 8};
		return sizeof(struct record_watermark);
	default:
		return sizeof(struct record_progress);
	}
}

static unsigned char *write_record(struct ring *writer, uint32_t kind, uint32_t number)
{
	unsigned char bytes[MAX] = {0}, *to;
	uint32_t size = (make(bytes, kind, number) + 7u) & ~7u;

	((struct record *)bytes)->size = size;
	((struct record *)bytes)->kind = kind;
	to = ring_reserve(writer, size);
	assert_non_null(to);
	memcpy(to, bytes, size);
	return to;
}

/* --- flipping -------------------------------------------------------------------------------- */

static void store(unsigned char *at, uint32_t width, uint64_t value)
{
	for (uint32_t i = 0; i < width; i++) {
		((volatile unsigned char *)at)[i] = (unsigned char)(value >> 8 * i);
	}
}

static void *flip_main(void *argument)
{
	struct flipper *flipper = argument;
	const struct flip *flip = flipper->flip;
	uint64_t good[RECORDS] = {0};

	for (uint32_t i = 0; i < flipper->n; i++) {
		memcpy(&good[i], flipper->records[i] + flip->at, flip->width);
	}
	while (!atomic_load(&flipper->stop)) {
		for (uint32_t i = 0; i < flipper->n; i++) {
			store(flipper->records[i] + flip->at, flip->width, flip->bad);
		}
		for (uint32_t i = 0; i < flipper->n; i++) {
			store(flipper->records[i] + flip->at, flip->width, good[i]);
		}
	}
	return NULL;
}

/* One round; calm: nothing flips, and all that was written must be read. */
static void run_round(const struct flip *flip, bool calm)
{
	static const struct intake_sink sink = {.add_type = add_type,
			.add_session = add_session,
			.add_stream = add_stream,
			.end_session = end_session,
			.feed = feed,
			.lose = lose,
			.late = late,
			.advance = advance};
	struct ring *reader = ring_create(64u << 10);
	struct ring_fds fds = ring_fds(reader);
	struct ring *writer = ring_attach(&fds);
	struct flipper flipper = {.flip = flip};
	uint32_t budget = 3 * RECORDS;
	uint64_t now_ns = 0;
	enum input_queue_status status;
	struct input_queue queue;
	pthread_t thread;

	input_queue_init(&queue, &sink, "flip");
	queue.note = note;
	queue.host_asked = "host";
	queue.session_asked = "session";
	input_queue_open(&queue, reader);
	if (flip->kind != RECORD_TYPE && flip->kind != RECORD_STREAM) {
		write_record(writer, RECORD_TYPE, 0);
		write_record(writer, RECORD_STREAM, 0);
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		flipper.records[flipper.n++] = write_record(writer, flip->kind, i);
	}
	if (!calm) {
		assert_int_equal(pthread_create(&thread, NULL, flip_main, &flipper), 0);
	}
	ring_publish(writer, ring_position(writer));
	do {
		status = input_queue_run(&queue, UINT64_MAX, &now_ns, &budget);
	} while (status == INPUT_QUEUE_MORE && budget > 0);
	if (calm) {
		assert_int_equal(status, INPUT_QUEUE_EMPTY);
		assert_null(queue.fault);
	} else {
		atomic_store(&flipper.stop, true);
		pthread_join(thread, NULL);
	}
	input_queue_close(&queue);
	input_queue_release(&queue);
	ring_destroy(writer);
	ring_destroy(reader);
}

#define OF(type, member, value)                                                                    \
	offsetof(struct type, member), sizeof(((struct type *)0)->member), (value)
#define FIELD_AT(member) sizeof(struct record_type) + offsetof(struct record_field, member)
#define LABEL_AT(member)                                                                           \
	sizeof(struct record_type) + 2 * sizeof(struct record_field) +                             \
			offsetof(struct record_label, member)

static void what_is_checked_is_what_is_used(void **state)
{
	static const struct flip flips[] = {
			{"a record's size", RECORD_PROGRESS, OF(record, size, 1u << 20)},
			{"a record's kind", RECORD_PROGRESS, OF(record, kind, RECORD_TYPE)},
			{"a type's number", RECORD_TYPE, OF(record_type, type, 1u << 30)},
			{"a type's name", RECORD_TYPE, OF(record_type, name, 1u << 30)},
			{"a type's fields", RECORD_TYPE, OF(record_type, n_fields, 4000)},
			{"a type's labels", RECORD_TYPE, OF(record_type, n_labels, 1u << 20)},
			{"a field's name", RECORD_TYPE, FIELD_AT(name), 4, 1u << 30},
			{"a field's kind", RECORD_TYPE, FIELD_AT(kind), 1, FIELD_TREE},
			{"a field's first label", RECORD_TYPE, FIELD_AT(first_label), 4, 1u << 20},
			{"a field's labels", RECORD_TYPE, FIELD_AT(n_labels), 4, 1u << 20},
			{"a label's name", RECORD_TYPE, LABEL_AT(name), 4, 1u << 30},
			{"the end of a type's texts", RECORD_TYPE, LABEL_AT(lower) + 16, 8,
					UINT64_C(0x7878787878787878)},
			{"a stream's number", RECORD_STREAM, OF(record_stream, stream, 900000)},
			{"a stream's domain", RECORD_STREAM, OF(record_stream, domain, 77)},
			{"a stream's host", RECORD_STREAM, OF(record_stream, host, 1u << 30)},
			{"a stream's session", RECORD_STREAM, OF(record_stream, session, 1u << 30)},
			{"a stream's channel", RECORD_STREAM, OF(record_stream, channel, 1u << 30)},
			{"the end of a stream's text", RECORD_STREAM,
					sizeof(struct record_stream) + 4, 1, 'x'},
			{"an event's bytes", RECORD_EVENT, OF(record_event, bytes, 1u << 20)},
			{"an event's type", RECORD_EVENT, OF(record_event, type, 1u << 20)},
			{"an event's stream", RECORD_EVENT, OF(record_event, stream, 1u << 20)},
			{"where an event's text is", RECORD_EVENT, sizeof(struct record_event) + 8,
					8, UINT64_C(1) << 50 | 5},
			{"how long an event's text is", RECORD_EVENT,
					sizeof(struct record_event) + 8, 4, 100},
			{"the end of an event's text", RECORD_EVENT,
					sizeof(struct record_event) + 16 + 5, 1, 'x'},
			{"a loss' stream", RECORD_LOSS, OF(record_loss, stream, 1u << 20)},
			{"a misdated event's stream", RECORD_MISDATED,
					OF(record_misdated, stream, 1u << 20)},
			{"a watermark", RECORD_WATERMARK, OF(record_watermark, ts_ns, UINT64_MAX)},
			{"a listed session's host", RECORD_LISTED,
					OF(record_listed, host, 1u << 30)},
			{"the end of a listed host", RECORD_LISTED,
					sizeof(struct record_listed) + 4, 1, 'x'},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flips) / sizeof(*flips); i++) {
		/*
		 * Records that are left alone are read to the end: the rounds that follow would
		 * else prove nothing. How many are read there is a matter of who runs when.
		 */
		n_told = 0;
		run_round(&flips[i], true);
		if (n_told == 0) {
			fail_msg("%s: no record was read", flips[i].name);
		}
		for (uint32_t round = 0; round < ROUNDS; round++) {
			run_round(&flips[i], false);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_checked_is_what_is_used)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
