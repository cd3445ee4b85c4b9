/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/state.h"

/*
 * Until something is measured. LTTng-UST 2.13 with three contexts takes 91 to 148 ns an event; half
 * of a usual event is its header and contexts. A host's helper measures the former when it starts;
 * the latter is what the records of the same point were, or else of all that were seen.
 */

static double events_per_span(const struct point *point)
{
	return point->exit ? 2 : 1;
}

/* Requests/s of a type, over all its groups. */
static double rate_of_type(
		const struct pythia *pythia, const struct groups_view *groups, uint32_t type)
{
	const char *text = names_text(pythia->names, type);
	double sum = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		sum += strcmp(groups->rows[i].type, text) == 0 ? groups->rows[i].rate_per_s : 0;
	}
	return sum;
}

void cost_refresh(struct pythia *pythia, const struct groups_view *groups)
{
	uint32_t n = pythia->points.n, type = 0, seen = 0;
	double rate = 0;

	if (!array_reserve(&pythia->planning.rates, &pythia->planning.rates_room, n)) {
		return;
	}
	pythia->planning.event_bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		double bytes = pythia->points.items[i].bytes;

		pythia->planning.rates[i] = -1;
		seen += bytes > 0;
		pythia->planning.event_bytes += bytes;
	}
	pythia->planning.event_bytes = seen ? pythia->planning.event_bytes / seen : 0;
	/* Nodes of a type follow each other more often than not. */
	for (uint32_t i = 0; i < pythia->space.n; i++) {
		const struct space_node *node = &pythia->space.nodes[i];
		double *sum;

		if (node->point == POINT_NONE || !node->requests) {
			continue;
		}
		if (node->type != type) {
			type = node->type;
			rate = rate_of_type(pythia, groups, type);
		}
		sum = &pythia->planning.rates[node->point];
		*sum = (*sum < 0 ? 0 : *sum) +
		       rate * node->count * events_per_span(&pythia->points.items[node->point]);
	}
	/* Calls outside of requests are events as well: no fewer than there were. */
	for (uint32_t i = 0; i < n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (pythia->planning.rates[i] >= 0 &&
				pythia->now_ns < point->seen_ns + SEEN_RATE_NS) {
			pythia->planning.rates[i] =
					fmax(pythia->planning.rates[i], point->seen_per_s);
		}
	}
}

double cost_of_point(const struct pythia *pythia, uint32_t point)
{
	return point < pythia->planning.rates_room && pythia->planning.rates
			       ? pythia->planning.rates[point]
			       : -1;
}

static double ns_on(const struct pythia *pythia, uint32_t host)
{
	return pythia->planning.event_ns[host] > 0 ? pythia->planning.event_ns[host]
						   : USUAL_EVENT_NS;
}

/* Where the hosts differ, the slowest of those given; without one, of all. */
static double ns_of(const struct pythia *pythia, uint64_t hosts)
{
	double most = 0;

	for (uint32_t host = 0; host < pythia->points.n_hosts; host++) {
		bool counts = !hosts || (hosts >> host & 1);

		most = counts ? fmax(most, ns_on(pythia, host)) : most;
	}
	return most > 0 ? most : USUAL_EVENT_NS;
}

static double bytes_of(const struct pythia *pythia, uint32_t point)
{
	double known = pythia->points.items[point].bytes;

	return known > 0                          ? known
	       : pythia->planning.event_bytes > 0 ? pythia->planning.event_bytes
						  : USUAL_EVENT_BYTES;
}

/* Adds what a point costs at a rate on its hosts, which are taken to share it evenly. */
static void add_cost(const struct pythia *pythia, uint32_t point, uint64_t hosts, double rate,
		struct step_cost *sum)
{
	uint32_t n = (uint32_t)__builtin_popcountll(hosts);

	sum->events_per_s += rate;
	sum->bytes_per_s += rate * bytes_of(pythia, point);
	sum->cpu_share += rate * ns_of(pythia, hosts) * 1e-9 / (n ? n : 1);
}

struct step_cost cost_of_parts(
		const struct pythia *pythia, const struct step_part *parts, uint32_t n)
{
	struct step_cost sum = {0, 0, 0};

	for (uint32_t i = 0; i < n; i++) {
		double rate = parts[i].left_out ? 0 : cost_of_point(pythia, parts[i].point);

		if (rate < 0) {
			return (struct step_cost){-1, -1, -1};
		}
		add_cost(pythia, parts[i].point, parts[i].hosts, parts[i].enable ? rate : -rate,
				&sum);
	}
	return sum;
}

double cost_bound(const struct pythia *pythia)
{
	const struct step_budget *budget = &pythia->planning.budget;
	uint32_t hosts = pythia->points.n_hosts ? pythia->points.n_hosts : 1;
	double bytes = pythia->planning.event_bytes > 0 ? pythia->planning.event_bytes
							: USUAL_EVENT_BYTES;
	double bounds[3] = {budget->events_per_s, budget->bytes_per_s / bytes,
			budget->cpu_share * hosts / (ns_of(pythia, 0) * 1e-9)};
	double least = -1;

	for (int i = 0; i < 3; i++) {
		if (bounds[i] > 0 && (least < 0 || bounds[i] < least)) {
			least = bounds[i];
		}
	}
	return least;
}

struct step_cost cost_spent(const struct pythia *pythia)
{
	struct step_cost sum = {0, 0, 0};

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];
		double rate = cost_of_point(pythia, i);

		if (point->ours && !point->skeleton && rate > 0) {
			add_cost(pythia, i, point->ours, rate, &sum);
		}
	}
	return sum;
}

void cost_take_back(struct pythia *pythia, double events_per_s)
{
	double bound = cost_bound(pythia), left = events_per_s;
	bool enough = false;

	for (uint32_t i = pythia->steps.n; i > 0 && !enough; i--) {
		struct step *step = &pythia->steps.items[i - 1];

		if (step->state == STEP_KEPT && step->kind == STEP_ENABLE) {
			step_say(step,
					"undone by itself: the load has grown: %.0f events/s of "
					"all steps, the budget is %.0f",
					events_per_s, bound);
			split_take_fewer(pythia, step, bound > 0 ? events_per_s / bound : 1);
			step_undo(step, STEP_BY_WATCH, pythia->now_ns);
			left -= step->actual.events_per_s;
			enough = bound < 0 || left <= bound;
		}
	}
}

void cost_guard(struct pythia *pythia)
{
	double bound = cost_bound(pythia);

	if (bound < 0 || cost_spent(pythia).events_per_s <= bound || steps_busy(&pythia->steps)) {
		pythia->planning.over_rounds = 0;
		return;
	}
	if (++pythia->planning.over_rounds < OVER_ROUNDS) {
		return;
	}
	pythia->planning.over_rounds = 0;
	cost_take_back(pythia, cost_spent(pythia).events_per_s);
}

void cost_calibrate(struct planning *planning, uint64_t bit, double event_ns)
{
	if (bit && event_ns > 0) {
		planning->event_ns[__builtin_ctzll(bit)] = event_ns;
	}
}
