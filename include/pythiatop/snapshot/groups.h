/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_GROUPS_H
#define PYTHIATOP_SNAPSHOT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#define GROUPS_SPARK_BINS 16
#define GROUPS_MAX_MODES  4
#define GROUPS_WAITS      16 /* groups of which a document tells who was waited for */

/* Why a group is flagged. */
enum detection {
	DETECTION_VARIES = 1u << 0,  /* lower bootstrap bound of the CoV above the limit */
	DETECTION_MODES = 1u << 1,   /* several modes (valley test) */
	DETECTION_SLOW = 1u << 2,    /* median above its objective, or above P95 of all medians */
	DETECTION_SHIFTED = 1u << 3, /* differs from the baseline */
};

/* A mode of the latencies: a hill between two valleys of the histogram. */
struct groups_mode {
	uint64_t peak_ns, low_ns, high_ns; /* high_ns is the next one's low_ns */
	double share;                      /* of the requests; 0..1 */
};

/*
 * The groups of requests, one row each, ordered by the metric in focus, largest first.
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
	/*
	 * Requests that failed: a span told so, or they have no end. Of those in `count`, and of
	 * those that fell silent or whose thread ended (among the partial ones).
	 */
	uint64_t failed, ended;           /* failed of so many that ended in either way */
	double failed_low, failed_high;   /* share of them, 95 % (Wilson); valid if ended > 0 */
	uint64_t since_ns; /* begin of the horizon, of an epoch that of the group's own */
	uint32_t epoch;    /* number of the group's epoch; 0: none was begun so far */
	double rate_per_s; /* count / length of the horizon; complete requests only */
	double mean_ns;    /* valid if count > 0 */
	double sd_ns;      /* sample standard deviation; valid if count > 1 */
	double cov;        /* sd / mean; valid if count > 1 and mean > 0 */
	/* Between the quartiles; and how much it surely is: to 2.6 standard errors of either. */
	double middle_ns, middle_low_ns;                 /* valid if `missing` is 0 */
	uint64_t min_ns, max_ns, p50_ns, p95_ns, p99_ns; /* valid if count > 0; +-0.55 % */
	double variation_share; /* rate x sd over the sum of it; 0..1; valid if count > 1 */
	/*
	 * Its time is a thread's bare wait for something to do (`poll`, `futex`, `wait4` as a
	 * request of their own): what lies between requests. It is listed last, and never varies.
	 */
	bool idle_wait;
	uint64_t worst_request; /* slowest one still kept; 0: none */
	double tail_ratio;      /* p99 / p50; valid if count > 0 */
	/*
	 * Whether it varies. While `missing` is not 0 (or the group is lossy) nothing is said:
	 * detection, cov_low, n_modes and shift are 0.
	 */
	uint32_t missing;   /* requests missing until something is said; 0: enough */
	bool lossy;         /* more than a tenth of the requests is tainted: nothing is said */
	uint32_t detection; /* enum detection */
	double cov_low;     /* lower 95 % bound of cov, by bootstrap where that decides */
	uint32_t n_modes;   /* 0: of thousands of groups, not its turn to be judged yet */
	struct groups_mode modes[GROUPS_MAX_MODES];
	uint64_t objective_ns; /* median that the schema expects; 0: none */
	double shift;          /* median / the baseline's; 0: no baseline of this group */
	uint64_t spark_lo_ns, spark_hi_ns; /* latency range of `spark`, even steps of log time */
	uint32_t spark[GROUPS_SPARK_BINS];
};

/* Whether enough is known of the group to say whether it varies. */
static inline bool groups_row_is_judged(const struct groups_row *row)
{
	return row->missing == 0 && !row->lossy;
}

struct group_location; /* group.h */
struct group_waits;    /* likewise */
struct tree_view;      /* tree.h */

struct groups_view {
	uint32_t n;
	const struct groups_row *rows;
	double rate_per_s;  /* of all groups together */
	uint32_t need_more; /* groups with fewer than `enough` requests */
	uint32_t enough;    /* requests a group needs before anything is said of it */
	const struct group_location *locations; /* one for each row; with FOCUS_LOCATE, else NULL */
	const struct tree_view *trees;          /* likewise */
	/* Likewise, and with FOCUS_WAITS; those of the first GROUPS_WAITS rows are told. */
	const struct group_waits *waits;
	uint64_t folded; /* requests of groups beyond the bound on groups, in no row */
};

#endif
