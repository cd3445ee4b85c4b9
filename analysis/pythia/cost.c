/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "pythia/internal.h"

/*
 * Measured with LTTng-UST 2.13 with three contexts: 91 to 148 ns an event; half of a usual event is
 * its header and contexts.
 */
#define NS_PER_EVENT    150.0
#define BYTES_PER_EVENT 60.0

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
	uint32_t n = pythia->points.n, type = 0;
	double rate = 0;

	if (n > pythia->rates_room) {
		double *rates = realloc(pythia->rates, n * 2 * sizeof(*rates));

		if (!rates) {
			return;
		}
		pythia->rates = rates;
		pythia->rates_room = n * 2;
	}
	for (uint32_t i = 0; i < n; i++) {
		pythia->rates[i] = -1;
	}
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
		sum = &pythia->rates[node->point];
		*sum = (*sum < 0 ? 0 : *sum) +
		       rate * node->count * events_per_span(&pythia->points.items[node->point]);
	}
}

double cost_of_point(const struct pythia *pythia, uint32_t point)
{
	return point < pythia->rates_room && pythia->rates ? pythia->rates[point] : -1;
}

static struct step_cost cost_of_events(const struct pythia *pythia, double events_per_s)
{
	uint32_t hosts = pythia->points.n_hosts ? pythia->points.n_hosts : 1;

	return (struct step_cost){.events_per_s = events_per_s,
			.bytes_per_s = events_per_s * BYTES_PER_EVENT,
			.cpu_share = events_per_s * NS_PER_EVENT * 1e-9 / hosts};
}

struct step_cost cost_of_parts(
		const struct pythia *pythia, const struct step_part *parts, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		double rate = parts[i].left_out ? 0 : cost_of_point(pythia, parts[i].point);

		if (rate < 0) {
			return (struct step_cost){-1, -1, -1};
		}
		sum += parts[i].enable ? rate : -rate;
	}
	return cost_of_events(pythia, sum);
}

double cost_bound(const struct pythia *pythia)
{
	const struct step_budget *budget = &pythia->budget;
	uint32_t hosts = pythia->points.n_hosts ? pythia->points.n_hosts : 1;
	double bounds[3] = {budget->events_per_s, budget->bytes_per_s / BYTES_PER_EVENT,
			budget->cpu_share * hosts / (NS_PER_EVENT * 1e-9)};
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
	double sum = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];
		double rate = cost_of_point(pythia, i);

		sum += point->ours && !point->skeleton && rate > 0 ? rate : 0;
	}
	return cost_of_events(pythia, sum);
}
