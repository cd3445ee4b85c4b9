/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_MEASURED_H
#define PT_REQUESTS_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/request.h"

/*
 * Where the time of one finished request went, by calling context: what the statistics of a group
 * are made of.
 */

__extension__ typedef unsigned __int128 measured_uint128;

/* A context's own part of the critical path. */
struct measured_segment {
	uint32_t context;
	uint64_t ns; /* above 0 */
};

/* All spans of a context whose entry was seen, on the critical path or not; points take no time. */
struct measured_visit {
	uint32_t context;
	uint32_t count;
	uint64_t total_ns, self_ns;
	measured_uint128 squares; /* of the durations of the spans, ns^2 */
};

struct measured {
	uint64_t total_ns; /* end - start; the segments add up to it, exactly */
	uint32_t folded;   /* spans that count as their ancestors: too deep, or no room for them */
	bool skewed;       /* clocks contradict the path: left out of shares; see path.h */
	uint32_t n_segments; /* ascending contexts, no doubles */
	const struct measured_segment *segments;
	uint32_t n_visits; /* ascending contexts, no doubles */
	const struct measured_visit *visits;
};

/*
 * Measures a finished request; borrowed until the next call of the request engine. False if out of
 * memory. O(events log events).
 */
struct requests;
bool requests_measure(
		struct requests *requests, const struct request *request, struct measured *out);

#endif
