/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/walk.h"

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
