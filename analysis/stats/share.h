/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_SHARE_H
#define PT_STATS_SHARE_H

#include <stdint.h>

/*
 * The interval of a share of which `hits` of `n` are known. (Wilson, "Probable inference, the law
 * of succession, and statistical inference", JASA 1927; the score interval.) It keeps what it
 * promises where shares are near 0, and for few.
 *
 * `errors`: standard errors to either side. Of none nothing is known: 0 to 1.
 */
#define SHARE_95 1.959964

void share_bounds(uint64_t hits, uint64_t n, double errors, double *low, double *high);

#endif
