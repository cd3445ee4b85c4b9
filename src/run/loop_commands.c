/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/loop_commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/profile_file.h"
#include "run/conductor.h"
#include "run/new_file.h"

static const char *const mode_names[MODE_COUNT] = {"observe", "approve", "autopilot"};

/* The first word of a line, and where the rest begins. */
static const char *split(const char *line, char *word, size_t size)
{
	size_t length = strcspn(line, " ");

	snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), line);
	return line + length + strspn(line + length, " ");
}

static bool parse_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && !errno && value <= UINT32_MAX;
}

bool loop_mode_parse(const char *text, enum step_mode *mode)
{
	for (uint32_t i = 0; i < MODE_COUNT; i++) {
		if (strcmp(text, mode_names[i]) == 0) {
			*mode = (enum step_mode)i;
			return true;
		}
	}
	return false;
}

static void set_mode(struct pipeline *pipeline, const char *name)
{
	enum step_mode mode;

	if (loop_mode_parse(name, &mode)) {
		conductor_set_mode(pipeline_conductor(pipeline), mode);
		pipeline_notice(pipeline, "mode: %s", name);
	} else {
		pipeline_notice(pipeline, "expected: mode observe|approve|autopilot");
	}
}

static void decide(struct pipeline *pipeline, enum step_decision decision, const char *argument)
{
	static const char *const said[] = {"approved", "rejected", "is being undone"};
	struct conductor *conductor = pipeline_conductor(pipeline);
	char error[512];
	uint32_t step;

	if (decision == STEP_UNDO && strcmp(argument, "all") == 0) {
		conductor_undo_all(conductor);
		pipeline_notice(pipeline, "Everything is being undone; mode: observe");
	} else if (!parse_number(argument, &step)) {
		pipeline_notice(pipeline, "expected the number of a step");
	} else if (conductor_decide(conductor, step, decision, error, sizeof(error))) {
		pipeline_notice(pipeline, "step %u %s", step, said[decision]);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void edit(struct pipeline *pipeline, bool keep, const char *argument)
{
	char first[16], error[512];
	const char *rest = split(argument, first, sizeof(first));
	uint32_t step, part;

	if (!parse_number(first, &step) || !parse_number(rest, &part)) {
		pipeline_notice(pipeline,
				"expected: %s STEP POINT; its points count from 1, key e "
				"shows them",
				keep ? "take" : "leave");
	} else if (conductor_edit(pipeline_conductor(pipeline), step, part, keep, error,
				   sizeof(error))) {
		pipeline_notice(pipeline, "step %u: point %u %s", step, part,
				keep ? "taken back" : "left out");
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

/* The step of that number; without one, the step that waits. */
static void dry_run(struct pipeline *pipeline, const char *argument, const struct focus *now)
{
	struct focus focus = *now;
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

static void propose(struct pipeline *pipeline, bool enable, const char *argument)
{
	char error[512];
	uint32_t context;

	if (!parse_number(argument, &context)) {
		pipeline_notice(pipeline, "expected the number of a calling context; keys + and - "
					  "of the tree know it");
	} else if (conductor_propose(pipeline_conductor(pipeline), context, enable, error,
				   sizeof(error))) {
		pipeline_notice(pipeline, "proposed by hand: key a approves it");
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

/* The group of that number; without one, the group that is looked at. */
static void explain(struct pipeline *pipeline, const char *argument, const struct focus *focus)
{
	struct focus worst = *focus;
	struct snapshot *snapshot;
	enum status status;
	uint32_t group = focus->group_id;

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
	status = pipeline_conductor(pipeline)
				 ? conductor_explain(pipeline_conductor(pipeline), group)
				 : engine_explain(pipeline_engine(pipeline), group);
	if (status == STATUS_OK) {
		pipeline_notice(pipeline, "Being explained by key-values; screen steps tells");
	} else if (status == STATUS_FULL) {
		pipeline_notice(pipeline, "Too many groups are being explained; ask again later");
	} else {
		pipeline_notice(pipeline, "There is no group %u", group);
	}
}

static void set_strategy(struct pipeline *pipeline, const char *name)
{
	if (conductor_set_strategy(pipeline_conductor(pipeline), name)) {
		pipeline_notice(pipeline, "strategy: %s", name);
		return;
	}
#define X(id, title, help) " " title
	pipeline_notice(pipeline, "there is no strategy \"%s\"; there are:" PYTHIATOP_STRATEGIES(X),
			name);
#undef X
}

/* "2%" is 0.02, "5k" is 5000. False: it is no number. */
static bool parse_amount(const char *text, double *amount)
{
	char *end;

	*amount = strtod(text, &end);
	if (end == text || !(*amount >= 0) || *amount > 1e12) {
		return false;
	}
	if (strcmp(end, "k") == 0) {
		*amount *= 1e3;
	} else if (strcmp(end, "M") == 0) {
		*amount *= 1e6;
	} else if (strcmp(end, "%") == 0) {
		*amount /= 100;
	} else {
		return !*end;
	}
	return true;
}

bool loop_budget_parse(struct step_budget *budget, const char *text)
{
	char what[16];
	const char *rest = split(text, what, sizeof(what));
	double amount;

	if (!*rest) {
		rest = text; /* "2%" and "5k" say themselves what they bound */
		snprintf(what, sizeof(what), "%s", strchr(text, '%') ? "cpu" : "events");
	}
	if (!parse_amount(rest, &amount)) {
		return false;
	}
	if (strcmp(what, "events") == 0) {
		budget->events_per_s = amount;
	} else if (strcmp(what, "bytes") == 0) {
		budget->bytes_per_s = amount;
	} else if (strcmp(what, "cpu") == 0) {
		budget->cpu_share = amount;
	} else if (strcmp(what, "learn") == 0) {
		budget->learn_events_per_s = amount;
	} else if (strcmp(what, "points") == 0 && amount >= 1 && amount <= 1000) {
		budget->points = (uint32_t)amount;
	} else {
		return false;
	}
	return true;
}

static void set_budget(struct pipeline *pipeline, const char *text)
{
	struct step_budget budget = *conductor_budget(pipeline_conductor(pipeline));

	if (!loop_budget_parse(&budget, text)) {
		pipeline_notice(pipeline, "expected: budget 5k, budget 2%%, or budget "
					  "events|bytes|cpu|learn|points AMOUNT");
		return;
	}
	conductor_set_budget(pipeline_conductor(pipeline), &budget);
	pipeline_notice(pipeline, "budget: %.0f events/s, %.0f bytes/s, %.2g%% of a CPU",
			budget.events_per_s, budget.bytes_per_s, 100 * budget.cpu_share);
}

bool loop_save_profile(struct pipeline *pipeline, const char *path)
{
	const struct profile *profile = engine_profile(pipeline_engine(pipeline));
	struct new_file file;
	bool written;

	if (!new_file_open(&file, path)) {
		pipeline_notice(pipeline, "Cannot write %s: %s", path, strerror(errno));
		return false;
	}
	errno = ENOMEM;
	written = profile && profile_file_write(file.out, profile) == STATUS_OK;
	written = new_file_finish(&file, written);
	if (written) {
		pipeline_notice(pipeline, "Written: %s", path);
	} else {
		pipeline_notice(pipeline, "Cannot write %s: %s", path, strerror(errno));
	}
	return written;
}

static void load_profile(struct pipeline *pipeline, const char *path)
{
	char error[512];

	if (pipeline_learn(pipeline, path, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Learned from %s", path);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void profile_command(struct pipeline *pipeline, const char *argument)
{
	char what[16];
	const char *path = split(argument, what, sizeof(what));

	if (strcmp(what, "save") == 0 && *path) {
		loop_save_profile(pipeline, path);
	} else if (strcmp(what, "load") == 0 && *path) {
		load_profile(pipeline, path);
	} else {
		pipeline_notice(pipeline, "expected: profile save|load FILE");
	}
}

bool loop_command(struct pipeline *pipeline, const char *line, const struct focus *focus)
{
	char verb[32];
	const char *argument = split(line, verb, sizeof(verb));

	if (strcmp(verb, "explain") == 0) {
		explain(pipeline, argument, focus);
		return true;
	}
	if (!pipeline_conductor(pipeline)) {
		return false;
	}
	if (strcmp(verb, "mode") == 0) {
		set_mode(pipeline, argument);
	} else if (strcmp(verb, "approve") == 0) {
		decide(pipeline, STEP_APPROVE, argument);
	} else if (strcmp(verb, "reject") == 0) {
		decide(pipeline, STEP_REJECT, argument);
	} else if (strcmp(verb, "undo") == 0) {
		decide(pipeline, STEP_UNDO, argument);
	} else if (strcmp(verb, "dry-run") == 0) {
		dry_run(pipeline, argument, focus);
	} else if (strcmp(verb, "leave") == 0 || strcmp(verb, "take") == 0) {
		edit(pipeline, verb[0] == 't', argument);
	} else if (strcmp(verb, "enable") == 0 || strcmp(verb, "disable") == 0) {
		propose(pipeline, verb[0] == 'e', argument);
	} else if (strcmp(verb, "strategy") == 0) {
		set_strategy(pipeline, argument);
	} else if (strcmp(verb, "budget") == 0) {
		set_budget(pipeline, argument);
	} else if (strcmp(verb, "profile") == 0) {
		profile_command(pipeline, argument);
	} else {
		return false;
	}
	return true;
}
