/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/cov.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/bootstrap.h"

#define FEW          8u  /* a bin with at most so many is drawn on its own */
#define POISSON_MAX  32u /* a draw of mean FEW is that much once in 10^10 */
#define DRAW_BITS    16u /* of a random number, for a draw: probabilities are so exact */
#define COLUMN_PARTS ((1u << DRAW_BITS) / POISSON_MAX)
#define Z_95         1.6448536269514722
/* With three, the level is 7 % where few outliers happen to be so many that one more or less does
 * not change the CoV, which the standard error takes for certainty. */
#define SURELY 5.0 /* standard errors */
#define HARDLY 1.0

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

/* The bins in use. */
struct counted {
	uint32_t n;
	double total, mean;
	double x[HISTOGRAM_BINS]; /* distance of the bin's middle from the mean, in means */
	double counts[HISTOGRAM_BINS];
};

/* False if there is no mean to speak of. */
static bool counted_fill(struct counted *counted, const struct histogram *histogram)
{
	uint32_t from = histogram->first_page * HISTOGRAM_PAGE_BINS;
	uint32_t to = from + histogram->pages * HISTOGRAM_PAGE_BINS;
	double sum = 0;

	counted->n = 0;
	counted->total = (double)histogram->count;
	for (uint32_t bin = from; bin < to; bin++) {
		uint64_t count = histogram_at(histogram, bin);

		if (count) {
			counted->counts[counted->n] = (double)count;
			counted->x[counted->n] = (double)histogram_bin_middle(bin);
			sum += (double)count * counted->x[counted->n++];
		}
	}
	if (histogram->count < 2) {
		return false;
	}
	counted->mean = sum / counted->total; /* above 0: the lowest bin stands for 1 ns */
	for (uint32_t i = 0; i < counted->n; i++) {
		counted->x[i] = counted->x[i] / counted->mean - 1;
	}
	return true;
}

static struct cov_estimate estimate(const struct counted *counted)
{
	struct cov_estimate out = {.cov = 0};
	struct powers powers = {{0}};
	double n = counted->total, variance, influence, c;

	for (uint32_t i = 0; i < counted->n; i++) {
		powers_add(&powers, counted->x[i], counted->counts[i]);
	}
	out.cov = cov_of(n, powers.sums[1], powers.sums[2]);
	variance = powers.sums[2] / n;
	if (!(variance > 0)) {
		return out;
	}
	/* The influence of a sample at z standard deviations is c ((z^2 - 1) / 2 - c z). */
	c = sqrt(variance);
	influence = (powers.sums[4] / n / (variance * variance) - 1) / 4 -
		    powers.sums[3] / n / variance + variance;
	out.error = c * sqrt(fmax(0, influence) / n);
	out.low = fmax(0, out.cov - Z_95 * out.error);
	return out;
}

struct cov_estimate cov_estimate(const struct histogram *histogram)
{
	struct counted counted;

	return counted_fill(&counted, histogram) ? estimate(&counted)
						 : (struct cov_estimate){.cov = 0};
}

/*
 * Poisson draws for means up to FEW in constant time: a column, and what stands in it above its
 * threshold. (Walker 1977; the tables by Vose, "A linear algorithm for generating random numbers
 * with a given distribution", IEEE Trans. Software Engineering 1991.)
 */
struct column {
	uint16_t threshold; /* of the bits that do not choose the column */
	uint16_t above;
};

static void poisson_table(uint32_t mean, struct column columns[POISSON_MAX])
{
	double share[POISSON_MAX], p = exp(-(double)mean);
	uint8_t small[POISSON_MAX], large[POISSON_MAX];
	uint32_t n_small = 0, n_large = 0;

	for (uint32_t i = 0; i < POISSON_MAX; i++) {
		share[i] = p * POISSON_MAX;
		p *= (double)mean / (i + 1);
		columns[i].above = (uint16_t)i;
		if (share[i] < 1) {
			small[n_small++] = (uint8_t)i;
		} else {
			large[n_large++] = (uint8_t)i;
		}
	}
	while (n_small && n_large) {
		uint8_t less = small[--n_small], more = large[n_large - 1];

		columns[less].above = more;
		share[more] -= 1 - share[less];
		if (share[more] < 1) {
			n_large--;
			small[n_small++] = more;
		}
	}
	for (uint32_t i = 0; i < POISSON_MAX; i++) {
		/* What is left over is 1, but for rounding: a column of its own. */
		columns[i].threshold = (uint16_t)lrint(fmin(share[i], 1) * COLUMN_PARTS);
	}
}

/* Of the lowest DRAW_BITS. */
static int32_t poisson_draw(const struct column columns[POISSON_MAX], uint64_t random)
{
	uint32_t bits = random & ((1u << DRAW_BITS) - 1), column = bits % POISSON_MAX;

	return bits / POISSON_MAX < columns[column].threshold ? (int32_t)column
							      : columns[column].above;
}

/* What is resampled: bins one by one, or their sums together. */
struct resample {
	uint32_t n;
	double x[HISTOGRAM_BINS];
	uint8_t mean[HISTOGRAM_BINS];
	struct powers many; /* of bins with more than FEW */
	double root[3][3];  /* lower triangle: covariance of many's first three sums */
	struct column poisson[FEW + 1][POISSON_MAX]; /* by mean */
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

static void resample_init(struct resample *resample, const struct counted *counted)
{
	resample->n = 0;
	memset(&resample->many, 0, sizeof(resample->many));
	for (uint32_t i = 0; i < counted->n; i++) {
		if (counted->counts[i] > FEW) {
			powers_add(&resample->many, counted->x[i], counted->counts[i]);
		} else {
			resample->x[resample->n] = counted->x[i];
			resample->mean[resample->n++] = (uint8_t)counted->counts[i];
		}
	}
	resample_root(resample);
	for (uint32_t few = 1; few <= FEW; few++) {
		poisson_table(few, resample->poisson[few]);
	}
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
		double x = resample->x[i], n;

		bits = i % (64 / DRAW_BITS) ? bits >> DRAW_BITS : bootstrap_next(random);
		n = poisson_draw(resample->poisson[resample->mean[i]], bits);
		sums[0] += n;
		sums[1] += n * x;
		sums[2] += n * x * x;
	}
	return cov_of(sums[0], sums[1], sums[2]);
}

static double bootstrap_low(const struct counted *counted, uint64_t seed)
{
	struct bootstrap_random random = {seed};
	struct resample resample;
	double covs[COV_RESAMPLES];

	resample_init(&resample, counted);
	for (uint32_t i = 0; i < COV_RESAMPLES; i++) {
		covs[i] = resample_cov(&resample, &random);
	}
	return bootstrap_quantile(covs, COV_RESAMPLES, 0.05);
}

double cov_low(const struct histogram *histogram, double limit, uint64_t seed, uint64_t *work)
{
	struct cov_estimate about = {.cov = 0};
	struct counted counted;

	*work = (uint64_t)histogram->pages * HISTOGRAM_PAGE_BINS;
	if (counted_fill(&counted, histogram)) {
		about = estimate(&counted);
	}
	if (!(about.cov - HARDLY * about.error > limit) ||
			about.cov - SURELY * about.error > limit) {
		return about.low;
	}
	*work += (uint64_t)COV_RESAMPLES * counted.n;
	return bootstrap_low(&counted, seed);
}
