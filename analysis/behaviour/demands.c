/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/demands.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static bool is_before(const struct demand *a, const struct demand *b)
{
	return a->hash != b->hash ? a->hash < b->hash : a->duration_ns < b->duration_ns;
}

static void take(struct demands *demands, const struct demand *demand)
{
	uint32_t at = demands->n;

	while (at > 0 && is_before(demand, &demands->items[at - 1])) {
		at--;
	}
	if (at == DEMANDS_MAX) {
		return;
	}
	demands->n += demands->n < DEMANDS_MAX;
	memmove(&demands->items[at + 1], &demands->items[at],
			(demands->n - at - 1) * sizeof(*demands->items));
	demands->items[at] = *demand;
}

void demands_add(struct demands *demands, uint64_t start_ns, uint64_t end_ns,
		const struct resources *resources)
{
	struct demand demand = {.hash = (uint32_t)hash_pair(end_ns, start_ns),
			.known = resources->known,
			.duration_ns = (float)(end_ns - start_ns)};

	if (demands->n == DEMANDS_MAX && demand.hash > demands->items[DEMANDS_MAX - 1].hash) {
		return;
	}
	for (int i = 0; i < RESOURCE_COUNT; i++) {
		demand.used[i] = (float)resources->amount[i];
	}
	take(demands, &demand);
}

void demands_join(struct demands *demands, const struct demands *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		take(demands, &from->items[i]);
	}
}

struct weighed {
	float value;
	double weight;
};

static int by_value(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static double quantile(const struct weighed *all, uint32_t n, double total, double q)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += all[i].weight;
		if (sum >= q * total) {
			return (double)all[i].value;
		}
	}
	return n ? (double)all[n - 1].value : 0;
}

static float value_of(const struct demand *demand, enum shape_demand which)
{
	return which == DEMAND_DURATION ? demand->duration_ns : demand->used[which - 1];
}

bool demands_quantiles(const struct demands_part *parts, uint32_t n, enum shape_demand which,
		struct shape_quantiles *out)
{
	struct weighed *all = malloc(((size_t)n * DEMANDS_MAX + 1) * sizeof(*all));
	uint32_t used = 0;
	double total = 0;

	*out = (struct shape_quantiles){.known = false};
	if (!all) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct demands *demands = parts[i].demands;

		for (uint32_t j = 0; j < demands->n; j++) {
			if (which != DEMAND_DURATION && !demands->items[j].known) {
				continue;
			}
			all[used] = (struct weighed){.value = value_of(&demands->items[j], which),
					.weight = (double)parts[i].count / demands->n};
			total += all[used++].weight;
		}
	}
	qsort(all, used, sizeof(*all), by_value);
	*out = (struct shape_quantiles){.known = used > 0,
			.p50 = quantile(all, used, total, 0.5),
			.p90 = quantile(all, used, total, 0.9),
			.p99 = quantile(all, used, total, 0.99)};
	free(all);
	return true;
}
