/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_COMPARE_H
#define PYTHIATOP_SNAPSHOT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/group.h"

/*
 * "Why did this request take longer than that one?" Their trees of spans laid over each other by
 * calling context, and what each context contributed to the difference: its part of the critical
 * path, so that the differences add up to that of the durations, exactly.
 * (Sambasivan et al., "Diagnosing performance changes by comparing request flows", NSDI 2011.)
 */
struct compare_side {
	uint64_t id; /* 0: not kept (any more) */
	uint64_t start_ns, duration_ns;
	enum request_state state;
	bool tainted;
};

struct compare_row {
	const char *name;
	const char *provider;
	uint32_t parent; /* index of a row before it; UINT32_MAX: none */
	uint32_t depth;
	uint64_t a_count, b_count;     /* spans */
	uint64_t a_ns, b_ns;           /* their durations together */
	uint64_t a_path_ns, b_path_ns; /* own part of the critical path */
	int64_t difference_ns; /* a_path_ns - b_path_ns; their sum is that of the durations */
};

struct compare_view {
	struct compare_side a, b;
	bool b_is_median; /* b was chosen here: the request of the group nearest to its median */
	uint32_t n;       /* depth first */
	const struct compare_row *rows;
	uint32_t n_ranked; /* rows with a difference, largest absolute one first */
	const uint32_t *ranked;
	uint32_t n_values; /* fields that differ */
	const struct compare_value {
		const char *span, *name, *a, *b; /* a, b: "" where absent */
	} * values;
};

#endif
