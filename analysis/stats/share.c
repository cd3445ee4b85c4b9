/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/share.h"

#include <math.h>

void share_bounds(uint64_t hits, uint64_t n, double errors, double *low, double *high)
{
	double share, squared = errors * errors, total = (double)n, middle, half;

	*low = 0;
	*high = 1;
	if (n == 0) {
		return;
	}
	share = (double)hits / total;
	middle = (share + squared / (2 * total)) / (1 + squared / total);
	half = errors / (1 + squared / total) *
	       sqrt(share * (1 - share) / total + squared / (4 * total * total));
	/* Of none and of all one end is exact, but for what rounding leaves. */
	*low = hits == 0 ? 0 : middle - half;
	*high = hits >= n ? 1 : middle + half;
}
