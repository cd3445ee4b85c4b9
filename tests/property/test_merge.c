/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * However one ordered stream is split over rings, and whenever its parts arrive: the merge gives
 * the same sequence. And what it does when a live source is silent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "intake/merge.h"
#include "ring/ring.h"

#define EVENTS    3000
#define LANES     5
#define RING_SIZE (1u << 20)

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 20) % below);
}

/* --- what comes out -------------------------------------------------------------------------- */

struct seen {
	uint64_t value[EVENTS * 2];
	uint64_t ts_ns[EVENTS * 2];
	uint32_t n;
	uint64_t late, lost, ended;
	uint64_t advanced_ns;
	uint32_t sessions, streams, types;
	char hosts[64]; /* of the sessions, as they came */
	uint32_t clocks;
	int64_t clock_offset_ns; /* of the last one */
	bool silent[8];          /* sessions */
};

static uint32_t on_type(void *context, const struct event_type *type)
{
	struct seen *seen = context;

	assert_string_equal(type->name, "test:event");
	assert_int_equal(type->n_fields, 1);
	return seen->types++;
}

static uint32_t on_session(void *context, const struct session_desc *session)
{
	struct seen *seen = context;

	assert_string_equal(session->name, "session");
	if (strlen(seen->hosts) + strlen(session->host) < sizeof(seen->hosts)) {
		strcat(seen->hosts, session->host);
	}
	return seen->sessions++;
}

static uint32_t on_stream(void *context, const struct stream_desc *stream)
{
	struct seen *seen = context;

	assert_true(stream->session < seen->sessions);
	return seen->streams++;
}

static void on_end(void *context, uint32_t session)
{
	struct seen *seen = context;

	(void)session;
	seen->ended++;
}

static void on_feed(void *context, const struct event *event)
{
	struct seen *seen = context;

	assert_true(seen->n < EVENTS * 2);
	assert_true(event->ts_ns >= seen->advanced_ns);
	assert_true(seen->n == 0 || event->ts_ns >= seen->ts_ns[seen->n - 1]);
	seen->value[seen->n] = event->slots[0];
	seen->ts_ns[seen->n++] = event->ts_ns;
}

static void on_lose(void *context, const struct loss *loss)
{
	struct seen *seen = context;

	seen->lost += loss->count;
}

static void on_late(void *context, uint32_t session, uint64_t count)
{
	struct seen *seen = context;

	(void)session;
	seen->late += count;
}

static void on_advance(void *context, uint64_t ts_ns)
{
	struct seen *seen = context;

	assert_true(ts_ns > seen->advanced_ns);
	seen->advanced_ns = ts_ns;
}

static void on_clock(void *context, const uint8_t *uuid, int64_t offset_ns)
{
	struct seen *seen = context;

	assert_int_equal(seen->n, 0); /* before its first event */
	assert_int_equal(uuid[0], 7);
	seen->clocks++;
	seen->clock_offset_ns = offset_ns;
}

static void on_silent(void *context, uint32_t session, bool is)
{
	struct seen *seen = context;

	assert_true(session < seen->sessions);
	seen->silent[session] = is;
}

static void make_sink(struct intake_sink *sink, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	*sink = (struct intake_sink){
			.context = seen,
			.add_type = on_type,
			.add_session = on_session,
			.add_stream = on_stream,
			.end_session = on_end,
			.feed = on_feed,
			.lose = on_lose,
			.late = on_late,
			.advance = on_advance,
			.see_clock = on_clock,
			.silent = on_silent,
	};
}

/* --- what goes in ------------------------------------------------------------------------------
 */

struct writer {
	struct ring *reading, *writing;
	struct input_queue queue;
	char key[16];
};

static void put(struct writer *writer, const void *record, size_t size)
{
	void *at = ring_reserve(writer->writing, size);

	assert_non_null(at);
	memset(at, 0, (size + 7) & ~(size_t)7);
	memcpy(at, record, size);
	((struct record *)at)->size = (uint32_t)((size + 7) & ~(size_t)7);
}

static void publish(struct writer *writer)
{
	ring_publish(writer->writing, ring_position(writer->writing));
}

static void put_type(struct writer *writer)
{
	struct {
		struct record_type type;
		struct record_field field;
		char text[24];
	} out = {
			.type = {.record = {.kind = RECORD_TYPE}, .n_fields = 1},
			.field = {.kind = FIELD_UINT, .base = 10},
			.text = "test:event\0n",
	};

	out.type.name = (uint32_t)offsetof(__typeof__(out), text);
	out.field.name = out.type.name + 11;
	put(writer, &out, sizeof(out));
}

static void put_stream(struct writer *writer, uint32_t number, const char *host, uint32_t cpu,
		uint8_t clock, int64_t offset_ns)
{
	struct {
		struct record_stream stream;
		char text[48];
	} out = {
			.stream = {.record = {.kind = RECORD_STREAM},
					.stream = number,
					.domain = DOMAIN_UST,
					.cpu = cpu,
					.clock_offset_ns = offset_ns},
	};
	uint32_t at = (uint32_t)offsetof(__typeof__(out), text);

	out.stream.clock_uuid[0] = clock;
	memcpy(out.text, "session\0channel\0", 17);
	memcpy(out.text + 17, host, strlen(host) + 1);
	out.stream.session = at;
	out.stream.channel = at + 8;
	out.stream.kernel_release = at + 16;
	out.stream.host = at + 17;
	put(writer, &out, sizeof(out));
}

static void put_event(struct writer *writer, uint64_t ts_ns, uint32_t stream, uint32_t cpu,
		uint64_t value)
{
	struct record_event *out = ring_reserve(writer->writing, sizeof(*out) + sizeof(value));

	assert_non_null(out);
	memset(out, 0, sizeof(*out));
	out->record.kind = RECORD_EVENT;
	out->record.size = (uint32_t)(sizeof(*out) + sizeof(value));
	out->ts_ns = ts_ns;
	out->stream = stream;
	out->cpu = cpu;
	out->bytes = sizeof(value);
	out->slots[0] = value;
}

static void put_watermark(struct writer *writer, uint64_t ts_ns)
{
	struct record_watermark out = {.record = {.kind = RECORD_WATERMARK}, .ts_ns = ts_ns};

	put(writer, &out, sizeof(out));
}

static void put_end(struct writer *writer)
{
	struct record out = {.kind = RECORD_END};

	put(writer, &out, sizeof(out));
}

static void open_writer(
		struct writer *writer, const struct intake_sink *sink, const char *key, bool live)
{
	struct ring_fds fds;

	memset(writer, 0, sizeof(*writer));
	strcpy(writer->key, key);
	writer->reading = ring_create(RING_SIZE);
	assert_non_null(writer->reading);
	fds = ring_fds(writer->reading);
	writer->writing = ring_attach(&fds);
	assert_non_null(writer->writing);
	input_queue_init(&writer->queue, sink, writer->key);
	writer->queue.live = live;
	input_queue_open(&writer->queue, writer->reading);
	writer->queue.patience_ns = 2000;
}

static void close_writer(struct writer *writer)
{
	input_queue_release(&writer->queue);
	ring_destroy(writer->writing);
	ring_destroy(writer->reading);
}

static void on_left(void *context, struct input_queue *queue, enum input_queue_status why)
{
	uint32_t *left = context;

	assert_int_equal(why, INPUT_QUEUE_ENDED);
	assert_false(queue->joined);
	(*left)++;
}

/* --- any split, any timing ----------------------------------------------------------------------
 */

struct item {
	uint64_t ts_ns;
	uint32_t queue, cpu;
	uint64_t value;
};

static const char *const hosts[LANES] = {"a", "b", "b", "c", "a"};

static int by_order(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = strcmp(hosts[a->queue], hosts[b->queue]);

	if (a->ts_ns != b->ts_ns) {
		return a->ts_ns < b->ts_ns ? -1 : 1;
	}
	if (order) {
		return order;
	}
	if (a->cpu != b->cpu) {
		return a->cpu < b->cpu ? -1 : 1;
	}
	if (a->queue != b->queue) {
		return a->queue < b->queue ? -1 : 1;
	}
	return a->value < b->value ? -1 : a->value > b->value;
}

static void make_items(struct item *items)
{
	uint64_t ts_ns = 1000;
	uint32_t i;

	for (i = 0; i < EVENTS; i++) {
		/* Every other event ties with the one before. */
		ts_ns += draw(2) * draw(1000);
		items[i] = (struct item){
				.ts_ns = ts_ns,
				.queue = draw(LANES),
				.cpu = draw(2),
				.value = i,
		};
	}
	qsort(items, EVENTS, sizeof(*items), by_order);
}

static void write_head(struct writer *writer, uint32_t queue)
{
	put_type(writer);
	put_stream(writer, 0, hosts[queue], 0, 0, 0);
	put_stream(writer, 1, hosts[queue], 1, 0, 0);
}

/* Writes the next item of a queue, sometimes with a watermark first. False: none is left. */
static bool write_next(
		struct writer *writer, uint32_t queue, const struct item *items, uint32_t *next)
{
	while (*next < EVENTS && items[*next].queue != queue) {
		(*next)++;
	}
	if (*next == EVENTS) {
		return false;
	}
	if (draw(8) == 0) {
		put_watermark(writer, items[*next].ts_ns - draw(2));
	}
	put_event(writer, items[*next].ts_ns, items[*next].cpu, items[*next].cpu,
			items[*next].value);
	(*next)++;
	return true;
}

static void run_split(const struct item *items, struct seen *seen)
{
	struct writer writers[LANES];
	uint32_t next[LANES] = {0}, order[LANES], left = 0, open = LANES, i;
	bool written[LANES] = {false};
	char key[8] = "queue-0";
	struct intake_sink sink;
	struct merge *merge;
	uint64_t mono_ns = 1;

	make_sink(&sink, seen);
	merge = merge_create(&sink);
	for (i = 0; i < LANES; i++) {
		key[5] = (char)('0' + i);
		open_writer(&writers[i], &sink, key, false);
		order[i] = i;
	}
	/* Recorded queues take part from the start, in any order. */
	for (i = 0; i < LANES; i++) {
		uint32_t with = i + draw(LANES - i), queue = order[with];

		order[with] = order[i];
		assert_int_equal(merge_join(merge, &writers[queue].queue, mono_ns), STATUS_OK);
		write_head(&writers[queue], queue);
	}
	while (open > 0) {
		uint32_t queue = draw(LANES), burst = 1 + draw(200);

		while (!written[queue] && burst-- > 0) {
			if (!write_next(&writers[queue], queue, items, &next[queue])) {
				put_end(&writers[queue]);
				written[queue] = true;
				open--;
			}
		}
		publish(&writers[queue]);
		mono_ns += 10000000000u; /* recorded ones are waited for without limit */
		merge_step(merge, 1 + draw(500), mono_ns, on_left, &left);
	}
	while (merge_step(merge, 100, mono_ns, on_left, &left) || left < LANES) {
	}
	assert_int_equal(left, LANES);
	merge_destroy(merge);
	for (i = 0; i < LANES; i++) {
		close_writer(&writers[i]);
	}
}

static void test_any_split_and_timing(void **state)
{
	static struct item items[EVENTS];
	static struct seen seen;
	uint32_t round, i;

	(void)state;
	for (round = 0; round < 60; round++) {
		random_state = 88172645463325252u + round / 4; /* four timings of each stream */
		make_items(items);
		random_state += round;
		run_split(items, &seen);
		assert_int_equal(seen.n, EVENTS);
		assert_int_equal(seen.late, 0);
		for (i = 0; i < EVENTS; i++) {
			assert_int_equal(seen.ts_ns[i], items[i].ts_ns);
			assert_int_equal(seen.value[i], items[i].value);
		}
	}
}

/* --- live ----------------------------------------------------------------------------------------
 */

static void test_silent_live_source(void **state)
{
	struct writer talking, silent;
	static struct seen seen;
	struct intake_sink sink;
	struct merge *merge;
	uint32_t left = 0;

	(void)state;
	make_sink(&sink, &seen);
	merge = merge_create(&sink);
	open_writer(&talking, &sink, "talking", true);
	open_writer(&silent, &sink, "silent", true);
	write_head(&talking, 0);
	write_head(&silent, 1);
	put_event(&talking, 100, 0, 0, 1);
	put_event(&talking, 200, 0, 0, 2);
	put_event(&silent, 150, 0, 0, 3);
	publish(&talking);
	publish(&silent);
	assert_int_equal(merge_join(merge, &talking.queue, 1000), STATUS_OK);
	assert_int_equal(merge_join(merge, &silent.queue, 1000), STATUS_OK);

	/* 200 waits: the silent one may still bring something before it. */
	assert_false(merge_step(merge, 1000, 1000, on_left, &left));
	assert_int_equal(seen.n, 2);
	assert_int_equal(merge_deadline(merge), 3000);
	assert_false(merge_step(merge, 1000, 2999, on_left, &left));
	assert_int_equal(seen.n, 2);

	/* A beacon is enough. */
	put_watermark(&silent, 201);
	publish(&silent);
	merge_step(merge, 1000, 2999, on_left, &left);
	assert_int_equal(seen.n, 3);
	put_event(&talking, 300, 0, 0, 4);
	publish(&talking);
	merge_step(merge, 1000, 3000, on_left, &left);
	assert_int_equal(seen.n, 3);

	/* Patience ends: the others go on, and what it brings for the past is late. */
	merge_step(merge, 1000, 4999, on_left, &left);
	assert_true(silent.queue.stalled);
	assert_true(seen.silent[silent.queue.rows[0].session_id]);
	assert_false(seen.silent[talking.queue.rows[0].session_id]);
	assert_int_equal(seen.n, 4);
	put_event(&silent, 250, 0, 0, 5);
	put_event(&silent, 260, 1, 1, 6);
	publish(&silent);
	merge_step(merge, 1000, 5000, on_left, &left);
	assert_int_equal(seen.late, 2);
	assert_int_equal(seen.n, 4);
	assert_int_equal(silent.queue.late, 2);
	assert_true(silent.queue.stalled);

	/* It has caught up, and is waited for again. */
	put_event(&silent, 400, 0, 0, 7);
	put_event(&talking, 500, 0, 0, 8);
	publish(&silent);
	publish(&talking);
	merge_step(merge, 1000, 5001, on_left, &left);
	merge_step(merge, 1000, 5001, on_left, &left);
	assert_false(silent.queue.stalled);
	assert_false(seen.silent[silent.queue.rows[0].session_id]);
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.value[4], 7);
	put_end(&silent);
	publish(&silent);
	merge_step(merge, 1000, 5001, on_left, &left);
	assert_int_equal(left, 1);
	assert_int_equal(seen.n, 6);
	assert_int_equal(seen.late, 2);
	merge_leave(merge, &talking.queue);
	merge_destroy(merge);
	close_writer(&talking);
	close_writer(&silent);
}

/*
 * Two sessions of one stopped daemon: whichever is back first, the other one's events are not late.
 * One that has been silent for longer is not waited for.
 */
static void test_standstill(void **state)
{
	enum { FIRST, SECOND, GONE, N };
	struct writer writers[N];
	static struct seen seen;
	struct intake_sink sink;
	struct merge *merge;
	uint32_t left = 0;

	(void)state;
	make_sink(&sink, &seen);
	merge = merge_create(&sink);
	for (uint32_t i = 0; i < N; i++) {
		open_writer(&writers[i], &sink,
				i == FIRST    ? "first"
				: i == SECOND ? "second"
					      : "z",
				true);
		write_head(&writers[i], i);
		put_event(&writers[i], 100 + i, 0, 0, i);
		publish(&writers[i]);
		assert_int_equal(merge_join(merge, &writers[i].queue, 1000), STATUS_OK);
	}
	for (uint64_t ns = 1000; ns <= 20000; ns += 1000) {
		put_watermark(&writers[FIRST], 1000 + ns);
		put_watermark(&writers[SECOND], 1100 + ns);
		publish(&writers[FIRST]);
		publish(&writers[SECOND]);
		merge_step(merge, 1000, ns, on_left, &left);
	}
	assert_true(writers[GONE].queue.stalled);
	/* Nothing comes: one after the other is given up. */
	merge_step(merge, 1000, 22000, on_left, &left);
	merge_step(merge, 1000, 25000, on_left, &left);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(writers[i].queue.stalled);
		assert_true(seen.silent[writers[i].queue.rows[0].session_id]);
	}

	put_event(&writers[SECOND], 50000, 0, 0, 10);
	put_event(&writers[SECOND], 60000, 0, 0, 11);
	publish(&writers[SECOND]);
	merge_step(merge, 1000, 90000, on_left, &left);
	assert_int_equal(seen.n, 3);
	put_event(&writers[FIRST], 40000, 0, 0, 12);
	put_event(&writers[FIRST], 55000, 0, 0, 13);
	publish(&writers[FIRST]);
	merge_step(merge, 1000, 91000, on_left, &left);
	assert_int_equal(seen.n, 6);
	assert_int_equal(seen.value[3], 12);
	assert_int_equal(seen.value[5], 13);
	assert_false(seen.silent[writers[FIRST].queue.rows[0].session_id]);
	assert_true(writers[GONE].queue.stalled);
	/* As long as their patience, and no longer. */
	merge_step(merge, 1000, 93000, on_left, &left);
	assert_int_equal(seen.n, 7);
	assert_int_equal(seen.late, 0);
	for (uint32_t i = 0; i < N; i++) {
		merge_leave(merge, &writers[i].queue);
		assert_false(seen.silent[writers[i].queue.rows[0].session_id]);
	}
	merge_destroy(merge);
	for (uint32_t i = 0; i < N; i++) {
		close_writer(&writers[i]);
	}
}

/* In the last rounds it is known before what the clock's offset is: less, and between the two. */
static void test_one_clock_for_equal_uuids(void **state)
{
	static const uint32_t orders[4][2] = {{0, 1}, {1, 0}, {0, 1}, {1, 0}};
	static const int64_t known_ns[4] = {0, 0, 9000, 10001};
	static struct seen seen;
	uint32_t round;

	(void)state;
	for (round = 0; round < 4; round++) {
		const uint8_t uuid[16] = {7};
		int64_t offset_ns = known_ns[round] ? known_ns[round] : 10000;
		struct writer writers[2];
		struct intake_sink sink;
		struct merge *merge;
		uint32_t left = 0, i;

		make_sink(&sink, &seen);
		merge = merge_create(&sink);
		if (known_ns[round]) {
			assert_int_equal(merge_set_clock(merge, uuid, known_ns[round]), STATUS_OK);
		}
		open_writer(&writers[0], &sink, "one", false);
		open_writer(&writers[1], &sink, "two", false);
		for (i = 0; i < 2; i++) {
			put_type(&writers[i]);
			/* One clock; the second trace thinks that it began 500 ns later. */
			put_stream(&writers[i], 0, "a", 0, 7, 10000 + 500 * (int64_t)i);
		}
		/* Cycles 10 and 30; 20: seen as 10010, 10030; 10520. */
		put_event(&writers[0], 10010, 0, 0, 1);
		put_event(&writers[0], 10030, 0, 0, 3);
		put_event(&writers[1], 10520, 0, 0, 2);
		for (i = 0; i < 2; i++) {
			put_end(&writers[i]);
			merge_join(merge, &writers[orders[round][i]].queue, 1);
		}
		for (i = 0; i < 2; i++) {
			publish(&writers[orders[round][i]]);
			merge_step(merge, 100, 1, on_left, &left);
		}
		while (left < 2) {
			merge_step(merge, 100, 1, on_left, &left);
		}
		assert_int_equal(seen.n, 3);
		for (i = 0; i < 3; i++) {
			assert_int_equal(seen.value[i], i + 1);
			assert_int_equal(seen.ts_ns[i], offset_ns + 10 + 10 * i);
		}
		assert_int_equal(seen.clocks, known_ns[round] ? 0 : 1);
		assert_int_equal(seen.clock_offset_ns, known_ns[round] ? 0 : 10000);
		merge_destroy(merge);
		close_writer(&writers[0]);
		close_writer(&writers[1]);
	}
}

/* A live session is read up to its first event before it takes part: its clock counts from then on.
 */
static void test_clock_of_the_first(void **state)
{
	static struct seen seen;
	struct writer first, later;
	struct intake_sink sink;
	struct merge *merge;
	uint32_t left = 0, budget = 100;
	uint64_t unused = 0;

	(void)state;
	make_sink(&sink, &seen);
	merge = merge_create(&sink);
	open_writer(&first, &sink, "first", true);
	open_writer(&later, &sink, "later", true);
	put_type(&first);
	put_stream(&first, 0, "a", 0, 7, 10002);
	put_event(&first, 10012, 0, 0, 1);
	put_event(&first, 10022, 0, 0, 2);
	publish(&first);
	while (first.queue.head == INPUT_QUEUE_NONE) {
		input_queue_run(&first.queue, 0, &unused, &budget);
	}
	merge_join(merge, &first.queue, 1);
	merge_step(merge, 100, 1, on_left, &left);
	assert_int_equal(seen.clocks, 1);
	assert_int_equal(seen.clock_offset_ns, 10002);
	/* Another one thinks that the clock began 2 ns earlier. */
	put_type(&later);
	put_stream(&later, 0, "a", 0, 7, 10000);
	put_event(&later, 10030, 0, 0, 3);
	publish(&later);
	budget = 100;
	while (later.queue.head == INPUT_QUEUE_NONE) {
		input_queue_run(&later.queue, 0, &unused, &budget);
	}
	merge_join(merge, &later.queue, 1);
	put_event(&first, 10042, 0, 0, 4);
	put_end(&first);
	put_end(&later);
	publish(&first);
	publish(&later);
	while (left < 2) {
		merge_step(merge, 100, 1, on_left, &left);
	}
	assert_int_equal(seen.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(seen.value[i], i + 1);
		assert_int_equal(seen.ts_ns[i], 10012 + 10 * i);
	}
	assert_int_equal(seen.clocks, 1);
	merge_destroy(merge);
	close_writer(&first);
	close_writer(&later);
}

/* --- a writer that lies --- */

struct verdict {
	uint32_t left, broken;
};

static void on_verdict(void *context, struct input_queue *queue, enum input_queue_status why)
{
	struct verdict *verdict = context;

	verdict->left++;
	if (why == INPUT_QUEUE_BROKEN) {
		assert_non_null(queue->fault);
		verdict->broken++;
	}
}

/* An event of the year 2300 would make everything that follows late. */
static void test_impossible_time(void **state)
{
	static struct seen seen;
	struct intake_sink sink;
	struct verdict verdict = {0};
	struct writer writer;
	struct merge *merge;

	(void)state;
	make_sink(&sink, &seen);
	merge = merge_create(&sink);
	open_writer(&writer, &sink, "future", true);
	merge_join(merge, &writer.queue, 1);
	write_head(&writer, 0);
	put_event(&writer, 1000, 0, 0, 1);
	put_event(&writer, UINT64_C(10413792000000000000), 0, 0, 2);
	publish(&writer);
	while (verdict.left == 0) {
		merge_step(merge, 100, 1, on_verdict, &verdict);
	}
	assert_int_equal(verdict.broken, 1);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.late, 0);
	merge_destroy(merge);
	close_writer(&writer);
}

static uint32_t on_any_type(void *context, const struct event_type *type)
{
	struct seen *seen = context;

	assert_non_null(type->name);
	return seen->types++;
}

static void test_garbage_breaks_only_its_queue(void **state)
{
	static struct seen seen;
	struct verdict verdict = {0};
	uint32_t round;

	(void)state;
	random_state = 424242;
	for (round = 0; round < 20000; round++) {
		struct intake_sink sink;
		struct merge *merge;
		struct writer writer;
		uint32_t words, kind, i, left = verdict.left;
		uint64_t junk[40];

		make_sink(&sink, &seen);
		sink.add_type = on_any_type;
		merge = merge_create(&sink);
		open_writer(&writer, &sink, "liar", false);
		merge_join(merge, &writer.queue, 1);
		if (round % 2) {
			put_type(&writer);
			put_stream(&writer, 0, "a", 0, 0, 0);
		}
		words = 1 + draw(40);
		for (i = 0; i < words; i++) {
			junk[i] = draw(2) ? draw(64)
					  : ((uint64_t)draw(UINT32_MAX) << 32) | draw(300);
		}
		kind = 1 + draw(11);
		memcpy((char *)junk + offsetof(struct record, kind), &kind, sizeof(kind));
		put(&writer, junk, words * 8);
		put_end(&writer);
		publish(&writer);
		for (i = 0; i < 10 && writer.queue.joined; i++) {
			merge_step(merge, 100, 1, on_verdict, &verdict);
		}
		/* Junk that happens to be right is followed by an end; either way it is over. */
		assert_int_equal(verdict.left, left + 1);
		merge_destroy(merge);
		close_writer(&writer);
	}
	assert_true(verdict.broken > 5000);
}

/* In whatever order recordings begin to be read, and were named, their hosts come in one order. */
static void test_recordings_begin_in_one_order(void **state)
{
	static const char *const names[] = {"x", "y", "z"};
	static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};

	(void)state;
	for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
		struct writer writers[3];
		static struct seen seen;
		struct intake_sink sink;
		struct merge *merge;
		uint32_t left = 0;

		make_sink(&sink, &seen);
		merge = merge_create(&sink);
		for (uint32_t i = 0; i < 3; i++) {
			open_writer(&writers[i], &sink, names[i], false);
		}
		for (uint32_t i = 0; i < 3; i++) {
			struct input_queue *queue = &writers[orders[o][2 - i]].queue;

			assert_int_equal(merge_join(merge, queue, 1), STATUS_OK);
		}
		for (uint32_t i = 0; i < 3; i++) {
			struct writer *writer = &writers[orders[o][i]];

			put_stream(writer, 0, names[orders[o][i]], 0, 0, 0);
			put_type(writer);
			put_event(writer, 100 - orders[o][i], 0, 0, i);
			put_end(writer);
			publish(writer);
			for (int turns = 0; turns < 3; turns++) {
				merge_step(merge, 100, 1, on_left, &left);
			}
			assert_true(seen.n == 0 || i == 2);
		}
		assert_string_equal(seen.hosts, "xyz");
		assert_int_equal(seen.n, 3);
		assert_int_equal(left, 3);
		merge_destroy(merge);
		for (uint32_t i = 0; i < 3; i++) {
			close_writer(&writers[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_any_split_and_timing),
			cmocka_unit_test(test_silent_live_source),
			cmocka_unit_test(test_standstill),
			cmocka_unit_test(test_one_clock_for_equal_uuids),
			cmocka_unit_test(test_clock_of_the_first),
			cmocka_unit_test(test_impossible_time),
			cmocka_unit_test(test_garbage_breaks_only_its_queue),
			cmocka_unit_test(test_recordings_begin_in_one_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
