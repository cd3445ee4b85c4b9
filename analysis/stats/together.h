/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_TOGETHER_H
#define PT_STATS_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which places of one process are slow at the same times as all else that it does: then it is the
 * process or its host that is slow now and then, and none of these places.
 *
 * Each time is ranked within its series (what one place takes of one kind of requests), so that
 * places of any length and spread count alike. What the others were doing near an instant is the
 * mean rank of those of other places and other requests within TOGETHER_NEAR_NS of it, at most the
 * TOGETHER_MOST_NEAR nearest on either side: what a request carries along with it does not count. A
 * place goes along if the ranks of its times have a Spearman correlation of TOGETHER_RHO with that,
 * and are in the third of the instants at which the others are slowest TOGETHER_TIMES as long on
 * average as in the third at which they are fastest. Those are sizes of an effect, not tests: many
 * places tell the same, and whoever asks wants most of them to.
 *
 * What changes faster than these are apart, or not at all while it is looked at, is not seen.
 *
 * Units: ns. Pure. Memory: about 60 bytes an item while it works. Cost: O(n log n), and of each
 * item those near it, at most TOGETHER_MOST_NEAR on either side. Threads: the caller's.
 */
#define TOGETHER_NEAR_NS   UINT64_C(250000000)
#define TOGETHER_MOST_NEAR 32u
#define TOGETHER_FEW       16u /* items, to judge a place by */
#define TOGETHER_RHO       0.3
#define TOGETHER_TIMES     1.3

struct together_item {
	uint64_t at_ns; /* ascending */
	uint64_t request;
	uint32_t place, series; /* a series is of one place */
	double ns;
};

struct together_place {
	uint32_t n;              /* items near which others did something */
	bool judged;             /* they are enough: what follows is valid */
	bool along;              /* slow when the others are */
	double rho;              /* Spearman's */
	double calm_ns, busy_ns; /* means when the others are fastest, and slowest */
	double sum_ns;           /* of all its items */
};

/* Judges places 0..n_places-1 by the items, of series 0..n_series-1. False if out of memory. */
bool together_judge(const struct together_item *items, uint32_t n, uint32_t n_series,
		struct together_place *places, uint32_t n_places);

#endif
