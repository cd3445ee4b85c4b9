/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/cov.h"

#include <math.h>
#include <string.h>

#include "stats/bootstrap.h"

#define FEW         8u  /* a bin with at most so many is drawn on its own */
#define POISSON_MAX 40u /* a draw of mean FEW is above that once in 10^15 */
#define Z_95        1.6448536269514722

/* Sums over samples of their distance x from the mean, in means: of 1, x, x^2, x^3, x^4. */
struct powers {
	double sums[5];
};

static void powers_add(struct powers *powers, double x, double n)
{
	for (uint32_t i = 0; i < 5; i++) {
		powers->sums[i] += n;
		n *= x;
	}
}

/* sd / mean, where x counts from 1 mean. 0 if that means nothing. */
static double cov_of(double n, double x, double xx)
{
	double mean = n + x; /* times n */
	double squares = n * xx - x * x;

	return n > 1 && mean > 0 && squares > 0 ? sqrt(squares * n / (n - 1)) / mean : 0;
}

static double histogram_mean(const struct histogram *histogram, uint32_t *steps)
{
	uint32_t from = histogram->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t to = from + histogram->pages * HISTOGRAM_PAGE_BINS;
	double sum = 0;

	*steps = 0;
	for (uint32_t bin = from; bin < to; bin++) {
		uint64_t n = histogram_at(histogram, bin);

		if (n) {
			sum += (double)n * (double)histogram_bin_middle(bin);
			++*steps;
		}
	}
	return histogram->count ? sum / (double)histogram->count : 0;
}

struct cov_estimate cov_estimate(const struct histogram *histogram)
{
	uint32_t from = histogram->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t to = from + histogram->pages * HISTOGRAM_PAGE_BINS;
	struct cov_estimate out = {.cov = 0};
	double mean = histogram_mean(histogram, &out.steps);
	double n = (double)histogram->count, variance, influence, c;
	struct powers powers = {{0}};

	if (!(mean > 0) || histogram->count < 2) {
		return out;
	}
	for (uint32_t bin = from; bin < to; bin++) {
		uint64_t count = histogram_at(histogram, bin);

		if (count) {
			powers_add(&powers, (double)histogram_bin_middle(bin) / mean - 1,
					(double)count);
		}
	}
	out.cov = cov_of(n, powers.sums[1], powers.sums[2]);
	variance = powers.sums[2] / n;
	if (!(variance > 0)) {
		return out;
	}
	/* The influence of a sample at z standard deviations is c ((z^2 - 1) / 2 - c z). */
	c = sqrt(variance);
	influence = (powers.sums[4] / n / (variance * variance) - 1) / 4 -
		    c * powers.sums[3] / n / (variance * c) + variance;
	out.error = c * sqrt(fmax(0, influence) / n);
	out.low = fmax(0, out.cov - Z_95 * out.error);
	return out;
}

/* Upper ends of the probabilities of 0, 1, 2... for means up to FEW, in 2^-32. */
struct poisson {
	uint32_t high[FEW + 1][POISSON_MAX];
};

static void poisson_init(struct poisson *poisson)
{
	for (uint32_t mean = 1; mean <= FEW; mean++) {
		double p = exp(-(double)mean), sum = p;

		for (uint32_t i = 0; i < POISSON_MAX; i++) {
			poisson->high[mean][i] = (uint32_t)fmin(sum * 0x1p32, UINT32_MAX);
			p *= (double)mean / (i + 1);
			sum += p;
		}
		poisson->high[mean][POISSON_MAX - 1] = UINT32_MAX;
	}
}

static uint32_t poisson_draw(const uint32_t *high, uint32_t random)
{
	uint32_t n = 0;

	while (random > high[n]) {
		n++;
	}
	return n;
}

/* What is resampled: bins one by one, or their sums together. */
struct resample {
	uint32_t n;
	float x[HISTOGRAM_BINS];
	uint8_t mean[HISTOGRAM_BINS];
	struct powers many; /* of bins with more than FEW */
	double root[3][3];  /* lower triangle: covariance of many's first three sums */
	struct poisson poisson;
};

/* Cholesky's root of the covariance of Poisson sums: entry i,j is the sum of x^(i+j). */
static void resample_root(struct resample *resample)
{
	const double *sums = resample->many.sums;

	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t j = 0; j <= i; j++) {
			double rest = sums[i + j];

			for (uint32_t k = 0; k < j; k++) {
				rest -= resample->root[i][k] * resample->root[j][k];
			}
			if (i == j) {
				/* What is left of equal values is rounding. */
				resample->root[i][i] = rest > 1e-12 * sums[2 * i] ? sqrt(rest) : 0;
			} else {
				resample->root[i][j] = resample->root[j][j] > 0
								       ? rest / resample->root[j][j]
								       : 0;
			}
		}
	}
}

static void resample_init(struct resample *resample, const struct histogram *histogram, double mean)
{
	uint32_t from = histogram->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t to = from + histogram->pages * HISTOGRAM_PAGE_BINS;

	resample->n = 0;
	memset(&resample->many, 0, sizeof(resample->many));
	for (uint32_t bin = from; bin < to; bin++) {
		uint64_t count = histogram_at(histogram, bin);
		double x = count ? (double)histogram_bin_middle(bin) / mean - 1 : 0;

		if (count > FEW) {
			powers_add(&resample->many, x, (double)count);
		} else if (count) {
			resample->x[resample->n] = (float)x;
			resample->mean[resample->n++] = (uint8_t)count;
		}
	}
	resample_root(resample);
	poisson_init(&resample->poisson);
}

static double resample_cov(const struct resample *resample, struct bootstrap_random *random)
{
	double sums[3] = {0}, normal[3] = {0};
	uint64_t bits = 0;

	for (uint32_t i = 0; resample->many.sums[0] > 0 && i < 3; i++) {
		normal[i] = bootstrap_normal(random);
		sums[i] = resample->many.sums[i];
		for (uint32_t j = 0; j <= i; j++) {
			sums[i] += resample->root[i][j] * normal[j];
		}
	}
	for (uint32_t i = 0; i < resample->n; i++) {
		const uint32_t *high = resample->poisson.high[resample->mean[i]];
		double x = (double)resample->x[i], n;

		bits = i % 2 ? bits >> 32 : bootstrap_next(random);
		n = poisson_draw(high, (uint32_t)bits);
		sums[0] += n;
		sums[1] += n * x;
		sums[2] += n * x * x;
	}
	return cov_of(sums[0], sums[1], sums[2]);
}

double cov_bootstrap_low(const struct histogram *histogram, uint64_t seed)
{
	struct bootstrap_random random = {seed};
	double covs[COV_RESAMPLES], mean;
	struct resample resample;
	uint32_t steps;

	mean = histogram_mean(histogram, &steps);
	if (!(mean > 0) || histogram->count < 2) {
		return 0;
	}
	resample_init(&resample, histogram, mean);
	for (uint32_t i = 0; i < COV_RESAMPLES; i++) {
		covs[i] = resample_cov(&resample, &random);
	}
	return bootstrap_quantile(covs, COV_RESAMPLES, 0.05);
}
