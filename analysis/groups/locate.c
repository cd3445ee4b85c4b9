/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/locate.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/share_interval.h"

#define TAIL_SHARE        0.95
#define FASTER_SHARE      0.5
#define COMMON_PHI        0.2
#define COMMON_COMPONENT  0.6
#define DISAGREES         0.2
#define SMALLEST_PAIR     0.01
#define WIDTH_MAX         (LOCATE_LISTED + 1)
#define NORMAL_90_PERCENT 1.6448536269514722

/* One column for each listed segment, and one for the rest. */
struct work {
	struct location *out;
	const struct profile *profile;
	enum horizon horizon;
	const struct profile_counts *counts;
	struct sample *const *samples;
	uint32_t n;

	uint32_t width;
	uint32_t *columns;           /* by node */
	double *durations;           /* by sample, ns */
	double *weights;             /* by sample: how many requests it stands for */
	double *parts;               /* by sample and column, ns */
	double *slowest, *faster;    /* by node: sums over the tail, and over the faster half */
	struct share_blocks *blocks; /* by node: see share_interval.h */
	double weight;               /* of all samples */
	double mean, variance;       /* of `durations`; the latter times that weight */
};

static const struct profile_sums *sums_of(const struct work *work, uint32_t node)
{
	return &work->profile->nodes[node].sums[work->horizon];
}

/* ---- which segments there are ---- */

struct candidate {
	double weight, phi, mean_ns, sd_ns;
	uint32_t node;
};

static int by_weight(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->weight != b->weight) {
		return a->weight > b->weight ? -1 : 1;
	}
	return a->node < b->node ? -1 : a->node > b->node;
}

static int by_phi(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->phi != b->phi) {
		return a->phi > b->phi ? -1 : 1;
	}
	return a->node < b->node ? -1 : a->node > b->node;
}

/* The nodes with a segment. Those that matter come first: by their share, or by how much they vary
 * on their own. Returns how many. */
static uint32_t weigh_segments(
		const struct profile *profile, enum horizon horizon, struct candidate *candidates)
{
	const struct profile_counts *counts = &profile->counts[horizon];
	double variance = profile_variance(counts);
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n; i++) {
		const struct profile_sums *sums = &profile->nodes[i].sums[horizon];
		struct candidate *one = &candidates[n];

		if (!sums->segment) {
			continue;
		}
		n++;
		one->node = i;
		one->mean_ns = (double)sums->segment / (double)counts->weight;
		one->sd_ns = profile_segment_sd(counts, sums);
		one->phi = profile_covariance(counts, sums) / variance;
		one->weight = fmax(fabs(one->phi), one->sd_ns * one->sd_ns / variance);
	}
	qsort(candidates, n, sizeof(*candidates), by_weight);
	return n;
}

/* Of those the ones that are listed, by their share. */
static uint32_t list_candidates(struct candidate *candidates, uint32_t n)
{
	uint32_t n_listed = n < LOCATE_LISTED ? n : LOCATE_LISTED;

	qsort(candidates, n_listed, sizeof(*candidates), by_phi);
	return n_listed;
}

bool location_list(const struct profile *profile, enum horizon horizon, uint32_t *nodes,
		uint32_t *n_nodes)
{
	struct candidate *candidates;

	*n_nodes = 0;
	if (!(profile_variance(&profile->counts[horizon]) > 0)) {
		return true;
	}
	candidates = malloc(profile->n * sizeof(*candidates));
	if (!candidates) {
		return false;
	}
	*n_nodes = list_candidates(candidates, weigh_segments(profile, horizon, candidates));
	for (uint32_t i = 0; i < *n_nodes; i++) {
		nodes[i] = candidates[i].node;
	}
	free(candidates);
	return true;
}

static bool list_segments(struct work *work)
{
	struct location *out = work->out;
	struct candidate *candidates = malloc(out->n_nodes * sizeof(*candidates));
	uint32_t n;

	if (!candidates) {
		return false;
	}
	n = weigh_segments(work->profile, work->horizon, candidates);
	out->n_listed = list_candidates(candidates, n);
	out->has_rest = n > LOCATE_LISTED;
	out->rest.phi = out->has_rest ? 1 : 0;
	for (uint32_t i = 0; i < out->n_nodes; i++) {
		work->columns[i] = out->n_listed;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct located_segment *segment = &out->nodes[candidates[i].node];

		segment->mean_ns = candidates[i].mean_ns;
		segment->sd_ns = candidates[i].sd_ns;
		segment->phi = candidates[i].phi;
		if (i >= out->n_listed) {
			out->rest.mean_ns += segment->mean_ns;
			continue;
		}
		out->listed[i] = candidates[i].node;
		work->columns[candidates[i].node] = i;
		out->rest.phi -= out->has_rest ? candidates[i].phi : 0;
	}
	work->width = out->n_listed + out->has_rest;
	free(candidates);
	return true;
}

/* ---- what the samples tell ---- */

struct weighed {
	double duration, weight;
};

static int by_duration(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	return a->duration < b->duration ? -1 : a->duration > b->duration;
}

/* The durations that the tail begins at, and that the faster half ends at. */
static bool find_tail(const struct work *work, double *tail, double *half)
{
	struct weighed *sorted = malloc(work->n * sizeof(*sorted));
	double below = 0;
	uint32_t at = 0;

	if (!sorted) {
		return false;
	}
	for (uint32_t i = 0; i < work->n; i++) {
		sorted[i] = (struct weighed){work->durations[i], work->weights[i]};
	}
	qsort(sorted, work->n, sizeof(*sorted), by_duration);
	for (; at + 1 < work->n && below + sorted[at].weight < FASTER_SHARE * work->weight; at++) {
		below += sorted[at].weight;
	}
	*half = sorted[at].duration;
	for (; at + 1 < work->n && below + sorted[at].weight < TAIL_SHARE * work->weight; at++) {
		below += sorted[at].weight;
	}
	*tail = sorted[at].duration;
	free(sorted);
	return true;
}

static void read_durations(struct work *work)
{
	double sum = 0;

	for (uint32_t i = 0; i < work->n; i++) {
		work->durations[i] = (double)work->samples[i]->request.duration_ns;
		work->weights[i] = (double)work->samples[i]->request.weight / PROFILE_WEIGHT;
		work->weight += work->weights[i];
		sum += work->weights[i] * work->durations[i];
	}
	work->mean = sum / work->weight;
	for (uint32_t i = 0; i < work->n; i++) {
		double distance = work->durations[i] - work->mean;

		work->variance += work->weights[i] * distance * distance;
	}
}

/* E[S | the tail] - E[S | the faster half], over the same of T: adds up to 1 as S does to T. */
static void read_tails(struct work *work, const double *n_of, const double *t_of)
{
	struct location *out = work->out;
	double span = t_of[0] / n_of[0] - t_of[1] / n_of[1];

	for (uint32_t i = 0; i < out->n_nodes; i++) {
		double share = (work->slowest[i] / n_of[0] - work->faster[i] / n_of[1]) / span;

		out->nodes[i].tail_share = share;
		if (out->has_rest && work->columns[i] == out->n_listed) {
			out->rest.tail_share += share;
		}
	}
}

static bool read_samples(struct work *work)
{
	double tail, half, n_of[2] = {0}, t_of[2] = {0};

	if (!find_tail(work, &tail, &half)) {
		return false;
	}
	for (uint32_t i = 0; i < work->n; i++) {
		struct sample_reader reader = sample_read(work->samples[i]);
		double slow = work->durations[i] >= tail ? work->weights[i] : 0;
		double fast = work->durations[i] <= half ? work->weights[i] : 0;
		double *parts = &work->parts[i * work->width];
		struct profile_item item;

		n_of[0] += slow;
		n_of[1] += fast;
		t_of[0] += slow * work->durations[i];
		t_of[1] += fast * work->durations[i];
		while (sample_next(&reader, &item)) {
			double part = (double)item.segment_ns;

			if (!item.segment_ns) {
				continue;
			}
			parts[work->columns[item.node]] += part;
			work->slowest[item.node] += slow * part;
			work->faster[item.node] += fast * part;
		}
	}
	read_tails(work, n_of, t_of);
	return true;
}

/* ---- intervals ---- */

static void set_interval(struct located_segment *segment, double below, double above)
{
	segment->phi_low = segment->phi - below;
	segment->phi_high = segment->phi + above;
}

/* Of contexts that are not listed: few requests have them, if any, so only those are looked at. */
static bool unlisted_intervals(struct work *work, uint32_t length, double narrower)
{
	struct location *out = work->out;
	struct share_totals totals;

	if (!share_totals_init(&totals, work->durations, work->weights, work->n, length)) {
		return false;
	}
	for (uint32_t i = 0; i < work->n; i++) {
		struct sample_reader reader = sample_read(work->samples[i]);
		struct profile_item item;

		while (sample_next(&reader, &item)) {
			if (item.segment_ns && work->columns[item.node] == out->n_listed) {
				share_blocks_add(&work->blocks[item.node], &totals, i,
						(double)item.segment_ns);
			}
		}
	}
	for (uint32_t i = 0; i < out->n_nodes; i++) {
		double half = NORMAL_90_PERCENT * narrower;

		if (work->columns[i] == out->n_listed && sums_of(work, i)->segment) {
			half *= share_blocks_error(&work->blocks[i], &totals);
			set_interval(&out->nodes[i], half, half);
		}
	}
	share_totals_release(&totals);
	return true;
}

static bool make_intervals(struct work *work)
{
	struct location *out = work->out;
	double below[WIDTH_MAX], above[WIDTH_MAX];
	uint64_t all = work->counts->counted + work->counts->added;
	double narrower = sqrt((double)work->n / (double)all);
	uint32_t length;

	if (!share_intervals(work->durations, work->weights, work->parts, work->n, work->width,
			    work->samples[work->n - 1]->id, below, above, &length)) {
		return false;
	}
	for (uint32_t i = 0; i < out->n_listed; i++) {
		set_interval(&out->nodes[out->listed[i]], below[i] * narrower, above[i] * narrower);
	}
	if (out->has_rest) {
		set_interval(&out->rest, below[out->n_listed] * narrower,
				above[out->n_listed] * narrower);
		return unlisted_intervals(work, length, narrower);
	}
	return true;
}

/* ---- segments together ---- */

static void make_covariances(const struct work *work, double *matrix)
{
	double means[WIDTH_MAX] = {0}, distances[WIDTH_MAX];
	uint32_t width = work->width;

	for (uint32_t i = 0; i < work->n; i++) {
		for (uint32_t a = 0; a < width; a++) {
			means[a] += work->weights[i] * work->parts[i * width + a] / work->weight;
		}
	}
	memset(matrix, 0, width * width * sizeof(*matrix));
	for (uint32_t i = 0; i < work->n; i++) {
		for (uint32_t a = 0; a < width; a++) {
			distances[a] = work->parts[i * width + a] - means[a];
		}
		for (uint32_t a = 0; a < width; a++) {
			for (uint32_t b = 0; b <= a; b++) {
				matrix[a * width + b] +=
						work->weights[i] * distances[a] * distances[b];
			}
		}
	}
	for (uint32_t a = 0; a < width; a++) {
		for (uint32_t b = 0; b < a; b++) {
			matrix[b * width + a] = matrix[a * width + b];
		}
	}
}

/* The largest ones are kept, in order. */
static void pair_insert(struct location *out, const struct group_pair *pair)
{
	uint32_t at;

	if (out->n_pairs == LOCATE_PAIRS) {
		if (fabs(pair->share) <= fabs(out->pairs[LOCATE_PAIRS - 1].share)) {
			return;
		}
		out->n_pairs--;
	}
	for (at = out->n_pairs++; at && fabs(out->pairs[at - 1].share) < fabs(pair->share); at--) {
		out->pairs[at] = out->pairs[at - 1];
	}
	out->pairs[at] = *pair;
}

static void find_pairs(const struct work *work, const double *matrix)
{
	uint32_t width = work->width;

	for (uint32_t a = 0; a < width; a++) {
		for (uint32_t b = a + 1; b < width; b++) {
			double both = matrix[a * width + b];
			double scale = sqrt(matrix[a * width + a] * matrix[b * width + b]);
			struct group_pair pair = {.a = a, .b = b};

			pair.share = 2 * both / work->variance;
			pair.correlation = scale > 0 ? both / scale : 0;
			if (fabs(pair.share) >= SMALLEST_PAIR) {
				pair_insert(work->out, &pair);
			}
		}
	}
}

/* The share of the first principal component of the segments' variances. It spoils the matrix. */
static bool find_component(struct work *work, double *matrix)
{
	gsl_eigen_symm_workspace *workspace;
	double values[WIDTH_MAX], trace = 0, largest = 0;
	gsl_matrix_view view = gsl_matrix_view_array(matrix, work->width, work->width);
	gsl_vector_view vector = gsl_vector_view_array(values, work->width);

	gsl_set_error_handler_off();
	workspace = gsl_eigen_symm_alloc(work->width);
	if (!workspace) {
		return false;
	}
	for (uint32_t i = 0; i < work->width; i++) {
		trace += matrix[i * work->width + i];
	}
	if (trace > 0 && gsl_eigen_symm(&view.matrix, &vector.vector, workspace) == GSL_SUCCESS) {
		for (uint32_t i = 0; i < work->width; i++) {
			largest = fmax(largest, values[i]);
		}
		work->out->first_component = fmin(largest / trace, 1);
	}
	gsl_eigen_symm_free(workspace);
	return true;
}

static bool judge_together(struct work *work)
{
	double *matrix = malloc((size_t)work->width * work->width * sizeof(*matrix));
	double largest = -INFINITY;
	bool ok;

	if (!matrix) {
		return false;
	}
	make_covariances(work, matrix);
	find_pairs(work, matrix);
	ok = find_component(work, matrix);
	free(matrix);
	for (uint32_t i = 0; i < work->out->n_listed; i++) {
		largest = fmax(largest, work->out->nodes[work->out->listed[i]].phi);
	}
	work->out->common_cause =
			largest <= COMMON_PHI && work->out->first_component > COMMON_COMPONENT;
	return ok;
}

/* How much the rest varies is not among the sums: from the samples. */
static void find_rest_sd(struct work *work)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < work->n; i++) {
		sum += work->weights[i] * work->parts[i * work->width + work->out->n_listed];
	}
	for (uint32_t i = 0; i < work->n; i++) {
		double part = work->parts[i * work->width + work->out->n_listed];

		squares += work->weights[i] * (part - sum / work->weight) *
			   (part - sum / work->weight);
	}
	work->out->rest.sd_ns = work->weight > 1 ? sqrt(squares / (work->weight - 1)) : 0;
}

static bool work_allocate(struct work *work)
{
	uint32_t n_nodes = work->out->n_nodes;

	work->columns = calloc(n_nodes, sizeof(*work->columns));
	work->slowest = calloc(n_nodes, sizeof(*work->slowest));
	work->faster = calloc(n_nodes, sizeof(*work->faster));
	work->blocks = calloc(n_nodes, sizeof(*work->blocks));
	work->durations = calloc(work->n, sizeof(*work->durations));
	work->weights = calloc(work->n, sizeof(*work->weights));
	work->parts = calloc((size_t)work->n * WIDTH_MAX, sizeof(*work->parts));
	work->out->nodes = calloc(n_nodes, sizeof(*work->out->nodes));
	return work->columns && work->slowest && work->faster && work->blocks && work->durations &&
	       work->weights && work->parts && work->out->nodes;
}

static void work_release(struct work *work)
{
	free(work->columns);
	free(work->slowest);
	free(work->faster);
	free(work->blocks);
	free(work->durations);
	free(work->weights);
	free(work->parts);
}

static bool work_do(struct work *work)
{
	read_durations(work);
	if (!(work->variance > 0)) {
		return true; /* nothing varied lately */
	}
	if (!list_segments(work) || !read_samples(work) || !make_intervals(work) ||
			!judge_together(work)) {
		return false;
	}
	if (work->out->has_rest) {
		find_rest_sd(work);
	}
	work->out->located = true;
	return true;
}

bool location_make(struct location *out, const struct profile *profile, enum horizon horizon,
		struct sample *const *samples, uint32_t n_samples, uint32_t enough)
{
	const struct profile_counts *counts = &profile->counts[horizon];
	struct work work = {.out = out,
			.profile = profile,
			.horizon = horizon,
			.counts = counts,
			.samples = samples,
			.n = n_samples};
	uint64_t all = counts->counted + counts->added;
	uint64_t n = n_samples < all ? n_samples : all;
	double variance = profile_variance(counts);
	bool ok;

	memset(out, 0, sizeof(*out));
	out->requests = all;
	out->skewed = counts->skewed;
	out->variance = variance;
	if (n < enough) {
		out->missing = enough - (uint32_t)n;
		return true;
	}
	if (!(variance > 0)) {
		return true;
	}
	out->n_nodes = profile->n;
	ok = work_allocate(&work) && work_do(&work);
	work_release(&work);
	if (!ok) {
		location_release(out);
	}
	return ok;
}

void location_release(struct location *location)
{
	free(location->nodes);
	memset(location, 0, sizeof(*location));
}

bool location_disagrees(const struct located_segment *segment)
{
	return fabs(segment->tail_share - segment->phi) > DISAGREES &&
	       (segment->tail_share < segment->phi_low || segment->tail_share > segment->phi_high);
}
