/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/bootstrap.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.283185307179586

double bootstrap_normal(struct bootstrap_random *random)
{
	/* Box & Muller 1958; the second number of the pair is not worth a state of its own. */
	double radius = sqrt(-2 * log(1 - bootstrap_uniform(random)));

	return radius * cos(TWO_PI * bootstrap_uniform(random));
}

static double mean_of(const double *series, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += series[i];
	}
	return sum / n;
}

static double autocovariance(const double *series, uint32_t n, double mean, uint32_t lag)
{
	double sum = 0;

	for (uint32_t i = lag; i < n; i++) {
		sum += (series[i] - mean) * (series[i - lag] - mean);
	}
	return sum / n;
}

/*
 * The lag behind which correlations are noise: the first with `run` of them in a row below the
 * limit; else the last one above it. (Politis & White 2004, section 3.2.)
 */
static uint32_t last_lag(const double *series, uint32_t n, double mean, double variance)
{
	double limit = 2 * sqrt(log10(n) / n) * variance;
	uint32_t run = (uint32_t)fmax(5, ceil(sqrt(log10(n))));
	uint32_t most = (uint32_t)ceil(sqrt(n)) + run;
	uint32_t last = 0;

	for (uint32_t lag = 1; lag <= most && lag < n && lag <= last + run; lag++) {
		if (fabs(autocovariance(series, n, mean, lag)) >= limit) {
			last = lag;
		}
	}
	return last;
}

/* Flat top, then straight down to 0 (Politis & Romano 1995). */
static double lag_weight(uint32_t lag, uint32_t most)
{
	double at = (double)lag / most;

	return at <= 0.5 ? 1 : 2 * (1 - at);
}

uint32_t bootstrap_block_length(const double *series, uint32_t n)
{
	double mean, variance, spectrum, slope = 0, length, longest;
	uint32_t most;

	if (n < 3) {
		return 1;
	}
	mean = mean_of(series, n);
	variance = autocovariance(series, n, mean, 0);
	most = variance > 0 ? 2 * last_lag(series, n, mean, variance) : 0;
	spectrum = variance;
	for (uint32_t lag = 1; lag <= most && lag < n; lag++) {
		double part = 2 * lag_weight(lag, most) * autocovariance(series, n, mean, lag);

		spectrum += part;
		slope += lag * part;
	}
	if (most == 0) {
		return 1;
	}
	longest = ceil(fmin(3 * sqrt(n), n / 3.0));
	/* A spectrum estimated at 0 or below calls for blocks without end. */
	length = spectrum > 0 ? cbrt(2 * slope * slope / (4.0 / 3 * spectrum * spectrum) * n)
			      : longest;
	return (uint32_t)fmax(1, fmin(ceil(length), longest));
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

double bootstrap_quantile(double *values, uint32_t n, double share)
{
	/* A rank that is whole but for rounding is taken as whole. */
	double exact = share * (n + 1.0);
	double rank = share < 0.5 ? floor(exact + 1e-9) : ceil(exact - 1e-9);

	qsort(values, n, sizeof(*values), by_value);
	return values[(uint32_t)fmax(1, fmin(rank, n)) - 1];
}
