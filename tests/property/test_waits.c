/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose work ends where waits end: how often somebody is named where nothing is handed over, in
 * steady and in bursty systems, and how often whoever does hand over is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats/bootstrap.h"
#include "stats/handover.h"

#define MS    UINT64_C(1000000)
#define S     UINT64_C(1000000000)
#define RUNS  1000u
#define WAITS 60u
#define KINDS 40u
#define ENDS  20000u

enum world {
	STEADY, /* all ends come by themselves */
	BURSTY, /* ends and waits come in the same bursts, of some 30 ms */
	PAIRED, /* kinds follow each other on their threads, as in code */
	N_WORLDS,
};

static uint64_t draw(struct bootstrap_random *random, uint64_t most)
{
	return bootstrap_next(random) % most;
}

static int by_time(const void *left, const void *right)
{
	const struct handover_end *a = left, *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* An instant of 20 s, in a burst where all are. */
static uint64_t instant(enum world world, struct bootstrap_random *random)
{
	return world == BURSTY ? S + draw(random, 100) * 200 * MS + draw(random, 30 * MS)
			       : S + draw(random, 20 * S);
}

/* `handed`: the share of waits that kind 3 ends. Returns how many ends there are. */
static uint32_t make(enum world world, uint64_t seed, double handed, struct handover_wait *waits,
		struct handover_end *ends)
{
	struct bootstrap_random random = {.state = seed};
	uint32_t n = 0;

	for (uint32_t i = 0; i < WAITS; i++) {
		uint64_t to_ns = instant(world, &random);

		waits[i] = (struct handover_wait){.from_ns = to_ns - MS - draw(&random, 20 * MS),
				.to_ns = to_ns,
				.thread = 1 + i % 4,
				.request = 10000 + i};
		if ((double)draw(&random, 1000) < 1000 * handed) {
			ends[n++] = (struct handover_end){
					.at_ns = to_ns - 20000 - draw(&random, 80000),
					.thread = 9,
					.request = i,
					.kind = 3};
		}
	}
	while (n < ENDS / 2) {
		uint64_t at_ns = instant(world, &random), thread = 5 + draw(&random, 4);
		uint32_t kind = (uint32_t)draw(&random, KINDS), chain = n;

		/* Some are frequent, most are not. */
		kind = draw(&random, 3) ? kind % 5 : kind;
		ends[n++] = (struct handover_end){
				.at_ns = at_ns, .thread = thread, .request = chain, .kind = kind};
		for (uint32_t i = 1; world == PAIRED && i < 4; i++) {
			at_ns += 50000 * i;
			ends[n++] = (struct handover_end){.at_ns = at_ns,
					.thread = thread,
					.request = chain,
					.kind = (kind + i) % KINDS};
		}
	}
	qsort(ends, n, sizeof(*ends), by_time);
	return n;
}

static void nobody_is_named_by_chance(void **state)
{
	static struct handover_end ends[ENDS];
	struct handover_wait waits[WAITS];

	(void)state;
	for (enum world world = STEADY; world < N_WORLDS; world++) {
		uint32_t named = 0;

		for (uint64_t seed = 1; seed <= RUNS; seed++) {
			uint32_t n = make(world, seed * 7919, 0, waits, ends);
			struct handover found;

			assert_true(handover_judge(waits, WAITS, ends, n, &found));
			named += found.n > 0;
		}
		print_message("world %d: somebody named in %u of %u runs\n", world, named, RUNS);
		assert_true(named <= RUNS / 100);
	}
}

static void whoever_hands_over_is_named(void **state)
{
	static struct handover_end ends[ENDS];
	struct handover_wait waits[WAITS];

	(void)state;
	for (enum world world = STEADY; world < N_WORLDS; world++) {
		uint32_t named = 0, covered = 0;

		for (uint64_t seed = 1; seed <= RUNS / 5; seed++) {
			uint32_t n = make(world, seed * 104729, 0.8, waits, ends);
			struct handover found;
			double share;

			assert_true(handover_judge(waits, WAITS, ends, n, &found));
			named += found.n > 0 && found.kinds[0] == 3;
			share = (double)found.fits / found.waits;
			covered += found.low <= share && share <= found.high;
		}
		print_message("world %d: the right one in %u of %u runs\n", world, named, RUNS / 5);
		assert_true(named >= RUNS / 5 * 95 / 100);
		assert_int_equal(covered, RUNS / 5);
	}
}

/* What its own thread or its own request does just before is no evidence. */
static void own_work_is_no_evidence(void **state)
{
	static struct handover_end ends[ENDS];
	struct handover_wait waits[WAITS];

	(void)state;
	for (int own = 0; own < 2; own++) {
		uint32_t n = make(STEADY, 11, 0, waits, ends);
		struct handover found;

		for (uint32_t i = 0; i < WAITS; i++) {
			ends[n++] = (struct handover_end){.at_ns = waits[i].to_ns - 10000,
					.thread = own ? waits[i].thread : 77,
					.request = own ? 5 : waits[i].request,
					.kind = 39};
		}
		qsort(ends, n, sizeof(*ends), by_time);
		assert_true(handover_judge(waits, WAITS, ends, n, &found));
		assert_int_equal(found.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nobody_is_named_by_chance),
			cmocka_unit_test(whoever_hands_over_is_named),
			cmocka_unit_test(own_work_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
