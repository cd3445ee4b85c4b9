/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests behind detection promise, by simulation with fixed seeds: how often they fire on
 * nothing, and how often they find what is there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "stats/bootstrap.h"
#include "stats/cov.h"
#include "stats/histogram.h"
#include "stats/modes.h"
#include "stats/shift.h"

/* ---- latencies ---- */

static double positive(struct bootstrap_random *random)
{
	return 1 - bootstrap_uniform(random); /* (0, 1] */
}

static double exponential(struct bootstrap_random *random)
{
	return -log(positive(random));
}

/* Marsaglia & Tsang 2000. */
static double gamma_draw(struct bootstrap_random *random, double shape)
{
	double d = fmax(shape, shape + (shape < 1)) - 1.0 / 3, c = 1 / sqrt(9 * d), x, v;
	double boost = shape < 1 ? pow(positive(random), 1 / shape) : 1;

	do {
		do {
			x = bootstrap_normal(random);
			v = 1 + c * x;
		} while (v <= 0);
		v = v * v * v;
	} while (log(positive(random)) >= 0.5 * x * x + d - d * v + d * log(v));
	return d * v * boost;
}

/* Mixtures of lognormals: shares and medians of up to three, in ms. */
struct mixture {
	double sigma, shares[3], medians[3];
};

static double mixture_draw(struct bootstrap_random *random, const struct mixture *mixture)
{
	double u = bootstrap_uniform(random);
	uint32_t i = u < mixture->shares[0]                        ? 0
		     : u < mixture->shares[0] + mixture->shares[1] ? 1
								   : 2;

	return mixture->medians[i] * exp(mixture->sigma * bootstrap_normal(random));
}

enum family { LOGNORMAL, PARETO, SHIFTED_EXPONENTIAL, GAMMA, WEIBULL, MIXTURE };

struct latency {
	const char *name;
	enum family family;
	double shape; /* lognormal: sigma; shifted exponential: mean of the tail, in shifts */
	struct mixture mixture;
};

/* In ns, around 10 ms. */
static uint64_t latency_draw(struct bootstrap_random *random, const struct latency *latency)
{
	double ms = 10;

	switch (latency->family) {
	case LOGNORMAL:
		ms *= exp(latency->shape * bootstrap_normal(random));
		break;
	case PARETO:
		ms *= pow(positive(random), -1 / latency->shape);
		break;
	case SHIFTED_EXPONENTIAL:
		ms *= 1 + latency->shape * exponential(random);
		break;
	case GAMMA:
		ms *= gamma_draw(random, latency->shape);
		break;
	case WEIBULL:
		ms *= pow(exponential(random), 1 / latency->shape);
		break;
	case MIXTURE:
		ms = mixture_draw(random, &latency->mixture);
		break;
	}
	return (uint64_t)fmin(ms * 1e6, 1e18);
}

static void fill(struct histogram *histogram, struct pool *pool, struct bootstrap_random *random,
		const struct latency *latency, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_true(histogram_add(
				histogram, pool, histogram_bin(latency_draw(random, latency))));
	}
}

/* Steps of 1/16 octave. */
static uint32_t coarse(struct bootstrap_random *random, const struct latency *latency, uint32_t n,
		uint64_t counts[MODES_MAX_BINS])
{
	uint32_t low = MODES_MAX_BINS, high = 0;

	memset(counts, 0, MODES_MAX_BINS * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t step = histogram_bin(latency_draw(random, latency)) >>
				HISTOGRAM_SHIFT_PER_16TH;

		counts[step]++;
		low = step < low ? step : low;
		high = step > high ? step : high;
	}
	memmove(counts, counts + low, (high - low + 1) * sizeof(*counts));
	return high - low + 1;
}

/* ---- modes ---- */

static uint32_t count_modes(struct bootstrap_random *random, const struct latency *latency,
		uint32_t n, uint32_t trials, uint32_t at_least)
{
	uint64_t counts[MODES_MAX_BINS];
	struct mode modes[MODES_MAX];
	uint32_t found = 0;

	for (uint32_t i = 0; i < trials; i++) {
		uint32_t steps = coarse(random, latency, n, counts);

		found += modes_find(counts, steps, modes) >= at_least;
	}
	return found;
}

/* At most 0.3 % of samples of a distribution with one mode have two, whatever their number. */
static void one_mode_stays_one(void **state)
{
	static const struct latency latencies[] = {
			{.name = "lognormal 0.3", .family = LOGNORMAL, .shape = 0.3},
			{.name = "lognormal 1", .family = LOGNORMAL, .shape = 1},
			{.name = "lognormal 1.5", .family = LOGNORMAL, .shape = 1.5},
			{.name = "pareto 1.1", .family = PARETO, .shape = 1.1},
			{.name = "pareto 2.5", .family = PARETO, .shape = 2.5},
			{.name = "shifted exponential 0.5",
					.family = SHIFTED_EXPONENTIAL,
					.shape = 0.5},
			{.name = "shifted exponential 10",
					.family = SHIFTED_EXPONENTIAL,
					.shape = 10},
			{.name = "gamma 0.5", .family = GAMMA, .shape = 0.5},
			{.name = "gamma 4", .family = GAMMA, .shape = 4},
			{.name = "weibull 0.5", .family = WEIBULL, .shape = 0.5},
			{.name = "weibull 0.7", .family = WEIBULL, .shape = 0.7},
			{.name = "weibull 2", .family = WEIBULL, .shape = 2},
	};
	enum { N_LATENCIES = sizeof(latencies) / sizeof(latencies[0]) };
	static const uint32_t sizes[][2] = {{50, 2000}, {200, 2000}, {1000, 500}, {10000, 50}};
	struct bootstrap_random random = {1};

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t n = sizes[k][0], trials = sizes[k][1], all = 0;

		for (uint32_t i = 0; i < N_LATENCIES; i++) {
			uint32_t found = count_modes(&random, &latencies[i], n, trials, 2);

			print_message("%-24s n %6u: %u of %u\n", latencies[i].name, n, found,
					trials);
			assert_true(found <= 1 + trials * 3 / 1000); /* one may be bad luck */
			all += found;
		}
		assert_true(all <= N_LATENCIES * trials * 3 / 1000);
	}
}

/* Modes that are there are found: with how many samples, and how often. */
static void modes_are_found(void **state)
{
	static const struct {
		struct latency latency;
		uint32_t n, modes, per_cent;
	} cases[] = {
			{{"three, a factor 3 apart", MIXTURE, 0,
					 {0.15, {0.34, 0.33, 0.33}, {10, 30, 90}}},
					200, 3, 99},
			{{"three, a factor 2 apart", MIXTURE, 0,
					 {0.1, {0.34, 0.33, 0.33}, {10, 20, 40}}},
					200, 3, 99},
			{{"3 % at 10 times", MIXTURE, 0, {0.1, {0.97, 0.03, 0}, {10, 100, 0}}},
					1000, 2, 95},
			{{"3 % at 10 times, wider", MIXTURE, 0,
					 {0.2, {0.97, 0.03, 0}, {10, 100, 0}}},
					1000, 2, 95},
			{{"halves, a factor 2 apart", MIXTURE, 0,
					 {0.15, {0.5, 0.5, 0}, {10, 20, 0}}},
					200, 2, 95},
	};
	struct bootstrap_random random = {2};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t found = count_modes(
				&random, &cases[i].latency, cases[i].n, 1000, cases[i].modes);

		print_message("%-24s n %6u: %u of 1000\n", cases[i].latency.name, cases[i].n,
				found);
		assert_true(found >= cases[i].per_cent * 10);
	}
}

/* Modes lie where they were planted, cover everything, and hold their shares. */
static void modes_are_where_they_are(void **state)
{
	static const struct latency planted = {
			"", MIXTURE, 0, {0.1, {0.6, 0.3, 0.1}, {10, 40, 200}}};
	uint64_t counts[MODES_MAX_BINS] = {0};
	struct bootstrap_random random = {3};
	struct mode modes[MODES_MAX];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		counts[histogram_bin(latency_draw(&random, &planted)) >>
				HISTOGRAM_SHIFT_PER_16TH]++;
	}
	assert_int_equal(modes_find(counts, MODES_MAX_BINS, modes), 3);
	assert_int_equal(modes[0].low, 0);
	assert_int_equal(modes[2].high, MODES_MAX_BINS);
	for (uint32_t i = 0; i < 3; i++) {
		double truth = log2(planted.mixture.medians[i] * 1e6) * 16;

		assert_true(fabs(modes[i].peak + 0.5 - truth) < 2.5);
		assert_true(fabs((double)modes[i].count / 5000 - planted.mixture.shares[i]) < 0.03);
		assert_true(i == 0 || modes[i].low == modes[i - 1].high);
		assert_true(modes[i].low <= modes[i].peak && modes[i].peak < modes[i].high);
	}
	memset(counts, 0, sizeof(counts));
	assert_int_equal(modes_find(counts, MODES_MAX_BINS, modes), 0);
	for (uint32_t i = 0; i < 8; i++) { /* more than are told apart */
		counts[100 + 40 * i] = 1000 + i;
	}
	assert_int_equal(modes_find(counts, MODES_MAX_BINS, modes), MODES_MAX);
	counts[500] = UINT64_C(1) << 40;
	assert_true(modes_find(counts, MODES_MAX_BINS, modes) >= 1);
}

/* ---- coefficient of variation ---- */

/* The rule as detection applies it. */
static bool varies(const struct histogram *histogram, double limit, uint64_t seed)
{
	uint64_t work;

	return cov_low(histogram, limit, seed, &work) > limit;
}

/* Latencies and their true CoV. */
struct level {
	struct latency latency;
	double cov;
};

static double rate_of_varies(const struct level *level, uint32_t n, uint32_t trials, double limit)
{
	struct bootstrap_random random = {n};
	uint32_t found = 0;
	struct pool pool;

	pool_init(&pool);
	for (uint32_t i = 0; i < trials; i++) {
		struct histogram histogram = {0};

		fill(&histogram, &pool, &random, &level->latency, n);
		found += varies(&histogram, limit, i);
		histogram_clear(&histogram, &pool);
	}
	pool_release(&pool);
	return (double)found / trials;
}

/* Where the CoV is precisely the limit, at most 5 % are above it for sure. */
static void the_bound_keeps_its_level(void **state)
{
	static const struct level levels[] = {
			{{.name = "lognormal", .family = LOGNORMAL, .shape = 0.246221}, 0.25},
			{{.name = "lognormal, wide", .family = LOGNORMAL, .shape = 1}, 1.310832},
			{{.name = "exponential", .family = GAMMA, .shape = 1}, 1},
			{{.name = "shifted exponential",
					 .family = SHIFTED_EXPONENTIAL,
					 .shape = 1.0 / 3},
					0.25},
			{{.name = "pareto", .family = PARETO, .shape = 5.123106}, 0.25},
			{{.name = "gamma", .family = GAMMA, .shape = 16}, 0.25},
			{{.name = "weibull", .family = WEIBULL, .shape = 0.7}, 1.462},
			{{"3 % at 10 times", MIXTURE, 0, {0.1, {0.97, 0.03, 0}, {10, 100, 0}}},
					1.21908},
	};
	static const uint32_t sizes[] = {50, 200, 1000};

	(void)state;
	for (uint32_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		for (uint32_t k = 0; k < 3; k++) {
			double rate = rate_of_varies(&levels[i], sizes[k], 1000, levels[i].cov);

			print_message("%-24s n %6u: %.1f %%\n", levels[i].latency.name, sizes[k],
					100 * rate);
			assert_true(rate <= 0.05);
		}
	}
}

/* What clearly varies is found; the bound is a function of the histogram and the seed. */
static void what_varies_is_found(void **state)
{
	static const struct level levels[] = {
			{{.name = "lognormal 0.4", .family = LOGNORMAL, .shape = 0.385253}, 0.4},
			{{.name = "exponential", .family = GAMMA, .shape = 1}, 1},
			{{"3 % at 10 times", MIXTURE, 0, {0.1, {0.97, 0.03, 0}, {10, 100, 0}}},
					1.21908},
	};
	struct bootstrap_random random = {7};
	struct histogram histogram = {0};
	struct cov_estimate estimate;
	struct pool pool;
	double low, limit;
	uint64_t work;

	(void)state;
	for (uint32_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		double rate = rate_of_varies(&levels[i], 500, 300, 0.25);

		print_message("%-24s n    500: %.1f %%\n", levels[i].latency.name, 100 * rate);
		assert_true(rate >= 0.99);
	}
	pool_init(&pool);
	assert_true(cov_estimate(&histogram).cov == 0 && cov_low(&histogram, 0, 1, &work) == 0);
	fill(&histogram, &pool, &random, &levels[0].latency, 20000);
	estimate = cov_estimate(&histogram);
	/* Two errors below the estimate is where the bootstrap has to say. */
	limit = estimate.cov - 2 * estimate.error;
	low = cov_low(&histogram, limit, 1, &work);
	assert_true(low == cov_low(&histogram, limit, 1, &work));
	assert_true(low != cov_low(&histogram, limit, 2, &work));
	/* Of many samples, the bootstrap says what the normal approximation does. */
	assert_true(fabs(low - estimate.low) < 0.3 * estimate.error);
	assert_true(estimate.low < 0.4 && estimate.low > 0.38);
	histogram_clear(&histogram, &pool);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(histogram_add(&histogram, &pool, 1500));
	}
	assert_true(cov_estimate(&histogram).cov == 0 && cov_low(&histogram, 0, 1, &work) == 0);
	pool_release(&pool);
}

/* ---- shifts ---- */

static struct shift draw_shift(struct bootstrap_random *random, const struct latency *before,
		uint32_t n_before, const struct latency *now, uint32_t n_now)
{
	uint64_t was[MODES_MAX_BINS] = {0}, is[MODES_MAX_BINS] = {0};
	struct shift_histogram a = {.low = 100, .n = MODES_MAX_BINS - 100, .counts = was + 100};
	struct shift_histogram b = {.low = 0, .n = MODES_MAX_BINS, .counts = is};

	for (uint32_t i = 0; i < n_before; i++) {
		was[histogram_bin(latency_draw(random, before)) >> HISTOGRAM_SHIFT_PER_16TH]++;
	}
	for (uint32_t i = 0; i < n_now; i++) {
		is[histogram_bin(latency_draw(random, now)) >> HISTOGRAM_SHIFT_PER_16TH]++;
	}
	return shift_between(&a, &b);
}

/* Unchanged latencies are told changed in at most 0.1 % of 4,000 looks. */
static void nothing_has_shifted(void **state)
{
	static const struct latency latencies[] = {
			{.name = "lognormal 0.05", .family = LOGNORMAL, .shape = 0.05},
			{.name = "lognormal 1", .family = LOGNORMAL, .shape = 1},
			{.name = "pareto 1.1", .family = PARETO, .shape = 1.1},
			{.name = "exponential", .family = GAMMA, .shape = 1},
	};
	static const uint32_t sizes[][2] = {{50, 50}, {1000, 50}, {200, 1000}, {1000, 1000}};
	struct bootstrap_random random = {8};

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t told = 0;

		for (uint32_t i = 0; i < 4000; i++) {
			const struct latency *latency = &latencies[i % 4];

			told += draw_shift(&random, latency, sizes[k][0], latency, sizes[k][1])
						.told;
		}
		print_message("n %u before, %u now: %u of 4000\n", sizes[k][0], sizes[k][1], told);
		assert_true(told <= 4);
	}
}

static void shifts_are_found(void **state)
{
	static const struct {
		struct latency before, now;
		double slower, faster; /* on which side of 0.5 */
		bool told;
	} cases[] = {
			/* A constant slowdown by half, and back. */
			{{"", MIXTURE, 0, {0.1, {1, 0, 0}, {10, 0, 0}}},
					{"", MIXTURE, 0, {0.1, {1, 0, 0}, {15, 0, 0}}}, 1, 0, true},
			{{"", MIXTURE, 0, {0.1, {1, 0, 0}, {15, 0, 0}}},
					{"", MIXTURE, 0, {0.1, {1, 0, 0}, {10, 0, 0}}}, 0, 1, true},
			/* A third goes a slow way; the rest does not. */
			{{"", MIXTURE, 0, {0.2, {1, 0, 0}, {10, 0, 0}}},
					{"", MIXTURE, 0, {0.2, {0.7, 0.3, 0}, {10, 40, 0}}}, 0, 0,
					true},
			/* Half a per cent slower, across the border of a step. */
			{{"", MIXTURE, 0, {0.0001, {1, 0, 0}, {10.044, 0, 0}}},
					{"", MIXTURE, 0, {0.0001, {1, 0, 0}, {10.1, 0, 0}}}, 0, 0,
					false},
			/* Wider, both ways. */
			{{"", MIXTURE, 0, {0.1, {1, 0, 0}, {10, 0, 0}}},
					{"", MIXTURE, 0, {0.6, {1, 0, 0}, {10, 0, 0}}}, 0, 0, true},
	};
	struct bootstrap_random random = {9};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t told = 0;

		for (uint32_t k = 0; k < 200; k++) {
			struct shift shift = draw_shift(
					&random, &cases[i].before, 500, &cases[i].now, 200);

			told += shift.told;
			assert_true((shift.slower > 0.5) == (cases[i].slower > 0.5));
			assert_true((shift.faster > 0.5) == (cases[i].faster > 0.5));
		}
		print_message("case %u: %u of 200\n", i, told);
		assert_true(cases[i].told ? told >= 195 : told == 0);
	}
}

static void medians_are_between_borders(void **state)
{
	uint64_t counts[] = {0, 10, 0, 30, 0};
	struct shift_histogram histogram = {.low = 320, .n = 5, .counts = counts}, none = {0};
	struct shift shift = shift_between(&none, &histogram);

	(void)state;
	/* The 20th of 40 is a third into [2^(323/16), 2^(324/16)). */
	assert_true(fabs(shift_median_ns(&histogram) - exp2((323 + 1.0 / 3) / 16)) < 1);
	assert_true(shift_median_ns(&none) == 0);
	assert_true(!shift.told && shift.slower == 0 && shift.faster == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(one_mode_stays_one),
			cmocka_unit_test(modes_are_found),
			cmocka_unit_test(modes_are_where_they_are),
			cmocka_unit_test(the_bound_keeps_its_level),
			cmocka_unit_test(what_varies_is_found),
			cmocka_unit_test(nothing_has_shifted),
			cmocka_unit_test(shifts_are_found),
			cmocka_unit_test(medians_are_between_borders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
