/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_RANKS_H
#define PT_STATS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Ranks, and how two series rise together whatever their scales.
 *
 * Equal values share the mean of their ranks (mid-ranks: Kendall 1945). NAN is no value: it has no
 * rank. Pure; memory: O(n) while it works. Threads: the caller's.
 */

/* Ranks from 1 on, NAN where there is no value. False if out of memory. O(n log n). */
bool ranks_make(const double *values, uint32_t n, double *ranks);

/*
 * Spearman's rho (1904): Pearson's correlation of the ranks, over the rows where both have a value;
 * 0 where one does not vary. False if out of memory. O(n log n).
 */
bool ranks_spearman(const double *left, const double *right, uint32_t n, double *rho);

/* Centred at 0 and of length 1, in place; NAN becomes 0. False: they do not vary, all are 0. */
bool ranks_normalize(double *values, uint32_t n);

#endif
