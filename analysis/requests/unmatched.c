/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/unmatched.h"

void type_stats_unmatched(struct type_stats *stats, uint64_t ts_ns, enum unmatched_why why)
{
	uint64_t second = ts_ns / UINT64_C(1000000000);
	uint32_t at = (uint32_t)(second % UNMATCHED_SECONDS);

	stats->unmatched++;
	stats->why[why]++;
	if (stats->second_at[at] != second) {
		stats->second_at[at] = second;
		stats->seconds[at] = 0;
	}
	stats->seconds[at]++;
}
