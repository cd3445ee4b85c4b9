/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "change/difference.h"

#define OWN_VARIANCE   30.0 /* requests from which a context's own variance is used */
#define LEAST          2.0  /* degrees of freedom of a difference of times */
#define LEAST_ALIKE    10.0 /* the same, where all were the same */
#define CLOCK_VARIANCE 1.0  /* ns^2 */
#define INFLATION_MORE 2.0  /* of the later side, times that of the earlier */

/* What one side says of a pair: mean and variance of a span, from so many requests. */
struct side {
	double n, mean, variance, spans, inflation;
};

/*
 * A change in the midst of the later side makes its requests resemble those that follow as well:
 * that is what is looked for, and no ordinary variation. So it counts up to twice what it was.
 */
double inflation_of_side(const struct matched_type *type, uint32_t side)
{
	double inflation = type->sides[side] ? type->sides[side]->inflation : 1;
	double before = type->sides[0] ? type->sides[0]->inflation : inflation;

	before = before > 1 ? before : 1;
	if (side == 1 && inflation > INFLATION_MORE * before) {
		inflation = INFLATION_MORE * before;
	}
	return inflation > 1 ? inflation : 1;
}

static struct side side_of(const struct matched *matched, const struct pair *pair, uint32_t i,
		enum measure measure)
{
	const struct baseline_node *node = pair->sides[i];
	const struct baseline_type *type = matched->types[pair->type].sides[i];
	struct side side = {.n = 0};
	double each, sd;

	if (!node || !type || !node->requests) {
		return side;
	}
	side.n = (double)node->requests;
	side.spans = node->spans ? (double)node->spans : side.n;
	each = side.spans / side.n;
	if (measure == ON_PATH && type->requests) { /* of complete requests alone */
		double part = (double)type->complete / (double)type->requests;

		side.spans *= part;
		side.n *= part;
		if (side.n < 1) {
			return (struct side){.n = 0};
		}
	}
	side.mean = (measure == OWN_TIME ? node->self_ns : node->segment_ns) / each;
	sd = (measure == OWN_TIME ? node->self_sd_ns : node->segment_sd_ns) / each;
	side.variance = sd * sd;
	side.inflation = inflation_of_side(&matched->types[pair->type], i);
	return side;
}

/* Spans of all requests, where a part was measured, in a second of the later side. */
static double spans_per_s(const struct matched *matched, const struct pair *pair,
		const struct side *after, enum measure measure)
{
	const struct baseline_type *type = matched->types[pair->type].sides[1];
	double scale = type && type->requests ? (double)type->all / (double)type->requests : 1;

	if (measure == ON_PATH && type && type->complete) {
		scale = (double)type->all / (double)type->complete;
	}

	return after->spans * scale / matched_seconds(matched, pair->type, 1);
}

/* Sums over the pairs of a place, each weighted by what its two sides tell together. */
struct strata {
	double weight, value, mean[2], spread[2], n[2], freedom[2], common[2];
	double added, added_variance, rate;
};

static void add_stratum(struct strata *strata, const struct side sides[2], double rate)
{
	double weight = sides[0].n * sides[1].n / (sides[0].n + sides[1].n), variance = 0;

	strata->weight += weight;
	strata->value += weight * (sides[1].mean - sides[0].mean);
	for (uint32_t i = 0; i < 2; i++) {
		double of_one = sides[i].n >= OWN_VARIANCE ? sides[i].variance : strata->common[i];
		double of_mean = of_one * sides[i].inflation / sides[i].n;

		strata->mean[i] += weight * sides[i].mean;
		strata->spread[i] += weight * weight * of_mean;
		strata->n[i] += sides[i].n;
		/* Those that follow from each other say as much as fewer independent ones. */
		strata->freedom[i] += sides[i].n / sides[i].inflation - 1;
		variance += of_mean;
	}
	strata->added += rate * (sides[1].mean - sides[0].mean);
	strata->added_variance += rate * rate * variance;
}

/* Variances of all strata together, of either side. */
static void add_common(double sums[2], double freedom[2], const struct side sides[2])
{
	for (uint32_t i = 0; i < 2; i++) {
		if (sides[i].n >= 2) { /* of fewer there is none */
			sums[i] += (sides[i].n - 1) * sides[i].variance;
			freedom[i] += sides[i].n - 1;
		}
	}
}

static bool conclude(const struct strata *strata, struct difference *out)
{
	double variance[2];

	if (strata->weight <= 0 || strata->freedom[0] < LEAST || strata->freedom[1] < LEAST) {
		return false;
	}
	*out = (struct difference){.value = strata->value / strata->weight,
			.before = strata->mean[0] / strata->weight,
			.after = strata->mean[1] / strata->weight,
			.added = strata->added,
			.added_variance = strata->added_variance,
			.n = {(uint64_t)strata->n[0], (uint64_t)strata->n[1]}};
	for (uint32_t i = 0; i < 2; i++) {
		variance[i] = strata->spread[i] / (strata->weight * strata->weight);
	}
	out->variance = variance[0] + variance[1];
	if (out->variance <= 0) { /* always the same: as exact as a clock */
		if (strata->freedom[0] < LEAST_ALIKE || strata->freedom[1] < LEAST_ALIKE) {
			return false;
		}
		out->variance = CLOCK_VARIANCE;
		out->freedom = strata->freedom[0] < strata->freedom[1] ? strata->freedom[0]
								       : strata->freedom[1];
		return true;
	}
	/* Welch 1947; Satterthwaite 1946. */
	out->freedom = out->variance * out->variance /
		       (variance[0] * variance[0] / strata->freedom[0] +
				       variance[1] * variance[1] / strata->freedom[1]);
	return true;
}

/* Where a child runs in another service, the own time of a span is also the wait for it. */
static enum measure measure_of(const struct pair *pair, enum measure measure)
{
	if (pair->lag) {
		return OWN_TIME; /* it has no other */
	}
	return pair->part || pair->calls || pair->caller ? ON_PATH : measure;
}

static bool compare(const struct matched *matched, uint32_t first, bool all, enum measure measure,
		struct difference *out)
{
	struct strata strata = {.weight = 0};
	double sums[2] = {0, 0}, freedom[2] = {0, 0};

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t at = first; at != NO_PAIR; at = all ? matched->next[at] : NO_PAIR) {
			const struct pair *pair = &matched->pairs[at];
			enum measure of = measure_of(pair, measure);
			struct side sides[2] = {side_of(matched, pair, 0, of),
					side_of(matched, pair, 1, of)};

			if (sides[0].n <= 0 || sides[1].n <= 0) {
				continue;
			}
			if (pass == 0) {
				add_common(sums, freedom, sides);
			} else {
				add_stratum(&strata, sides,
						spans_per_s(matched, pair, &sides[1], of));
			}
		}
		for (uint32_t i = 0; i < 2; i++) {
			strata.common[i] = freedom[i] > 0 ? sums[i] / freedom[i] : 0;
		}
	}
	return conclude(&strata, out);
}

bool difference_of_pair(const struct matched *matched, uint32_t pair, enum measure measure,
		struct difference *out)
{
	return compare(matched, pair, false, measure, out);
}

bool difference_of_place(const struct matched *matched, uint32_t place, enum measure measure,
		struct difference *out)
{
	return compare(matched, matched->places[place].first, true, measure, out);
}

/*
 * Calls of a span either happen or not, or several times: the variance of a count is at least that
 * of the first, and for several at most that of events that come by themselves (Poisson). Half a
 * call is added to either side (Agresti & Coull 1998), or nothing could follow from "never".
 * Contexts are strata, as above.
 */
bool difference_of_calls(const struct matched *matched, const uint32_t *first, size_t stride,
		uint32_t n, struct difference *out)
{
	double spans[2] = {0, 0}, counts[2] = {0, 0}, weights = 0, share[2];

	*out = (struct difference){.freedom = 1e6};
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < n; k++) {
			uint32_t at = *(const uint32_t *)((const char *)first + k * stride);
			const struct pair *pair = &matched->pairs[at];
			const struct pair *above = &matched->pairs[pair->parent];
			double of[2], rate[2], variance = 0, weight, per_s;
			struct side side;

			for (uint32_t i = 0; i < 2; i++) {
				of[i] = (double)above->sides[i]->spans;
				rate[i] = pair->sides[i] && of[i] > 0
							  ? (double)pair->sides[i]->spans / of[i]
							  : 0;
			}
			/* A file may say anything. */
			if (of[0] < 1 || of[1] < 1 || !above->sides[0]->requests ||
					!above->sides[1]->requests) {
				continue;
			}
			if (pass == 0) {
				for (uint32_t i = 0; i < 2; i++) {
					spans[i] += of[i];
					counts[i] += of[i] * rate[i];
				}
				continue;
			}
			weight = of[0] * of[1] / (of[0] + of[1]);
			side = side_of(matched, above, 1, OWN_TIME);
			per_s = spans_per_s(matched, above, &side, OWN_TIME);
			for (uint32_t i = 0; i < 2; i++) {
				double each = of[i] / (double)above->sides[i]->requests;

				variance += (share[i] < 1 ? share[i] * (1 - share[i]) : share[i]) *
					    each / of[i];
				out->n[i] += above->sides[i]->requests;
			}
			weights += weight;
			out->value += weight * (rate[1] - rate[0]);
			out->before += weight * rate[0];
			out->after += weight * rate[1];
			out->variance += weight * weight * variance;
			out->added += (rate[1] - rate[0]) * per_s * pair->below;
			out->added_variance += variance * per_s * per_s * pair->below * pair->below;
		}
		if (spans[0] < 2 || spans[1] < 2) {
			return false;
		}
		for (uint32_t i = 0; i < 2; i++) {
			share[i] = (counts[i] + 0.5) / (spans[i] + 1);
		}
	}
	out->value /= weights;
	out->before /= weights;
	out->after /= weights;
	out->variance /= weights * weights;
	return true;
}

double difference_z(const struct difference *difference)
{
	double p = difference_p(difference) / 2;

	return gsl_cdf_ugaussian_Qinv(p > 1e-300 ? p : 1e-300);
}

double difference_p(const struct difference *difference)
{
	double t = fabs(difference->value) / sqrt(difference->variance);

	return 2 * gsl_cdf_tdist_Q(t, difference->freedom);
}

double difference_half(double variance, double freedom)
{
	return variance > 0 ? gsl_cdf_tdist_Pinv(0.975, freedom) * sqrt(variance) : 0;
}
