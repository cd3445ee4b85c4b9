/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "groups/baselines.h"
#include "groups/grouping.h"
#include "groups/label.h"
#include "requests/glob.h"

/* Of the most specific glob that matches; of equal ones the first. */
static uint64_t objective_of(const struct groups *groups, const char *type)
{
	const struct objective *best = NULL;

	for (uint32_t i = 0; i < groups->n_objectives; i++) {
		const struct objective *objective = &groups->objectives[i];

		if (glob_match_type(objective->type, type) &&
				(!best || glob_weight(objective->type) > glob_weight(best->type))) {
			best = objective;
		}
	}
	return best ? best->p50_ns : 0;
}

enum status groups_expect(struct groups *groups, const char *type, uint64_t p50_ns)
{
	size_t bytes = (groups->n_objectives + 1u) * sizeof(*groups->objectives);
	struct objective *objectives = realloc(groups->objectives, bytes);
	char *copy = strdup(type);

	groups->objectives = objectives ? objectives : groups->objectives;
	if (!objectives || !copy) {
		free(copy);
		return STATUS_NO_MEMORY;
	}
	objectives[groups->n_objectives++] = (struct objective){.type = copy, .p50_ns = p50_ns};
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];

		group->objective_ns = objective_of(groups, names_text(groups->names, group->type));
		for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
			groups->caches[h].rows[i].objective_ns = group->objective_ns;
		}
	}
	return STATUS_OK;
}

void group_named(struct groups *groups, struct group *group)
{
	group->objective_ns = objective_of(groups, names_text(groups->names, group->type));
	baseline_apply(groups, group);
}
