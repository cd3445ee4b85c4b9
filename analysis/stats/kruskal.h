/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_KRUSKAL_H
#define PT_STATS_KRUSKAL_H

#include <stdint.h>

/*
 * Whether, and how much, values differ between the levels of a key. Levels are 0..n_levels-1, one a
 * row; those without a row do not count. Pure, no memory but the stack, O(n).
 */
#define KRUSKAL_MAX_LEVELS 64u

/*
 * omega^2 (Hays 1963): the share of the variance that goes with the levels, without what chance
 * alone makes of so many of them: (SSB - df MSW) / (SST + MSW). 0..1; 0 where nothing varies or
 * each row has its own level.
 */
double kruskal_omega2(const double *values, const uint8_t *levels, uint32_t n, uint32_t n_levels);

/*
 * A chi^2 as the standard normal deviate that is as improbable, so that keys with many levels and
 * with few can be compared (Wilson & Hilferty 1931). df above 0.
 */
double kruskal_deviate(double chi2, double df);

#endif
