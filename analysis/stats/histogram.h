/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_HISTOGRAM_H
#define PT_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

/*
 * Durations counted in even steps of their logarithm, 64 to the octave: quantiles, and histograms
 * of any coarser step.
 *
 * Bin b counts the durations in [2^(b/64), 2^((b+1)/64)) ns; 0 counts as 1 ns. The middle of a bin
 * is at most 0.55 % and half a nanosecond from what was counted in it (DDSketch: Masson, Rim & Lee,
 * VLDB 2019). Even steps of the logarithm, rather than the linear ones of HdrHistogram, so that
 * 16 or 8 bins to the octave are exact sums of these.
 *
 * Adding, merging and subtracting are exact and independent of order.
 *
 * Memory, from a pool: the bins between the lowest and the highest in use, in steps of 16, of 1,
 * 2, 4 or 8 bytes each: all bins of a histogram widen when one would overflow. At most 32 KiB,
 * usually below 1 KiB. Threads: the caller's, one at a time per pool.
 */
#define HISTOGRAM_BINS           4096u
#define HISTOGRAM_OCTAVE_BINS    64u
#define HISTOGRAM_PAGE_BINS      16u
#define HISTOGRAM_SHIFT_PER_16TH 2 /* bins >> this: 16 to the octave */
#define HISTOGRAM_SHIFT_PER_8TH  3

struct histogram {
	uint64_t count;
	void *bins; /* pages * 16 bins of 1 << width bytes */
	uint16_t first_page, pages;
	uint8_t room;  /* log2 of the pages there is room for */
	uint8_t width; /* log2 of the bytes of a bin */
};

/* Gives the memory back to the pool; an empty histogram (all zero) again. */
void histogram_clear(struct histogram *histogram, struct pool *pool);

uint32_t histogram_bin(uint64_t ns);
uint64_t histogram_bin_low(uint32_t bin);    /* smallest ns of it */
uint64_t histogram_bin_middle(uint32_t bin); /* what stands for the durations in it */

/* How many a bin holds. */
static inline uint64_t histogram_at(const struct histogram *histogram, uint32_t bin)
{
	uint32_t at = bin - histogram->first_page * HISTOGRAM_PAGE_BINS;

	if (at >= histogram->pages * HISTOGRAM_PAGE_BINS) {
		return 0;
	}
	switch (histogram->width) {
	case 0:
		return ((const uint8_t *)histogram->bins)[at];
	case 1:
		return ((const uint16_t *)histogram->bins)[at];
	case 2:
		return ((const uint32_t *)histogram->bins)[at];
	default:
		return ((const uint64_t *)histogram->bins)[at];
	}
}

/* Adds n to a bin, making room for it. False if out of memory: then nothing is added. */
bool histogram_add_many(struct histogram *histogram, struct pool *pool, uint32_t bin, uint64_t n);

/* Adds one to a bin, as above; quick where there is room. O(1). */
static inline bool histogram_add(struct histogram *histogram, struct pool *pool, uint32_t bin)
{
	uint32_t at = bin - histogram->first_page * HISTOGRAM_PAGE_BINS;

	if (at < histogram->pages * HISTOGRAM_PAGE_BINS) {
		uint8_t *narrow = histogram->bins;
		uint16_t *middle = histogram->bins;
		uint32_t *wide = histogram->bins;

		if (histogram->width == 2 && wide[at] < UINT32_MAX) {
			wide[at]++;
			histogram->count++;
			return true;
		}
		if (histogram->width == 1 && middle[at] < UINT16_MAX) {
			middle[at]++;
			histogram->count++;
			return true;
		}
		if (histogram->width == 0 && narrow[at] < UINT8_MAX) {
			narrow[at]++;
			histogram->count++;
			return true;
		}
	}
	return histogram_add_many(histogram, pool, bin, 1);
}

/* False if out of memory: then an unknown part of `other` was added. */
bool histogram_merge(struct histogram *histogram, struct pool *pool, const struct histogram *other);

/* Takes away what was added before. A bin never goes below 0. */
void histogram_subtract(struct histogram *histogram, const struct histogram *other);

/* Makes an empty histogram a copy. False if out of memory: it stays empty. */
bool histogram_copy(struct histogram *histogram, struct pool *pool, const struct histogram *other);

/* Number of durations counted in [from, to). */
uint64_t histogram_between(const struct histogram *histogram, uint32_t from, uint32_t to);

/*
 * For each share in 0..1, ascending, the bin of the sample with rank max(1, ceil(share * count))
 * in ascending order: the smallest value that at least that share of the samples does not exceed
 * (inverse of the empirical distribution function; type 1 of Hyndman & Fan 1996).
 * count must be above 0, and the shares between 0 and 1.
 */
void histogram_quantiles(const struct histogram *histogram, const double *shares, uint32_t n,
		uint32_t *bins);

/* Adds the counts to n coarser bins: bin b to counts[(b >> shift) - low], where that exists. */
void histogram_coarsen(const struct histogram *histogram, uint32_t shift, uint32_t low, uint32_t n,
		uint64_t *counts);

/* Adds the counts to n even parts of the bins [low, high); what lies outside to the outer parts. */
void histogram_spread(const struct histogram *histogram, uint32_t low, uint32_t high, uint32_t n,
		uint64_t *counts);

/* Bytes of memory it holds, without the struct itself. */
size_t histogram_bytes(const struct histogram *histogram);

#endif
