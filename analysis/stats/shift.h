/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_SHIFT_H
#define PT_STATS_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether latencies have become others than they were: two histograms with 16 even steps of the
 * logarithm an octave are compared.
 *
 * `slower` is the largest share of samples that has moved up past some latency by more than two
 * steps (9 %): max over x of F_before(x) - F_now(1.09 x); `faster` likewise. It is Smirnov's
 * two-sample statistic with a tolerance, without which a hair's breadth across the border of a step
 * would be a change of everything. A change is told if that share is at least 0.1, and above
 * 1.949 sqrt(1/n + 1/m), which chance exceeds in at most 0.1 % of the looks at unchanged and
 * independent samples (Smirnov 1948; tolerance and steps make it rarer still).
 */
struct shift_histogram {
	int32_t low; /* number of the first step: as in struct group_view */
	uint32_t n;
	const uint64_t *counts;
};

struct shift {
	double slower, faster; /* shares of samples, 0..1; 0 where a histogram is empty */
	bool told;
};

struct shift shift_between(const struct shift_histogram *before, const struct shift_histogram *now);

/* The median in ns, between the ends of its step; 0 if nothing was counted. */
double shift_median_ns(const struct shift_histogram *histogram);

#endif
