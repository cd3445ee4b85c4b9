/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_GROUPS_H
#define PYTHIATOP_SNAPSHOT_GROUPS_H

#include <stdint.h>

#define GROUPS_SPARK_BINS 16

/*
 * The groups of requests, one row each, ordered by share of all variation, largest first.
 * Statistics are of complete, untainted requests that ended within the horizon.
 */
struct groups_row {
	uint32_t id;
	const char *type;  /* "server create" */
	const char *path;  /* "api>sched>compute": services visited, plus what tells it from a like
			      one */
	uint64_t count;    /* requests the statistics speak of */
	uint64_t tainted;  /* complete, but left out: the tracer lost events meanwhile */
	uint64_t partial;  /* left out: timed out, truncated by a bound, or merged */
	double rate_per_s; /* count / length of the horizon; complete requests only */
	double mean_ns;    /* valid if count > 0 */
	double sd_ns;      /* sample standard deviation; valid if count > 1 */
	double cov;        /* sd / mean; valid if count > 1 and mean > 0 */
	uint64_t min_ns, max_ns, p50_ns, p95_ns, p99_ns; /* valid if count > 0; +-0.55 % */
	double variation_share; /* rate x sd over the sum of it; 0..1; valid if count > 1 */
	uint64_t worst_request; /* slowest one still kept; 0: none */
	uint64_t spark_lo_ns, spark_hi_ns; /* latency range of `spark`, even steps of log time */
	uint32_t spark[GROUPS_SPARK_BINS];
};

struct groups_view {
	uint32_t n;
	const struct groups_row *rows;
	double rate_per_s;  /* of all groups together */
	uint32_t need_more; /* groups with fewer than `enough` requests */
	uint32_t enough;    /* requests a group needs before anything is said of it */
	uint64_t folded;    /* requests of groups beyond the bound on groups, in no row */
};

#endif
