/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/* The smallest latency that a share of the histogram does not exceed; bins are 16 to the octave. */
static double quantile(const struct group_view *group, double share)
{
	uint64_t count = 0, seen = 0;
	uint32_t bin = 0;

	for (uint32_t i = 0; i < group->histogram_bins; i++) {
		count += group->histogram[i];
	}
	for (; bin + 1 < group->histogram_bins; bin++) {
		seen += group->histogram[bin];
		if ((double)seen >= share * (double)count) {
			break;
		}
	}
	return exp2(((double)group->histogram_low + bin + 0.5) / 16);
}

void median_bounds(const struct group_view *group, double *low_ns, double *high_ns)
{
	double n = (double)group->row.count / BURSTS;
	double error = n > 0 ? MEDIAN_ERRORS * 0.5 / sqrt(n) : 1;

	*low_ns = *high_ns = 0;
	if (group->row.count >= FEW_REQUESTS && group->histogram_bins && error < 0.5) {
		*low_ns = quantile(group, 0.5 - error);
		*high_ns = quantile(group, 0.5 + error);
	}
}

/* The median has surely risen: tracing itself slows the requests. */
static bool median_rose(const struct step *step, const struct group_view *group, double *by)
{
	double low_ns, high_ns;

	if (!group || step->median_high_ns <= 0) {
		return false;
	}
	median_bounds(group, &low_ns, &high_ns);
	*by = low_ns / step->median_high_ns - 1;
	return *by > MEDIAN_MOVES && low_ns - step->median_high_ns > SLIGHT_NS;
}

/*
 * Twice what was predicted; but of a point that hardly ever fired where it was learned, and now
 * does because requests go another way, 0 was predicted: that is no cost to be afraid of.
 */
static double most_of(double predicted, double budget, double usual)
{
	return fmax(OVERSHOOT * predicted,
			predicted + SLIGHT_SHARE * (budget > 0 ? budget : usual));
}

/* What was predicted of the points that it enabled: others may have gone with it. */
static double enabled_per_s(const struct pythia *pythia, const struct step *step)
{
	double sum = 0;

	for (uint32_t i = 0; i < step->n_parts; i++) {
		if (step->parts[i].enable && !step->parts[i].left_out) {
			sum += fmax(0, cost_of_point(pythia, step->parts[i].point));
		}
	}
	return fmax(sum, step->predicted.events_per_s);
}

static void keep_or_undo(struct pythia *pythia, struct step *step, const struct step_watch *watch,
		const struct group_view *group, uint64_t now_ns)
{
	const struct step_budget *budget = &pythia->planning.budget, usual = STEP_USUAL_BUDGET;
	const struct step_cost *predicted = &step->predicted, spent = cost_spent(pythia);
	double events = spent.events_per_s + most_of(enabled_per_s(pythia, step),
							     budget->events_per_s,
							     usual.events_per_s);
	double bytes = spent.bytes_per_s +
		       most_of(predicted->bytes_per_s, budget->bytes_per_s, usual.bytes_per_s);
	double moved = 0;
	bool fewer = false;

	if (watch->discarded) {
		step_say(step, "undone by itself: the tracer lost %llu events",
				(unsigned long long)watch->discarded);
	} else if (predicted->events_per_s >= 0 && step->kind == STEP_ENABLE &&
			watch->actual.events_per_s > events) {
		step_say(step,
				"undone by itself: %.0f events/s of all steps, where at most %.0f "
				"were expected",
				watch->actual.events_per_s, events);
	} else if (predicted->bytes_per_s >= 0 && step->kind == STEP_ENABLE &&
			watch->actual.bytes_per_s > bytes) {
		step_say(step,
				"undone by itself: %.0f bytes/s of all steps, where at most %.0f "
				"were expected",
				watch->actual.bytes_per_s, bytes);
	} else if (budget->events_per_s > 0 && step->kind == STEP_ENABLE &&
			watch->actual.events_per_s > budget->events_per_s) {
		step_say(step, "undone by itself: %.0f events/s are over the budget of %.0f",
				watch->actual.events_per_s, budget->events_per_s);
		fewer = true;
	} else if (step->kind == STEP_ENABLE && median_rose(step, group, &moved)) {
		step_say(step, "undone by itself: the median rose by at least %.0f%%", 100 * moved);
	} else {
		step->state = STEP_KEPT;
		step_say(step, "%.0f events/s of all steps", watch->actual.events_per_s);
		return;
	}
	if (fewer) {
		split_take_fewer(pythia, step, watch->actual.events_per_s / budget->events_per_s);
	} else {
		pythia_exclude(pythia, step);
	}
	step_undo(step, STEP_BY_WATCH, now_ns);
}

/* What came on top of what the steps before cost; CPU is by what an event costs on the host. */
static void take_actual(struct pythia *pythia, struct step *step, const struct step_cost *all)
{
	const struct step_cost before = pythia->planning.actual;

	step->actual = pythia->planning.actual = *all;
	step->actual.events_per_s -= before.events_per_s;
	if (all->bytes_per_s >= 0) {
		step->actual.bytes_per_s -= fmax(before.bytes_per_s, 0);
	}
	if (step->kind == STEP_DISABLE) {
		return;
	}
	/* The load may have changed meanwhile. */
	step->actual.events_per_s = fmax(step->actual.events_per_s, 0);
	if (all->bytes_per_s >= 0) {
		step->actual.bytes_per_s = fmax(step->actual.bytes_per_s, 0);
	}
	if (step->predicted.events_per_s > 0) {
		step->actual.cpu_share = step->actual.events_per_s * step->predicted.cpu_share /
					 step->predicted.events_per_s;
	}
}

void pythia_watch_over(struct pythia *pythia, const struct step_watch *watch,
		const struct group_view *group, uint64_t now_ns)
{
	struct step *step = steps_find(&pythia->steps, watch->step);

	if (watch->step == 0) { /* of all that was kept; a step under way may be its end already */
		if (!steps_busy(&pythia->steps)) {
			cost_take_back(pythia, watch->actual.events_per_s);
		}
		return;
	}
	if (!step || step->state != STEP_WATCHED) {
		return;
	}
	take_actual(pythia, step, &watch->actual);
	if (step->kind == STEP_LEARN) {
		pythia->planning.learn_tried = true;
		step_say(step, "%u places of %u points learned", pythia->space.n, pythia->points.n);
		step_undo(step, step->by, now_ns);
	} else {
		keep_or_undo(pythia, step, watch, group, now_ns);
	}
}
