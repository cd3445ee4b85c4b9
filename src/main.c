/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/background.h"
#include "config/paths.h"
#include "control/points.h"
#include "intake/url.h"
#include "local/local.h"
#include "options.h"
#include "pythiatop/console.h"
#include "pythiatop/text.h"
#include "run/analysis.h"
#include "run/baselines.h"
#include "run/workloads.h"
#include "run/batch.h"
#include "run/dump.h"
#include "run/report.h"
#include "run/pipeline.h"

#define EXIT_USAGE     2
#define LOCAL_LEARN    200000 /* events/s */
#define LOCAL_RELAY    "net://localhost"
#define SCHEMA_LIVE_NS 3000000000u /* how long --show-schema looks at live sources, at least */

static bool add_schemas(struct pipeline *pipeline, const struct options *options)
{
	char error[1024];
	uint32_t i;

	if (options->n_schemas == 0 &&
			pipeline_offer_schemas(pipeline, error, sizeof(error)) != STATUS_OK) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return false;
	}
	for (i = 0; i < options->n_schemas; i++) {
		if (pipeline_add_schema(pipeline, options->schemas[i], error, sizeof(error)) !=
				STATUS_OK) {
			fprintf(stderr, "pythiatop: %s\n", error);
			return false;
		}
	}
	return true;
}

/* Of what may have colons, as of C++, only the first one ends the program's name. */
static bool set_request(struct pipeline *pipeline, const struct options *options)
{
	char program[256];
	const char *colon = options->request ? strchr(options->request, ':') : NULL;

	if (!colon) {
		return true;
	}
	snprintf(program, sizeof(program), "%.*s", (int)(colon - options->request),
			options->request);
	if (engine_set_request(pipeline_engine(pipeline), program, colon + 1) != STATUS_OK) {
		fprintf(stderr, "pythiatop: out of memory\n");
		return false;
	}
	return true;
}

static bool set_baseline(struct pipeline *pipeline, const struct options *options)
{
	struct pipeline *of_then = NULL;
	char error[1024];
	bool set = true;

	if (!options->baseline) {
		return true;
	}
	if (baselines_is_recording(options->baseline)) {
		of_then = pipeline_create(0, false);
		if (!of_then) {
			fprintf(stderr, "pythiatop: out of memory or descriptors\n");
			return false;
		}
		set = add_schemas(of_then, options) && set_request(of_then, options);
	}
	if (set && !baselines_set(pipeline, of_then, options->baseline, error, sizeof(error))) {
		fprintf(stderr, "pythiatop: %s\n", error);
		set = false;
	}
	if (of_then) {
		pipeline_destroy(of_then);
	}
	return set;
}

/* Without a source: a person picks among localhost's sessions, batch takes them all. */
static int add_local(struct pipeline *pipeline, const struct options *options)
{
	char error[512];
	enum status status = options->batch || options->show_schema
					     ? intake_attach(pipeline_intake(pipeline), LOCAL_RELAY,
							       error, sizeof(error))
					     : intake_offer(pipeline_intake(pipeline), LOCAL_RELAY,
							       error, sizeof(error));

	if (status != STATUS_OK) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int add_sources(struct pipeline *pipeline, const struct options *options)
{
	char error[1024];
	enum status status;
	uint32_t i;

	if (options->n_sources == 0) {
		return add_local(pipeline, options);
	}
	for (i = 0; i < options->n_sources; i++) {
		status = intake_attach(pipeline_intake(pipeline), options->sources[i], error,
				sizeof(error));
		if (status != STATUS_OK) {
			fprintf(stderr, "pythiatop: %s\n", error);
			return status == STATUS_INVALID ? EXIT_USAGE : EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}

/* Live sources are watched as they go; a recording is looked at as a whole. */
static enum horizon choose_horizon(struct pipeline *pipeline, const struct options *options)
{
	if (options->horizon_given) {
		return options->horizon;
	}
	return intake_has_live(pipeline_intake(pipeline)) ? HORIZON_WINDOW : HORIZON_ALL;
}

static bool is_local_over(void *local)
{
	return local && local_is_over(local);
}

static int run_batch(struct pipeline *pipeline, const struct options *options, struct local *local)
{
	struct batch batch = {
			.style = options->style,
			.count = options->count,
			.delay_ns = options->delay_ns,
			.horizon = choose_horizon(pipeline, options),
			.metric = options->metric,
			.select = options->state_of.set ? &options->state_of : NULL,
			.until = options->until,
			.is_over = is_local_over,
			.context = local,
			.out = stdout,
			.err = stderr,
			.progress = isatty(STDERR_FILENO) == 1,
	};

	background_enter();
	return batch_run(pipeline, &batch);
}

static void describe_target(const struct options *options, char *out, size_t size)
{
	char error[64];
	struct url url;

	if (options->n_sources == 0) {
		snprintf(out, size, "localhost");
	} else if (options->n_sources > 1) {
		snprintf(out, size, "%u sources", options->n_sources);
	} else if (url_parse(&url, options->sources[0], error, sizeof(error)) == STATUS_OK &&
			url.kind != URL_DIRECTORY) {
		snprintf(out, size, "%s", url.relay);
	} else {
		const char *name = strrchr(options->sources[0], '/');

		snprintf(out, size, "%s", name && name[1] ? name + 1 : options->sources[0]);
	}
}

static int run_console(struct pipeline *pipeline, const struct options *options)
{
	bool at = options->state_at.kind != INSTANT_NONE;
	char target[256];
	struct console_options console = {
			.theme = options->theme,
			.keys = &options->config.settings,
			.horizon = choose_horizon(pipeline, options),
			.metric = options->metric,
			.ascii = options->ascii,
			.no_color = options->no_color,
			.target = target,
			.screen = at                 ? SCREEN_STATE
				  : options->compare ? SCREEN_CHANGES
						     : SCREEN_GROUPS,
			.frozen = at,
			.back_ns = options->state_at.kind == INSTANT_BACK ? options->state_at.ns
									  : 0,
	};
	struct focus focus = {
			.screen = console.screen,
			.frozen = at,
			.parts = at                 ? FOCUS_STATE
				 : options->compare ? FOCUS_CHANGES
						    : FOCUS_GROUPS | FOCUS_SOURCES,
			.horizon = console.horizon,
	};
	struct console_host host;
	struct analysis *analysis;
	int code;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "pythiatop: no terminal to draw on; for output to a file or pipe: "
				"pythiatop --batch=text SOURCE\n");
		return EXIT_USAGE;
	}
	describe_target(options, target, sizeof(target));
	intake_tell_progress(pipeline_intake(pipeline));
	analysis = analysis_start(pipeline, &focus);
	if (!analysis) {
		fprintf(stderr, "pythiatop: cannot start the analysis: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	analysis_host(analysis, &host);
	code = console_run(&console, &host);
	analysis_stop(analysis);
	return code;
}

static int run_list(struct pipeline *pipeline, const struct options *options)
{
	char url[URL_MAX], error[1024];
	enum status status;

	url_complete(options->list_url, url, sizeof(url));
	status = intake_offer(pipeline_intake(pipeline), url, error, sizeof(error));
	if (status != STATUS_OK) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return EXIT_USAGE;
	}
	return batch_list(pipeline, stdout, stderr);
}

/* Says how it went; the program's exit code. */
static int tell(bool written, const char *said)
{
	char clean[4096];

	text_escape(clean, sizeof(clean), said);
	fprintf(stderr, "pythiatop: %s\n", clean);
	return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What --dump, --dump-text and --report ask for, at the end of the run. */
static int write_dumps(struct pipeline *pipeline, const struct options *options, int code)
{
	const struct hold *hold = pipeline_held(pipeline);
	/* On a screen the person may have gone on to other times. */
	bool held = options->batch && hold->status == HOLD_HELD;
	const struct focus focus = {.screen = SCREEN_STATE,
			.horizon = choose_horizon(pipeline, options),
			.metric = options->metric,
			.frozen = held,
			.back_ns = held ? hold->back_ns : 0};
	char said[1024], path[PATH_MAX];

	if (options->dump_directory && code == EXIT_SUCCESS) {
		code = tell(dump_traces(pipeline, &focus, options->dump_directory, NULL, said,
					    sizeof(said)),
				said);
	}
	if (options->dump_file && code == EXIT_SUCCESS) {
		code = tell(dump_text(pipeline, &focus, options->dump_file, NULL, said,
					    sizeof(said)),
				said);
	}
	if (options->report && code == EXIT_SUCCESS) {
		dump_trim(path, sizeof(path), options->report);
		code = tell(report_write(pipeline, &focus, path, said, sizeof(said)), said);
	}
	return code;
}

/* The relay daemon of the first live source; NULL: all are recordings. */
static const char *find_relay(const struct options *options, char *out, size_t size)
{
	char error[64];
	struct url url;

	if (options->n_sources == 0) {
		return LOCAL_RELAY;
	}
	for (uint32_t i = 0; i < options->n_sources; i++) {
		if (url_parse(&url, options->sources[i], error, sizeof(error)) == STATUS_OK &&
				url.kind != URL_DIRECTORY) {
			url_format_relay(&url, out, size);
			return out;
		}
	}
	return NULL;
}

/* What was learned: the file that was asked for must be good, the last one may be missing. */
static bool learn(struct pipeline *pipeline, const struct options *options)
{
	char path[PATH_MAX], error[1024];

	if (options->learn) {
		snprintf(path, sizeof(path), "%s", options->learn);
	} else if (!paths_state(PIPELINE_PROFILE, path, sizeof(path)) || access(path, F_OK) != 0) {
		return true;
	}
	if (pipeline_learn(pipeline, path, error, sizeof(error)) != STATUS_OK) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return !options->learn;
	}
	return true;
}

/* What the command line says of the loop. */
static void begin_with(
		struct pipeline *pipeline, const struct options *options, enum step_mode mode)
{
	const struct engine_input strategy = {.kind = INPUT_STRATEGY, .text = options->strategy},
				  budget = {.kind = INPUT_BUDGET, .budget = options->budget},
				  begin = {.kind = INPUT_MODE, .mode = mode};

	if (options->strategy) {
		pipeline_input(pipeline, &strategy, NULL, 0);
	}
	if (options->budget_given) {
		pipeline_input(pipeline, &budget, NULL, 0);
	}
	pipeline_input(pipeline, &begin, NULL, 0);
}

/* Steps: hosts to control, what they may cost, and how far to go without asking. */
static bool conduct(
		struct pipeline *pipeline, const struct options *options, const struct local *local)
{
	char relay[URL_MAX], error[1024];
	const struct conductor_setup setup = {
			.relay = find_relay(options, relay, sizeof(relay)),
			.relay_url = options->control_relay,
			.ssh = options->control_ssh,
			.helper = local ? local_helper(local) : NULL,
			.log = options->log,
			/* Plain batch only looks on. */
			.own_host = !options->batch || options->mode != MODE_OBSERVE,
	};
	struct conductor *conductor;

	if (!pipeline_conduct(pipeline, &setup, error, sizeof(error))) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return false;
	}
	conductor = pipeline_conductor(pipeline);
	for (uint32_t i = 0; i < options->n_controls; i++) {
		if (!conductor_add_host(conductor, options->controls[i], error, sizeof(error))) {
			fprintf(stderr, "pythiatop: --control=%s: %s\n", options->controls[i],
					error);
			return false;
		}
	}
	begin_with(pipeline, options, options->mode);
	return learn(pipeline, options);
}

/* What was decided is all in the log, so whatever else would decide is refused. */
static const char *refuse_replay(struct pipeline *pipeline, const struct options *options)
{
	if (options->list_url || !options->batch || intake_has_live(pipeline_intake(pipeline))) {
		return "goes with --batch and recordings alone: give their directory";
	}
	if (options->mode != MODE_OBSERVE || options->n_controls || options->strategy ||
			options->budget_given) {
		return "needs no more: the log has the mode, strategy and budget, and no host is "
		       "told anything: "
		       "leave out --mode, --autopilot, --strategy, --budget and --control";
	}
	if (options->log || options->state_at.kind != INSTANT_NONE) {
		return "does not go with --log or --state-at";
	}
	return NULL;
}

/* The profile last learned is not that of then, so only one that is given counts. */
static bool replay(struct pipeline *pipeline, const struct options *options)
{
	const char *refused = refuse_replay(pipeline, options);
	char error[1024];

	if (refused) {
		fprintf(stderr, "pythiatop: --replay-log %s\n", refused);
		return false;
	}
	if (!pipeline_replay(pipeline, options->replay_log, error, sizeof(error)) ||
			(options->learn && pipeline_learn(pipeline, options->learn, error,
							   sizeof(error)) != STATUS_OK)) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return false;
	}
	return true;
}

/* Hosts, persons and the wall clock have no say in a rehearsal. */
static const char *refuse_rehearsal(struct pipeline *pipeline, const struct options *options)
{
	if (options->list_url || !options->batch || intake_has_live(pipeline_intake(pipeline))) {
		return "goes with --batch and recordings alone: give their directory";
	}
	if (options->mode != MODE_OBSERVE || options->n_controls) {
		return "is on autopilot, and no host is told anything: leave out --mode, "
		       "--autopilot and --control";
	}
	if (options->replay_log || options->log || options->save_profile ||
			options->state_at.kind != INSTANT_NONE) {
		return "does not go with --replay-log, --log, --save-profile or --state-at";
	}
	return NULL;
}

/* The profile last learned is of no rehearsal, so only one that is given counts. */
static bool rehearse(struct pipeline *pipeline, const struct options *options)
{
	const char *refused = refuse_rehearsal(pipeline, options);
	const struct rehearse_setup setup = {.until = options->until,
			.from_ns = options->rehearse_from_ns,
			.for_ns = options->rehearse_for_ns};
	char error[1024] = "out of memory";

	if (refused) {
		fprintf(stderr, "pythiatop: --rehearse %s\n", refused);
		return false;
	}
	begin_with(pipeline, options, MODE_AUTOPILOT);
	if (!pipeline_rehearse(pipeline, &setup) ||
			(options->learn && pipeline_learn(pipeline, options->learn, error,
							   sizeof(error)) != STATUS_OK)) {
		fprintf(stderr, "pythiatop: %s\n", error);
		return false;
	}
	return true;
}

/* Who takes the decisions: a log, the recording's events, or hosts and persons. */
static bool prepare_steps(
		struct pipeline *pipeline, const struct options *options, const struct local *local)
{
	if (options->rehearse) {
		return rehearse(pipeline, options);
	}
	return options->replay_log ? replay(pipeline, options) : conduct(pipeline, options, local);
}

/*
 * Who watches for days needs its memory flat: large blocks (tables that grew, slabs, parts of the
 * log) lie by themselves and go back to the system, instead of leaving holes among small ones.
 * malloc by itself takes to doing the latter with the first such block that is given back; for a
 * recording that is faster.
 */
static void keep_memory_flat(void)
{
	mallopt(M_MMAP_THRESHOLD, 512 << 10);
}

/* Once all has been decided, so that what the log lacks is known. */
static int end_log(struct pipeline *pipeline, int code)
{
	struct conductor *conductor = pipeline_conductor(pipeline);
	char error[PATH_MAX + 200];

	if (!conductor || conductor_end_log(conductor, error, sizeof(error))) {
		return code;
	}
	fprintf(stderr, "pythiatop: %s\n", error);
	return code == EXIT_SUCCESS ? EXIT_FAILURE : code;
}

static int run(struct pipeline *pipeline, const struct options *options, struct local *local)
{
	int code;

	if (options->list_url) {
		return run_list(pipeline, options);
	}
	if (!add_schemas(pipeline, options) || !set_request(pipeline, options) ||
			!set_baseline(pipeline, options)) {
		return EXIT_USAGE;
	}
	code = add_sources(pipeline, options);
	if (code != EXIT_SUCCESS) {
		return code;
	}
	if (intake_has_live(pipeline_intake(pipeline))) {
		keep_memory_flat();
	}
	if (!prepare_steps(pipeline, options, local)) {
		return EXIT_USAGE;
	}
	if (options->state_at.kind != INSTANT_NONE) {
		pipeline_hold(pipeline, &options->state_at,
				!intake_has_live(pipeline_intake(pipeline)));
	}
	if (options->show_schema) {
		return batch_show_schema(pipeline, options->show_schema_all,
				options->delay_ns > SCHEMA_LIVE_NS ? options->delay_ns
								   : SCHEMA_LIVE_NS,
				stdout, stderr);
	}
	code = options->batch ? run_batch(pipeline, options, local)
			      : run_console(pipeline, options);
	/* What was refined since, and what turned out to be the answer, serves the next time. */
	if (options->mode != MODE_OBSERVE && !options->learn &&
			engine_has_learned(pipeline_engine(pipeline))) {
		pipeline_save_learned(pipeline);
	}
	if (options->save_profile && code == EXIT_SUCCESS) {
		engine_learn_here(pipeline_engine(pipeline));
		code = pipeline_save_profile(pipeline, options->save_profile) ? code : EXIT_FAILURE;
		fprintf(stderr, "pythiatop: %s\n",
				code == EXIT_SUCCESS ? "profile written"
						     : "cannot write the profile");
	}
	if (options->save_baseline && code == EXIT_SUCCESS) {
		char error[1024];

		if (!baselines_save(pipeline, choose_horizon(pipeline, options),
				    options->save_baseline, error, sizeof(error))) {
			code = tell(false, error);
		}
	}
	if (options->workload && code == EXIT_SUCCESS) {
		char error[1024];

		if (!workloads_save(pipeline, choose_horizon(pipeline, options), options->workload,
				    error, sizeof(error))) {
			code = tell(false, error);
		}
	}
	return end_log(pipeline, write_dumps(pipeline, options, code));
}

/* Each source takes five descriptors: as many as we may have. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* With -p and a command: what is to be watched has to be started first. */
static bool begin_local(struct options *options, struct local **local)
{
	const struct local_setup setup = {.processes = options->processes,
			.n_processes = options->n_processes,
			.command = options->command,
			.functions = options->functions,
			.cost_percent = (uint32_t)options->cost_percent,
			.quiet = !options->batch};
	char error[1024];

	*local = NULL;
	if (!options->n_processes && !options->command) {
		return true;
	}
	if (local_start(local, &setup, error, sizeof(error)) != STATUS_OK) {
		tell(false, error);
		return false;
	}
	if (!options->control_relay) {
		options->control_relay = local_relay_url(*local);
	}
	if (!options->budget_given) {
		/* Of functions the probe itself records no more than its limit lets it. */
		options->budget = STEP_USUAL_BUDGET;
		options->budget.learn_events_per_s = LOCAL_LEARN;
		options->budget_given = true;
	}
	if (!options->mode_given && !options->batch) {
		options->mode = MODE_APPROVE;
	}
	return options_add_source(options, local_source(*local)) == STATUS_OK;
}

static void end_local(struct local *local)
{
	char said[1024] = "";

	local_end(local, said, sizeof(said));
	if (said[0]) {
		tell(false, said);
	}
}

int main(int argc, char **argv)
{
	struct options options = {0};
	enum status status;
	struct pipeline *pipeline;
	struct local *local;
	int code;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* documents are read by programs */
	status = options_parse(&options, argc, argv, stdout, stderr);
	if (status != STATUS_OK) {
		options_release(&options);
		return status == STATUS_END ? EXIT_SUCCESS : EXIT_USAGE;
	}
	if (options.points) {
		code = points_print(options.controls, options.n_controls, options.control_ssh,
				stdout, stderr);
		options_release(&options);
		return code;
	}
	if (!begin_local(&options, &local)) {
		end_local(local);
		options_release(&options);
		return EXIT_FAILURE;
	}
	/* What the terminal cannot show in its character set is drawn in ASCII. */
	options.ascii = options.ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	raise_limits();
	/* Plain batch has no use for the original events, so it does not pay for them. */
	pipeline = pipeline_create(options.window_ns, !options.batch || options.dump_directory ||
								      options.dump_file ||
								      options.state_of.set);
	if (pipeline) {
		intake_set_reader(pipeline_intake(pipeline), options.reader);
		code = run(pipeline, &options, local);
		pipeline_destroy(pipeline);
	} else {
		fprintf(stderr, "pythiatop: out of memory or descriptors\n");
		code = EXIT_FAILURE;
	}
	end_local(local);
	options_release(&options);
	return code;
}
