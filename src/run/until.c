/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/until.h"

const struct focus until_focus = {.parts = FOCUS_GROUPS | FOCUS_STEPS, .horizon = HORIZON_EPOCH};

static const struct steps_finding *finding_of(const struct steps_view *steps, uint32_t group_id)
{
	for (uint32_t i = 0; i < steps->n_findings; i++) {
		if (steps->findings[i].group_id == group_id) {
			return &steps->findings[i];
		}
	}
	return NULL;
}

/*
 * A search has come to a verdict, and none goes on for a group whose variation costs more. What
 * varies as it always did is not searched, and what calmed down is no verdict.
 */
static bool has_verdict(const struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		const struct steps_finding *finding =
				finding_of(&snapshot->steps, snapshot->groups.rows[i].id);

		if (finding && finding->rule != STOP_HEALTHY) {
			return finding->rule != STOP_NONE;
		}
	}
	return false;
}

static bool has_learned(const struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->steps.n; i++) {
		const struct step_row *row = &snapshot->steps.rows[i];

		if (row->kind == STEP_LEARN && row->state == STEP_UNDONE) {
			return true;
		}
	}
	return false;
}

bool until_is_shown(const struct batch_until *until, const struct snapshot *snapshot)
{
	switch (until->kind) {
	case UNTIL_VERDICT:
		return has_verdict(snapshot);
	case UNTIL_LEARNED:
		return has_learned(snapshot);
	case UNTIL_STOPPED:
	case UNTIL_TIME:
	default:
		return false;
	}
}
