/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What goes out of a source process is in order: whatever order it came in, within the slack that
 * was asked for; and what comes too late for that is counted, not lost, and breaks no promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/outlet.h"

#define RING_BYTES (4u << 20)
#define RANKS      4

struct bench {
	struct ring *reader, *writer;
	struct outlet *outlet;
	/* What has been read. */
	uint64_t n, last_ts, last_rank;
	uint32_t n_types;
	unsigned char *seen; /* by event number */
};

static void bench_init(struct bench *bench, uint64_t n_events)
{
	struct ring_fds fds;

	memset(bench, 0, sizeof(*bench));
	bench->reader = ring_create(RING_BYTES);
	fds = ring_fds(bench->reader);
	bench->writer = ring_attach(&fds);
	bench->outlet = outlet_create(bench->writer);
	bench->seen = calloc(n_events + 1, 1);
}

static void bench_release(struct bench *bench)
{
	outlet_destroy(bench->outlet);
	ring_destroy(bench->writer);
	ring_destroy(bench->reader);
	free(bench->seen);
}

/* An event with its number, and so many words of payload in a piece of its own. */
static void put(struct bench *bench, uint64_t ts_ns, uint64_t rank, uint64_t number, uint32_t words)
{
	struct record_event *event = outlet_begin(
			bench->outlet, sizeof(*event) + 2 * sizeof(uint64_t), RECORD_EVENT);
	uint64_t *more;
	uint32_t at;

	assert_non_null(event);
	event->ts_ns = ts_ns;
	event->cpu = (uint32_t)rank;
	event->bytes = words;
	event->slots[0] = number;
	event->slots[1] = ts_ns;
	if (words > 0) {
		more = outlet_extend(bench->outlet, words * sizeof(*more), &at);
		assert_int_equal(at, sizeof(*event) + 2 * sizeof(uint64_t));
		for (uint32_t i = 0; i < words; i++) {
			more[i] = number * 31 + i;
		}
	}
	assert_true(outlet_commit_at(bench->outlet, ts_ns, rank));
}

static void put_type(struct bench *bench)
{
	assert_non_null(outlet_begin(bench->outlet, 64, RECORD_TYPE));
	assert_true(outlet_commit(bench->outlet));
}

/* Reads what is visible, and checks the order and each record's content. */
static void take(struct bench *bench)
{
	const struct record *record;
	bool broken;

	while ((record = ring_peek(bench->reader, &broken))) {
		const struct record_event *event = (const struct record_event *)record;

		if (record->kind == RECORD_TYPE) {
			bench->n_types++;
			ring_next(bench->reader);
			continue;
		}
		assert_true(event->ts_ns >= bench->last_ts);
		if (event->ts_ns == bench->last_ts) {
			assert_true(event->cpu >= bench->last_rank);
		}
		assert_true(event->ts_ns >= event->slots[1]);
		bench->last_ts = event->ts_ns;
		bench->last_rank = event->cpu;
		for (uint32_t i = 0; i < event->bytes; i++) {
			assert_int_equal(event->slots[2 + i], event->slots[0] * 31 + i);
		}
		assert_int_equal(bench->seen[event->slots[0]], 0);
		bench->seen[event->slots[0]] = 1;
		bench->n++;
		ring_next(bench->reader);
	}
	assert_false(broken);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void test_equal_times_are_ordered_by_rank(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, 10);
	put(&bench, 100, 2, 0, 0);
	put(&bench, 100, 3, 1, 5);
	put(&bench, 100, 1, 2, 1);
	put(&bench, 100, 0, 3, 0);
	outlet_flush(bench.outlet, 99);
	take(&bench);
	assert_int_equal(bench.n, 0); /* an equal could still come */
	put(&bench, 101, 0, 4, 0);
	outlet_flush(bench.outlet, 100);
	take(&bench);
	assert_int_equal(bench.n, 4);
	outlet_flush_all(bench.outlet);
	take(&bench);
	assert_int_equal(bench.n, 5);
	assert_int_equal(outlet_clamped(bench.outlet), 0);
	bench_release(&bench);
}

static void test_records_without_time_come_before_what_is_held_back(void **state)
{
	struct bench bench;
	bool broken;

	(void)state;
	bench_init(&bench, 10);
	put(&bench, 100, 0, 0, 3);
	put(&bench, 100, 1, 1, 0);
	put_type(&bench);
	/* The new type's event is put before both; the type must be before it. */
	put(&bench, 100, 0, 2, 0);
	outlet_flush_all(bench.outlet);
	assert_int_equal(ring_peek(bench.reader, &broken)->kind, RECORD_TYPE);
	take(&bench);
	assert_int_equal(bench.n, 3);
	assert_int_equal(bench.n_types, 1);
	bench_release(&bench);
}

/* Times that go back and forth by less than the slack come out sorted, and unchanged. */
static void check_shuffled(uint64_t slack_ns, uint64_t seed)
{
	enum { EVENTS = 30000 };
	struct bench bench;
	uint64_t now = 1000000;

	bench_init(&bench, EVENTS);
	outlet_set_slack(bench.outlet, slack_ns);
	for (uint64_t i = 0; i < EVENTS; i++) {
		uint64_t back = slack_ns ? next_random(&seed) % (slack_ns + 1) : 0;

		now += next_random(&seed) % 4;
		put(&bench, now - back, next_random(&seed) % RANKS, i,
				(uint32_t)(next_random(&seed) % 8));
		if (next_random(&seed) % 50 == 0) {
			put_type(&bench);
		}
		if (next_random(&seed) % 100 == 0) {
			outlet_flush(bench.outlet, now - slack_ns - 1);
			take(&bench);
		}
	}
	outlet_flush_all(bench.outlet);
	take(&bench);
	assert_int_equal(bench.n, EVENTS);
	assert_int_equal(outlet_clamped(bench.outlet), 0);
	bench_release(&bench);
}

static void test_within_the_slack_all_is_sorted(void **state)
{
	(void)state;
	check_shuffled(0, 11);
	check_shuffled(1, 12);
	check_shuffled(50, 13);
	check_shuffled(1000, 14);
}

static void test_what_comes_too_late_is_counted_and_kept(void **state)
{
	enum { EVENTS = 5000 };
	struct bench bench;
	uint64_t random = 99;

	(void)state;
	bench_init(&bench, EVENTS);
	outlet_set_slack(bench.outlet, 10);
	for (uint64_t i = 0; i < EVENTS; i++) {
		put(&bench, 1000 + next_random(&random) % 5000, next_random(&random) % RANKS, i, 1);
		take(&bench);
	}
	outlet_flush_all(bench.outlet);
	take(&bench);
	assert_int_equal(bench.n, EVENTS);
	assert_true(outlet_clamped(bench.outlet) > EVENTS / 2);
	bench_release(&bench);
}

/* Holding back has a bound: then the oldest go, and the order still holds. */
static void test_holding_back_is_bounded(void **state)
{
	enum { EVENTS = 20000 };
	struct bench bench;

	(void)state;
	bench_init(&bench, EVENTS);
	outlet_set_slack(bench.outlet, UINT64_MAX / 4);
	for (uint64_t i = 0; i < EVENTS; i++) {
		put(&bench, 1000 + i, 0, i, 20);
		take(&bench);
	}
	assert_true(bench.n > EVENTS / 2);
	outlet_flush_all(bench.outlet);
	take(&bench);
	assert_int_equal(bench.n, EVENTS);
	assert_int_equal(outlet_clamped(bench.outlet), 0);
	bench_release(&bench);
}

static void test_state_texts_are_cut(void **state)
{
	struct bench bench;
	const struct record_state *record;
	char text[3 * STATE_TEXT_MAX];
	bool broken;

	(void)state;
	bench_init(&bench, 1);
	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_true(outlet_state(bench.outlet, SOURCE_BROKEN, text));
	record = (const struct record_state *)ring_peek(bench.reader, &broken);
	assert_int_equal(record->state, SOURCE_BROKEN);
	assert_int_equal(strlen(record->text), STATE_TEXT_MAX);
	bench_release(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_equal_times_are_ordered_by_rank),
			cmocka_unit_test(test_records_without_time_come_before_what_is_held_back),
			cmocka_unit_test(test_within_the_slack_all_is_sorted),
			cmocka_unit_test(test_what_comes_too_late_is_counted_and_kept),
			cmocka_unit_test(test_holding_back_is_bounded),
			cmocka_unit_test(test_state_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
