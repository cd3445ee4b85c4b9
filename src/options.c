/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "config/duration.h"
#include "config/paths.h"
#include "control/hosts.h"
#include "intake/url.h"
#include "options.h"
#include "run/words.h"

enum option_id {
#define X(id, letter, name, argument, help) OPTION_##id,
	OPTIONS(X)
#undef X
			OPTION_COUNT
};

static const struct option_row {
	char letter;
	const char *name, *argument, *help;
} rows[] = {
#define X(id, letter, name, argument, help) {letter, name, argument, help},
		OPTIONS(X)
#undef X
};

#define FIRST_LONG 256 /* getopt's value of option i is FIRST_LONG + i */

static void print_help(FILE *out)
{
	char name[64];
	size_t i;

	fputs("Usage: pythiatop [OPTION]... [SOURCE]...\n"
	      "       pythiatop [OPTION]... -p PID|NAME\n"
	      "       pythiatop [OPTION]... -- COMMAND [ARGUMENT]...\n"
	      "       pythiatop [OPTION]... compare BEFORE AFTER...\n"
	      "Find out why some requests of a distributed system are slow.\n\n"
	      "SOURCE is any number of\n"
	      "  HOST or net://HOST[:PORT]                    a relay daemon: all its sessions\n"
	      "  net://HOST[:PORT]/host/TRACED/SESSION        one session\n"
	      "  DIRECTORY                                    recorded CTF traces in or below it\n"
	      "Without any, the sessions of localhost's relay daemon are offered.\n"
	      "compare tells what is otherwise in AFTER, a SOURCE, than in BEFORE, a baseline or a\n"
	      "directory of recordings: which place, of which service, adds how much; on a screen,\n"
	      "or without a terminal as a page.\n\n",
			out);
	for (i = 0; i < OPTION_COUNT; i++) {
		snprintf(name, sizeof(name), "--%s%s%s", rows[i].name, rows[i].argument ? "=" : "",
				rows[i].argument ? rows[i].argument : "");
		fprintf(out, "  %c%c%c %-19s %s\n", rows[i].letter ? '-' : ' ',
				rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ',' : ' ',
				name, rows[i].help);
	}
	fputs("\nThe same names with an argument may stand as `name = value` in the file\n"
	      "~/.config/pythiatop/pythiatop.conf. Exit: 0 done, 1 failed, 2 wrong usage.\n",
			out);
}

static void complete_bash(FILE *out)
{
	fputs("# bash completion for pythiatop\n_pythiatop()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]}\n\tcase $word in\n\t-*)\n"
	      "\t\tCOMPREPLY=($(compgen -W \"",
			out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		fprintf(out, "%s--%s%s", i ? " " : "", rows[i].name, rows[i].argument ? "=" : "");
	}
	fputs("\" -- \"$word\"))\n\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n\t\t;;\n"
	      "\t*)\n\t\tCOMPREPLY=($(compgen -d -- \"$word\"))\n\t\t;;\n\tesac\n}\n"
	      "complete -o filenames -F _pythiatop pythiatop\n",
			out);
}

/* Text between quotes of a shell, with what ends them, and what zsh reads, escaped. */
static void put_quoted(FILE *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
		} else {
			fprintf(out, strchr(escaped, *text) ? "\\%c" : "%c", *text);
		}
	}
}

static void complete_zsh(FILE *out)
{
	fputs("#compdef pythiatop\n_arguments -s -S \\\n", out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		fprintf(out, "\t'--%s%s[", rows[i].name, rows[i].argument ? "=" : "");
		put_quoted(out, rows[i].help, "[]:");
		fputs("]", out);
		if (rows[i].argument) {
			fputs(":", out);
			put_quoted(out, rows[i].argument, "[]:");
			fputs(":_files", out);
		}
		fputs("' \\\n", out);
	}
	fputs("\t'*:source:_files -/'\n", out);
}

static void complete_fish(FILE *out)
{
	fputs("# fish completion for pythiatop\n", out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		fprintf(out, "complete -c pythiatop -l %s", rows[i].name);
		if (rows[i].letter) {
			fprintf(out, " -s %c", rows[i].letter);
		}
		fprintf(out, "%s -d '", rows[i].argument ? " -r" : "");
		put_quoted(out, rows[i].help, "");
		fputs("'\n", out);
	}
}

static const struct {
	const char *shell;
	void (*print)(FILE *out);
} completions[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

static enum status print_completion(const char *shell, FILE *out, FILE *err)
{
	for (size_t i = 0; i < sizeof(completions) / sizeof(*completions); i++) {
		if (strcmp(completions[i].shell, shell) == 0) {
			completions[i].print(out);
			return STATUS_END;
		}
	}
	fprintf(err, "pythiatop: --completion=%s: expected bash, zsh or fish\n", shell);
	return STATUS_INVALID;
}

static enum status add_text(const char ***texts, uint32_t *n, const char *text)
{
	char *copy = strdup(text);

	if (!copy || !array_resize(texts, *n + 1u)) {
		free(copy);
		return STATUS_NO_MEMORY;
	}
	(*texts)[(*n)++] = copy;
	return STATUS_OK;
}

static enum status add_relay(struct options *options, const char *host)
{
	char url[1024];

	if (strstr(host, "://")) {
		return add_text(&options->sources, &options->n_sources, host);
	}
	snprintf(url, sizeof(url), "net://%s", host);
	return add_text(&options->sources, &options->n_sources, url);
}

/* NULL, or what was expected instead. The last one of a host wins: the command line's. */
static const char *add_control(struct options *options, const char *option)
{
	static const char *const expected = "HOST=ssh://[user@]host[:port] or HOST=local";
	size_t name = strcspn(option, "=") + 1;
	char error[256];
	uint32_t i;

	if (!control_option_check(option, error, sizeof(error))) {
		return expected;
	}
	for (i = 0; i < options->n_controls; i++) {
		if (strncmp(options->controls[i], option, name) == 0) {
			char *copy = strdup(option);

			if (!copy) {
				return "more memory than there is";
			}
			free((char *)(uintptr_t)options->controls[i]);
			options->controls[i] = copy;
			return NULL;
		}
	}
	return add_text(&options->controls, &options->n_controls, option) == STATUS_OK
			       ? NULL
			       : "more memory than there is";
}

static const char *set_control_relay(struct options *options, const char *url)
{
	char taken[512], error[512];

	options->control_relay = url;
	return control_relay_url(url, NULL, false, taken, sizeof(taken), error, sizeof(error))
			       ? NULL
			       : "net://HOST[:CONTROL[:DATA]], where LTTng sends sessions to";
}

enum status options_add_source(struct options *options, const char *source)
{
	char url[PATH_MAX];

	url_complete(source, url, sizeof(url));
	return add_text(&options->sources, &options->n_sources, url);
}

static bool parse_count(const char *text, uint64_t *count)
{
	char *end;

	if (!isdigit((unsigned char)text[0])) {
		return false;
	}
	errno = 0;
	*count = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *count > 0;
}

static const char *const batch_values = "json, text, csv or folded";
static const char *const horizon_values = "10s, epoch or all";

static const char *const metric_values = "variance, cov or modes";
static const char *const weight_values = "self or variance";

/* What is expected instead of `value`, or NULL if it was taken. */
static const char *set_value(struct options *options, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_BATCH:
		options->batch = true;
		return output_format_parse(value, &options->style.format) ? NULL : batch_values;
	case OPTION_DOCUMENTS:
		return parse_count(value, &options->count) ? NULL
							   : "a number of documents, 1 or more";
	case OPTION_DELAY:
		return duration_parse_seconds(value, &options->delay_ns) &&
						       options->delay_ns >= 10000000u
				       ? NULL
				       : "seconds, 0.01 or more";
	case OPTION_HORIZON:
		options->horizon_given = true;
		return output_horizon_parse(value, &options->horizon) ? NULL : horizon_values;
	case OPTION_METRIC:
		return output_metric_parse(value, &options->metric) ? NULL : metric_values;
	case OPTION_WEIGHT:
		return output_weight_parse(value, &options->style.weight) ? NULL : weight_values;
	case OPTION_WINDOW:
		return duration_parse_seconds(value, &options->window_ns) &&
						       options->window_ns >= 1000000000u &&
						       options->window_ns <= 3600000000000u
				       ? NULL
				       : "seconds, 1 to 3600";
	case OPTION_REHEARSE_FROM:
		return duration_parse_seconds(value, &options->rehearse_from_ns) ? NULL : "seconds";
	case OPTION_REHEARSE_FOR:
		return duration_parse_seconds(value, &options->rehearse_for_ns) &&
						       options->rehearse_for_ns > 0
				       ? NULL
				       : "seconds, more than 0";
	case OPTION_STATE_AT:
		return instant_parse(value, &options->state_at)
				       ? NULL
				       : "a time: 2026-01-31 10:00:06.5 or 10:00:06 (UTC), seconds "
					 "since 1970, or -3.2s";
	case OPTION_STATE_OF:
		return output_select_parse(value, &options->state_of)
				       ? NULL
				       : "a list of host=, pid=, tid=, fd=, cpu=, disk=";
	default:
		return NULL;
	}
}

static const char *set_mode(struct options *options, const char *value)
{
	options->mode_given = true;
	return words_mode(value, &options->mode) ? NULL : "observe, approve or autopilot";
}

static const char *set_strategy(struct options *options, const char *value)
{
#define X(id, name, help) strcmp(value, name) == 0 ||
	bool known = PYTHIATOP_STRATEGIES(X) false;
#undef X

	options->strategy = value;
	return known ? NULL : "one of" STRATEGY_NAMES;
}

static const char *add_budget(struct options *options, const char *value)
{
	char text[64];
	char *equals;

	if (!options->budget_given) {
		options->budget = STEP_USUAL_BUDGET;
		options->budget_given = true;
	}
	snprintf(text, sizeof(text), "%s", value);
	equals = strchr(text, '=');
	if (equals) {
		*equals = ' ';
	}
	return words_budget(&options->budget, text) ? NULL
						    : "5k (events/s), 2% (of a CPU), or "
						      "events|bytes|cpu|learn|points=AMOUNT";
}

static const char *set_until(struct batch_until *until, const char *value)
{
	if (strcmp(value, "verdict") == 0) {
		until->kind = UNTIL_VERDICT;
	} else if (strcmp(value, "learned") == 0) {
		until->kind = UNTIL_LEARNED;
	} else if (duration_parse_seconds(value, &until->ns) && until->ns > 0) {
		until->kind = UNTIL_TIME;
	} else {
		return "verdict, learned, or seconds";
	}
	return NULL;
}

/* Takes one option, of the command line or of the file. NULL, or what was expected instead. */
static const char *take(struct options *options, enum option_id id, const char *value)
{
	static const char *const no_memory = "more memory than there is";

	switch (id) {
	case OPTION_RELAY:
		return add_relay(options, value) == STATUS_OK ? NULL : no_memory;
	case OPTION_READER:
		options->reader = strcmp(value, "auto") == 0 ? NULL : value;
		return !options->reader || strcmp(value, "own") == 0 ||
						       strcmp(value, "babeltrace2") == 0
				       ? NULL
				       : "own, babeltrace2 or auto";
	case OPTION_PROCESS:
		if (options->n_processes == LOCAL_PROCESSES) {
			_Static_assert(LOCAL_PROCESSES == 8, "the sentence says how many");
			return "no more than 8 programs";
		}
		options->processes[options->n_processes++] = value;
		return value[0] ? NULL : "the number of a process, or a program's name";
	case OPTION_FUNCTIONS:
		options->functions = value;
		return value[0] && strcspn(value, " \t:") == strlen(value)
				       ? NULL
				       : "patterns of names, with commas between: exec_*,Exec*";
	case OPTION_COST:
		return parse_count(value, &options->cost_percent) && options->cost_percent <= 100
				       ? NULL
				       : "percent, 1 to 100";
	case OPTION_SCHEMA:
		return add_text(&options->schemas, &options->n_schemas, value) == STATUS_OK
				       ? NULL
				       : no_memory;
	case OPTION_CONTROL:
		return add_control(options, value);
	case OPTION_CONTROL_RELAY:
		return set_control_relay(options, value);
	case OPTION_CONTROL_SSH:
		options->control_ssh = value;
		return NULL;
	case OPTION_MODE:
		return set_mode(options, value);
	case OPTION_AUTOPILOT:
		options->mode = MODE_AUTOPILOT;
		options->mode_given = true;
		return NULL;
	case OPTION_STRATEGY:
		return set_strategy(options, value);
	case OPTION_BUDGET:
		return add_budget(options, value);
	case OPTION_LEARN:
		options->learn = value;
		return NULL;
	case OPTION_SAVE_PROFILE:
		options->save_profile = value;
		return NULL;
	case OPTION_UNTIL:
		return set_until(&options->until, value);
	case OPTION_LOG:
		options->log = value;
		return NULL;
	case OPTION_REPLAY_LOG:
		options->replay_log = value;
		return NULL;
	case OPTION_REHEARSE:
		options->rehearse = true;
		return NULL;
	case OPTION_LIST:
		options->list_url = value;
		return NULL;
	case OPTION_DUMP:
		options->dump_directory = value;
		return NULL;
	case OPTION_DUMP_TEXT:
		options->dump_file = value;
		return NULL;
	case OPTION_REPORT:
		options->report = value;
		return NULL;
	case OPTION_REQUEST:
		options->request = value;
		return strchr(value, ':') && value[0] != ':' && strchr(value, ':')[1]
				       ? NULL
				       : "a program and a function: nginx:ngx_http_process_request, *:main";
	case OPTION_BASELINE:
		options->baseline = value;
		return NULL;
	case OPTION_WORKLOAD:
		options->workload = value;
		return NULL;
	case OPTION_SAVE_BASELINE:
		options->save_baseline = value;
		return NULL;
	case OPTION_THEME:
		options->theme = value;
		return NULL;
	case OPTION_SHOW_SCHEMA_ALL:
		options->show_schema_all = true;
		/* fall through */
	case OPTION_SHOW_SCHEMA:
		options->show_schema = true;
		return NULL;
	case OPTION_POINTS:
		options->points = true;
		return NULL;
	case OPTION_ASCII:
		options->ascii = true;
		return NULL;
	case OPTION_NO_COLOR:
		options->no_color = true;
		return NULL;
	default:
		return set_value(options, id, value);
	}
}

/* Values of the configuration file; bindings of keys ("key.quit = q") are the screen's. */
static enum status take_config(struct options *options, const char *path, bool asked_for, FILE *err)
{
	char error[512], standard[PATH_MAX];
	enum status status;
	uint32_t i;

	if (!path) {
		if (!paths_config(standard, sizeof(standard))) {
			return STATUS_OK;
		}
		path = standard;
	}
	error[0] = '\0';
	status = settings_read(&options->config, path, error, sizeof(error));
	if (status == STATUS_NOT_FOUND) {
		if (asked_for) {
			fprintf(err, "pythiatop: cannot open %s: there is no such file\n", path);
		}
		return asked_for ? STATUS_INVALID : STATUS_OK;
	}
	if (status != STATUS_OK) {
		fprintf(err, "pythiatop: %s\n", error);
		return STATUS_INVALID;
	}
	for (i = 0; i < options->config.settings.n; i++) {
		const struct setting *item = &options->config.settings.items[i];
		const char *expected;
		size_t id;

		if (strncmp(item->name, "key.", 4) == 0) {
			continue;
		}
		for (id = 0; id < OPTION_COUNT; id++) {
			if (rows[id].argument && id != OPTION_CONFIG && id != OPTION_LIST &&
					strcmp(rows[id].name, item->name) == 0) {
				break;
			}
		}
		expected = id < OPTION_COUNT ? take(options, (enum option_id)id, item->value)
					     : "an option that takes an argument; see --help";
		if (expected) {
			fprintf(err, "pythiatop: %s:%u: %s = %s: expected %s\n", path, item->line,
					item->name, item->value, expected);
			return STATUS_INVALID;
		}
	}
	return STATUS_OK;
}

static void make_getopt(struct option *longs, char *shorts)
{
	size_t i;

	for (i = 0; i < OPTION_COUNT; i++) {
		longs[i] = (struct option){
				.name = rows[i].name,
				.has_arg = rows[i].argument ? required_argument : no_argument,
				.val = FIRST_LONG + (int)i,
		};
		if (rows[i].letter) {
			*shorts++ = rows[i].letter;
			if (rows[i].argument) {
				*shorts++ = ':';
			}
		}
	}
	longs[OPTION_COUNT] = (struct option){.name = NULL};
	*shorts = '\0';
}

static enum option_id find_id(int value)
{
	size_t i;

	if (value >= FIRST_LONG) {
		return (enum option_id)(value - FIRST_LONG);
	}
	for (i = 0; i < OPTION_COUNT; i++) {
		if (rows[i].letter == value) {
			return (enum option_id)i;
		}
	}
	return OPTION_COUNT;
}

enum option_pass { PASS_CONFIG, PASS_ALL };

/*
 * One pass over the command line. The first one looks for --config alone, as the file's values come
 * before those of the command line.
 */
static enum status pass(struct options *options, enum option_pass which, int argc,
		char *const *argv, const char **config, FILE *out, FILE *err)
{
	struct option longs[OPTION_COUNT + 1];
	char shorts[2 * OPTION_COUNT + 1];
	const char *expected;
	enum option_id id;
	int value;

	make_getopt(longs, shorts);
	optind = 0; /* starts anew, says glibc's manual */
	opterr = which == PASS_CONFIG;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		id = find_id(value);
		if (id == OPTION_COUNT) {
			fprintf(err, "Try 'pythiatop --help'.\n");
			return STATUS_INVALID;
		}
		if (which == PASS_CONFIG) {
			if (id == OPTION_CONFIG) {
				*config = optarg;
			} else if (id == OPTION_HELP) {
				print_help(out);
				return STATUS_END;
			} else if (id == OPTION_VERSION) {
				fprintf(out, "pythiatop %s\n", PT_VERSION);
				return STATUS_END;
			} else if (id == OPTION_COMPLETION) {
				return print_completion(optarg, out, err);
			}
			continue;
		}
		expected = id == OPTION_CONFIG ? NULL : take(options, id, optarg);
		if (expected) {
			fprintf(err, "pythiatop: --%s=%s: expected %s\n", rows[id].name, optarg,
					expected);
			return STATUS_INVALID;
		}
	}
	return STATUS_OK;
}

/*
 * compare BEFORE AFTER...: what has changed, on its screen; as a page where there is no terminal,
 * unless another format is asked for.
 */
static enum status take_compare(
		struct options *options, int argc, char *const *argv, FILE *err)
{
	if (argc - optind < 3) {
		fprintf(err, "pythiatop: compare: expected BEFORE AFTER, of which BEFORE is a "
			     "baseline or a directory of recordings\n");
		return STATUS_INVALID;
	}
	options->baseline = argv[optind + 1];
	optind += 2;
	options->compare = true;
	if (!options->batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		options->batch = true;
		options->style = (struct output_style){.format = OUTPUT_TEXT, .changes = true};
	}
	return STATUS_OK;
}

/* Behind "--" stands a command. Returns how many arguments are left before it. */
static int take_command(struct options *options, int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			options->command = i + 1 < argc ? argv + i + 1 : NULL;
			return i;
		}
	}
	return argc;
}

/* One program, that runs or is started, and nothing else to watch. */
static enum status check_local(const struct options *options, FILE *err)
{
	bool wrong = (options->n_processes && options->command) ||
		     ((options->n_processes || options->command) &&
				     (options->n_sources > 0 || options->list_url));

	if (wrong) {
		fputs("pythiatop: -p PID|NAME, -- COMMAND and a SOURCE do not go together: give one "
		      "of them\n",
				err);
	}
	return wrong ? STATUS_INVALID : STATUS_OK;
}

enum status options_parse(
		struct options *options, int argc, char *const *argv, FILE *out, FILE *err)
{
	const char *config = NULL;
	enum status status;
	const char *no_color;

	*options = (struct options){
			.delay_ns = 1000000000u,
			.horizon = HORIZON_WINDOW,
			.window_ns = 10000000000u,
			.cost_percent = USUAL_COST_PERCENT,
	};
	argc = take_command(options, argc, argv);
	no_color = getenv("NO_COLOR");
	options->no_color = no_color && no_color[0] != '\0';
	status = pass(options, PASS_CONFIG, argc, argv, &config, out, err);
	if (status == STATUS_OK) {
		status = take_config(options, config, config != NULL, err);
	}
	if (status == STATUS_OK) {
		status = pass(options, PASS_ALL, argc, argv, &config, out, err);
	}
	if (status == STATUS_OK && optind < argc && strcmp(argv[optind], "compare") == 0) {
		status = take_compare(options, argc, argv, err);
	}
	while (status == STATUS_OK && optind < argc) {
		if (options_add_source(options, argv[optind++]) != STATUS_OK) {
			fprintf(err, "pythiatop: out of memory\n");
			status = STATUS_INVALID;
		}
	}
	if (status == STATUS_OK) {
		status = check_local(options, err);
	}
	/* Flame graph tools add up lines of the same stack: one document, unless more are wanted.
	 */
	if (options->style.format == OUTPUT_FOLDED && options->count == 0) {
		options->count = 1;
	}
	return status;
}

static void free_texts(const char **texts, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		free((char *)texts[i]);
	}
	free(texts);
}

void options_release(struct options *options)
{
	free_texts(options->sources, options->n_sources);
	free_texts(options->schemas, options->n_schemas);
	free_texts(options->controls, options->n_controls);
	settings_release(&options->config);
}
