/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/groups.h"

#define KEPT_MAX 1024

/* First form: one horizon, moments only. Buckets, quantiles and the pin take its place. */
struct group {
	uint32_t id, type, n_path;
	uint32_t *path;
	uint64_t count, tainted, partial, min_ns, max_ns;
	double sum, squares;
	struct request *kept[KEPT_MAX];
	uint32_t n_kept; /* ever; the newest is kept[(n_kept - 1) % KEPT_MAX] */
};

struct groups {
	struct groups_config config;
	const struct names *names;
	const struct contexts *contexts;
	struct request_pool *pool;
	struct group **items;
	uint32_t n;
	uint64_t folded, first_ns, now_ns;
	bool pinned;
};

struct groups *groups_create(const struct groups_config *config, const struct names *names,
                const struct contexts *contexts, struct request_pool *pool)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups) {
		return NULL;
	}
	groups->config = *config;
	groups->names = names;
	groups->contexts = contexts;
	groups->pool = pool;
	groups->items = calloc(config->max_groups, sizeof(struct group *));
	if (!groups->items) {
		free(groups);
		return NULL;
	}
	return groups;
}

void groups_destroy(struct groups *groups)
{
	if (!groups) {
		return;
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];

		for (uint32_t k = 0; k < KEPT_MAX && k < group->n_kept; k++) {
			request_drop(groups->pool, group->kept[k]);
		}
		free(group->path);
		free(group);
	}
	free(groups->items);
	free(groups);
}

static struct group *groups_of(struct groups *groups, const struct request *request)
{
	struct group *group;

	for (uint32_t i = 0; i < groups->n; i++) {
		group = groups->items[i];
		if (group->type == request->type && group->n_path == request->n_path &&
		                (!group->n_path ||
		                                !memcmp(group->path, request->path,
		                                                group->n_path * sizeof(*group->path)))) {
			return group;
		}
	}
	if (groups->n == groups->config.max_groups) {
		return NULL;
	}
	group = calloc(1, sizeof(*group));
	if (!group) {
		return NULL;
	}
	group->path = calloc(request->n_path + 1, sizeof(*group->path));
	if (!group->path) {
		free(group);
		return NULL;
	}
	for (uint32_t i = 0; i < request->n_path; i++) {
		group->path[i] = request->path[i];
	}
	group->type = request->type;
	group->n_path = request->n_path;
	groups->items[groups->n++] = group;
	group->id = groups->n;
	return group;
}

void groups_add(struct groups *groups, struct request *request)
{
	struct group *group = groups_of(groups, request);
	uint64_t ns = request->end_ns - request->start_ns;
	struct request **slot;

	groups_advance(groups, request->end_ns);
	if (!group) {
		groups->folded++;
		return;
	}
	request->group_id = group->id;
	slot = &group->kept[group->n_kept % KEPT_MAX];
	if (group->n_kept++ >= KEPT_MAX) {
		request_drop(groups->pool, *slot);
	}
	*slot = request;
	request_hold(request);
	if (request->state != REQUEST_COMPLETE) {
		group->partial++;
	} else if (request->tainted) {
		group->tainted++;
	} else {
		group->min_ns = !group->count || ns < group->min_ns ? ns : group->min_ns;
		group->max_ns = ns > group->max_ns ? ns : group->max_ns;
		group->count++;
		group->sum += (double)ns;
		group->squares += (double)ns * (double)ns;
	}
}

void groups_advance(struct groups *groups, uint64_t now_ns)
{
	if (!groups->first_ns) {
		groups->first_ns = now_ns;
	}
	groups->now_ns = now_ns > groups->now_ns ? now_ns : groups->now_ns;
}

void groups_begin_epoch(struct groups *groups, uint64_t now_ns)
{
	groups_advance(groups, now_ns);
}

void groups_pin(struct groups *groups, uint64_t now_ns)
{
	groups_advance(groups, now_ns);
	groups->pinned = true;
}

void groups_unpin(struct groups *groups)
{
	groups->pinned = false;
}

static double group_sd(const struct group *group)
{
	double n = (double)group->count;
	double variance = group->count > 1
	                                  ? (group->squares - group->sum * group->sum / n) / (n - 1)
	                                  : 0;

	return variance > 0 ? sqrt(variance) : 0;
}

static struct request *group_worst(const struct group *group)
{
	struct request *worst = NULL;

	for (uint32_t k = 0; k < KEPT_MAX && k < group->n_kept; k++) {
		struct request *one = group->kept[k];

		if (!worst || one->end_ns - one->start_ns > worst->end_ns - worst->start_ns) {
			worst = one;
		}
	}
	return worst;
}

static void group_fill_row(const struct groups *groups, const struct group *group, double seconds,
                struct groups_row *row)
{
	const struct request *worst = group_worst(group);

	row->id = group->id;
	row->type = names_text(groups->names, group->type);
	row->path = "";
	row->count = group->count;
	row->tainted = group->tainted;
	row->partial = group->partial;
	row->rate_per_s = seconds > 0 ? (double)group->count / seconds : 0;
	row->mean_ns = group->count ? group->sum / (double)group->count : 0;
	row->sd_ns = group_sd(group);
	row->cov = row->mean_ns > 0 ? row->sd_ns / row->mean_ns : 0;
	row->min_ns = group->min_ns;
	row->max_ns = group->max_ns;
	row->variation_share = row->rate_per_s * row->sd_ns;
	row->worst_request = worst ? worst->id : 0;
}

static int by_share(const void *left, const void *right)
{
	const struct groups_row *a = left, *b = right;

	if (a->variation_share != b->variation_share) {
		return a->variation_share > b->variation_share ? -1 : 1;
	}
	return a->id < b->id ? -1 : a->id > b->id;
}

static enum status group_fill_view(const struct group *group, struct snapshot *snapshot)
{
	uint32_t n = group->n_kept < KEPT_MAX ? group->n_kept : KEPT_MAX;
	struct group_request *list = snapshot_alloc(snapshot, n * sizeof(*list));

	if (!list) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct request *one = group->kept[(group->n_kept - 1 - i) % KEPT_MAX];

		list[i] = (struct group_request){.id = one->id,
		                .start_ns = one->start_ns,
		                .duration_ns = one->end_ns - one->start_ns,
		                .state = one->state,
		                .tainted = one->tainted,
		                .spans = one->n_spans,
		                .hosts = one->n_hosts};
	}
	snapshot->group.id = group->id;
	snapshot->group.n_requests = n;
	snapshot->group.requests = list;
	snapshot->group.sampled_share = 1;
	return STATUS_OK;
}

enum status groups_fill(struct groups *groups, const struct focus *focus, uint64_t at_ns,
                struct snapshot *snapshot)
{
	double seconds = at_ns > groups->first_ns ? 1e-9 * (double)(at_ns - groups->first_ns) : 0;
	struct groups_row *rows = snapshot_alloc(snapshot, (groups->n + 1) * sizeof(*rows));
	double sum = 0;
	uint32_t id = focus->group_id;
	enum status status = STATUS_OK;

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	snapshot->horizon_ns = at_ns - groups->first_ns;
	snapshot->pinned = groups->pinned;
	for (uint32_t i = 0; i < groups->n; i++) {
		group_fill_row(groups, groups->items[i], seconds, &rows[i]);
		sum += rows[i].variation_share;
	}
	for (uint32_t i = 0; i < groups->n && sum > 0; i++) {
		rows[i].variation_share /= sum;
	}
	qsort(rows, groups->n, sizeof(*rows), by_share);
	snapshot->groups.n = groups->n;
	snapshot->groups.rows = rows;
	snapshot->groups.enough = 50;
	snapshot->groups.folded = groups->folded;
	for (uint32_t i = 0; i < groups->n; i++) {
		snapshot->groups.rate_per_s += rows[i].rate_per_s;
		snapshot->groups.need_more += rows[i].count < 50;
	}
	if (!id && groups->n) {
		id = rows[0].id;
	}
	for (uint32_t i = 0; i < groups->n && status == STATUS_OK; i++) {
		if (rows[i].id == id) {
			snapshot->focus.group_id = id;
			snapshot->focus.request_id = focus->request_id ? focus->request_id
			                                               : rows[i].worst_request;
			status = group_fill_view(groups->items[id - 1], snapshot);
			snapshot->group.row = rows[i];
		}
	}
	return status;
}

struct request *groups_find_request(struct groups *groups, uint64_t id)
{
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];

		for (uint32_t k = 0; k < KEPT_MAX && k < group->n_kept; k++) {
			if (group->kept[k]->id == id) {
				return group->kept[k];
			}
		}
	}
	return NULL;
}
