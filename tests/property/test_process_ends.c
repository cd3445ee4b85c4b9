/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ended, by process and time, of random logs: each span of a process is found at its instant
 * by who asks for it, as often as the log has it, whatever the order in which the log has them, and
 * none of another process is near.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "requests/process_ends.h"
#include "trials.h"

#define MOST      1500u
#define PROCESSES 7u
#define NAMES     (HANDOVER_KINDS + 50u)
#define T0        UINT64_C(1700000000000000000)
#define NEAR_NS   UINT64_C(1000000000)

struct scene {
	uint64_t random;
	struct ended log;
	uint32_t of_thread[2 * PROCESSES];
};

static uint32_t below(struct scene *scene, uint32_t n)
{
	scene->random = hash_u64(scene->random + 1);
	return (uint32_t)(scene->random >> 33) % n;
}

static void make_scene(struct scene *scene, uint64_t seed)
{
	uint32_t n, names, jitter;

	*scene = (struct scene){.random = seed};
	n = below(scene, MOST);
	names = below(scene, 3) ? 5 : NAMES;
	jitter = below(scene, 2) ? 1 : 5000; /* clocks agree, or not */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t process = below(scene, PROCESSES);
		uint32_t thread = 2 * process + below(scene, 2);
		uint64_t end_ns = T0 + i / 3 * 1000 + below(scene, jitter);

		ended_add(&scene->log,
				&(struct ended_span){.start_ns = end_ns - 500,
						.end_ns = end_ns,
						.request = below(scene, 4),
						.host = process % 2,
						.tid = (int32_t)thread,
						/* Pids are given on every host. */
						.pid = process == 6 ? -1 : (int32_t)(process / 2),
						.name = 1 + below(scene, names),
						.provider = below(scene, 2)},
				&scene->of_thread[thread]);
	}
}

static bool is_same_process(const struct ended_span *one, const struct ended_span *other)
{
	return one->host == other->host && one->pid == other->pid;
}

/* The place in the list of one span; it is there once. */
static uint32_t place_of(const struct process_ends *ends, uint32_t number)
{
	uint32_t at = UINT32_MAX;

	for (uint32_t i = 0; i < ends->n; i++) {
		if (ends->items[i].number == number) {
			assert_int_equal(at, UINT32_MAX);
			at = i;
		}
	}
	assert_true(at < ends->n);
	return at;
}

static void check_span(const struct scene *scene, const struct process_ends *ends, uint32_t number)
{
	const struct ended_span *span = ended_get(&scene->log, number);
	const struct handover_end *item = &ends->items[place_of(ends, number)];
	uint64_t at_ns = process_ends_time(ends, span->host, span->pid, span->end_ns);
	uint32_t near = 0, expected = 0;

	assert_true(item->at_ns == at_ns);
	assert_true(item->thread == process_ends_thread(span->host, span->tid));
	assert_true(item->request == (span->request ? span->request : UINT64_MAX));
	if (item->kind < HANDOVER_KINDS) {
		assert_int_equal(ends->kinds[item->kind].name, span->name);
		assert_int_equal(ends->kinds[item->kind].provider, span->provider);
	}
	for (uint32_t i = 0; i < ends->n; i++) {
		near += ends->items[i].at_ns + NEAR_NS > at_ns &&
			ends->items[i].at_ns < at_ns + NEAR_NS;
	}
	for (uint32_t i = 0; i < scene->log.n; i++) {
		expected += is_same_process(span, ended_get(&scene->log, scene->log.last - i));
	}
	assert_int_equal(near, expected);
}

static void all_are_listed_by_process_and_time(void **state)
{
	uint32_t beyond = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS(200); seed++) {
		struct scene scene;
		struct process_ends *ends;
		uint32_t left_out = 0;

		make_scene(&scene, seed);
		ends = process_ends_make(&scene.log);
		assert_non_null(ends);
		assert_int_equal(ends->n, scene.log.n);
		for (uint32_t i = 1; i < ends->n; i++) {
			assert_true(ends->items[i].at_ns > ends->items[i - 1].at_ns ||
					(ends->items[i].at_ns == ends->items[i - 1].at_ns &&
							ends->items[i].number >
									ends->items[i - 1].number));
		}
		for (uint32_t i = 0; i < scene.log.n; i++) {
			check_span(&scene, ends, scene.log.last - i);
			left_out += ends->items[i].kind >= HANDOVER_KINDS;
		}
		assert_true(left_out == 0 || ends->kind_numbers.n == HANDOVER_KINDS);
		/* A process in which nothing ended is far from all others. */
		for (uint32_t i = 0; i < ends->n; i++) {
			assert_true(process_ends_time(ends, 9, 9, T0) >
					ends->items[i].at_ns + NEAR_NS);
		}
		beyond += left_out > 0;
		process_ends_destroy(ends);
		ended_release(&scene.log);
	}
	assert_true(beyond > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(all_are_listed_by_process_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
