/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/internal.h"
#include "groups/walk.h"

/*
 * What a baseline tells of types: where the time of their requests went, over all groups of a type.
 */
#define NO_NODE         UINT32_MAX
#define PROCESSES_OF    4u  /* requests of a group that are asked which processes they ran in */
#define INFLATION_LEAST 64u /* requests in a row that tell how alike neighbours are */
#define INFLATION_BATCH 16u /* batches that they are cut into */
#define INFLATION_LIMIT 16.0

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
	uint32_t *nodes; /* index + 1 by context; 0: none so far */
	uint32_t n_contexts;
	struct sums *items;
	uint32_t n, room;
	uint64_t measured, counted, all;
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

static void add_node(struct type_work *work, const struct profile_node *node, enum horizon horizon,
		uint32_t group_id)
{
	const struct profile_sums *sums = &node->sums[horizon];
	double tells = sums->requests ? (double)sums->requests : (double)sums->segment;
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
	work->items[at].segment += (double)sums->segment;
	work->items[at].segment_squares += (double)sums->segment_squares;
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

/*
 * The variance of means of batches of neighbours over what independent requests would make it: 1
 * where durations say nothing of those that follow. (Law & Carson 1979.)
 */
static double inflation_of(const struct sample_ring *ring)
{
	uint32_t size = ring->n / INFLATION_BATCH, n = size * INFLATION_BATCH;
	double sum = 0, squares = 0, between = 0, variance;

	if (ring->n < INFLATION_LEAST) {
		return 1;
	}
	for (uint32_t batch = 0; batch < INFLATION_BATCH; batch++) {
		double of_batch = 0;

		for (uint32_t i = 0; i < size; i++) {
			double ns = (double)ring_at(ring, ring->n - n + batch * size + i)
						    ->request.duration_ns;

			of_batch += ns;
			squares += ns * ns;
		}
		sum += of_batch;
		between += of_batch * of_batch / size;
	}
	variance = (squares - sum * sum / n) / (n - 1);
	between = (between - sum * sum / n) / (INFLATION_BATCH - 1);
	if (variance <= 0 || between <= variance) {
		return 1;
	}
	return between > INFLATION_LIMIT * variance ? INFLATION_LIMIT : between / variance;
}

static bool add_group(struct type_work *work, const struct group *group)
{
	const struct totals *totals = view_totals(work->groups, work->view, group);
	const struct profile_counts *counts;
	struct instant instant;

	if (!totals || !instant_at(work->groups, work->view, group, &instant)) {
		return false;
	}
	counts = &instant.profile->counts[instant.view.horizon];
	work->all += totals->moments.count + totals->tainted + totals->partial;
	if (!counts->requests) {
		return true;
	}
	work->measured += counts->requests;
	work->counted += counts->counted;
	work->total += (double)counts->total;
	work->squares += (double)counts->squares;
	work->inflation += (double)counts->requests * inflation_of(instant.ring);
	work->weight += (double)counts->requests;
	for (uint32_t i = 0; i < instant.profile->n; i++) {
		add_node(work, &instant.profile->nodes[i], instant.view.horizon, group->index + 1);
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
			.n = work->n,
			.nodes = nodes};
	for (uint32_t i = 0; i < work->n; i++) {
		const struct sums *sums = &work->items[i];
		const struct context *context = contexts_get(work->groups->contexts, sums->context);
		bool part = !sums->spans && sums->parent != NO_NODE;
		uint64_t requests = part ? work->items[sums->parent].requests : sums->requests;
		/* Shares of the path are known of complete requests alone. */
		double n = (double)requests, on_path = n * complete;

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

static bool make_type(struct groups *groups, const struct view *view, uint32_t newest,
		struct arena *arena, struct baseline_type *out)
{
	struct type_work work = {.groups = groups,
			.view = view,
			.n_contexts = contexts_count(groups->contexts) + 1};
	bool made = true;

	work.nodes = calloc(work.n_contexts, sizeof(*work.nodes));
	made = work.nodes != NULL;
	for (uint32_t i = newest; made && i; i = groups->items[i - 1]->same_type) {
		made = !view_has(view, groups->items[i - 1]) ||
		       add_group(&work, groups->items[i - 1]);
	}
	made = made && put_type(&work, groups->items[newest - 1]->type, arena, out);
	free(work.nodes);
	free(work.items);
	return made;
}

bool baseline_types(struct groups *groups, const struct view *view, struct baseline *baseline,
		struct arena *arena)
{
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
		if (!make_type(groups, view, newest, arena, &types[baseline->n_types])) {
			return false;
		}
		baseline->n_types += types[baseline->n_types].requests > 0;
	}
	return true;
}
