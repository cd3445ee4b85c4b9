/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/paths.h"
#include "config/schema_file.h"
#include "intake/url.h"
#include "output/output.h"
#include "pythiatop/command.h"
#include "run/baselines.h"
#include "run/workloads.h"
#include "run/dump.h"
#include "run/dump_job.h"
#include "run/new_file.h"
#include "run/pipeline.h"
#include "run/report.h"
#include "run/step_commands.h"

/*
 * The commands that a person types after ':' and that are not the screen's own. Each answers by a
 * notice.
 */

static void answer_written(struct pipeline *pipeline, const char *path, bool written)
{
	if (written) {
		pipeline_notice(pipeline, "Written: %s", path);
	} else {
		pipeline_notice(pipeline, "Cannot write %s: %s", path, strerror(errno));
	}
}

static void attach(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	char text[PATH_MAX], error[512];

	url_complete(order->argument, text, sizeof(text));
	if (pipeline_ended(pipeline)) {
		pipeline_notice(pipeline,
				"The analysis of the recordings is complete. To add %s, start "
				"again with all.",
				text);
		return;
	}
	if (intake_attach(pipeline_intake(pipeline), text, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Attaching %s", text);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void detach(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	char text[PATH_MAX], error[512];

	url_complete(order->argument, text, sizeof(text));
	if (intake_detach(pipeline_intake(pipeline), text, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Detached %s", text);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void begin_epoch(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;

	pipeline_input(pipeline, &(struct engine_input){.kind = INPUT_EPOCH}, NULL, 0);
	pipeline_notice(pipeline, "A new epoch begins. Key {key:horizon} shows its statistics; it "
				  "is compared "
				  "with the one before, unless a baseline was given.");
}

static void export_to_file(const struct order *order)
{
	static const enum output_format formats[COMMAND_COUNT] = {
			[COMMAND_EXPORT_JSON] = OUTPUT_JSON,
			[COMMAND_EXPORT_TEXT] = OUTPUT_TEXT,
			[COMMAND_EXPORT_CSV] = OUTPUT_CSV,
			[COMMAND_EXPORT_FOLDED] = OUTPUT_FOLDED};
	const struct output_style style = {
			.format = formats[order->command], .weight = OUTPUT_SELF};
	struct pipeline *pipeline = order->pipeline;
	const char *path = order->argument;
	struct focus whole = *order->focus;
	struct new_file file;
	struct snapshot *snapshot;
	bool written;

	if (!new_file_open(&file, path)) {
		answer_written(pipeline, path, false);
		return;
	}
	whole.parts = FOCUS_ALL;
	whole.tree_of_all = true;
	snapshot = pipeline_answer(pipeline, &whole);
	errno = ENOMEM;
	written = snapshot && output_write(file.out, &style, snapshot, true) == STATUS_OK;
	written = new_file_finish(&file, written);
	answer_written(pipeline, path, written);
	snapshot_destroy(snapshot);
}

static void save_schema(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	const char *path = order->argument;
	const struct schema *schema = engine_schema(pipeline_engine(pipeline), true);
	struct new_file file;
	bool written;

	if (!schema) {
		pipeline_notice(pipeline, "There is no schema in force so far: no event has come.");
		return;
	}
	if (!new_file_open(&file, path)) {
		answer_written(pipeline, path, false);
		return;
	}
	written = schema_file_write(file.out, schema) == STATUS_OK;
	written = new_file_finish(&file, written);
	answer_written(pipeline, path, written);
}

/* The file that is meant: the person's own of that name where none is given. */
static const char *baseline_path(const struct order *order, char *path, size_t size)
{
	if (*order->argument) {
		return order->argument;
	}
	if (!paths_state("baseline.json", path, size)) {
		pipeline_notice(order->pipeline,
				"There is no place for a baseline: %s. Name a file.",
				strerror(errno));
		return NULL;
	}
	return path;
}

static void save_baseline(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	char standard[PATH_MAX], error[PATH_MAX + 200];
	const char *path = baseline_path(order, standard, sizeof(standard));

	if (path && baselines_save(pipeline, order->focus->horizon, path, error, sizeof(error))) {
		answer_written(pipeline, path, true);
	} else if (path) {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void save_workload(const struct order *order)
{
	char error[PATH_MAX + 200];

	if (workloads_save(order->pipeline, order->focus->horizon, order->argument, error,
			    sizeof(error))) {
		answer_written(order->pipeline, order->argument, true);
	} else {
		pipeline_notice(order->pipeline, "%s", error);
	}
}

/* What the horizon shows becomes what all is compared with. */
static void baseline_now(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	struct engine *engine = pipeline_engine(pipeline);
	const struct baseline *now = engine_baseline(engine, order->focus->horizon);

	if (!now || now->n == 0) {
		pipeline_notice(pipeline, "There is nothing to compare with: no request was "
					  "complete in that time.");
	} else if (engine_set_baseline(engine, now) == STATUS_OK) {
		pipeline_notice(pipeline, "Comparing with how requests perform now");
	} else {
		pipeline_notice(pipeline, "out of memory");
	}
}

static void load_baseline(const struct order *order)
{
	struct pipeline *pipeline = order->pipeline;
	char standard[PATH_MAX], error[512];
	const char *path = baseline_path(order, standard, sizeof(standard));

	if (!path) {
		return;
	}
	if (pipeline_set_baseline(pipeline, path, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Comparing with the baseline %s", path);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void write_dump(void *context, const struct dump_watch *watch, char *said, size_t size)
{
	const struct order *dump = context;

	if (dump->command == COMMAND_DUMP) {
		dump_traces(dump->pipeline, dump->focus, dump->argument, watch, said, size);
	} else if (dump->command == COMMAND_DUMP_TEXT) {
		dump_text(dump->pipeline, dump->focus, dump->argument, watch, said, size);
	} else {
		report_write(dump->pipeline, dump->focus, dump->argument, said, size);
	}
}

/* Its answers come while it is written. A '/' at the end means the same directory. */
static void start_dump(const struct order *order)
{
	char path[PATH_MAX], said[PATH_MAX + 128];
	struct order dump = *order;

	dump.argument = path;
	dump_trim(path, sizeof(path), order->argument);
	dump_job_start(pipeline_dump_job(order->pipeline), write_dump, &dump, path, said,
			sizeof(said));
	pipeline_notice(order->pipeline, "%s", said);
}

/* What the screen does not answer itself. */
static const struct {
	void (*answer)(const struct order *order);
	bool steers; /* only where hosts can be controlled */
} answers[COMMAND_COUNT] = {
		[COMMAND_APPROVE] = {steps_decide, true},
		[COMMAND_ATTACH] = {attach, false},
		[COMMAND_BASELINE_LOAD] = {load_baseline, false},
		[COMMAND_BASELINE_NOW] = {baseline_now, false},
		[COMMAND_BASELINE_SAVE] = {save_baseline, false},
		[COMMAND_WORKLOAD_SAVE] = {save_workload, false},
		[COMMAND_BUDGET] = {steps_set_budget, true},
		[COMMAND_DETACH] = {detach, false},
		[COMMAND_DISABLE] = {steps_propose, true},
		[COMMAND_DRY_RUN] = {steps_dry_run, true},
		[COMMAND_DUMP] = {start_dump, false},
		[COMMAND_DUMP_TEXT] = {start_dump, false},
		[COMMAND_ENABLE] = {steps_propose, true},
		[COMMAND_EPOCH] = {begin_epoch, false},
		[COMMAND_EXPLAIN] = {steps_explain, false},
		[COMMAND_EXPORT_CSV] = {export_to_file, false},
		[COMMAND_EXPORT_FOLDED] = {export_to_file, false},
		[COMMAND_EXPORT_JSON] = {export_to_file, false},
		[COMMAND_EXPORT_TEXT] = {export_to_file, false},
		[COMMAND_LEAVE] = {steps_edit, true},
		[COMMAND_MODE] = {steps_set_mode, true},
		[COMMAND_PROFILE_LOAD] = {steps_load_profile, true},
		[COMMAND_PROFILE_SAVE] = {steps_save_profile, true},
		[COMMAND_REJECT] = {steps_decide, true},
		[COMMAND_REPORT] = {start_dump, false},
		[COMMAND_SCHEMA_SAVE] = {save_schema, false},
		[COMMAND_STRATEGY] = {steps_set_strategy, true},
		[COMMAND_TAKE] = {steps_edit, true},
		[COMMAND_UNDO] = {steps_decide, true},
};

void pipeline_command(struct pipeline *pipeline, const char *line, const struct focus *focus)
{
	struct order order = {.pipeline = pipeline, .focus = focus};
	char text[1024], meant[512];
	size_t length;

	snprintf(text, sizeof(text), "%s", line + strspn(line, " "));
	for (length = strlen(text); length > 0 && text[length - 1] == ' '; length--) {
		text[length - 1] = '\0';
	}
	order.command = command_find(text, &order.argument);
	if (order.command == COMMAND_NONE || !answers[order.command].answer) {
		pipeline_notice(pipeline, "%s", command_suggest(text, meant, sizeof(meant)));
	} else if (answers[order.command].steers && !pipeline_conductor(pipeline)) {
		pipeline_notice(pipeline, "%s: there is no host to control here",
				commands[order.command].name);
	} else {
		answers[order.command].answer(&order);
	}
}
