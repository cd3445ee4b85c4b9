/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SHARE_INTERVAL_H
#define PT_GROUPS_SHARE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How far shares of variance, phi = Cov(S, T) / Var(T), may be off: 90 % intervals of a series.
 * Pure. Units: S and T in one unit, of any kind.
 */

/*
 * Bootstrap-t intervals of `width` columns: phi - below .. phi + above. `parts` has `width` values
 * for each of n durations, which count by their weights (above 0); the variance of these must not
 * be 0. `length` is set to that of the blocks. The seed decides on the draws. False if out of
 * memory. See locate.h.
 */
bool share_intervals(const double *durations, const double *weights, const double *parts,
		uint32_t n, uint32_t width, uint64_t seed, double *below, double *above,
		uint32_t *length);

/*
 * The standard error of a column that is mostly 0, from blocks beside each other: what a block
 * adds to (phi' - phi) Var(T) is u = C - m A - phi V, where m is the mean of S, and C, A, V are
 * the block's sums of S d, d and d^2, d being T less its mean (delta method), all by weight.
 */
struct share_totals {
	uint32_t n, length, n_blocks;
	double weight;         /* of all samples */
	const double *weights; /* by sample; borrowed */
	double *distances;     /* by sample: d */
	double *a, *v;         /* by block */
	double sum_aa, sum_av, sum_vv, sum_v;
};

struct share_blocks {
	uint32_t block; /* that c is of */
	double c;
	double sum_s, sum_c, sum_cc, sum_ca, sum_cv;
};

/* False if out of memory. */
bool share_totals_init(struct share_totals *totals, const double *durations,
		const double *weights, uint32_t n, uint32_t length);
void share_totals_release(struct share_totals *totals);

/* Sample i has a part of this column; samples come in their order. */
void share_blocks_add(struct share_blocks *blocks, const struct share_totals *totals, uint32_t i,
		double part);
double share_blocks_error(struct share_blocks *blocks, const struct share_totals *totals);

#endif
