/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/walk.h"

#define DURATION_CLASSES ((HISTOGRAM_BINS >> HISTOGRAM_SHIFT_PER_8TH) + 1)

struct walk walk_begin(struct groups *groups, enum horizon horizon, uint32_t group_id,
		uint64_t since_ns, uint32_t most)
{
	struct view view = view_at(groups, horizon, groups->now_ns);
	bool is = group_id && group_id <= view.n_groups;

	return (struct walk){.groups = groups,
			.view = is ? view_of(groups, &view, groups->items[group_id - 1]) : view,
			.record = is ? kept_newest_of(&groups->kept, group_id - 1) : 0,
			.since_ns = since_ns,
			.left = most};
}

static const struct request *next_request(struct walk *walk)
{
	struct groups *groups = walk->groups;

	while (walk->record && walk->left) {
		const struct request *request = groups->kept.records[walk->record].request;

		walk->record = kept_older_of(&groups->kept, walk->record);
		if (request->state == REQUEST_COMPLETE && !request->tainted &&
				request->start_ns >= walk->since_ns &&
				view_shows_request(groups, &walk->view, request)) {
			return request;
		}
	}
	return NULL;
}

bool walk_next(struct walk *walk)
{
	const struct groups_config *config = &walk->groups->config;
	const struct request *request;

	while (config->walk && (request = next_request(walk))) {
		if (config->walk(config->measurer, request, &walk->walked) &&
				!walk->walked.skewed) {
			walk->left--;
			walk->request = request;
			return true;
		}
	}
	return false;
}

uint32_t groups_newest(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct request **out, uint32_t max)
{
	struct walk walk = walk_begin(groups, horizon, group_id, 0, max);
	uint32_t n = 0;

	while (n < max && (out[n] = next_request(&walk))) {
		n++;
	}
	return n;
}

static uint32_t duration_class(const struct request *request)
{
	return histogram_bin(request->end_ns - request->start_ns) >> HISTOGRAM_SHIFT_PER_8TH;
}

void groups_weigh(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct request *const *requests, uint32_t n, double *weights)
{
	struct view view = view_at(groups, horizon, groups->now_ns);
	uint32_t kept[DURATION_CLASSES] = {0};
	uint64_t all[DURATION_CLASSES] = {0};

	if (group_id && group_id <= view.n_groups) {
		histogram_coarsen(
				&view_totals(groups, &view, groups->items[group_id - 1])->histogram,
				HISTOGRAM_SHIFT_PER_8TH, 0, DURATION_CLASSES, all);
	}
	for (uint32_t i = 0; i < n; i++) {
		kept[duration_class(requests[i])]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t class = duration_class(requests[i]);

		weights[i] = all[class] > kept[class] ? (double)all[class] / kept[class] : 1;
	}
}
