/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/verdict.h"

static const struct steps_finding *find(const struct steps_view *steps, uint32_t group_id)
{
	for (uint32_t i = 0; i < steps->n_findings; i++) {
		if (steps->findings[i].group_id == group_id &&
				!steps->findings[i].since_ns) {
			return &steps->findings[i];
		}
	}
	return NULL;
}

const struct steps_finding *output_verdict(const struct snapshot *snapshot)
{
	const struct steps_view *steps = &snapshot->steps;
	const struct steps_finding *finding;

	/* What fails comes first; then, with a baseline, what adds most since. */
	if (steps->n_findings > 0 && steps->findings[0].since_ns && !steps->findings[0].call &&
			steps->findings[0].rule != STOP_HEALTHY) {
		return steps->findings[0].rule == STOP_NONE ? NULL : &steps->findings[0];
	}
	if (steps->n_findings > 0 && steps->findings[0].change) {
		return steps->findings[0].rule == STOP_NONE ? NULL : &steps->findings[0];
	}
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		finding = find(steps, snapshot->groups.rows[i].id);
		if (!finding || finding->rule == STOP_HEALTHY || finding->outweighed) {
			continue;
		}
		if (finding->rule != STOP_NONE) {
			return finding;
		}
		if (snapshot->groups.rows[i].detection) {
			return NULL;
		}
	}
	for (uint32_t i = 0; i < steps->n_findings; i++) {
		if (steps->findings[i].rule != STOP_NONE &&
				steps->findings[i].rule != STOP_HEALTHY &&
				!steps->findings[i].outweighed) {
			return &steps->findings[i];
		}
	}
	return NULL;
}
