/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "stats/histogram.h"
#include "stats/moments.h"

#define N_SAMPLES 20000u

/* A stream of random numbers in [0, 1) from a seed. */
static double uniform(uint64_t *seed)
{
	return (double)(hash_u64((*seed)++) >> 11) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(1 - uniform(seed)));

	return radius * cos(6.283185307179586 * uniform(seed));
}

enum shape { CONSTANT, SMALL, EXPONENTIAL, LOGNORMAL, PARETO, BIMODAL, HUGE_RANGE, N_SHAPES };

static uint64_t draw(enum shape shape, uint64_t *seed)
{
	double u = uniform(seed);

	switch (shape) {
	case CONSTANT:
		return 123456789;
	case SMALL:
		return (uint64_t)(u * 300);
	case EXPONENTIAL:
		return (uint64_t)(-5e6 * log(1 - u));
	case LOGNORMAL:
		return (uint64_t)exp(16 + 0.8 * normal(seed));
	case PARETO:
		return (uint64_t)fmin(1e6 / pow(1 - u, 1 / 1.2), 1e15);
	case BIMODAL:
		return (uint64_t)((u < 0.03 ? 4e8 : 4e7) * (1 + 0.05 * normal(seed)));
	default:
		return (uint64_t)exp2(48 * u);
	}
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static bool close_enough(uint64_t shown, uint64_t true_ns)
{
	double error = fabs((double)shown - (double)true_ns);

	return error <= 0.5 + 0.0055 * (double)true_ns || true_ns == 0;
}

static void assert_same(const struct histogram *a, const struct histogram *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
		assert_int_equal(histogram_at(a, bin), histogram_at(b, bin));
	}
}

/* Bins are even steps of the logarithm, and the middle is near everything in them. */
static void test_bins(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
		long double exact = exp2l((long double)bin / HISTOGRAM_OCTAVE_BINS);
		uint64_t low = histogram_bin_low(bin);

		assert_true(fabsl((long double)low - exact) <= 1 + exact * 1e-18L);
		if ((long double)low < exact * 1.0108L) { /* an integer is in it */
			assert_int_equal(histogram_bin(low), bin);
			assert_true(low == 1 || histogram_bin(low - 1) < bin);
		}
	}
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t ns = hash_u64(seed++) >> (i % 64);
		uint32_t bin = histogram_bin(ns);

		assert_true(bin < HISTOGRAM_BINS);
		assert_true(ns == 0 || histogram_bin_low(bin) <= ns);
		assert_true(bin == HISTOGRAM_BINS - 1 || ns < histogram_bin_low(bin + 1));
		assert_true(close_enough(histogram_bin_middle(bin), ns));
	}
	assert_int_equal(histogram_bin(0), 0);
	assert_int_equal(histogram_bin(UINT64_MAX), HISTOGRAM_BINS - 1);
}

/* Quantiles are within the stated error of the sorted data, at their stated rank. */
static void test_quantiles(void **state)
{
	static const double shares[] = {0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
	enum { N = sizeof(shares) / sizeof(shares[0]) };
	uint64_t *samples = calloc(N_SAMPLES, sizeof(*samples));
	uint64_t seed = 2;
	struct pool pool;

	(void)state;
	assert_non_null(samples);
	pool_init(&pool);
	for (uint32_t round = 0; round < N_SHAPES * 6; round++) {
		static const uint32_t sizes[6] = {1, 2, 19, 100, 1001, N_SAMPLES};
		uint32_t n = sizes[round / N_SHAPES];
		struct histogram histogram = {0};
		uint32_t bins[N];

		for (uint32_t i = 0; i < n; i++) {
			samples[i] = draw((enum shape)(round % N_SHAPES), &seed);
			assert_true(histogram_add(&histogram, &pool, histogram_bin(samples[i])));
		}
		qsort(samples, n, sizeof(*samples), by_value);
		histogram_quantiles(&histogram, shares, N, bins);
		for (uint32_t i = 0; i < N; i++) {
			uint64_t rank = (uint64_t)ceil(shares[i] * n);

			assert_true(close_enough(histogram_bin_middle(bins[i]),
					samples[rank ? rank - 1 : 0]));
		}
		histogram_clear(&histogram, &pool);
	}
	assert_int_equal(pool.in_use_bytes, 0);
	pool_release(&pool);
	free(samples);
}

/* Parts merged in any order are the whole; a part taken away leaves the others. */
static void test_merge_and_subtract(void **state)
{
	enum { PARTS = 7 };
	uint64_t seed = 3;
	struct pool pool;

	(void)state;
	pool_init(&pool);
	for (uint32_t round = 0; round < N_SHAPES; round++) {
		struct histogram whole = {0}, merged = {0}, copy = {0}, parts[PARTS] = {{0}};
		struct moments sum = {0}, moments[PARTS] = {{0}}, joined = {0};

		for (uint32_t i = 0; i < N_SAMPLES; i++) {
			uint64_t ns = draw((enum shape)round, &seed);
			uint32_t part = (uint32_t)(uniform(&seed) * uniform(&seed) * (double)PARTS);

			assert_true(histogram_add(&whole, &pool, histogram_bin(ns)));
			assert_true(histogram_add(&parts[part], &pool, histogram_bin(ns)));
			moments_add(&sum, ns);
			moments_add(&moments[part], ns);
		}
		for (uint32_t i = PARTS; i-- > 0;) {
			assert_true(histogram_merge(&merged, &pool, &parts[i]));
			moments_merge(&joined, &moments[i]);
		}
		assert_same(&whole, &merged);
		assert_true(joined.sum == sum.sum && joined.squares == sum.squares);
		assert_int_equal(joined.count, sum.count);
		assert_true(histogram_copy(&copy, &pool, &whole));
		for (uint32_t i = 1; i < PARTS; i++) {
			histogram_subtract(&merged, &parts[i]);
			moments_subtract(&joined, &moments[i]);
		}
		assert_same(&merged, &parts[0]);
		assert_true(joined.sum == moments[0].sum);
		assert_true(joined.squares == moments[0].squares);
		assert_same(&copy, &whole);
	}
	pool_release(&pool);
}

/* Counts pass every width of a bin without a loss. */
static void test_widening(void **state)
{
	static const uint64_t steps[] = {255, 1, 65279, 1, UINT32_MAX - 65536u, 1, 1, 1};
	struct histogram histogram = {0}, other = {0};
	struct pool pool;
	uint64_t sum = 0;

	(void)state;
	pool_init(&pool);
	assert_true(histogram_add(&histogram, &pool, 1700));
	for (uint32_t i = 0; i < 300; i++) {
		assert_true(histogram_add(&other, &pool, 1600));
	}
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_true(histogram_add_many(&histogram, &pool, 1600, steps[i]));
		sum += steps[i];
		assert_int_equal(histogram_at(&histogram, 1600), sum);
		assert_int_equal(histogram_at(&histogram, 1700), 1);
	}
	for (uint32_t i = 0; i < 70000; i++) {
		assert_true(histogram_add(&other, &pool, 1601));
	}
	assert_int_equal(histogram_at(&other, 1600), 300);
	assert_int_equal(histogram_at(&other, 1601), 70000);
	assert_int_equal(histogram_between(&other, 1600, 1602), 70300);
	assert_true(histogram_add(&histogram, &pool, 0));
	assert_true(histogram_add(&histogram, &pool, HISTOGRAM_BINS - 1));
	assert_false(histogram_add(&histogram, &pool, HISTOGRAM_BINS));
	assert_int_equal(histogram.count, sum + 3);
	assert_true(histogram_bytes(&histogram) <= 32768);
	pool_release(&pool);
}

/* Coarser bins are exact sums of the fine ones. */
static void test_coarsening(void **state)
{
	struct histogram histogram = {0};
	uint64_t counts[HISTOGRAM_BINS / 4], seed = 4, sum = 0;
	struct pool pool;

	(void)state;
	pool_init(&pool);
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		assert_true(histogram_add(
				&histogram, &pool, histogram_bin(draw(LOGNORMAL, &seed))));
	}
	for (uint32_t shift = 2; shift <= 3; shift++) {
		memset(counts, 0, sizeof(counts));
		histogram_coarsen(&histogram, shift, 100, HISTOGRAM_BINS / 4, counts);
		for (uint32_t i = 0; i < (HISTOGRAM_BINS >> shift) - 100; i++) {
			uint32_t bin = (i + 100) << shift;

			assert_int_equal(counts[i],
					histogram_between(&histogram, bin, bin + (1u << shift)));
			sum += counts[i];
		}
	}
	assert_int_equal(sum, 2 * N_SAMPLES);
	pool_release(&pool);
}

/* Mean and standard deviation are those of the definition, computed with the exact mean. */
static void test_moments(void **state)
{
	uint64_t seed = 5, *samples = calloc(N_SAMPLES, sizeof(*samples));
	struct moments one = {0}, far = {0};

	(void)state;
	assert_non_null(samples);
	for (uint32_t round = 0; round < N_SHAPES; round++) {
		long double mean = 0, squares = 0, sd;
		struct moments moments = {0};

		for (uint32_t i = 0; i < N_SAMPLES; i++) {
			samples[i] = draw((enum shape)round, &seed);
			moments_add(&moments, samples[i]);
			mean += (long double)samples[i] / N_SAMPLES;
		}
		for (uint32_t i = 0; i < N_SAMPLES; i++) {
			squares += ((long double)samples[i] - mean) *
				   ((long double)samples[i] - mean);
		}
		sd = sqrtl(squares / (N_SAMPLES - 1));
		assert_true(fabsl(moments_mean(&moments) - mean) <= 1e-12L * mean);
		assert_true(fabsl(moments_sd(&moments) - sd) <= 1e-9L * sd + 1e-6L);
	}
	assert_true(moments_mean(&one) == 0 && moments_sd(&one) == 0);
	moments_add(&one, 7);
	assert_true(moments_mean(&one) == 7 && moments_sd(&one) == 0);
	/* Far from zero and close together: where running sums in floating point lose everything.
	 */
	for (uint64_t i = 0; i < 1000000; i++) {
		moments_add(&far, (UINT64_C(1) << 47) + i % 2);
	}
	assert_true(fabs(moments_sd(&far) - 0.5) < 1e-6);
	moments_add(&one, UINT64_MAX);
	assert_true(moments_mean(&one) == ((double)MOMENTS_MAX_NS + 7) / 2);
	free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_bins),
			cmocka_unit_test(test_quantiles),
			cmocka_unit_test(test_merge_and_subtract),
			cmocka_unit_test(test_widening),
			cmocka_unit_test(test_coarsening),
			cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
