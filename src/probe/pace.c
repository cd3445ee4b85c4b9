/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/pace.h"

#include <math.h>

/* Processors that recording all of the time would take. */
static double whole_cost(const struct pace_seen *seen)
{
	double kernel = PACE_CALLING * seen->kernel_ns / (double)seen->span_ns;
	double full = pow(1 - seen->idle, seen->processors);
	double beside = full * seen->beside_ns / (double)seen->span_ns;

	return kernel + fmax(0, beside); /* less than before: one of them has ended */
}

static double busy_share(const struct pace_seen *seen)
{
	return seen->span_ns ? seen->busy_ns / (double)seen->span_ns : 0;
}

static bool has_much_to_do(const struct pace_seen *seen)
{
	double busy = busy_share(seen);

	return busy >= PACE_LEAST_BUSY || (busy >= PACE_LEAST_BUSY_FULL && seen->idle < PACE_IDLE);
}

/* What the limit allows: 1 is all of the time. */
static double allowed(const struct pace *pace, const struct pace_seen *seen)
{
	double cost = pace->much ? whole_cost(seen) : 0;

	return cost > 0 ? fmin(1, fmax(PACE_LEAST, pace->limit * busy_share(seen) / cost)) : 1;
}

double pace_decide(struct pace *pace, const struct pace_seen *seen)
{
	double wanted;

	pace->much = has_much_to_do(seen);
	wanted = allowed(pace, seen);
	/* Less soon, as it harms; more in steps, as one span says little. */
	if (pace->duty == 0) {
		pace->duty = wanted;
	} else if (pace->duty == 1) {
		pace->duty = wanted < 1 && seen->span_ns < PACE_LOOK_NS
					     ? fmax(PACE_LEAST, PACE_CAUTION * wanted)
					     : wanted;
	} else if (wanted < pace->duty) {
		pace->duty = sqrt(wanted * pace->duty);
	} else {
		pace->duty = fmin(wanted, PACE_GROWTH * pace->duty);
	}
	return pace->duty;
}

bool pace_load_begins(const struct pace *pace, uint64_t span_ns, double busy_ns)
{
	return pace->duty == 1 && !pace->much && span_ns >= PACE_FIRST_NS &&
	       busy_ns >= PACE_LEAST_BUSY * (double)PACE_LOOK_NS;
}

static uint64_t period_ns(const struct pace *pace)
{
	double wanted = (double)PACE_SPAN_NS / pace->duty;

	return (uint64_t)fmin((double)PACE_LONGEST_NS, fmax((double)PACE_PERIOD_NS, wanted));
}

uint64_t pace_span_ns(const struct pace *pace)
{
	if (pace->duty == 0) {
		return PACE_FIRST_NS;
	}
	return pace->duty < 1 ? (uint64_t)(pace->duty * (double)period_ns(pace)) : PACE_LOOK_NS;
}

uint64_t pace_pause_ns(const struct pace *pace)
{
	return pace->duty > 0 && pace->duty < 1 ? period_ns(pace) - pace_span_ns(pace) : 0;
}
