/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/histogram.h"

#include <string.h>

#define SMALLEST_RUN 64 /* what the pool would round up to */
#define LAST_PAGE    (HISTOGRAM_BINS / HISTOGRAM_PAGE_BINS - 1)

/*
 * The last 64-bit number of each of the 64 steps of an octave: ceil(2^63 * 2^((i+1)/64)) - 1.
 * Written down rather than computed, so that every machine puts a duration into the same bin.
 */
// clang-format off
static const uint64_t step_high[HISTOGRAM_OCTAVE_BINS] = {
	0x8164d1f3bc030773, 0x82cd8698ac2ba1d7, 0x843a28c3acde4046, 0x85aac367cc487b14,
	0x871f61969e8d1010, 0x88980e8092da8527, 0x8a14d575496efd9a, 0x8b95c1e3ea8bd6e6,
	0x8d1adf5b7e5ba9e5, 0x8ea4398b45cd53c0, 0x9031dc431466b1dc, 0x91c3d373ab11c336,
	0x935a2b2f13e6e92b, 0x94f4efa8fef70961, 0x96942d3720185a00, 0x9837f0518db8a96f,
	0x99e0459320b7fa64, 0x9b8d39b9d54e5538, 0x9d3ed9a72cffb750, 0x9ef5326091a111ad,
	0xa0b0510fb9714fc2, 0xa27043030c496818, 0xa43515ae09e6809e, 0xa5fed6a9b15138ea,
	0xa7cd93b4e9653569, 0xa9a15ab4ea7c0ef8, 0xab7a39b5a93ed337, 0xad583eea42a14ac6,
	0xaf3b78ad690a4374, 0xb123f581d2ac258f, 0xb311c412a9112489, 0xb504f333f9de6484,
	0xb6fd91e328d17791, 0xb8fbaf4762fb9ee9, 0xbaff5ab2133e45fb, 0xbd08a39f580c36be,
	0xbf1799b67a731082, 0xc12c4cca66709456, 0xc346ccda24976407, 0xc5672a115506dadd,
	0xc78d74c8abb9b15c, 0xc9b9bd866e2f27a2, 0xcbec14fef2727c5c, 0xce248c151f8480e3,
	0xd06333daef2b2594, 0xd2a81d91f12ae45a, 0xd4f35aabcfedfa1f, 0xd744fccad69d6af4,
	0xd99d15c278afd7b5, 0xdbfbb797daf23755, 0xde60f4825e0e9123, 0xe0ccdeec2a94e111,
	0xe33f8972be8a5a51, 0xe5b906e77c8348a8, 0xe8396a503c4bdc68, 0xeac0c6e7dd24392e,
	0xed4f301ed9942b84, 0xefe4b99bdcdaf5cb, 0xf281773c59ffb139, 0xf5257d152486cc2c,
	0xf7d0df730ad13bb8, 0xfa83b2db722a033a, 0xfd3e0c0cf486c174, 0xffffffffffffffff,
};

/* The step that the smallest number with these seven bits after its leading one falls into. No
 * such piece of 1/128 holds more than one border: the step is this one or the next. */
static const uint8_t step_guess[128] = {
	0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10,
	10, 11, 12, 12, 13, 14, 14, 15, 15, 16, 17, 17, 18, 18, 19, 20,
	20, 21, 21, 22, 22, 23, 24, 24, 25, 25, 26, 26, 27, 27, 28, 28,
	29, 29, 30, 30, 31, 31, 32, 33, 33, 34, 34, 35, 35, 35, 36, 36,
	37, 37, 38, 38, 39, 39, 40, 40, 41, 41, 42, 42, 43, 43, 43, 44,
	44, 45, 45, 46, 46, 47, 47, 47, 48, 48, 49, 49, 50, 50, 50, 51,
	51, 52, 52, 52, 53, 53, 54, 54, 54, 55, 55, 56, 56, 56, 57, 57,
	58, 58, 58, 59, 59, 59, 60, 60, 61, 61, 61, 62, 62, 62, 63, 63,
};
// clang-format on

/* Bytes of the run that the bins live in. */
static size_t run_bytes(const struct histogram *histogram)
{
	return (size_t)HISTOGRAM_PAGE_BINS << (histogram->room + histogram->width);
}

size_t histogram_bytes(const struct histogram *histogram)
{
	return histogram->pages ? run_bytes(histogram) : 0;
}

void histogram_clear(struct histogram *histogram, struct pool *pool)
{
	if (histogram->pages) {
		pool_free(pool, histogram->bins, run_bytes(histogram));
	}
	memset(histogram, 0, sizeof(*histogram));
}

uint32_t histogram_bin(uint64_t ns)
{
	uint32_t octave, step;

	ns = ns ? ns : 1;
	octave = 63 - (uint32_t)__builtin_clzll(ns);
	ns <<= 63 - octave;
	step = step_guess[(ns >> 56) & 127];
	step += ns > step_high[step];
	return octave * HISTOGRAM_OCTAVE_BINS + step;
}

uint64_t histogram_bin_low(uint32_t bin)
{
	uint32_t octave = bin / HISTOGRAM_OCTAVE_BINS, step = bin % HISTOGRAM_OCTAVE_BINS;
	uint64_t before; /* the last number below the bin, with 63 bits after the point */

	if (bin >= HISTOGRAM_BINS) {
		return UINT64_MAX;
	}
	if (step == 0) {
		return UINT64_C(1) << octave;
	}
	before = step_high[step - 1];
	return (before >> (63 - octave)) + 1;
}

uint64_t histogram_bin_middle(uint32_t bin)
{
	uint64_t low = histogram_bin_low(bin), next = histogram_bin_low(bin + 1);

	return next > low ? low + (next - 1 - low) / 2 : low;
}

static void bin_set(struct histogram *histogram, uint32_t at, uint64_t n)
{
	switch (histogram->width) {
	case 0:
		((uint8_t *)histogram->bins)[at] = (uint8_t)n;
		break;
	case 1:
		((uint16_t *)histogram->bins)[at] = (uint16_t)n;
		break;
	case 2:
		((uint32_t *)histogram->bins)[at] = (uint32_t)n;
		break;
	default:
		((uint64_t *)histogram->bins)[at] = n;
		break;
	}
}

/* Moves the bins into a run for pages first..last of `width`. False if out of memory. */
static bool histogram_reshape(struct histogram *histogram, struct pool *pool, uint32_t first,
		uint32_t last, uint32_t width)
{
	struct histogram shaped = {.count = histogram->count,
			.first_page = (uint16_t)first,
			.pages = (uint16_t)(last - first + 1),
			.width = (uint8_t)width};
	uint32_t from = histogram->first_page * HISTOGRAM_PAGE_BINS;

	while (1u << shaped.room < shaped.pages || run_bytes(&shaped) < SMALLEST_RUN) {
		shaped.room++;
	}
	shaped.bins = pool_alloc(pool, run_bytes(&shaped));
	if (!shaped.bins) {
		return false;
	}
	memset(shaped.bins, 0, run_bytes(&shaped));
	if (histogram->pages && histogram->width == width) {
		size_t shift = (size_t)(from - first * HISTOGRAM_PAGE_BINS) << width;

		memcpy((uint8_t *)shaped.bins + shift, histogram->bins,
				(size_t)histogram->pages * HISTOGRAM_PAGE_BINS << width);
	} else {
		for (uint32_t bin = from; bin < from + histogram->pages * HISTOGRAM_PAGE_BINS;
				bin++) {
			bin_set(&shaped, bin - first * HISTOGRAM_PAGE_BINS,
					histogram_at(histogram, bin));
		}
	}
	histogram_clear(histogram, pool);
	*histogram = shaped;
	return true;
}

/* Makes room for pages first..last, and for counts up to `most` in a bin. */
static bool histogram_fit(struct histogram *histogram, struct pool *pool, uint32_t first,
		uint32_t last, uint64_t most)
{
	uint32_t width = histogram->width, old_first = histogram->first_page;
	uint32_t old_last = old_first + histogram->pages - 1u;

	while (width < 3 && most >> (8u << width)) {
		width++;
	}
	if (histogram->pages) {
		first = first < old_first ? first : old_first;
		last = last > old_last ? last : old_last;
		if (first == old_first && width == histogram->width &&
				last - first < 1u << histogram->room) {
			/* The run is zero behind the pages in use. */
			histogram->pages = (uint16_t)(last - first + 1);
			return true;
		}
	}
	return histogram_reshape(histogram, pool, first, last, width);
}

bool histogram_add_many(struct histogram *histogram, struct pool *pool, uint32_t bin, uint64_t n)
{
	uint32_t page = bin / HISTOGRAM_PAGE_BINS;
	uint64_t sum = histogram_at(histogram, bin) + n;

	if (page > LAST_PAGE || !histogram_fit(histogram, pool, page, page, sum)) {
		return false;
	}
	bin_set(histogram, bin - histogram->first_page * HISTOGRAM_PAGE_BINS, sum);
	histogram->count += n;
	return true;
}

/* Does a page in use hold nothing? Most do between the quickest and the slowest of a few. */
static bool page_is_empty(const struct histogram *histogram, uint32_t page)
{
	size_t at = (size_t)(page - histogram->first_page) * HISTOGRAM_PAGE_BINS
		    << histogram->width;
	uint64_t word, any = 0;

	for (uint32_t i = 0; i < HISTOGRAM_PAGE_BINS << histogram->width; i += sizeof(word)) {
		memcpy(&word, (const uint8_t *)histogram->bins + at + i, sizeof(word));
		any |= word;
	}
	return any == 0;
}

/* The first bin at or after one that may hold something; the end of the pages: none does. */
static uint32_t next_used(const struct histogram *histogram, uint32_t bin)
{
	uint32_t end = (histogram->first_page + histogram->pages) * HISTOGRAM_PAGE_BINS;

	while (bin < end && bin % HISTOGRAM_PAGE_BINS == 0 &&
			page_is_empty(histogram, bin / HISTOGRAM_PAGE_BINS)) {
		bin += HISTOGRAM_PAGE_BINS;
	}
	return bin;
}

bool histogram_merge(struct histogram *histogram, struct pool *pool, const struct histogram *other)
{
	uint32_t from = other->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t end = from + other->pages * HISTOGRAM_PAGE_BINS;

	if (!other->pages) {
		return true;
	}
	if (!histogram_fit(histogram, pool, other->first_page,
			    other->first_page + other->pages - 1u, 0)) {
		return false;
	}
	for (uint32_t bin = next_used(other, from); bin < end; bin = next_used(other, bin + 1)) {
		uint64_t n = histogram_at(other, bin);

		if (n && !histogram_add_many(histogram, pool, bin, n)) {
			return false;
		}
	}
	return true;
}

void histogram_subtract(struct histogram *histogram, const struct histogram *other)
{
	uint32_t from = other->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t end = from + other->pages * HISTOGRAM_PAGE_BINS;

	for (uint32_t bin = next_used(other, from); bin < end; bin = next_used(other, bin + 1)) {
		uint64_t less = histogram_at(other, bin);
		uint64_t have = less ? histogram_at(histogram, bin) : 0;

		if (have) {
			less = less < have ? less : have;
			bin_set(histogram, bin - histogram->first_page * HISTOGRAM_PAGE_BINS,
					have - less);
			histogram->count -= less;
		}
	}
}

bool histogram_copy(struct histogram *histogram, struct pool *pool, const struct histogram *other)
{
	if (!other->pages) {
		return true;
	}
	*histogram = *other;
	histogram->bins = pool_alloc(pool, run_bytes(other));
	if (!histogram->bins) {
		memset(histogram, 0, sizeof(*histogram));
		return false;
	}
	memcpy(histogram->bins, other->bins, histogram_bytes(other));
	return true;
}

uint64_t histogram_between(const struct histogram *histogram, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t bin = from; bin < to; bin++) {
		sum += histogram_at(histogram, bin);
	}
	return sum;
}

static uint64_t rank_of(double share, uint64_t count)
{
	double exact = share * (double)count;
	uint64_t rank = exact >= (double)count ? count : (uint64_t)exact;

	rank += (double)rank < exact;
	rank = rank < count ? rank : count;
	return rank ? rank : 1;
}

/* The 16 counts of a page in use. */
static void page_read(const struct histogram *histogram, uint32_t page, uint64_t *counts)
{
	size_t at = (size_t)(page - histogram->first_page) * HISTOGRAM_PAGE_BINS;
	const uint8_t *narrow = (const uint8_t *)histogram->bins + at;
	const uint16_t *middle = (const uint16_t *)histogram->bins + at;
	const uint32_t *wide = (const uint32_t *)histogram->bins + at;
	uint32_t i;

	switch (histogram->width) {
	case 0:
		for (i = 0; i < HISTOGRAM_PAGE_BINS; i++) {
			counts[i] = narrow[i];
		}
		break;
	case 1:
		for (i = 0; i < HISTOGRAM_PAGE_BINS; i++) {
			counts[i] = middle[i];
		}
		break;
	case 2:
		for (i = 0; i < HISTOGRAM_PAGE_BINS; i++) {
			counts[i] = wide[i];
		}
		break;
	default:
		memcpy(counts, (const uint64_t *)histogram->bins + at,
				HISTOGRAM_PAGE_BINS * sizeof(*counts));
		break;
	}
}

void histogram_quantiles(
		const struct histogram *histogram, const double *shares, uint32_t n, uint32_t *bins)
{
	uint64_t seen = 0, counts[HISTOGRAM_PAGE_BINS] = {0};
	uint32_t page = histogram->first_page, at = HISTOGRAM_PAGE_BINS;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t rank = rank_of(shares[i], histogram->count);

		while (at == HISTOGRAM_PAGE_BINS || seen + counts[at] < rank) {
			if (at == HISTOGRAM_PAGE_BINS) {
				page_read(histogram, page++, counts);
				at = 0;
			} else {
				seen += counts[at++];
			}
		}
		bins[i] = (page - 1) * HISTOGRAM_PAGE_BINS + at;
	}
}

void histogram_coarsen(const struct histogram *histogram, uint32_t shift, uint32_t low, uint32_t n,
		uint64_t *counts)
{
	uint64_t fine[HISTOGRAM_PAGE_BINS];

	for (uint32_t page = 0; page < histogram->pages; page++) {
		uint32_t bin = (histogram->first_page + page) * HISTOGRAM_PAGE_BINS;

		page_read(histogram, histogram->first_page + page, fine);
		for (uint32_t i = 0; i < HISTOGRAM_PAGE_BINS; i++, bin++) {
			if ((bin >> shift) - low < n) {
				counts[(bin >> shift) - low] += fine[i];
			}
		}
	}
}

void histogram_spread(const struct histogram *histogram, uint32_t low, uint32_t high, uint32_t n,
		uint64_t *counts)
{
	uint64_t fine[HISTOGRAM_PAGE_BINS];
	uint32_t span = high - low, at = 0;
	uint32_t next = low + (span + n - 1) / n; /* first bin of the part after `at` */

	for (uint32_t page = 0; page < histogram->pages; page++) {
		uint32_t bin = (histogram->first_page + page) * HISTOGRAM_PAGE_BINS;

		page_read(histogram, histogram->first_page + page, fine);
		for (uint32_t i = 0; i < HISTOGRAM_PAGE_BINS; i++, bin++) {
			while (bin >= next && at + 1 < n) {
				at++;
				next = low + ((at + 1) * span + n - 1) / n;
			}
			counts[at] += fine[i];
		}
	}
}
