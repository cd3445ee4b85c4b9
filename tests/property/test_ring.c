/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ring between two threads, as between two processes: each side has mappings of its own. Every
 * record arrives once, in order and whole, whatever the sizes; a writer that breaks the format is
 * found out, and never takes the reader along.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ring/ring.h"

#define SMALL_RING (64u << 10)

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct writer {
	struct ring_fds fds;
	uint64_t seed, n_records;
	uint32_t max_payload; /* words */
	uint64_t written;     /* records, when the writer had to give up */
};

/* Record i carries i in its first word, and i + j in the word j; its size comes from the seed. */
static uint32_t payload_words(uint64_t *state, uint32_t max_payload)
{
	return 1 + (uint32_t)(next_random(state) % max_payload);
}

static void *writer_main(void *data)
{
	struct writer *writer = data;
	struct ring *ring = ring_attach(&writer->fds);
	uint64_t sizes = writer->seed, pauses = writer->seed * 31;

	for (uint64_t i = 0; i < writer->n_records; i++) {
		uint32_t words = payload_words(&sizes, writer->max_payload);
		uint32_t size = (uint32_t)sizeof(struct record) + words * 8;
		struct record *record = ring_reserve(ring, size);

		if (!record) {
			break;
		}
		*record = (struct record){.size = size, .kind = RECORD_EVENT};
		for (uint32_t j = 0; j < words; j++) {
			((uint64_t *)(record + 1))[j] = i + j;
		}
		writer->written++;
		if (next_random(&pauses) % 16 == 0 || words > 64) {
			ring_publish(ring, ring_position(ring));
		}
		if (next_random(&pauses) % 20000 == 0) {
			usleep(500);
		}
	}
	ring_publish(ring, ring_position(ring));
	ring_destroy(ring);
	return NULL;
}

static void wait_for_data(struct ring *ring)
{
	struct pollfd data = {.fd = ring_wait_fd(ring), .events = POLLIN};

	if (ring_arm(ring)) {
		poll(&data, 1, 5000);
	}
}

static void check_transfer(uint32_t max_payload, uint64_t n_records, uint64_t seed)
{
	struct ring *ring = ring_create(SMALL_RING);
	struct writer writer = {.seed = seed, .n_records = n_records, .max_payload = max_payload};
	uint64_t sizes = seed, pauses = seed * 17;
	pthread_t thread;
	bool broken;

	assert_non_null(ring);
	writer.fds = ring_fds(ring);
	assert_int_equal(pthread_create(&thread, NULL, writer_main, &writer), 0);
	for (uint64_t i = 0; i < n_records;) {
		const struct record *record = ring_peek(ring, &broken);
		uint32_t words;

		assert_false(broken);
		if (!record) {
			wait_for_data(ring);
			continue;
		}
		words = payload_words(&sizes, max_payload);
		assert_int_equal(record->size, sizeof(*record) + words * 8);
		for (uint32_t j = 0; j < words; j++) {
			assert_int_equal(((const uint64_t *)(record + 1))[j], i + j);
		}
		ring_next(ring);
		i++;
		if (next_random(&pauses) % 20000 == 0) {
			usleep(500);
		}
	}
	assert_null(ring_peek(ring, &broken));
	assert_false(broken);
	assert_int_equal(ring_used(ring), 0);
	pthread_join(thread, NULL);
	ring_destroy(ring);
}

static void test_every_record_arrives_in_order(void **state)
{
	(void)state;
	check_transfer(4, 100000, 1);
	check_transfer(100, 20000, 2);
	check_transfer(2000, 2000, 3); /* close to a quarter of the ring */
}

static void test_writer_gives_up_when_the_reader_goes(void **state)
{
	struct ring *ring = ring_create(SMALL_RING);
	struct writer writer = {.seed = 5, .n_records = 1000000, .max_payload = 10};
	pthread_t thread;

	(void)state;
	writer.fds = ring_fds(ring);
	writer.fds.memory = dup(writer.fds.memory);
	writer.fds.space_event = dup(writer.fds.space_event);
	writer.fds.data_event = dup(writer.fds.data_event);
	pthread_create(&thread, NULL, writer_main, &writer);
	usleep(20000);
	ring_destroy(ring);
	pthread_join(thread, NULL);
	assert_in_range(writer.written, 1, 100000);
	close(writer.fds.memory);
	close(writer.fds.space_event);
	close(writer.fds.data_event);
}

static void test_writer_gives_up_when_the_reader_died(void **state)
{
	int channel[2];
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(pipe(channel), 0);
	/* The reader is a process that dies with the ring full; its writer is another. */
	child = fork();
	if (child == 0) {
		struct ring *ring = ring_create(SMALL_RING);
		struct ring_fds fds = ring_fds(ring);
		pid_t reader = getpid(), writer = fork();

		if (writer == 0) {
			struct ring *side = ring_attach(&fds);
			char done = 'd';

			kill(reader, SIGKILL);
			while (ring_reserve(side, 1024)) {
				ring_publish(side, ring_position(side));
			}
			_exit(write(channel[1], &done, 1) == 1 ? 0 : 1);
		}
		pause();
		_exit(0);
	}
	close(channel[1]);
	waitpid(child, &status, 0);
	{
		char done = 0;
		struct pollfd ready = {.fd = channel[0], .events = POLLIN};

		assert_int_equal(poll(&ready, 1, 10000), 1);
		assert_int_equal(read(channel[0], &done, 1), 1);
		assert_int_equal(done, 'd');
	}
	close(channel[0]);
}

static void test_what_cannot_ever_fit_is_refused(void **state)
{
	struct ring *ring = ring_create(SMALL_RING);
	struct ring_fds fds = ring_fds(ring);
	struct ring *writer = ring_attach(&fds);

	(void)state;
	assert_non_null(ring_reserve(writer, SMALL_RING - 8));
	assert_null(ring_reserve(writer, 16));
	assert_int_equal(errno, EMSGSIZE);
	ring_destroy(writer);
	ring_destroy(ring);
	assert_null(ring_create(100));
	assert_null(ring_create(SMALL_RING + 4096));
}

/* Any garbage in the data or in the positions ends in `broken` or in nothing more to read. */
static void test_a_broken_writer_is_found_out(void **state)
{
	uint64_t random = 77;
	uint32_t n_broken = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct ring *ring = ring_create(SMALL_RING);
		struct ring_fds fds = ring_fds(ring);
		struct ring *writer = ring_attach(&fds);
		uint64_t size = 64 + next_random(&random) % 4096;
		unsigned char *bytes = ring_reserve(writer, size);
		bool broken = false;

		for (uint64_t i = 0; i < size; i++) {
			/* Mostly small numbers: some sizes are right by chance. */
			uint64_t r = next_random(&random);

			bytes[i] = (unsigned char)(r % 4 == 0 ? (r >> 8) & 0x18 : 0);
		}
		if (round % 10 == 0) {
			ring_publish(writer, next_random(&random)); /* a wild position */
		} else {
			ring_publish(writer, ring_position(writer));
		}
		for (;;) {
			const struct record *record = ring_peek(ring, &broken);
			const char *text;

			if (!record) {
				break;
			}
			text = record_text(record, (uint32_t)next_random(&random) % 64);
			if (text) {
				assert_true(strlen(text) < record->size);
			}
			ring_next(ring);
		}
		n_broken += broken;
		ring_destroy(writer);
		ring_destroy(ring);
	}
	assert_true(n_broken > 200);
}

static void test_memory_cannot_be_cut_off(void **state)
{
	struct ring *ring = ring_create(SMALL_RING);

	(void)state;
	assert_int_not_equal(ftruncate(ring_fds(ring).memory, 4096), 0);
	ring_destroy(ring);
}

static void test_texts_stay_inside_their_record(void **state)
{
	struct {
		struct record record;
		char text[8];
	} whole = {.record = {.size = 16}, .text = "abc"};

	(void)state;
	assert_string_equal(record_text(&whole.record, 8), "abc");
	assert_string_equal(record_text(&whole.record, 11), "");
	assert_null(record_text(&whole.record, 0));
	assert_null(record_text(&whole.record, 16));
	assert_null(record_text(&whole.record, UINT32_MAX));
	memset(whole.text, 'x', sizeof(whole.text));
	assert_null(record_text(&whole.record, 8));
}

struct sleeper {
	struct ring *ring;
	uint64_t slept_ns;
};

static void *sleep_main(void *context)
{
	struct sleeper *sleeper = context;

	sleeper->slept_ns = ring_sleep(sleeper->ring, 1000000);
	return NULL;
}

static uint64_t in_ms(uint64_t ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ms * 1000000u;
}

/* As long as it wants, or as the reader lets it; not beyond the bound; and not once it is wanted.
 */
static void test_a_writer_rests_while_nobody_looks(void **state)
{
	struct ring *ring = ring_create(SMALL_RING);
	struct ring_fds fds = ring_fds(ring);
	struct sleeper sleeper = {.ring = ring_attach(&fds)};
	uint64_t slept_ns, until_ns;
	pthread_t thread;

	(void)state;
	slept_ns = ring_sleep(sleeper.ring, 3000000);
	assert_in_range(slept_ns, 3000000, RING_MAX_REST_NS - 1);

	until_ns = in_ms(60);
	ring_rest_until(ring, until_ns);
	ring_sleep(sleeper.ring, 1000000);
	assert_true(in_ms(0) >= until_ns);

	/* Woken long before: by a first instant, then by another one. */
	for (int round = 0; round < 2; round++) {
		ring_rest_until(ring, in_ms(3600000));
		assert_int_equal(pthread_create(&thread, NULL, sleep_main, &sleeper), 0);
		usleep(30000);
		ring_rest_until(ring, round == 0 ? 0 : in_ms(1));
		pthread_join(thread, NULL);
		assert_in_range(sleeper.slept_ns, 1000000, RING_MAX_REST_NS - 1);
	}

	ring_rest_until(ring, UINT64_MAX);
	slept_ns = ring_sleep(sleeper.ring, 1000000);
	assert_true(slept_ns >= RING_MAX_REST_NS);
	assert_true(in_ms(0) > until_ns + RING_MAX_REST_NS);
	ring_destroy(sleeper.ring);
	ring_destroy(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_every_record_arrives_in_order),
			cmocka_unit_test(test_writer_gives_up_when_the_reader_goes),
			cmocka_unit_test(test_writer_gives_up_when_the_reader_died),
			cmocka_unit_test(test_what_cannot_ever_fit_is_refused),
			cmocka_unit_test(test_a_broken_writer_is_found_out),
			cmocka_unit_test(test_memory_cannot_be_cut_off),
			cmocka_unit_test(test_a_writer_rests_while_nobody_looks),
			cmocka_unit_test(test_texts_stay_inside_their_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
