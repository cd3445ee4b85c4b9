/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_TREE_H
#define PYTHIATOP_SNAPSHOT_TREE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The calling-context tree of a group, or of all groups together: one row for each chain of span
 * names, whatever thread, process or host it ran on. (Ammons, Ball & Larus, PLDI 1997.)
 *
 * Times of spans are of all requests that were sampled, finished or cut short, without the tainted
 * ones; shares of the variance are of the complete ones among them that were not skewed.
 */

/* What is known of the tracepoint that makes a row. */
enum tree_mark {
	TREE_ON = 0,     /* it is recorded */
	TREE_OFF,        /* known, not recorded now */
	TREE_NEVER_SEEN, /* offered by an application, but never fired */
	TREE_PROPOSED,   /* the next step would enable it */
	TREE_NO_POINT,   /* a part of the path that no tracepoint tells: (wait), transit, (cpu), ...
			  */
};

#define TREE_OFF_CONTEXT (UINT32_C(1) << 31) /* in the numbers of rows that are not recorded */

struct tree_row {
	uint32_t context;     /* names it as long as the program runs */
	uint32_t parent;      /* index of a row before it; UINT32_MAX: none */
	uint32_t depth;       /* 0 where there is no parent */
	uint32_t n_below;     /* rows of its subtree, which follow it */
	const char *name;     /* "image.fetch"; in parentheses where mark is TREE_NO_POINT */
	const char *provider; /* "" for kernel events */
	enum tree_mark mark;
	uint64_t count;    /* spans */
	uint64_t requests; /* that had one at least */
	uint64_t failed;   /* spans that told that they had, or returned an errno */
	double failed_low, failed_high; /* share of the spans, 95 % (Wilson); valid if count > 0 */
	double total_ns,
			self_ns; /* sums over all spans; self: without the children on its thread */
	double mean_ns, sd_ns;   /* of one span's duration; valid if count > 0, > 1 */
	/* Its own part S of the critical path of a request, 0 where it is not on it. */
	double segment_mean_ns, segment_sd_ns; /* valid if the tree is located */
	double phi, phi_low, phi_high;         /* Cov(S, T) / Var(T), 90 % interval; likewise */
	double phi_below;                      /* with all rows below; likewise */
	double tail_share;                     /* likewise */
};

struct tree_view {
	bool all;          /* of all groups together: rows have no shares of variance */
	uint32_t group_id; /* 0: all, or there is no such group */
	const char *type, *path;
	uint64_t requests;    /* sampled, of which the times of spans speak */
	uint64_t counted;     /* of which the shares of variance speak */
	double sampled_share; /* of all requests of the horizon; 0..1 */
	bool located;         /* shares of variance are valid */
	uint32_t missing; /* requests missing until they are; 0 with !located: T does not vary */
	bool lossy;       /* too many tainted ones: nothing is said */
	uint32_t n;       /* depth first, children by total time, largest first */
	const struct tree_row *rows;
	uint32_t max_depth;    /* spans deeper than that count as their ancestor there */
	uint64_t folded_spans; /* of contexts beyond the bounds: counted as their ancestors' */
};

#endif
