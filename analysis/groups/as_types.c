/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/baselines.h"
#include "groups/grouping.h"
#include "groups/walk.h"

/*
 * What a baseline tells of types: where the time of their requests went, over all groups of a type.
 */
#define NO_NODE         UINT32_MAX
#define PROCESSES_OF    4u  /* requests of a group that are asked which processes they ran in */
#define INFLATION_LEAST 64u /* requests in a row that tell how alike neighbours are */
#define INFLATION_BATCH 16u /* batches that they are cut into */
#define INFLATION_LAGS  64u /* requests apart */
#define INFLATION_LIMIT 32.0

/* Sums of one context, of all groups of the type so far. */
struct sums {
	uint32_t context, parent;
	uint64_t spans, requests;
	double segment, segment_squares, self, self_squares;
	double most; /* that one group tells: requests, or time of what is no span */
	uint32_t group_id;
	uint32_t process;
};

struct type_work {
	struct groups *groups;
	const struct view *view;
	uint32_t skipped, n_buckets; /* of timelines */
	uint32_t *counts;            /* requests by bucket */
	uint32_t *nodes;             /* index + 1 by context; 0: none so far */
	uint32_t n_contexts;
	struct sums *items;
	uint32_t n, room;
	uint64_t measured, counted, all, last_start_ns;
	uint64_t hosts; /* bits, see request.h */
	double total, squares, inflation, weight;
	bool failed;
};

/* The node of a context, made with those above it if need be. */
static uint32_t node_for(struct type_work *work, uint32_t context)
{
	uint32_t parent = NO_NODE;

	if (context >= work->n_contexts || work->failed) {
		work->failed = true;
		return NO_NODE;
	}
	if (work->nodes[context]) {
		return work->nodes[context] - 1;
	}
	if (context && contexts_get(work->groups->contexts, context)->parent) {
		parent = node_for(work, contexts_get(work->groups->contexts, context)->parent);
	}
	if (work->n == work->room) {
		uint32_t room = work->room ? 2 * work->room : 64;
		struct sums *items = realloc(work->items, room * sizeof(*items));

		if (!items) {
			work->failed = true;
			return NO_NODE;
		}
		work->items = items;
		work->room = room;
	}
	work->items[work->n] = (struct sums){.context = context, .parent = parent};
	work->nodes[context] = ++work->n;
	return work->n - 1;
}

/* `scale`: what weighed sums are taken times, to be those of as many requests as were measured. */
static void add_node(struct type_work *work, const struct profile_node *node, enum horizon horizon,
		double scale, uint32_t group_id)
{
	const struct profile_sums *sums = &node->sums[horizon];
	double tells = sums->requests ? (double)sums->requests : (double)sums->segment * scale;
	uint32_t at;

	if (!sums->spans && !sums->segment && (!sums->self || !node->context)) {
		return;
	}
	at = node_for(work, node->context);
	if (at == NO_NODE) {
		return;
	}
	work->items[at].spans += sums->spans;
	work->items[at].requests += sums->requests;
	work->items[at].segment += (double)sums->segment * scale;
	work->items[at].segment_squares += (double)sums->segment_squares * scale;
	work->items[at].self += (double)sums->self;
	work->items[at].self_squares += (double)sums->self_squares;
	if (tells > work->items[at].most) {
		work->items[at].most = tells;
		work->items[at].group_id = group_id;
	}
}

static void ask_processes(struct type_work *work, const struct group *group)
{
	struct walk walk = walk_begin(work->groups, HORIZON_ALL, group->index + 1, 0, PROCESSES_OF);

	while (walk_next(&walk)) {
		for (uint32_t i = 0; i < walk.walked.n_spans; i++) {
			const struct walked_span *span = &walk.walked.spans[i];

			if (span->process && span->context < work->n_contexts &&
					work->nodes[span->context]) {
				work->items[work->nodes[span->context] - 1].process = span->process;
			}
		}
	}
}

/* Of the requests of a group that are a uniform sample, in their order. */
struct durations {
	uint32_t n;
	double ns[SAMPLES_MAX];
};

static void durations_read(struct durations *out, const struct sample_ring *ring)
{
	out->n = 0;
	for (uint32_t i = 0; i < ring->n; i++) {
		const struct profile_request *request = &ring_at(ring, i)->request;

		if (!request->added) {
			out->ns[out->n++] = (double)request->duration_ns;
		}
	}
}

/* How long the i-th of the last n requests took, beyond their mean. */
static double beyond_mean(const struct durations *of, uint32_t n, uint32_t i, double mean)
{
	return of->ns[of->n - n + i] - mean;
}

/*
 * The variance of means of batches of neighbours over what independent requests would make it (Law
 * & Carson 1979). Of the last n requests with that mean and sum of squares around it.
 */
static double inflation_by_batches(
		const struct durations *of, uint32_t n, double mean, double squares)
{
	uint32_t size = n / INFLATION_BATCH;
	double between = 0;

	for (uint32_t batch = 0; batch < INFLATION_BATCH; batch++) {
		double of_batch = 0;

		for (uint32_t i = 0; i < size; i++) {
			of_batch += beyond_mean(of, n, batch * size + i, mean);
		}
		between += of_batch * of_batch / size;
	}
	return between / (INFLATION_BATCH - 1) / (squares / (n - 1));
}

static double correlation_at(
		const struct durations *of, uint32_t n, uint32_t lag, double mean, double squares)
{
	double sum = 0;

	for (uint32_t i = 0; i + lag < n; i++) {
		sum += beyond_mean(of, n, i, mean) * beyond_mean(of, n, i + lag, mean);
	}
	return sum / squares;
}

/*
 * The same by how alike requests are that follow each other, at ever larger distances, for as long
 * as two neighbouring ones together are (initial positive sequence, Geyer 1992): it sees what
 * outlasts the batches.
 */
static double inflation_by_lags(const struct durations *of, uint32_t n, double mean, double squares)
{
	double inflation = -1;

	for (uint32_t lag = 0; lag < INFLATION_LAGS && lag + 1 < n / 2; lag += 2) {
		double pair = correlation_at(of, n, lag, mean, squares) +
			      correlation_at(of, n, lag + 1, mean, squares);

		if (pair <= 0) {
			break;
		}
		inflation += 2 * pair;
	}
	return inflation;
}

/* How much more means vary than those of independent requests: 1 where durations say nothing of
 * those that follow. */
static double inflation_of(const struct sample_ring *ring)
{
	struct durations durations, *of = &durations;
	double mean = 0, squares = 0, batches, lags, most;
	uint32_t n;

	durations_read(of, ring);
	n = of->n / INFLATION_BATCH * INFLATION_BATCH;
	if (of->n < INFLATION_LEAST) {
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		mean += beyond_mean(of, n, i, 0) / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		double by = beyond_mean(of, n, i, mean);

		squares += by * by;
	}
	if (squares <= 0) {
		return 1;
	}
	batches = inflation_by_batches(of, n, mean, squares);
	lags = inflation_by_lags(of, n, mean, squares);
	most = lags > batches ? lags : batches;
	return most < 1 ? 1 : most > INFLATION_LIMIT ? INFLATION_LIMIT : most;
}

static bool add_group(struct type_work *work, const struct group *group)
{
	const struct totals *totals = view_totals(work->groups, work->view, group);
	const uint32_t *in_time = timelines_of_group(&work->groups->timelines, group->index);
	const struct profile_counts *counts;
	struct instant instant;
	double scale;

	if (!totals || !instant_at(work->groups, work->view, group, &instant)) {
		return false;
	}
	for (uint32_t i = 0; in_time && i < work->n_buckets; i++) {
		work->counts[i] += in_time[work->skipped + i];
	}
	counts = &instant.profile->counts[instant.view.horizon];
	work->all += totals->moments.count + totals->tainted + totals->partial;
	work->hosts |= group->hosts;
	if (group->last_start_ns > work->last_start_ns) {
		work->last_start_ns = group->last_start_ns;
	}
	if (!counts->requests) {
		return true;
	}
	scale = counts->weight ? (double)counts->counted / (double)counts->weight : 0;
	work->measured += counts->requests;
	work->counted += counts->counted;
	work->total += (double)counts->total * scale;
	work->squares += (double)counts->squares * scale;
	work->inflation += (double)counts->requests * inflation_of(instant.ring);
	work->weight += (double)counts->requests;
	for (uint32_t i = 0; i < instant.profile->n; i++) {
		add_node(work, &instant.profile->nodes[i], instant.view.horizon, scale,
				group->index + 1);
	}
	ask_processes(work, group);
	return !work->failed;
}

/* Of n values by their sum and squares. */
static double sd_of(double n, double sum, double squares)
{
	double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;

	return variance > 0 ? sqrt(variance) : 0;
}

static const char *text_of(const struct groups *groups, struct arena *arena, uint32_t name)
{
	return name ? arena_text(arena, names_text(groups->names, name)) : "";
}

static bool put_type(struct type_work *work, uint32_t type, struct arena *arena,
		struct baseline_type *out)
{
	struct baseline_node *nodes = arena_alloc(arena, (work->n + 1u) * sizeof(*nodes));
	double complete = work->measured ? (double)work->counted / (double)work->measured : 0;

	if (!nodes) {
		return false;
	}
	*out = (struct baseline_type){.type = text_of(work->groups, arena, type),
			.requests = work->measured,
			.complete = work->counted,
			.all = work->all,
			.mean_ns = work->counted ? work->total / (double)work->counted : 0,
			.sd_ns = sd_of((double)work->counted, work->total, work->squares),
			.inflation = work->weight > 0 ? work->inflation / work->weight : 1,
			.last_start_ns = work->last_start_ns,
			.unrecorded_ns = groups_unrecorded(work->groups, work->hosts, work->view),
			.counts = work->counts,
			.n = work->n,
			.nodes = nodes};
	for (uint32_t i = 0; i < work->n; i++) {
		const struct sums *sums = &work->items[i];
		const struct context *context = contexts_get(work->groups->contexts, sums->context);
		bool part = !sums->spans && sums->parent != NO_NODE;
		uint64_t requests = part ? work->items[sums->parent].requests : sums->requests;
		/* Shares of the path are known of complete requests alone. */
		double n = (double)requests, on_path = n * complete;
		const struct baseline_bucket *buckets =
				timelines_of_context(&work->groups->timelines, sums->context);

		nodes[i] = (struct baseline_node){.parent = sums->parent,
				.name = sums->context ? text_of(work->groups, arena, context->name)
						      : REST_NAME,
				.provider = sums->context ? text_of(work->groups, arena,
									    context->provider)
							  : "",
				.process = text_of(work->groups, arena, sums->process),
				.spans = sums->spans,
				.requests = requests,
				.group_id = sums->group_id,
				.buckets = buckets ? buckets + work->skipped : NULL,
				.segment_ns = on_path > 0 ? sums->segment / on_path : 0,
				.segment_sd_ns = sd_of(
						on_path, sums->segment, sums->segment_squares),
				.self_ns = n > 0 ? sums->self / n : 0,
				.self_sd_ns = sd_of(n, sums->self, sums->self_squares)};
		if (!nodes[i].name || !nodes[i].provider || !nodes[i].process) {
			return false;
		}
	}
	return out->type != NULL;
}

/* Of the type that a group is of. */
static bool make_type(struct type_work work, uint32_t newest, struct arena *arena,
		struct baseline_type *out)
{
	struct groups *groups = work.groups;
	bool made;

	work.n_contexts = contexts_count(groups->contexts) + 1;
	work.nodes = calloc(work.n_contexts, sizeof(*work.nodes));
	work.counts = arena_alloc(arena, (work.n_buckets + 1u) * sizeof(*work.counts));
	made = work.nodes != NULL && work.counts != NULL;
	for (uint32_t i = newest; made && i; i = groups->items[i - 1]->same_type) {
		made = !view_has(work.view, groups->items[i - 1]) ||
		       add_group(&work, groups->items[i - 1]);
	}
	made = made && put_type(&work, groups->items[newest - 1]->type, arena, out);
	free(work.nodes);
	free(work.items);
	return made;
}

bool baseline_types(struct groups *groups, const struct view *view, uint32_t skipped,
		struct baseline *baseline, struct arena *arena)
{
	const struct type_work work = {.groups = groups,
			.view = view,
			.skipped = skipped,
			.n_buckets = baseline->n_buckets};
	struct baseline_type *types = arena_alloc(arena, (groups->n_types + 1u) * sizeof(*types));

	if (!types) {
		return false;
	}
	baseline->types = types;
	for (uint32_t i = 0; i < groups->n_types; i++) {
		uint32_t newest = groups->newest_of_type[i];

		if (!newest) {
			continue;
		}
		if (!make_type(work, newest, arena, &types[baseline->n_types])) {
			return false;
		}
		baseline->n_types += types[baseline->n_types].requests > 0;
	}
	return true;
}
