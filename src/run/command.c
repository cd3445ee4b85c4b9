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
#include "run/baselines.h"
#include "run/dump.h"
#include "run/dump_job.h"
#include "run/loop_commands.h"
#include "run/new_file.h"
#include "run/pipeline.h"
#include "run/report.h"

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

static void attach(struct pipeline *pipeline, const char *argument)
{
	char text[PATH_MAX], error[512];

	url_complete(argument, text, sizeof(text));
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

static void detach(struct pipeline *pipeline, const char *argument)
{
	char text[PATH_MAX], error[512];

	url_complete(argument, text, sizeof(text));
	if (intake_detach(pipeline_intake(pipeline), text, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Detached %s", text);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void begin_epoch(struct pipeline *pipeline)
{
	pipeline_input(pipeline, &(struct engine_input){.kind = INPUT_EPOCH}, NULL, 0);
	pipeline_notice(pipeline, "A new epoch begins. Key t shows its statistics; it is compared "
				  "with the one before, unless a baseline was given.");
}

static void export_to(struct pipeline *pipeline, const struct output_style *style, const char *path,
		const struct focus *focus)
{
	struct focus whole = *focus;
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
	written = snapshot && output_write(file.out, style, snapshot, true) == STATUS_OK;
	written = new_file_finish(&file, written);
	answer_written(pipeline, path, written);
	snapshot_destroy(snapshot);
}

static void save_schema(struct pipeline *pipeline, const char *path)
{
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
static const char *baseline_path(
		struct pipeline *pipeline, const char *argument, char *path, size_t size)
{
	if (*argument) {
		return argument;
	}
	if (!paths_state("baseline.json", path, size)) {
		pipeline_notice(pipeline, "There is no place for a baseline: %s. Name a file.",
				strerror(errno));
		return NULL;
	}
	return path;
}

static void save_baseline(
		struct pipeline *pipeline, const char *argument, const struct focus *focus)
{
	char standard[PATH_MAX], error[PATH_MAX + 200];
	const char *path = baseline_path(pipeline, argument, standard, sizeof(standard));

	if (path && baselines_save(pipeline, focus->horizon, path, error, sizeof(error))) {
		answer_written(pipeline, path, true);
	} else if (path) {
		pipeline_notice(pipeline, "%s", error);
	}
}

/* What the horizon shows becomes what all is compared with. */
static void baseline_now(struct pipeline *pipeline, const struct focus *focus)
{
	struct engine *engine = pipeline_engine(pipeline);
	const struct baseline *now = engine_baseline(engine, focus->horizon);

	if (!now || now->n == 0) {
		pipeline_notice(pipeline, "There is nothing to compare with: no request was "
					  "complete in that time.");
	} else if (engine_set_baseline(engine, now) == STATUS_OK) {
		pipeline_notice(pipeline, "Comparing with how requests perform now");
	} else {
		pipeline_notice(pipeline, "out of memory");
	}
}

static void load_baseline(struct pipeline *pipeline, const char *argument)
{
	char standard[PATH_MAX], error[512];
	const char *path = baseline_path(pipeline, argument, standard, sizeof(standard));

	if (!path) {
		return;
	}
	if (pipeline_set_baseline(pipeline, path, error, sizeof(error)) == STATUS_OK) {
		pipeline_notice(pipeline, "Comparing with the baseline %s", path);
	} else {
		pipeline_notice(pipeline, "%s", error);
	}
}

/* If the line begins with this command, its argument without blanks around it; else NULL. */
static const char *argument_of(const char *line, const char *command)
{
	size_t length = strlen(command);

	if (strncmp(line, command, length) != 0 || (line[length] != ' ' && line[length] != '\0')) {
		return NULL;
	}
	return line + length + strspn(line + length, " ");
}

enum dump_kind {
	DUMP_TRACES = 0, /* CTF, in a new directory */
	DUMP_TEXT,
	DUMP_REPORT,
};

struct dump {
	struct pipeline *pipeline;
	const struct focus *focus;
	enum dump_kind kind;
	const char *path;
};

static void write_dump(void *context, const struct dump_watch *watch, char *said, size_t size)
{
	const struct dump *dump = context;

	switch (dump->kind) {
	case DUMP_TRACES:
		dump_traces(dump->pipeline, dump->focus, dump->path, watch, said, size);
		break;
	case DUMP_TEXT:
		dump_text(dump->pipeline, dump->focus, dump->path, watch, said, size);
		break;
	case DUMP_REPORT:
		report_write(dump->pipeline, dump->focus, dump->path, said, size);
		break;
	}
}

/* Its answers come while it is written. A '/' at the end means the same directory. */
static void start_dump(struct pipeline *pipeline, const struct focus *focus, enum dump_kind kind,
		const char *argument)
{
	char path[PATH_MAX], said[PATH_MAX + 128];
	struct dump dump = {.pipeline = pipeline, .focus = focus, .kind = kind, .path = path};

	dump_trim(path, sizeof(path), argument);
	dump_job_start(pipeline_dump_job(pipeline), write_dump, &dump, path, said, sizeof(said));
	pipeline_notice(pipeline, "%s", said);
}

static void export_command(
		struct pipeline *pipeline, const char *argument, const struct focus *focus)
{
	size_t length = strcspn(argument, " ");
	const char *path = argument + length + strspn(argument + length, " ");
	struct output_style style = {.weight = OUTPUT_SELF};
	char name[16];

	snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : 0), argument);
	if (!output_format_parse(name, &style.format) || !*path) {
		pipeline_notice(pipeline, "expected: export json|csv|text|folded FILE");
		return;
	}
	export_to(pipeline, &style, path, focus);
}

void pipeline_command(struct pipeline *pipeline, const char *line, const struct focus *focus)
{
	const char *argument;
	char text[1024];
	size_t length;

	snprintf(text, sizeof(text), "%s", line + strspn(line, " "));
	for (length = strlen(text); length > 0 && text[length - 1] == ' '; length--) {
		text[length - 1] = '\0';
	}
	if ((argument = argument_of(text, "attach")) && *argument) {
		attach(pipeline, argument);
	} else if ((argument = argument_of(text, "detach")) && *argument) {
		detach(pipeline, argument);
	} else if ((argument = argument_of(text, "epoch")) && !*argument) {
		begin_epoch(pipeline);
	} else if ((argument = argument_of(text, "export"))) {
		export_command(pipeline, argument, focus);
	} else if ((argument = argument_of(text, "schema save")) && *argument) {
		save_schema(pipeline, argument);
	} else if ((argument = argument_of(text, "baseline save"))) {
		save_baseline(pipeline, argument, focus);
	} else if ((argument = argument_of(text, "baseline now")) && !*argument) {
		baseline_now(pipeline, focus);
	} else if ((argument = argument_of(text, "baseline load"))) {
		load_baseline(pipeline, argument);
	} else if ((argument = argument_of(text, "dump-text")) && *argument) {
		start_dump(pipeline, focus, DUMP_TEXT, argument);
	} else if ((argument = argument_of(text, "dump")) && *argument) {
		start_dump(pipeline, focus, DUMP_TRACES, argument);
	} else if ((argument = argument_of(text, "report")) && *argument) {
		start_dump(pipeline, focus, DUMP_REPORT, argument);
	} else if (!loop_command(pipeline, text, focus)) {
		pipeline_notice(pipeline,
				"unknown command \"%s\"; there are: attach URL, baseline load "
				"FILE, baseline now, baseline save FILE, detach URL, dump "
				"DIR, "
				"dump-text FILE, epoch, export FORMAT FILE, report DIR, schema "
				"save FILE",
				text);
	}
}
