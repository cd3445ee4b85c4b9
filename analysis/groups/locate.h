/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_LOCATE_H
#define PT_GROUPS_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/profile.h"
#include "groups/sample.h"
#include "pythiatop/snapshot/group.h"

/*
 * Where the variance of a group's requests comes from: the share of each context's own part S of
 * the critical path, phi = Cov(S, T) / Var(T) (Huang et al., EuroSys 2017). Shares come from the
 * exact sums of the horizon, over all contexts; everything else from the samples of it: intervals,
 * tail shares, pairs, the first principal component. Each sample counts as its weight says.
 *
 * Intervals: bootstrap-t over circular blocks (Hall 1988; Politis & Romano 1992), because
 * durations are skewed, few, and follow from each other: percentile intervals of 90 % cover 65 to
 * 85 % then. Blocks are twice as long as the influence of the largest shares asks for (Politis &
 * White 2004), at least a 64th and at most a fifth of the samples. Where the sums speak of N
 * requests and the samples of n of these, an interval is narrower by sqrt(n / N). A context beyond
 * the LOCATE_LISTED largest has an interval of the normal distribution, from the same blocks.
 *
 * Units: ns. Pure; the same input gives the same output. Cost: about 3 ms for 1,024 samples and ten
 * contexts, below 8 ms with 32. Threads: the caller's.
 */
#define LOCATE_LISTED 32u
#define LOCATE_PAIRS  32u

struct located_segment {
	double mean_ns, sd_ns, phi, phi_low, phi_high, tail_share;
};

struct location {
	bool located;
	uint32_t missing; /* requests; 0 with !located: nothing varies */
	uint64_t requests, skewed;
	double variance; /* of the durations of these requests, ns^2 */
	uint32_t n_nodes;                         /* of the profile */
	struct located_segment *nodes;            /* by node; zero where it has no segment */
	uint32_t n_listed, listed[LOCATE_LISTED]; /* nodes, largest phi first */
	bool has_rest;                            /* there are others */
	struct located_segment rest;
	uint32_t n_pairs; /* of places in `listed`; n_listed: the rest */
	struct group_pair pairs[LOCATE_PAIRS];
	double first_component;
	bool common_cause;
};

/*
 * Locates by the sums of a horizon and its samples that count in them, oldest first. `enough`
 * requests are needed. False if out of memory: *out is empty. Free with location_release().
 */
bool location_make(struct location *out, const struct profile *profile, enum horizon horizon,
		struct sample *const *samples, uint32_t n_samples, uint32_t enough);
void location_release(struct location *location);

/*
 * Only which LOCATE_LISTED nodes are listed, largest phi first; none where nothing varies. Takes
 * microseconds. False if out of memory.
 */
bool location_list(const struct profile *profile, enum horizon horizon, uint32_t *nodes,
		uint32_t *n_nodes);

/* The tail tells another story than phi: it is a fifth off, and outside the interval. */
bool location_disagrees(const struct located_segment *segment);

#endif
