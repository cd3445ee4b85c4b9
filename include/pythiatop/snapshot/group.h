/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_GROUP_H
#define PYTHIATOP_SNAPSHOT_GROUP_H

#include <stdint.h>

#include "pythiatop/snapshot/groups.h"

/* How a request ended. */
enum request_state {
	REQUEST_COMPLETE = 0,
	REQUEST_TIMEOUT,   /* silent for longer than its time to live */
	REQUEST_TRUNCATED, /* a bound was reached, or the trace ended first */
	REQUEST_MERGED,    /* two requests with conflicting ids were joined: not averaged */
};

struct group_request {
	uint64_t id;
	uint64_t start_ns, duration_ns;
	enum request_state state;
	uint8_t tainted;
	uint32_t spans, hosts;
};

/*
 * One group in full: latency over time, histogram, and the requests kept of it.
 *
 * heat: row-major, heat_rows rows of heat_cols cells; column 0 is the oldest, row 0 the lowest
 * latency. Column c covers [heat_start_ns + c * heat_cell_ns, + heat_cell_ns) of the requests'
 * END times; row r covers the latencies [2^((heat_low + r) / 8), 2^((heat_low + r + 1) / 8)) ns.
 * heat_request names a kept request of each cell, 0 where none is.
 * The heat covers the window, whatever the horizon; the histogram covers the horizon.
 *
 * histogram: bin b covers the latencies [2^((histogram_low + b) / 16), next) ns.
 */
struct group_view {
	uint32_t id; /* 0: there is no such group (any more) */
	struct groups_row row;
	uint64_t heat_start_ns, heat_cell_ns;
	uint32_t heat_cols, heat_rows;
	int32_t heat_low;
	const uint32_t *heat;
	const uint64_t *heat_request;
	int32_t histogram_low;
	uint32_t histogram_bins;
	const uint64_t *histogram;
	uint32_t n_requests; /* newest first */
	const struct group_request *requests;
	double sampled_share; /* of the requests in the window that a request was kept of; 0..1 */
};

#endif
