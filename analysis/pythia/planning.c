/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "pythia/planning.h"
#include "pythia/thresholds.h"

void planning_init(struct planning *planning)
{
	uint32_t n;

	planning->budget = STEP_USUAL_BUDGET;
	planning->strategy = strategies(&n);
}

void planning_release(struct planning *planning)
{
	free(planning->rates);
	free(planning->candidates);
	free(planning->chosen);
	free(planning->ranks);
	free(planning->parts);
	free(planning->places);
}

void planning_set_budget(struct planning *planning, const struct step_budget *budget)
{
	planning->budget = *budget;
	if (planning->budget.points == 0) {
		planning->budget.points = STEP_USUAL_BUDGET.points;
	}
}

bool planning_set_strategy(struct planning *planning, const char *name)
{
	const struct strategy *strategy = strategy_find(name);

	if (strategy) {
		planning->strategy = strategy;
	}
	return strategy != NULL;
}

void planning_postpone(struct planning *planning, enum step_kind kind, uint64_t now_ns)
{
	if (kind == STEP_SKELETON) {
		planning->skeleton_ns = now_ns + PROPOSE_AGAIN_NS;
	} else if (kind == STEP_LEARN) {
		planning->learn_ns = now_ns + PROPOSE_AGAIN_NS;
	}
}

void planning_resume(struct planning *planning)
{
	planning->skeleton_ns = planning->learn_ns = 0;
}

void planning_set_learn_tried(struct planning *planning, bool tried)
{
	planning->learn_tried = tried;
}
