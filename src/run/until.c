/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/until.h"

#include "output/verdict.h"

const struct focus until_focus = {.parts = FOCUS_GROUPS | FOCUS_STEPS, .horizon = HORIZON_WINDOW};

/* There is one, and whether a variable explains it is known, too. */
static bool has_verdict(const struct snapshot *snapshot)
{
	const struct steps_finding *verdict = output_verdict(snapshot);

	return verdict &&
	       !(verdict->explanation && (verdict->explanation->state == EXPLANATION_RUNNING ||
							 verdict->explanation->again));
}

/* A step to learn is there; `done`: one that is over. */
static bool has_learn_step(const struct snapshot *snapshot, bool done)
{
	for (uint32_t i = 0; i < snapshot->steps.n; i++) {
		const struct step_row *row = &snapshot->steps.rows[i];

		if (row->kind == STEP_LEARN && (!done || row->state == STEP_UNDONE)) {
			return true;
		}
	}
	return false;
}

bool until_learns(const struct snapshot *snapshot)
{
	return has_learn_step(snapshot, false);
}

bool until_is_shown(const struct batch_until *until, const struct snapshot *snapshot)
{
	switch (until->kind) {
	case UNTIL_VERDICT:
		return has_verdict(snapshot);
	case UNTIL_LEARNED:
		return has_learn_step(snapshot, true);
	case UNTIL_STOPPED:
	case UNTIL_TIME:
	default:
		return false;
	}
}
