/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "change/since.h"

/*
 * Since when something is otherwise: the change point of a series of buckets, by likelihood
 * (Hinkley 1970), of counts as those of a Poisson process, of means as normal ones, either with as
 * much variance as the buckets have around their level (quasi-likelihood, McCullagh & Nelder 1989).
 * The interval has 95 % of the likelihood over all buckets (Smith 1975, with equal priors).
 */
#define LEAST_BUCKETS 8u
#define SINCE_LEVEL   0.01 /* that chance makes a change point anywhere */
#define HELD          0.95
#define SEPARATES     0.5 /* of the whole difference: already so */

void series_add(struct series *series, uint32_t bucket, double sum, double exposure)
{
	if (exposure > 0 && series->n < SERIES_MOST) {
		series->bucket[series->n] = bucket;
		series->sum[series->n] = sum;
		series->exposure[series->n++] = exposure;
	}
}

/* Twice the log-likelihood that a level for the buckets from `from` to `to` loses, but for what is
 * the same for all levels. */
static double deviance_of(const struct series *series, double sum, double exposure)
{
	if (!series->counts) {
		return -sum * sum / exposure;
	}
	return sum > 0 ? -2 * sum * log(sum / exposure) : 0;
}

struct fit {
	double deviance[SERIES_MOST]; /* with the change before that bucket; 0: no change */
	double level[2];
	double dispersion, p;
	uint32_t best;
};

static double dispersion_of(const struct series *series, const struct fit *fit)
{
	double sum = 0;

	for (uint32_t i = 0; i < series->n; i++) {
		double level = fit->level[i >= fit->best];
		double expected = level * series->exposure[i];
		double off = series->sum[i] - expected;

		if (!series->counts) {
			sum += off * off / series->exposure[i];
		} else if (expected > 0) {
			sum += off * off / expected;
		}
	}
	sum /= series->n - 2;
	/* Counts do not vary less than by chance, however few of them say so. */
	return series->counts && sum < 1 ? 1 : sum;
}

static void fit_change(const struct series *series, struct fit *fit)
{
	double sums = 0, exposures = 0, sum = 0, exposure = 0;

	for (uint32_t i = 0; i < series->n; i++) {
		sums += series->sum[i];
		exposures += series->exposure[i];
	}
	fit->deviance[0] = deviance_of(series, sums, exposures);
	fit->best = 0;
	for (uint32_t i = 1; i < series->n; i++) {
		sum += series->sum[i - 1];
		exposure += series->exposure[i - 1];
		fit->deviance[i] = deviance_of(series, sum, exposure) +
				   deviance_of(series, sums - sum, exposures - exposure);
		if (!fit->best || fit->deviance[i] < fit->deviance[fit->best]) {
			fit->best = i;
			fit->level[0] = sum / exposure;
			fit->level[1] = (sums - sum) / (exposures - exposure);
		}
	}
	fit->dispersion = dispersion_of(series, fit);
	if (fit->dispersion > 0) {
		double drop = (fit->deviance[0] - fit->deviance[fit->best]) / fit->dispersion;

		fit->p = gsl_cdf_fdist_Q(drop > 0 ? drop : 0, 1, series->n - 2) * series->n;
	} else {
		fit->p = fit->deviance[fit->best] < fit->deviance[0] ? 0 : 1;
	}
}

/* The buckets before which the change may be. */
static void interval_of(
		const struct series *series, const struct fit *fit, uint32_t *low, uint32_t *high)
{
	double weights[SERIES_MOST], all = 0, held = 0;
	double scale = fit->dispersion > 0 ? fit->dispersion : 1e-9;

	for (uint32_t i = 1; i < series->n; i++) {
		weights[i] = exp((fit->deviance[fit->best] - fit->deviance[i]) / 2 / scale);
		all += weights[i];
	}
	*low = *high = fit->best;
	while (held < HELD * all) { /* the likeliest first */
		uint32_t next = 0;

		for (uint32_t i = 1; i < series->n; i++) {
			if (weights[i] >= 0 && (!next || weights[i] > weights[next])) {
				next = i;
			}
		}
		if (!next) {
			return;
		}
		*low = next < *low ? next : *low;
		*high = next > *high ? next : *high;
		held += weights[next];
		weights[next] = -1;
	}
}

/* Was it so when the time that is looked at began? By the first half of the buckets. */
static bool was_so(const struct series *series)
{
	double sum[2] = {0, 0}, exposure[2] = {0, 0}, level;

	for (uint32_t i = 0; i < series->n; i++) {
		sum[i >= series->n / 2] += series->sum[i];
		exposure[i >= series->n / 2] += series->exposure[i];
	}
	level = (sum[0] + sum[1]) / (exposure[0] + exposure[1]);
	return (sum[0] / exposure[0] - series->before) / (level - series->before) >= SEPARATES;
}

bool since_find(const struct series *series, struct since *out)
{
	uint32_t low, high;
	struct fit fit;

	*out = (struct since){.begin = false};
	if (series->n < LEAST_BUCKETS) {
		return false;
	}
	fit_change(series, &fit);
	if (fit.p >= SINCE_LEVEL ||
			fabs(fit.level[1] - series->before) <=
					fabs(fit.level[0] - series->before) ||
			(fit.level[1] > series->before) != series->more) {
		out->begin = was_so(series);
		return out->begin;
	}
	interval_of(series, &fit, &low, &high);
	/* A bucket that it is in counts to where it has more of. */
	out->at = series->bucket[fit.best];
	out->low = series->bucket[low - 1] + 0.5;
	out->high = series->bucket[high] + 0.5;
	out->low = out->low > out->at ? out->at : out->low;
	return true;
}

/* --- series --------------------------------------------------------------------------------- */

/* Of a bucket, how much time the baseline speaks of. */
static double seconds_of(const struct baseline *after, uint32_t bucket)
{
	double begin = (double)(after->bucket_0_ns + bucket * after->bucket_ns);
	double end = begin + (double)after->bucket_ns;
	double from = (double)(after->time_ns - after->length_ns), to = (double)after->time_ns;

	begin = begin < from ? from : begin;
	end = end > to ? to : end;
	return end > begin ? (end - begin) / 1e9 : 0;
}

static void list_rates(struct series *series, const struct baseline *after,
		const struct baseline_type *type)
{
	series->counts = true;
	/* A type that is no longer there has none. */
	for (uint32_t i = 0; (!type || type->counts) && i < after->n_buckets; i++) {
		double seconds = seconds_of(after, i);

		/* A sliver of a bucket tells nothing but its edge. */
		if (seconds * 2e9 >= (double)after->bucket_ns) {
			series_add(series, i, type ? type->counts[i] : 0, seconds);
		}
	}
}

static void list_calls(const struct work *work, struct series *series, const struct baseline *after,
		const struct found *found)
{
	const struct pair *pair = &work->matched.pairs[found->called];
	const struct baseline_node *called = pair->sides[1];
	const struct baseline_node *above = work->matched.pairs[pair->parent].sides[1];

	series->counts = true;
	for (uint32_t i = 0; above && above->buckets && i < after->n_buckets; i++) {
		/* What is not called any more is not there after. */
		double spans = called && called->buckets ? called->buckets[i].spans : 0;

		series_add(series, i, spans, above->buckets[i].spans);
	}
}

/* Time of each pair beyond what it took before, so that which of them come more often is nothing.
 */
static void list_times(const struct work *work, struct series *series, const struct baseline *after,
		const struct found *found)
{
	const struct matched *matched = &work->matched;
	uint32_t first = found->pair != NO_PAIR ? found->pair : matched->places[found->place].first;
	bool all = found->pair == NO_PAIR;

	for (uint32_t i = 0; i < after->n_buckets; i++) {
		double sum = 0, exposure = 0;

		for (uint32_t at = first; at != NO_PAIR; at = all ? matched->next[at] : NO_PAIR) {
			const struct pair *pair = &matched->pairs[at];
			const struct baseline_node *node = pair->sides[1];
			bool path = (pair->part || pair->calls || pair->caller) && !pair->lag;
			double spans, each;

			if (!pair->sides[0] || !node || !node->buckets ||
					!pair->sides[0]->requests) {
				continue;
			}
			each = path ? pair->sides[0]->segment_ns : pair->sides[0]->self_ns;
			if (pair->sides[0]->spans) {
				each *= (double)pair->sides[0]->requests /
					(double)pair->sides[0]->spans;
			}
			spans = node->spans ? node->buckets[i].spans : node->buckets[i].requests;
			sum += (double)(path ? node->buckets[i].segment_ns
					     : node->buckets[i].self_ns) -
			       spans * each;
			exposure += spans;
		}
		series_add(series, i, sum, exposure);
	}
}

static void put_since(
		struct change_row *row, const struct baseline *after, const struct since *since)
{
	double width = (double)after->bucket_ns;

	if (since->begin) {
		row->since_begin = true;
		return;
	}
	row->since_ns = after->bucket_0_ns + since->at * after->bucket_ns;
	row->since_low_ns = after->bucket_0_ns + (uint64_t)(since->low * width);
	row->since_high_ns = after->bucket_0_ns + (uint64_t)(since->high * width);
}

void since_tell(struct work *work, const struct baseline *after, struct found *found)
{
	struct series series = {.before = 0, .more = true};
	struct change_row *row = &found->row;
	struct since since;

	if (!after->n_buckets || !row->sure) {
		return;
	}
	switch (row->kind) {
	case CHANGE_RATE:
		series.before = row->before;
		series.more = row->after > row->before;
		list_rates(&series, after, work->matched.types[found->type].sides[1]);
		break;
	case CHANGE_MORE:
	case CHANGE_FEWER:
		series.before = row->before;
		series.more = row->kind == CHANGE_MORE;
		list_calls(work, &series, after, found);
		break;
	case CHANGE_SPLIT:
	case CHANGE_MERGE:
		split_list(work, after, found, &series);
		break;
	default:
		if (found->place == UINT32_MAX || row->name[0] == '\0') {
			return;
		}
		series.more = row->kind != CHANGE_FASTER;
		list_times(work, &series, after, found);
		break;
	}
	if (since_find(&series, &since)) {
		put_since(row, after, &since);
	}
}
