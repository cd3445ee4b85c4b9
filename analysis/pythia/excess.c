/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "pythia/state.h"

/*
 * How much of what a group varies is beyond its norm, and beyond what the machine makes of all. A
 * busy machine holds requests up now and then, each the more often the longer it takes: that adds a
 * variance in proportion to the mean, so that short requests vary much for what they are. What it
 * adds for each ns of a request is taken from the group in the middle. (Of arrivals of rate r in a
 * time t, each of mean square m, the sum has the variance r t m: compound Poisson.)
 *
 * What is costly in this way tells a few requests that are much slower from a machine that is busy:
 * these are few in each window, so that bounds of what varies say next to nothing of them, and they
 * are in one type. The slowest request of each window is left out, as one that is odd proves
 * nothing. The shares that a type holds of all variation are added up over windows, each seen
 * twice; one without any takes half away. What is odd for a moment is in two rounds. Where a
 * machine holds up so few requests that short ones hardly ever meet it, the group in the middle
 * tells nothing of that: so what is costly must be large for what the requests take, too.
 */

static bool is_judged(const struct groups_row *row)
{
	return row->count >= JUDGED_REQUESTS && !row->lossy && row->mean_ns > 0;
}

/* Without the slowest one. */
static double variance_of_others(const struct groups_row *row)
{
	double n = (double)row->count, off = (double)row->max_ns - row->mean_ns;

	return n < 3 ? 0
		     : fmax(0, ((n - 1) * row->sd_ns * row->sd_ns - off * off * n / (n - 1)) /
						       (n - 2));
}

/* The variance beyond the norm, in ns^2; what all requests take longer counts as well. */
static double excess_variance(const struct norm *norm, const struct groups_row *row)
{
	double sd = EXCESS_GROWS * norm->cov * norm->p50_ns, slower = 0;

	if ((double)row->p50_ns > EXCESS_GROWS * norm->p50_ns) {
		slower = (double)row->p50_ns - norm->p50_ns;
	}
	return fmax(0, variance_of_others(row) + slower * slower - sd * sd);
}

/* What it adds for each ns of a request, in ns. */
static double find_machine(const struct pythia *pythia, const struct groups_view *recent)
{
	double *added = malloc(((size_t)recent->n + 1) * sizeof(*added)), middle = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; added && i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];
		const struct norm *norm = norm_of(pythia, row);

		if (norm && !norm->stands_in && is_judged(row)) {
			added[n++] = excess_variance(norm, row) / row->mean_ns;
		}
	}
	if (n >= USUAL_GROUPS) {
		sort_doubles(added, n);
		middle = added[n / 2];
	}
	free(added);
	return middle;
}

/* The standard deviation that is beyond both. */
static double excess_sd(
		const struct pythia *pythia, const struct norm *norm, const struct groups_row *row)
{
	double machine = MACHINE_TIMES * pythia->detecting.machine_ns * row->mean_ns;

	return sqrt(fmax(0, excess_variance(norm, row) - machine));
}

double excess_of(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return row->rate_per_s * (norm ? excess_sd(pythia, norm, row) : row->sd_ns);
}

/* What a group of the window has beyond both. */
struct type_excess {
	struct norm *norm; /* NULL: it is not judged */
	double sum;        /* requests times sd */
};

/* Of all groups; `all` gets the sum of what they vary. free() it. NULL if out of memory. */
static struct type_excess *find_excesses(
		const struct pythia *pythia, const struct groups_view *recent, double *all)
{
	struct type_excess *excesses = calloc((size_t)recent->n + 1, sizeof(*excesses));

	*all = 0;
	for (uint32_t i = 0; excesses && i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];
		struct norm *norm = norm_of(pythia, row);

		*all += row->count > 1 ? (double)row->count * row->sd_ns : 0;
		if (norm) {
			double sd = is_judged(row) ? excess_sd(pythia, norm, row) : 0;

			excesses[i].norm = norm;
			excesses[i].sum = sd > EXCESS_LEAST * norm->p50_ns ? (double)row->count * sd
									   : 0;
		}
	}
	return excesses;
}

static double sum_of_type(const struct type_excess *excesses, uint32_t n, uint32_t type)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += excesses[i].norm && excesses[i].norm->type == type ? excesses[i].sum : 0;
	}
	return sum;
}

static void count_share(struct norm *norm, double share)
{
	if (share >= SMALL_SHARE) {
		norm->excess += share / 2;
		norm->excess_rounds++;
	} else {
		norm->excess /= 2;
		norm->excess_rounds = norm->excess < SMALL_SHARE / 2 ? 0 : norm->excess_rounds;
	}
}

void excess_judge(struct pythia *pythia, const struct groups_view *recent)
{
	struct type_excess *excesses;
	double all;

	pythia->detecting.excess_ns =
			pythia->detecting.excess_ns ? pythia->detecting.excess_ns : pythia->now_ns;
	if (pythia->now_ns < pythia->detecting.excess_ns + EXCESS_ROUND_NS) {
		return;
	}
	pythia->detecting.excess_ns = pythia->now_ns;
	pythia->detecting.machine_ns = find_machine(pythia, recent);
	excesses = find_excesses(pythia, recent, &all);
	for (uint32_t i = 0; excesses && i < recent->n; i++) {
		struct norm *norm = excesses[i].norm;

		if (norm) {
			count_share(norm, excesses[i].sum > 0 ? sum_of_type(excesses, recent->n,
										norm->type) /
										all
							      : 0);
		}
	}
	free(excesses);
}

bool excess_is_large(const struct norm *norm)
{
	return norm->excess >= LARGE_EXCESS && norm->excess_rounds >= EXCESS_ROUNDS;
}

bool excess_may_grow_large(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && norm->excess >= SMALL_SHARE && !excess_is_large(norm);
}
