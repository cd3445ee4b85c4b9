/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the time is recorded, for machines that are made up: what is watched uses so much of
 * the processors, and recording it takes so much more for each second that is recorded.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/pace.h"

struct machine {
	double busy;          /* processors that what is watched uses */
	double kernel;        /* that recording takes in the kernel, while it goes on */
	double beside, fixed; /* elsewhere, for each second that is recorded, and in any case */
	double idle;
	double processors; /* 0: 2 */
};

static double processors_of(const struct machine *machine)
{
	return machine->processors > 0 ? machine->processors : 2;
}

/* The share of the time after so many spans. */
static double settle(struct pace *pace, const struct machine *machine, int spans)
{
	for (int i = 0; i < spans; i++) {
		uint64_t span_ns = pace_span_ns(pace), period_ns = span_ns + pace_pause_ns(pace);
		double span = (double)span_ns, period = (double)period_ns;

		assert_true(pace_decide(pace, &(struct pace_seen){.span_ns = span_ns,
							      .busy_ns = machine->busy * span,
							      .kernel_ns = machine->kernel * span,
							      .beside_ns = machine->beside * span +
									   machine->fixed * period,
							      .idle = machine->idle,
							      .processors = processors_of(
									      machine)}) >=
				PACE_LEAST);
		assert_true(pace->duty <= 1);
	}
	return pace->duty;
}

static void who_does_little_is_recorded_always(void **state)
{
	struct pace pace = {.limit = 0.03};

	(void)state;
	/* It costs half of what is done; but three quarters of the processors are idle. */
	assert_true(settle(&pace, &(struct machine){.busy = 0.2, .kernel = 0.1, .idle = 0.75},
				    10) == 1);
	assert_int_equal(pace_pause_ns(&pace), 0);
	/* Nothing runs at all. */
	assert_true(settle(&pace, &(struct machine){.idle = 1}, 3) == 1);
}

static void recording_takes_its_share_and_no_more(void **state)
{
	const struct machine machines[] = {
			{.busy = 1, .kernel = 0.3, .idle = 0.5},
			{.busy = 1, .kernel = 0.3, .beside = 0.2, .idle = 0},
			{.busy = 16, .kernel = 2, .beside = 1, .idle = 0.05, .processors = 32},
			{.busy = 1, .kernel = 0.1, .beside = 0.5, .idle = 0.4},
			{.busy = 0.3, .kernel = 0.02, .idle = 0.9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *machine = &machines[i];
		struct pace pace = {.limit = 0.03};
		double duty = settle(&pace, machine, 20);
		double cost = PACE_CALLING * machine->kernel +
			      pow(1 - machine->idle, processors_of(machine)) * machine->beside;
		uint64_t period_ns = pace_span_ns(&pace) + pace_pause_ns(&pace);

		assert_true(fabs(duty * cost - 0.03 * machine->busy) < 0.0003 * machine->busy);
		assert_in_range(period_ns, PACE_PERIOD_NS, PACE_LONGEST_NS);
		assert_true(fabs((double)pace_span_ns(&pace) - duty * (double)period_ns) < 2);
	}
}

/* A load that begins is answered within a few spans, and one that ends is, too. */
static void it_follows_the_load(void **state)
{
	const struct machine little = {.busy = 0.05, .kernel = 0.02, .idle = 0.9};
	const struct machine much = {.busy = 1, .kernel = 0.4, .idle = 0.4};
	struct pace pace = {.limit = 0.03};

	(void)state;
	assert_true(settle(&pace, &little, 3) == 1);
	assert_true(settle(&pace, &much, 4) < 2 * 0.03 / 0.4);
	assert_true(settle(&pace, &little, 9) == 1);
}

/* It need not wait for the end of a span, unless it was there before. */
static void a_load_that_begins_is_seen_at_once(void **state)
{
	const struct machine little = {.busy = 0.05, .kernel = 0.02, .idle = 0.9};
	const struct machine much = {.busy = 0.3, .kernel = 0.0001, .idle = 0.4};
	const double busy_ns = 0.3 * (double)PACE_LOOK_NS;
	struct pace pace = {.limit = 0.03};

	(void)state;
	assert_true(settle(&pace, &little, 3) == 1);
	assert_true(pace_load_begins(&pace, PACE_FIRST_NS, busy_ns));
	assert_false(pace_load_begins(&pace, PACE_FIRST_NS - 1, busy_ns));
	/* What works for a moment now and then is no load. */
	assert_false(pace_load_begins(&pace, PACE_FIRST_NS, (double)PACE_FIRST_NS));
	/* What goes on is looked at in turn, */
	assert_true(settle(&pace, &much, 1) == 1);
	assert_false(pace_load_begins(&pace, PACE_FIRST_NS, busy_ns));
	/* and where not all of the time is recorded there are pauses for that. */
	assert_true(settle(&pace, &(struct machine){.busy = 1, .kernel = 0.4}, 1) < 1);
	assert_false(pace_load_begins(&pace, PACE_FIRST_NS, busy_ns));
}

/* What runs in any case is not made less by recording less: that ends at the least share. */
static void what_runs_anyway_ends_at_the_least(void **state)
{
	const struct machine machine = {.busy = 1, .kernel = 0.1, .fixed = 0.1, .idle = 0};
	struct pace pace = {.limit = 0.03};

	(void)state;
	assert_true(settle(&pace, &machine, 50) < PACE_LEAST + 0.005);
	assert_true(pace_span_ns(&pace) + pace_pause_ns(&pace) + 2 > PACE_LONGEST_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(who_does_little_is_recorded_always),
			cmocka_unit_test(recording_takes_its_share_and_no_more),
			cmocka_unit_test(it_follows_the_load),
			cmocka_unit_test(a_load_that_begins_is_seen_at_once),
			cmocka_unit_test(what_runs_anyway_ends_at_the_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
