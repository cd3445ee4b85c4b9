/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of events: what the window holds, what outlives it, and what goes when memory ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "state/log.h"

#define SECOND UINT64_C(1000000000)

static struct event_log *make(uint64_t max_bytes, uint64_t max_held_bytes, bool window)
{
	struct event_log *log = log_create(&(struct event_log_config){.max_bytes = max_bytes,
			.max_held_bytes = max_held_bytes,
			.window = window});

	assert_non_null(log);
	return log;
}

static uint64_t add(struct event_log *log, uint64_t ts_ns, uint64_t value)
{
	uint64_t slots[3] = {value, value + 1, value + 2};
	struct event event = {.ts_ns = ts_ns,
			.type = (uint32_t)value,
			.stream = 7,
			.cpu = 3,
			.bytes = sizeof(slots),
			.slots = slots};

	return log_add(log, &event);
}

struct seen {
	uint64_t numbers[256];
	bool older[256];
	uint32_t n, stop_after;
};

static bool see(void *context, uint64_t number, const struct event *event, bool older)
{
	struct seen *seen = context;

	assert_int_equal(event->slots[0] + 2, event->slots[2]);
	assert_int_equal(event->type, event->slots[0]);
	assert_true(seen->n < 256);
	seen->numbers[seen->n] = number;
	seen->older[seen->n++] = older;
	return seen->n != seen->stop_after;
}

static void expect(struct event_log *log, uint64_t from_ns, uint64_t to_ns, uint32_t n,
		const uint64_t *numbers, uint32_t n_older)
{
	struct seen seen = {.n = 0};

	log_each(log, from_ns, to_ns, see, &seen);
	assert_int_equal(seen.n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(seen.numbers[i], numbers[i]);
		assert_int_equal(seen.older[i], i < n_older);
	}
}

static void the_window_moves(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, true);
	struct event event;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		assert_int_equal(add(log, i * SECOND, 100 + i), i);
	}
	expect(log, 0, UINT64_MAX, 5, (uint64_t[]){1, 2, 3, 4, 5}, 0);
	expect(log, 0, 3 * SECOND, 3, (uint64_t[]){1, 2, 3}, 0);
	expect(log, 4 * SECOND, UINT64_MAX, 2, (uint64_t[]){4, 5}, 0);
	log_expire(log, 3 * SECOND);
	expect(log, 0, UINT64_MAX, 3, (uint64_t[]){3, 4, 5}, 0);
	assert_false(log_get(log, 2, &event));
	assert_true(log_get(log, 3, &event));
	assert_int_equal(event.ts_ns, 3 * SECOND);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(event.stream, 7);
	assert_int_equal(event.slots[1], 104);
	assert_false(log_get(log, 6, &event));
	assert_int_equal(log_trimmed(log), 0);
	log_expire(log, 9 * SECOND);
	expect(log, 0, UINT64_MAX, 0, NULL, 0);
	assert_int_equal(add(log, 9 * SECOND, 1), 6);
	log_destroy(log);
}

static void a_held_event_outlives_the_window(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, true);
	struct event event;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		add(log, i * SECOND, i);
	}
	log_hold(log, 2);
	log_hold(log, 2);
	log_hold(log, 4);
	log_hold(log, 99); /* not there: nothing happens */
	log_expire(log, 5 * SECOND);
	expect(log, 5 * SECOND, UINT64_MAX, 3, (uint64_t[]){2, 4, 5}, 2);
	log_release(log, 2);
	assert_true(log_get(log, 2, &event));
	assert_int_equal(event.slots[2], 4);
	log_release(log, 2);
	assert_false(log_get(log, 2, &event));
	expect(log, 5 * SECOND, UINT64_MAX, 2, (uint64_t[]){4, 5}, 1);
	log_release(log, 4);
	log_release(log, 4);
	expect(log, 5 * SECOND, UINT64_MAX, 1, (uint64_t[]){5}, 0);
	log_destroy(log);
}

/* Not expired yet, but before the time that is asked for: only if it is held. */
static void what_is_older_comes_only_if_held(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, true);

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		add(log, i * SECOND, i);
	}
	log_hold(log, 2);
	expect(log, 4 * SECOND, UINT64_MAX, 3, (uint64_t[]){2, 4, 5}, 1);
	log_destroy(log);
}

static void a_pin_keeps_its_window(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, true);

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		add(log, i * SECOND, i);
	}
	log_hold(log, 1);
	log_hold(log, 4);
	log_expire(log, 2 * SECOND);
	log_pin(log, 2 * SECOND);
	log_release(log, 1); /* was referred to when the picture froze */
	for (uint64_t i = 6; i <= 30; i++) {
		add(log, i * SECOND, i);
		log_expire(log, (i - 3) * SECOND);
	}
	log_hold(log, 28);
	expect(log, 2 * SECOND, 5 * SECOND, 5, (uint64_t[]){1, 2, 3, 4, 5}, 1);
	for (uint64_t i = 31; i <= 40; i++) {
		add(log, i * SECOND, i);
		log_expire(log, (i - 3) * SECOND);
	}
	log_unpin(log);
	expect(log, 37 * SECOND, UINT64_MAX, 6, (uint64_t[]){4, 28, 37, 38, 39, 40}, 2);
	log_destroy(log);
}

static void full_memory_takes_the_oldest(void **state)
{
	struct event_log *log = make(16 << 10, 1 << 10, true);
	struct event event;
	uint64_t trimmed_ns, first = 0;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		add(log, i * SECOND, i);
		if (i == 10) {
			log_hold(log, 10);
		}
	}
	trimmed_ns = log_trimmed(log);
	assert_true(trimmed_ns > 500 * SECOND && trimmed_ns < 1000 * SECOND);
	while (!log_get(log, first, &event) || first == 10) {
		first++;
	}
	assert_true(event.ts_ns >= trimmed_ns && event.ts_ns - trimmed_ns <= SECOND);
	assert_true(log_get(log, 10, &event));
	/* Once the window has passed that time it is whole again. */
	log_expire(log, trimmed_ns);
	assert_int_equal(log_trimmed(log), 0);
	/* Held ones have a bound, too. */
	for (uint64_t i = 990; i <= 1000; i++) {
		log_hold(log, i);
	}
	log_expire(log, 2000 * SECOND);
	assert_false(log_get(log, 10, &event));
	assert_true(log_get(log, 1000, &event));
	log_destroy(log);
}

static void while_pinned_the_newer_go_first(void **state)
{
	struct event_log *log = make(16 << 10, 1 << 10, true);
	struct event event;

	(void)state;
	for (uint64_t i = 1; i <= 100; i++) {
		add(log, i * SECOND, i);
	}
	log_pin(log, 1);
	for (uint64_t i = 101; i <= 1000; i++) {
		add(log, i * SECOND, i);
	}
	assert_true(log_get(log, 1, &event));
	assert_true(log_get(log, 100, &event));
	assert_false(log_get(log, 101, &event));
	assert_true(log_get(log, 1000, &event));
	log_destroy(log);
}

static void without_a_window_only_held_ones_stay(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, false);
	struct event event;

	(void)state;
	add(log, 1, 1);
	log_hold(log, 1);
	log_hold(log, 1);
	add(log, 2, 2);
	add(log, 3, 3);
	assert_false(log_get(log, 2, &event));
	assert_true(log_get(log, 3, &event));
	assert_true(log_get(log, 1, &event));
	log_release(log, 1);
	log_release(log, 1);
	assert_false(log_get(log, 1, &event));
	log_destroy(log);
}

static void the_longest_event_fits(void **state)
{
	struct event_log *log = make(1 << 20, 1 << 20, true);
	uint64_t *slots = calloc(EVENT_MAX_BYTES / 8, 8);
	struct event event = {.ts_ns = 5, .bytes = EVENT_MAX_BYTES, .slots = slots}, out;

	(void)state;
	slots[EVENT_MAX_BYTES / 8 - 1] = 42;
	assert_int_equal(log_add(log, &event), 1);
	free(slots);
	assert_true(log_get(log, 1, &out));
	assert_int_equal(out.slots[EVENT_MAX_BYTES / 8 - 1], 42);
	log_destroy(log);
}

/* Beside a model that keeps everything. */
struct model {
	uint64_t ts_ns;
	uint32_t holds;
	bool kept; /* in the window, or held when it left it */
};

#define STEPS 20000u

static void check(struct event_log *log, const struct model *model, uint64_t n, uint64_t before_ns)
{
	struct event event;

	for (uint64_t i = 1; i <= n; i++) {
		bool there = model[i].ts_ns >= before_ns || model[i].kept;

		assert_int_equal(log_get(log, i, &event), there);
		if (there) {
			assert_int_equal(event.ts_ns, model[i].ts_ns);
			assert_int_equal(event.slots[0], i % 1000);
		}
	}
}

static void random_use_agrees_with_a_plain_model(void **state)
{
	struct event_log *log = make(64 << 20, 64 << 20, true);
	struct model *model = calloc(STEPS + 1, sizeof(*model));
	uint64_t n = 0, now = 100, before = 0, pick;

	(void)state;
	srand(7);
	for (uint32_t step = 0; step < STEPS; step++) {
		pick = n ? 1 + (uint64_t)rand() % n : 0;
		switch (rand() % 8) {
		case 0:
			if (pick && (model[pick].ts_ns >= before || model[pick].kept)) {
				log_hold(log, pick);
				model[pick].holds++;
			}
			break;
		case 1:
			if (pick && model[pick].holds) {
				log_release(log, pick);
				model[pick].kept = --model[pick].holds && model[pick].kept;
			}
			break;
		case 2:
			for (uint64_t i = 1; i <= n; i++) {
				if (model[i].ts_ns >= before && model[i].ts_ns + 50 < now) {
					model[i].kept = model[i].holds > 0;
				}
			}
			before = now > 50 && now - 50 > before ? now - 50 : before;
			log_expire(log, before);
			break;
		default:
			now += (uint64_t)rand() % 3;
			n++;
			model[n].ts_ns = now;
			assert_int_equal(add(log, now, n % 1000), n);
			break;
		}
		if (step % 1000 == 0) {
			check(log, model, n, before);
		}
	}
	check(log, model, n, before);
	free(model);
	log_destroy(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_window_moves),
			cmocka_unit_test(a_held_event_outlives_the_window),
			cmocka_unit_test(what_is_older_comes_only_if_held),
			cmocka_unit_test(a_pin_keeps_its_window),
			cmocka_unit_test(full_memory_takes_the_oldest),
			cmocka_unit_test(while_pinned_the_newer_go_first),
			cmocka_unit_test(without_a_window_only_held_ones_stay),
			cmocka_unit_test(the_longest_event_fits),
			cmocka_unit_test(random_use_agrees_with_a_plain_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
