/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/walk.h"

/*
 * When things happen within a span, from the kept requests of a group: the order of its children,
 * and between which of them its own time varies. Walking a request costs as much as measuring it,
 * so only the newest are.
 */
#define ORDER_REQUESTS 16u  /* the order of code hardly changes */
#define GAP_REQUESTS   256u /* shares do, by one in the square root of these */
#define MAX_GAPS       64u
#define THREADS_OF     64u /* requests: of a pool, most threads are among them */

/* --- order ----------------------------------------------------------------------------------- */

/* Where each row's spans begin, from the begin of the one around. */
static void add_offsets(const struct walked *walked, const struct tree_view *tree, double *sums,
		uint32_t *counts)
{
	for (uint32_t i = 0; i < walked->n_spans; i++) {
		const struct walked_span *span = &walked->spans[i];
		const struct walked_span *around =
				span->parent == WALKED_NONE ? NULL : &walked->spans[span->parent];
		uint32_t row = 0;

		if (!around || !span->whole || !around->whole ||
				span->start_ns < around->start_ns) {
			continue;
		}
		while (row < tree->n && tree->rows[row].context != span->context) {
			row++;
		}
		if (row < tree->n) {
			sums[row] += (double)(span->start_ns - around->start_ns);
			counts[row]++;
		}
	}
}

bool groups_offsets(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct tree_view *tree, double *offset_ns)
{
	struct walk walk = walk_begin(groups, horizon, group_id, 0, ORDER_REQUESTS);
	uint32_t *counts = calloc(tree->n + 1, sizeof(*counts));

	if (!counts) {
		return false;
	}
	memset(offset_ns, 0, tree->n * sizeof(*offset_ns));
	while (walk_next(&walk)) {
		add_offsets(&walk.walked, tree, offset_ns, counts);
	}
	for (uint32_t i = 0; i < tree->n; i++) {
		offset_ns[i] = counts[i] ? offset_ns[i] / counts[i] : -1;
	}
	free(counts);
	return true;
}

/* --- gaps ------------------------------------------------------------------------------------ */

/* Sums over requests of a gap's time, and of its products with the request's. */
struct gap_sums {
	uint32_t after, before;
	double lag;
	double sum, product, now; /* now: of the request at hand */
};

struct gap_work {
	uint32_t context, n;
	struct gap_sums gaps[MAX_GAPS];
	double requests, total, squares;
};

/* The child of a span that had begun last before an instant; NULL: none had. */
static const struct walked_span *child_before(
		const struct walked *walked, uint32_t parent, uint64_t at_ns)
{
	const struct walked_span *child = NULL;

	for (uint32_t i = 0; i < walked->n_spans; i++) {
		if (walked->spans[i].parent == parent && walked->spans[i].start_ns < at_ns) {
			child = &walked->spans[i]; /* in the order of entries */
		}
	}
	return child;
}

/* The one that begins next, at that instant or later; NULL: none does. */
static const struct walked_span *child_after(
		const struct walked *walked, uint32_t parent, uint64_t at_ns)
{
	for (uint32_t i = 0; i < walked->n_spans; i++) {
		if (walked->spans[i].parent == parent && walked->spans[i].start_ns >= at_ns) {
			return &walked->spans[i];
		}
	}
	return NULL;
}

static void count_piece(struct gap_work *work, const struct walked *walked,
		const struct walked_piece *piece)
{
	const struct walked_span *last = child_before(walked, piece->span, piece->start_ns),
				 *next = child_after(walked, piece->span, piece->start_ns);
	uint32_t at = 0, after = last ? last->context : 0, before = next ? next->context : 0;
	double lag = last ? (double)(piece->start_ns - last->start_ns) : 0;

	while (at < work->n && (work->gaps[at].after != after || work->gaps[at].before != before)) {
		at++;
	}
	if (at == MAX_GAPS) {
		return;
	}
	if (at == work->n) {
		work->gaps[work->n++] =
				(struct gap_sums){.after = after, .before = before, .lag = lag};
	}
	work->gaps[at].lag = fmin(work->gaps[at].lag, lag);
	work->gaps[at].now += (double)piece->ns;
}

static void count_request(struct gap_work *work, const struct walked *walked)
{
	double total = (double)walked->total_ns;

	for (uint32_t i = 0; i < walked->n_pieces; i++) {
		const struct walked_piece *piece = &walked->pieces[i];

		if (piece->own && walked->spans[piece->span].context == work->context) {
			count_piece(work, walked, piece);
		}
	}
	for (uint32_t i = 0; i < work->n; i++) {
		struct gap_sums *gap = &work->gaps[i];

		gap->sum += gap->now;
		gap->product += gap->now * total;
		gap->now = 0;
	}
	work->requests++;
	work->total += total;
	work->squares += total * total;
}

static int by_phi(const void *left, const void *right)
{
	const struct group_gap *a = left, *b = right;

	if (a->phi != b->phi) {
		return a->phi > b->phi ? -1 : 1;
	}
	return a->after != b->after ? (a->after > b->after ? 1 : -1)
				    : (a->before > b->before) - (a->before < b->before);
}

uint32_t groups_gaps(struct groups *groups, uint32_t group_id, uint64_t since_ns, uint32_t context,
		struct group_gap *out, uint32_t max)
{
	struct walk walk = walk_begin(groups, HORIZON_ALL, group_id, since_ns, GAP_REQUESTS);
	struct gap_work work = {.context = context};
	struct group_gap gaps[MAX_GAPS];
	double variance;

	while (walk_next(&walk)) {
		count_request(&work, &walk.walked);
	}
	variance = work.squares - work.total * work.total / fmax(work.requests, 1);
	if (work.requests < ENOUGH_REQUESTS || variance <= 0) {
		return 0;
	}
	for (uint32_t i = 0; i < work.n; i++) {
		const struct gap_sums *gap = &work.gaps[i];

		gaps[i].after = gap->after;
		gaps[i].before = gap->before;
		gaps[i].lag_ns = gap->lag;
		gaps[i].phi = (gap->product - gap->sum * work.total / work.requests) / variance;
	}
	qsort(gaps, work.n, sizeof(*gaps), by_phi);
	max = work.n < max ? work.n : max;
	memcpy(out, gaps, max * sizeof(*out));
	return max;
}

/* --- threads --------------------------------------------------------------------------------- */

uint32_t groups_threads(struct groups *groups, uint32_t group_id, uint64_t since_ns,
		struct group_thread *out, uint32_t max)
{
	struct walk walk = walk_begin(groups, HORIZON_ALL, group_id, since_ns, THREADS_OF);
	uint32_t n = 0;

	while (walk_next(&walk)) {
		for (uint32_t i = 0; i < walk.walked.n_spans; i++) {
			const struct walked_span *span = &walk.walked.spans[i];
			uint32_t at = 0;

			while (at < n && (out[at].host != span->host || out[at].tid != span->tid)) {
				at++;
			}
			if (at == n && n < max && span->tid >= 0) {
				out[n++] = (struct group_thread){span->host, span->tid};
			}
		}
	}
	return n;
}
