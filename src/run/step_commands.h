/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_STEP_COMMANDS_H
#define PT_RUN_STEP_COMMANDS_H

#include "pythiatop/command.h"
#include "run/pipeline.h"

/* What a person asks for after ':'. */
struct order {
	struct pipeline *pipeline;
	enum command command;
	const char *argument;
	const struct focus *focus; /* what the person looks at */
};

/*
 * The commands about steps; what a person decides on the screen comes here too. Each answers by a
 * notice. All but steps_explain() need a conductor.
 */
void steps_set_mode(const struct order *order);
void steps_decide(const struct order *order);  /* approve, reject, undo */
void steps_edit(const struct order *order);    /* leave, take */
void steps_propose(const struct order *order); /* enable, disable */
void steps_dry_run(const struct order *order);
void steps_explain(const struct order *order);
void steps_set_strategy(const struct order *order);
void steps_set_budget(const struct order *order);
void steps_load_profile(const struct order *order);
void steps_save_profile(const struct order *order);

#endif
