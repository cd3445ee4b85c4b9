/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_ARRIVALS_H
#define PT_BEHAVIOUR_ARRIVALS_H

#include <stdint.h>

/*
 * When requests come: how many a second, and how unevenly. The index of dispersion of counts is the
 * variance of the numbers in whole seconds by their mean: 1 where they come by chance alone
 * (Poisson), above where in bursts, 0 like clockwork. (Cox & Lewis, "The Statistical Analysis of
 * Series of Events", 1966; of network traffic: Gusella, IEEE JSAC 1991.)
 *
 * The last ARRIVALS_SECONDS seconds are open, so that requests may be counted in any order, when
 * they end; one that took longer counts in `late` alone. The first second and the last one are left
 * out: they are not whole. Memory: constant. Pure. Threads: the caller's.
 */
#define ARRIVALS_SECONDS 64u

struct arrivals {
	uint64_t first, last; /* seconds in which requests began; 0: none did */
	uint64_t n, late;
	uint32_t open[ARRIVALS_SECONDS];
	double sum, squares; /* of the numbers of the seconds that are closed, but the first */
};

struct arrivals_view {
	uint64_t seconds;  /* whole ones */
	double rate_per_s; /* valid if there are any */
	double dispersion; /* valid if there are two, and rate_per_s is above 0 */
};

void arrivals_add(struct arrivals *arrivals, uint64_t start_ns);
void arrivals_read(const struct arrivals *arrivals, struct arrivals_view *view);

#endif
