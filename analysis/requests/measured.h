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

#define MEASURED_LAG "(lag)"

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
	uint32_t failed; /* of these, so many told that they had, or returned an errno */
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
	/*
	 * From where messages were sent to the begin of the spans that they cause, on the critical
	 * path or not, where the sender does not wait for an answer; by the clocks of the two
	 * hosts, 0 where these contradict each other. Of the context MEASURED_LAG below the span's.
	 */
	uint32_t n_lags; /* ascending contexts, no doubles */
	const struct measured_segment *lags;
};

/*
 * Measures a finished request; borrowed until the next call of the request engine. False if out of
 * memory. O(events log events).
 */
struct requests;
bool requests_measure(
		struct requests *requests, const struct request *request, struct measured *out);

#endif
