/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_SINCE_H
#define PT_CHANGE_SINCE_H

#include "change/rows.h"

/*
 * Since when it is so: the change point of what was counted, or summed, in buckets of time. Pure.
 */
#define SERIES_MOST 128u

/* What was counted, or summed, in so much time, or in so many spans. */
struct series {
	bool counts; /* as of a Poisson process; else means, as of a normal distribution */
	bool more;   /* than before */
	double before;
	uint32_t n, bucket[SERIES_MOST];
	double sum[SERIES_MOST], exposure[SERIES_MOST];
};

/* In buckets from the first. */
struct since {
	bool begin; /* it was so from the begin on; the rest is 0 */
	uint32_t at;
	double low, high;
};
/* Buckets in their order; what has no exposure is left out. */
void series_add(struct series *series, uint32_t bucket, double sum, double exposure);
/* False: it is not known. */
bool since_find(const struct series *series, struct since *out);
void since_tell(struct work *work, const struct baseline *after, struct found *found);
/* Of groups: what the requests that are told of did by the bucket (split.c). */
void split_list(const struct work *work, const struct baseline *after, const struct found *found,
		struct series *out);

#endif
