/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/until.h"

const struct focus until_focus = {.parts = FOCUS_GROUPS | FOCUS_STEPS, .horizon = HORIZON_EPOCH};

/* The search for the group whose variation costs most has come to its own end. */
static bool has_verdict(const struct snapshot *snapshot)
{
	const struct steps_view *steps = &snapshot->steps;

	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		if (!snapshot->groups.rows[i].detection) {
			continue;
		}
		for (uint32_t f = 0; f < steps->n_findings; f++) {
			if (steps->findings[f].group_id == snapshot->groups.rows[i].id) {
				return steps->findings[f].rule != STOP_NONE;
			}
		}
		return false;
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
