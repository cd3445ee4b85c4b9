/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_GROUP_H
#define PYTHIATOP_SNAPSHOT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <stddef.h>

#include "pythiatop/snapshot/groups.h"
#include "pythiatop/snapshot/state.h"

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
	bool failed; /* a span told so, or it has no end */
	uint32_t spans, hosts;
};

/* A segment of the critical path: the own time of one calling context. */
struct group_segment {
	uint32_t context;      /* 0: the rest, all segments not listed */
	const char *name;      /* of the context: "sem.acquire"; "(rest)" */
	const char *where;     /* the chain that leads there: "server_create›build_instance" */
	double mean_ns, sd_ns; /* 0 where a request does not have it */
	double phi, phi_low, phi_high; /* Cov(S, T) / Var(T), 90 % block-bootstrap interval */
	double tail_share; /* of the difference between the slowest 5 % and the faster half */
	bool disagrees;    /* tail share and phi tell different stories */
};

/* Two segments that vary together, or against each other. */
struct group_pair {
	uint32_t a, b;      /* indices of segments, a < b */
	double share;       /* 2 Cov(A, B) / Var(T) */
	double correlation; /* -1..1 */
};

/*
 * Where the time of a group's requests varies: phi of all segments adds up to 1.
 * (Huang et al., "Statistical analysis of latency through semantic profiling", EuroSys 2017.)
 */
struct group_location {
	bool located;      /* all below is valid */
	uint32_t missing;  /* requests missing until then; 0 with !located: nothing varies, or lossy
			    */
	uint64_t requests; /* that it speaks of */
	double sampled_share; /* of all that the group's figures speak of; 0..1 */
	double sample_sd_ns;  /* standard deviation of theirs; the group's own is in its row */
	/* It is not the group's: it is below two thirds or above one and a half times that. So the
	 * shares are the sample's, and the largest requests may not be in it. */
	bool unlike;
	uint64_t skewed;     /* left out: clocks of hosts differ by more than a wait */
	uint32_t n_segments; /* by phi, largest first; the rest last */
	const struct group_segment *segments;
	uint32_t n_pairs; /* by absolute share, largest first */
	const struct group_pair *pairs;
	double first_component; /* share of the total variance of the segments; 0..1 */
	bool common_cause;      /* no phi above 0.2, and the first component above 0.6 */
};

/* How it is known who was waited for. */
enum wait_evidence {
	WAIT_WOKEN = 0, /* kernel events: who woke the thread */
	WAIT_QUEUED,    /* a message lay there: what the thread did that took it */
	WAIT_INFERRED,  /* without kernel events: work of others ends where waits do */
	WAIT_RAN,       /* kernel events: who ran on the CPU that it was to be run by */
};

/* Whom requests waited for: other requests, by what they were in meanwhile. */
struct group_holder {
	const char *name, *provider; /* of the innermost span; "": in none that is recorded */
	const char *type;            /* of its request; "": of none, or not known */
	const char *process;         /* "": not known */
	int64_t pid; /* of another process than the one that waits; 0: of several, not known */
	int32_t tid; /* likewise of its thread */
	double share;                /* of the time of these waits; 0..1 */
	/*
	 * Of how these waits vary, where the longer ones count more: all of it is 1. Below 0: it is
	 * waited for in short ones. `share` where they do not vary.
	 */
	double of_variation;
	uint32_t waits;
	enum interrupt_kind interrupt; /* no thread but the kernel, which was told by that */
	bool idle;       /* nobody: the processor slept, and takes its time to wake up */
	bool child;      /* a child of the process that waits, */
	const char *made_in; /* which made it in that system call: "clone"; "": not told */
	bool same_place; /* it is the span that waited, in another request: it had what was waited
			    for */
};

/* One kind of wait on critical paths: of one calling context. */
struct group_wait {
	uint32_t context, within; /* that its time is of; of the span that waited */
	const char *name;         /* of the span that waited */
	const char *where;        /* the chain that leads there */
	const char *what; /* "(blocked: futex)", "(wait)", "(runnable)"; "": told by the span alone
			   */
	enum wait_evidence evidence;
	uint32_t waits, known; /* known: of which it is known who was waited for */
	double mean_ns;
	/*
	 * WAIT_INFERRED: the spans that end just before waits do, in what share of these, with its
	 * 95 % interval, and in what share at other times, by chance.
	 */
	const char *ends_with; /* "rules_commit, remove_commit" */
	double fits, fits_low, fits_high, chance;
	/* The one of most time first, of WAIT_RAN of most variation; what is left is not known. */
	uint32_t n;
	const struct group_holder *holders;
};

/*
 * One of them in words; `ran`: of WAIT_RAN. "nobody", "a timer", "its child redis-server (by clone,
 * pid 812)", "WaitEventSetWait of postgres (pid 4711)".
 */
void group_holder_text(char *out, size_t size, const struct group_holder *holder, bool ran);
/*
 * Who was waited for, in words: "python3 had the processor 92% of it, cc1 5%", "rules_commit of
 * server_create is waited for 71% of it": of the time of the waits, of WAIT_RAN of how they vary.
 * Of the first few; "" where nobody is known.
 */
void group_wait_text(char *out, size_t size, const struct group_wait *wait);
struct group_waits;
/* That of a calling context; NULL: nothing is known of it. */
const struct group_wait *group_wait_of(const struct group_waits *waits, uint32_t context);

/* Of kept requests of the group, the newest: all kinds of waits that take most time. */
struct group_waits {
	bool told; /* it was asked for */
	uint32_t requests;
	uint32_t n;
	const struct group_wait *items;
};

/*
 * One group in full: latency over time, histogram, where it varies, and the requests kept of it.
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
	struct group_location location;
	uint64_t median_request; /* a kept one nearest to the median of the horizon; 0: none */
	double sampled_share; /* of the requests in the window that a request was kept of; 0..1 */
	struct group_waits waits;
};

#endif
