/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_MODES_H
#define PT_STATS_MODES_H

#include <stdint.h>

/*
 * The modes of latencies: hills of their histogram with valleys between that chance does not make.
 *
 * The histogram (16 even steps of the logarithm an octave) is smoothed with a Gaussian kernel. Of
 * all valleys between neighbouring hills the least sure one is filled, until every trough is at
 * least three standard errors below both of its peaks (counts are Poisson, so that the smoothed
 * count has the variance of the counts under the squared kernel), and every mode has 2 % of the
 * requests. On the logarithm, since on the time itself every skewed distribution has a tail that
 * looks like hills; with this test rather than the bimodality coefficient or the BIC of a Gaussian
 * mixture, since these flag most distributions that are merely skewed.
 *
 * Width of the kernel: 2.5 steps, or 0.4 min(sd, IQR / 1.349) n^(-1/5) where that is wider: with
 * the fixed width, few samples of a wide distribution make hills (Weibull with shape 0.5: 1.5 %).
 * (The rule of Silverman 1986, eq. 3.31, with 0.4 instead of 0.9: two modes must not melt.)
 * False positives at most 0.3 % for lognormal, Pareto, shifted exponential, gamma and Weibull
 * latencies, 50 to 50,000 of them: tests/property/test_detection.c.
 *
 * Pure, no memory but the stack. O(steps in use x width of the kernel).
 */
#define MODES_MAX_BINS 1024u /* of 16 to the octave: all of 64 bits */
#define MODES_MAX      4u

struct mode {
	uint32_t peak;      /* step of the highest smoothed count */
	uint32_t low, high; /* its steps: [low, high); high is the low of the next one */
	uint64_t count;     /* samples in them */
};

/*
 * Finds the modes of a histogram of n <= MODES_MAX_BINS steps, lowest first; they cover all that
 * was counted. Of more than MODES_MAX, those with the shallowest valleys count as one. Returns how
 * many there are: 0 if nothing was counted.
 */
uint32_t modes_find(const uint64_t *counts, uint32_t n, struct mode modes[MODES_MAX]);

#endif
