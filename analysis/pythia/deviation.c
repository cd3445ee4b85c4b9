/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "pythia/state.h"

/*
 * Services vary by themselves: an image is large or small, a cache is hit or missed. What a profile
 * from before this run shows of a group is taken for normal, and only what goes beyond is searched.
 * What is learned in this run is no norm: whoever comes to look may come because it is slow
 * already.
 *
 * Machines are busy with something else at times: then much of what runs there varies, for a window
 * or for some, and no point would tell why. So a group is searched where it has gone beyond its
 * norm for three windows in a row and no other type of requests has; for more where others have,
 * each window counting as one by how many types have; and for nine in any case: what slows them all
 * may be in code that they share.
 *
 * What passes a machine by makes few requests very slow. Where the middle half of a group surely
 * spreads over twice its norm, by a fifth of its median or more, and not that of most requests
 * does, two rounds half a window apart are enough.
 *
 * Where few requests are much slower, and only those of one type, it is by what they cost that they
 * are found: excess.c. Where the same place of its tree takes more in each round, none of this is
 * waited for: places.c.
 *
 * The first two are measured against what the group in the middle does in the same window, so that
 * what is beyond is beyond more than the machine is busy.
 */

/* What a person expects, or saved as a baseline, goes before what was seen: it is not met. */
static bool is_promised(const struct groups_row *row)
{
	return (row->detection & DETECTION_SHIFTED) ||
	       ((row->detection & DETECTION_SLOW) && row->objective_ns);
}

/* `usual`: so much more than its norm is what the machine makes of all. */
static bool is_within(const struct norm *norm, const struct groups_row *row, double usual)
{
	/* Of too few requests for an interval there is the estimate. */
	double cov = row->missing ? row->cov : row->cov_low;

	return cov <= COV_GROWS * usual * norm->cov && row->n_modes <= norm->n_modes &&
	       (double)row->p50_ns <= MEDIAN_GROWS * norm->p50_ns;
}

/* The bulk of its requests surely differs more than it did. */
static bool is_wide(const struct norm *norm, const struct groups_row *row, double usual)
{
	return norm->middle_ns >= 0 && !row->missing &&
	       row->middle_low_ns > MIDDLE_GROWS * usual * norm->middle_ns &&
	       row->middle_low_ns > norm->middle_ns + MIDDLE_COUNTS * norm->p50_ns;
}

bool norms_hold(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	if (!norm || is_promised(row)) {
		return false;
	}
	return is_within(norm, row, 1) && !is_wide(norm, row, 1);
}

/* By its estimates, not their lower bounds: what may still be wrong is not well again. */
bool norms_calm(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	if (!norm) {
		return !row->detection;
	}
	return !norm->placed && !is_promised(row) && row->cov <= COV_GROWS * norm->cov &&
	       row->n_modes <= norm->n_modes &&
	       (double)row->p50_ns <= MEDIAN_GROWS * norm->p50_ns &&
	       (norm->middle_ns < 0 || row->middle_ns <= MIDDLE_GROWS * norm->middle_ns ||
			       row->middle_ns <= norm->middle_ns + MIDDLE_COUNTS * norm->p50_ns);
}

/* The median surely is beyond the norm's. */
bool norms_slowed(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && !norm->stands_in && !row->missing &&
	       (double)row->p50_ns > MEDIAN_GROWS * norm->p50_ns;
}

bool norms_shifted(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norms_slowed(pythia, row) &&
	       row->sd_ns < SHIFT_SPREAD * ((double)row->p50_ns - norm->p50_ns);
}

static bool is_judged(const struct groups_row *row)
{
	return row->count >= JUDGED_REQUESTS && !row->lossy && !row->idle_wait;
}

static bool exceeds_norm(const struct pythia *pythia, const struct groups_row *row)
{
	return (row->detection || row->missing || norms_slowed(pythia, row)) &&
	       !norms_hold(pythia, row);
}

/* And more so than the machine makes all others. */
static bool stands_out(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return exceeds_norm(pythia, row) &&
	       (!norm || !is_within(norm, row, pythia->detecting.usual_cov) ||
			       is_wide(norm, row, pythia->detecting.usual_middle));
}

static bool has_wide(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && is_wide(norm, row, pythia->detecting.usual_middle);
}

/* So much of all that is going on is like this that the cause is none of a group's own. */
static bool is_common(const struct pythia *pythia, const struct groups_view *recent,
		bool (*is_like)(const struct pythia *pythia, const struct groups_row *row))
{
	uint64_t all = 0, exceeding = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];

		const struct norm *norm = norm_of(pythia, row);

		if (is_judged(row) && norm && !norm->stands_in) {
			bool is = is_like(pythia, row);

			all += row->count;
			exceeding += is ? row->count : 0;
			n += is;
		}
	}
	return n >= COMMON_GROUPS && (double)exceeding > COMMON_SHARE * (double)all;
}

/* A norm for a group that the profile, which has some, does not know. */
static struct norm *stand_in(struct pythia *pythia, const struct groups_row *row)
{
	struct norm widest = {.type = names_add(pythia->names, row->type, strlen(row->type)),
			.path = names_add(pythia->names, row->path, strlen(row->path)),
			.cov = USUAL_COV,
			.middle_ns = -1,
			.applies = true,
			.stands_in = true};

	for (uint32_t i = 0; i < pythia->detecting.n_norms; i++) {
		const struct norm *norm = &pythia->detecting.norms[i];

		if (norm->applies && !norm->stands_in && norm->type == widest.type) {
			widest.cov = fmax(widest.cov, norm->cov);
			widest.p50_ns = fmax(widest.p50_ns, norm->p50_ns);
			widest.middle_ns = fmax(widest.middle_ns, norm->middle_ns);
			widest.n_modes = norm->n_modes > widest.n_modes ? norm->n_modes
									: widest.n_modes;
		}
	}
	if (widest.p50_ns <= 0) {
		widest.p50_ns = HUGE_VAL; /* nothing is known of its type */
		widest.n_modes = UINT32_MAX;
	}
	norms_set(pythia, &widest);
	return norm_of(pythia, row);
}

/* A profile of other programs says nothing of these: some group that it knows must have come. */
static bool meets_norms(struct pythia *pythia, const struct groups_view *recent)
{
	for (uint32_t i = 0; i < recent->n && !pythia->detecting.meets_norms; i++) {
		pythia->detecting.meets_norms = norm_of(pythia, &recent->rows[i]) != NULL;
	}
	return pythia->detecting.meets_norms;
}

/* At least 1; and no more than would hide whatever is wrong. */
static double middle_one(double *ratios, uint32_t n)
{
	if (n < USUAL_GROUPS) {
		return 1;
	}
	sort_doubles(ratios, n);
	return fmin(fmax(ratios[n / 2], 1), USUAL_MOST);
}

/* On a busy machine all vary more than they did: what is beyond is measured by the one in the
 * middle. */
static void find_usual(struct pythia *pythia, const struct groups_view *recent)
{
	double *covs = calloc(2 * (size_t)recent->n + 1, sizeof(*covs)), *middles;
	uint32_t n = 0, n_middles = 0;

	if (!covs) {
		return;
	}
	middles = covs + recent->n;
	for (uint32_t i = 0; i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];
		const struct norm *norm = norm_of(pythia, row);

		if (!norm || norm->stands_in || !is_judged(row)) {
			continue;
		}
		if (norm->cov > 0) {
			covs[n++] = row->cov / norm->cov;
		}
		if (norm->middle_ns > 0 && !row->missing) {
			middles[n_middles++] = row->middle_ns / norm->middle_ns;
		}
	}
	pythia->detecting.usual_cov = middle_one(covs, n);
	pythia->detecting.usual_middle = middle_one(middles, n_middles);
	free(covs);
}

/* Types of requests that have a group that stands out. */
static uint32_t types_out(const struct pythia *pythia, const struct groups_view *recent)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];
		bool is = is_judged(row) && norm_of(pythia, row) && stands_out(pythia, row);

		for (uint32_t k = 0; k < i && is; k++) {
			const struct groups_row *other = &recent->rows[k];

			is = strcmp(row->type, other->type) != 0 || !is_judged(other) ||
			     !norm_of(pythia, other) || !stands_out(pythia, other);
		}
		n += is;
	}
	return n;
}

static void judge_windows(struct pythia *pythia, const struct groups_view *recent)
{
	bool common = is_common(pythia, recent, exceeds_norm);
	uint32_t types = types_out(pythia, recent);

	for (uint32_t i = 0; i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];
		struct norm *norm = norm_of(pythia, row);

		norm = norm ? norm : stand_in(pythia, row);
		if (norm && is_judged(row)) {
			norm->exceeding = exceeds_norm(pythia, row) ? norm->exceeding + 1 : 0;
			norm->alone = stands_out(pythia, row) && !common
						      ? norm->alone + 1.0 / fmax(types, 1)
						      : 0;
		}
	}
}

static void judge_middles(struct pythia *pythia, const struct groups_view *recent)
{
	bool common = is_common(pythia, recent, has_wide);

	for (uint32_t i = 0; i < recent->n; i++) {
		struct norm *norm = norm_of(pythia, &recent->rows[i]);

		if (norm) {
			norm->wide = !common && has_wide(pythia, &recent->rows[i]) ? norm->wide + 1
										   : 0;
		}
	}
}

void norms_judge(struct pythia *pythia, const struct groups_view *recent)
{
	pythia->detecting.norms_ns =
			pythia->detecting.norms_ns ? pythia->detecting.norms_ns : pythia->now_ns;
	pythia->detecting.wide_ns =
			pythia->detecting.wide_ns ? pythia->detecting.wide_ns : pythia->now_ns;
	if (!meets_norms(pythia, recent)) {
		return;
	}
	find_usual(pythia, recent);
	if (pythia->now_ns >= pythia->detecting.wide_ns + NORM_WINDOW_NS / 2) {
		pythia->detecting.wide_ns = pythia->now_ns;
		judge_middles(pythia, recent);
	}
	if (pythia->now_ns >= pythia->detecting.norms_ns + NORM_WINDOW_NS) {
		pythia->detecting.norms_ns = pythia->now_ns;
		judge_windows(pythia, recent);
	}
}

bool norms_exceeded(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && !norm->stands_in && is_judged(row) && exceeds_norm(pythia, row) &&
	       row->variation_share >= SMALL_SHARE;
}

void norms_let_through(struct pythia *pythia, const struct groups_row *row)
{
	struct norm *norm = norm_of(pythia, row);

	if (norm) {
		norm->alone = WINDOWS_ALONE;
	}
}

bool norms_excuse(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	if (is_promised(row) || finding_searched(pythia, row->id)) {
		return false; /* a search ends by itself */
	}
	if (norm && (norm->placed || excess_is_large(norm))) {
		return row->variation_share < SMALL_SHARE;
	}
	if (norms_hold(pythia, row)) {
		return true;
	}
	if (!norm) {
		return pythia->detecting.meets_norms; /* the next window gives it one */
	}
	return (norm->alone < WINDOWS_ALONE && norm->exceeding < WINDOWS_ALL &&
			       norm->wide < HALF_WINDOWS) ||
	       row->variation_share < SMALL_SHARE;
}

bool norms_suspect(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && !norm->stands_in && is_judged(row) && !row->missing &&
	       (row->detection || norms_slowed(pythia, row)) && row->variation_share >= SMALL_SHARE;
}

bool norms_bulk(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && (is_wide(norm, row, 1) || norms_slowed(pythia, row));
}
