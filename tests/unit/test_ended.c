/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of spans that ended: the way back in strides passes over none that was open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "requests/ended.h"

#define THREADS 3u
#define SPANS   (ENDED_SPANS + 30000u) /* so that the oldest have gone */
#define ASKED   500u

enum way { STEP_BY_STEP, IN_STRIDES, BY_INDEX };

/* How many of a thread's spans were open in a time. */
static uint32_t count_open(const struct ended *log, struct ended_index *index, uint32_t last,
		uint64_t from_ns, uint64_t to_ns, enum way way, uint32_t *steps)
{
	const struct ended_span *span =
			way == BY_INDEX ? ended_index_before(index, log, last, to_ns)
					: ended_get(log, last);
	uint32_t n = 0;

	*steps = 0;
	while (span && span->end_ns > from_ns) {
		n += span->start_ns < to_ns;
		span = way == STEP_BY_STEP ? ended_get(log, span->older)
					   : ended_before(log, span, to_ns);
		++*steps;
	}
	return n;
}

/* Of each thread one span after the other, now and then around some hundred of those before. */
static void add_spans(struct ended *log, uint32_t last[THREADS])
{
	uint64_t began[THREADS] = {0};
	uint64_t now_ns = 1000;

	for (uint32_t i = 0; i < SPANS; i++) {
		uint32_t thread = (uint32_t)rand() % THREADS;
		bool around = rand() % 200 == 0;

		now_ns += 10 + (uint64_t)(rand() % 20);
		ended_add(log,
				&(struct ended_span){
						.start_ns = around ? began[thread] : now_ns - 8,
						.end_ns = now_ns,
						.tid = (int32_t)thread},
				&last[thread]);
		if (around) {
			began[thread] = now_ns;
		}
	}
}

static void strides_pass_over_none(void **state)
{
	struct ended log = {.n = 0};
	struct ended_index index = {.n_strides = 0};
	uint32_t last[THREADS] = {0}, steps, by_stride, by_index, far = 0, near = 0, all = 0;

	(void)state;
	srand(7);
	add_spans(&log, last);
	assert_int_equal(log.n, ENDED_SPANS);
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t thread = (uint32_t)rand() % THREADS;
		uint64_t newest_ns = ended_get(&log, last[thread])->end_ns;
		uint64_t to_ns = newest_ns - (uint64_t)rand() % 3000000;
		uint64_t from_ns = to_ns - (uint64_t)(rand() % 3000);

		uint32_t open = count_open(
				&log, &index, last[thread], from_ns, to_ns, STEP_BY_STEP, &steps);

		assert_int_equal(count_open(&log, &index, last[thread], from_ns, to_ns, IN_STRIDES,
						 &by_stride),
				open);
		assert_int_equal(count_open(&log, &index, last[thread], from_ns, to_ns, BY_INDEX,
						 &by_index),
				open);
		assert_true(by_index <= by_stride && by_stride <= steps);
		near += by_index;
		far += by_stride;
		all += steps;
	}
	assert_true(far < all / 4);
	assert_true(near < far / 4);
	assert_null(ended_index_before(&index, &log, last[0], 0));
	assert_null(ended_index_before(&index, &log, 0, UINT64_MAX));
	ended_index_release(&index);
	ended_release(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(strides_pass_over_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
