/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_DEMANDS_H
#define PT_BEHAVIOUR_DEMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "behaviour/distance.h"
#include "pythiatop/snapshot/shapes.h"

/*
 * How long requests of a string took, and what they used, as a sample: those with the least hashes
 * of their times, so that it is uniform, and the same in whatever order they come. (Bottom-k: Cohen
 * & Kaplan, PODC 2007.) Pure. Memory: constant.
 */
#define DEMANDS_MAX 16u

struct demand {
	uint32_t hash;
	bool known; /* `used` is */
	float duration_ns;
	float used[RESOURCE_COUNT];
};

struct demands {
	uint32_t n;
	struct demand items[DEMANDS_MAX]; /* by hash, the least first */
};

void demands_add(struct demands *demands, uint64_t start_ns, uint64_t end_ns,
		const struct resources *resources);
/* Takes what another one has. */
void demands_join(struct demands *demands, const struct demands *from);

/* A sample, and how many requests it stands for. */
struct demands_part {
	const struct demands *demands;
	uint64_t count;
};

/* Quantiles over several, each weighed by what it stands for. False if out of memory. */
bool demands_quantiles(const struct demands_part *parts, uint32_t n, enum shape_demand which,
		struct shape_quantiles *out);

#endif
