/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/step_commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/profile_file.h"
#include "run/conductor.h"
#include "run/words.h"

static bool parse_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && !errno && value <= UINT32_MAX;
}

static bool is_observe(struct pipeline *pipeline)
{
	const struct focus focus = {.parts = FOCUS_STEPS};
	struct snapshot *snapshot = pipeline_answer(pipeline, &focus);
	bool is = snapshot && snapshot->steps.mode == MODE_OBSERVE;

	snapshot_destroy(snapshot);
	return is;
}

/* False: the person has been told why not. */
static bool tell(struct pipeline *pipeline, const struct engine_input *input)
{
	char error[512];
	bool told = pipeline_input(pipeline, input, error, sizeof(error)) == STATUS_OK;

	if (!told) {
		bool mode = input->kind == INPUT_DECIDE && input->decide.decision == STEP_APPROVE &&
			    is_observe(pipeline);

		pipeline_notice(pipeline, "%s%s", error,
				mode ? "; key {key:mode} changes the mode" : "");
	}
	return told;
}

void steps_set_mode(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	struct engine_input input = {.kind = INPUT_MODE};

	if (words_mode(order->argument, &input.mode)) {
		tell(pipeline, &input);
		pipeline_notice(pipeline, "mode: %s", order->argument);
	} else {
		pipeline_notice(pipeline, "expected: mode observe|approve|autopilot");
	}
}

void steps_decide(const struct order *order)
{
	static const char *const said[] = {"approved", "rejected", "is being undone"};
	struct pipeline *pipeline = order->pipeline;
	enum step_decision decision = order->command == COMMAND_APPROVE  ? STEP_APPROVE
				      : order->command == COMMAND_REJECT ? STEP_REJECT
									 : STEP_UNDO;
	struct engine_input input = {.kind = INPUT_DECIDE,
			.decide = {.decision = decision, .by = STEP_BY_PERSON}};

	if (decision == STEP_UNDO && strcmp(order->argument, "all") == 0) {
		tell(pipeline, &(struct engine_input){.kind = INPUT_UNDO_ALL});
		pipeline_notice(pipeline, "Everything is being undone; mode: observe");
	} else if (!parse_number(order->argument, &input.decide.step)) {
		pipeline_notice(pipeline, "expected the number of a step");
	} else if (tell(pipeline, &input)) {
		pipeline_notice(pipeline, "step %u %s", input.decide.step, said[decision]);
	}
}

void steps_edit(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	bool keep = order->command == COMMAND_TAKE;
	struct engine_input input = {.kind = INPUT_EDIT, .edit.keep = keep};
	char first[16];
	const char *rest = words_split(order->argument, first, sizeof(first));

	if (!parse_number(first, &input.edit.step) || !parse_number(rest, &input.edit.part)) {
		pipeline_notice(pipeline,
				"expected: %s STEP POINT; its points count from 1, key {key:edit} "
				"shows them",
				keep ? "take" : "leave");
	} else if (tell(pipeline, &input)) {
		pipeline_notice(pipeline, "step %u: point %u %s", input.edit.step, input.edit.part,
				keep ? "taken back" : "left out");
	}
}

/* The step of that number; without one, the step that waits. */
void steps_dry_run(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	const char *argument = order->argument;
	struct focus focus = *order->focus;
	const struct step_row *row = NULL;
	struct snapshot *snapshot;
	uint32_t step = 0;
	char error[512];

	if (*argument && !parse_number(argument, &step)) {
		pipeline_notice(pipeline, "expected the number of a step");
		return;
	}
	focus.parts = FOCUS_STEPS;
	snapshot = pipeline_answer(pipeline, &focus);
	for (uint32_t i = 0; snapshot && i < snapshot->steps.n && !row; i++) {
		if (*argument ? snapshot->steps.rows[i].id == step : i == snapshot->steps.next) {
			row = &snapshot->steps.rows[i];
		}
	}
	if (!row && *argument) {
		pipeline_notice(pipeline, "there is no step %u", step);
	} else if (!row) {
		pipeline_notice(pipeline, "no step waits for a decision");
	} else if (!conductor_dry_run(pipeline_conductor(pipeline), row, error, sizeof(error))) {
		pipeline_notice(pipeline, "%s", error);
	}
	snapshot_destroy(snapshot);
}

void steps_propose(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	struct engine_input input = {
			.kind = INPUT_PROPOSE, .propose.enable = order->command == COMMAND_ENABLE};

	if (!parse_number(order->argument, &input.propose.context)) {
		pipeline_notice(pipeline,
				"expected the number of a calling context; keys {key:enable} and "
				"{key:disable} of the tree know it");
	} else if (tell(pipeline, &input)) {
		pipeline_notice(pipeline, "proposed by hand: key {key:approve} approves it");
	}
}

/* The group of that number; without one, the group that is looked at. */
void steps_explain(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	const char *argument = order->argument;
	struct focus worst = *order->focus;
	struct snapshot *snapshot;
	enum status status;
	uint32_t group = worst.group_id;

	if (*argument && !parse_number(argument, &group)) {
		pipeline_notice(pipeline, "expected the number of a group");
		return;
	}
	if (!*argument && group == 0) {
		worst.parts = FOCUS_GROUP;
		snapshot = pipeline_answer(pipeline, &worst);
		group = snapshot ? snapshot->group.id : 0;
		snapshot_destroy(snapshot);
	}
	status = pipeline_input(pipeline,
			&(struct engine_input){.kind = INPUT_EXPLAIN, .number = group}, NULL, 0);
	if (status == STATUS_OK) {
		pipeline_notice(pipeline, "Being explained by key-values; screen steps tells");
	} else if (status == STATUS_FULL) {
		pipeline_notice(pipeline, "Too many groups are being explained; ask again later");
	} else {
		pipeline_notice(pipeline, "There is no group %u", group);
	}
}

void steps_set_strategy(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	const char *name = order->argument;
	const struct engine_input input = {.kind = INPUT_STRATEGY, .text = name};

	if (pipeline_input(pipeline, &input, NULL, 0) == STATUS_OK) {
		pipeline_notice(pipeline, "strategy: %s", name);
		return;
	}
	pipeline_notice(pipeline, "there is no strategy \"%s\"; there are:" STRATEGY_NAMES, name);
}

void steps_set_budget(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	struct engine_input input = {
			.kind = INPUT_BUDGET, .budget = *engine_budget(pipeline_engine(pipeline))};

	if (!words_budget(&input.budget, order->argument)) {
		pipeline_notice(pipeline, "expected: budget 5k, budget 2%%, or budget "
					  "events|bytes|cpu|learn|points AMOUNT");
		return;
	}
	tell(pipeline, &input);
	pipeline_notice(pipeline, "budget: %.0f events/s, %.0f bytes/s, %.2g%% of a CPU",
			input.budget.events_per_s, input.budget.bytes_per_s,
			100 * input.budget.cpu_share);
}

void steps_load_profile(const struct order *order)
{
	char error[512];

	if (pipeline_learn(order->pipeline, order->argument, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(order->pipeline, "Learned from %s", order->argument);
	} else {
		pipeline_notice(order->pipeline, "%s", error);
	}
}

void steps_save_profile(const struct order *order)
{
	pipeline_save_profile(order->pipeline, order->argument);
}
