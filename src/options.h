/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OPTIONS_H
#define PT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config/instant.h"
#include "config/settings.h"
#include "local/local.h"
#include "output/output.h"
#include "output/select.h"
#include "pythiatop/focus.h"
#include "pythiatop/status.h"
#include "pythiatop/step.h"
#include "run/batch.h"

/*
 * What the command line and the configuration file ask for. The command line wins.
 *
 * OPTIONS is the one table of options: the parser, --help, the manual page and the completion are
 * made of it. X(ID, short letter or 0, long name, argument or NULL, help)
 * An option with an argument may stand in the configuration file as `name = value`.
 */
#define OPTIONS(X)                                                                                 \
	X(RELAY, 'r', "relay", "HOST", "watch all sessions of the relay daemon on HOST")           \
	X(READER, 0, "reader", "WHO",                                                              \
			"who reads live sessions: own (pythiatop), babeltrace2 (its library), or " \
			"auto: own, and the library what that does not understand (default); "     \
			"recordings are read by the library unless own is asked for")              \
	X(PROCESS, 'p', "process", "PID|NAME",                                                     \
			"watch a program that runs, as it is: its processes' kernel events, "      \
			"requests, functions; as root; again for others beside it. "               \
			"`-- COMMAND...` starts one")                                              \
	X(FUNCTIONS, 0, "functions", "NAMES",                                                      \
			"with -p or a command: of its functions those of these names "             \
			"(patterns, with commas between; default: *)")                             \
	X(COST, 0, "cost", "PERCENT",                                                              \
			"with -p or a command: of what its processes have of the processors, "     \
			"watching may take, where they have much to do; beyond, only spans of "    \
			"time are recorded (default: 3; 100: no limit)")                           \
	X(LIST, 'l', "list", "URL", "list what the relay daemon at URL has, and end")              \
	X(BATCH, 'b', "batch", "FORMAT",                                                           \
			"no screen: print json, text, csv, or folded (flame graph)")               \
	X(WEIGHT, 0, "weight", "WHAT",                                                             \
			"with --batch=folded: self (time in ns, default) or variance (us^2)")      \
	X(DOCUMENTS, 'n', "count", "N", "with --batch: end after N documents")                     \
	X(DELAY, 'd', "delay", "SECONDS", "with --batch: time between documents (default 1)")      \
	X(HORIZON, 'H', "horizon", "WHICH",                                                        \
			"statistics over 10s, epoch or all (default: 10s live, all for "           \
			"recordings)")                                                             \
	X(METRIC, 0, "metric", "WHICH",                                                            \
			"the worst group by: variance (rate x sd, default), cov, or modes")        \
	X(BASELINE, 0, "baseline", "FILE",                                                         \
			"compare with how requests performed then: a file of --save-baseline or "  \
			":baseline save, or a directory of recordings")                            \
	X(WORKLOAD, 0, "workload", "FILE",                                                         \
			"at the end, write the workload to FILE: types and shapes of requests, "   \
			"when they come, what they demand")                                        \
	X(SAVE_BASELINE, 0, "save-baseline", "FILE",                                               \
			"at the end, write how requests performed to FILE, for --baseline")        \
	X(REQUEST, 0, "request", "PROGRAM:FUNCTION",                                               \
			"spans of that name are requests, where nothing names them (patterns: "    \
			"nginx:*_request, *:main)")                                                \
	X(WINDOW, 'w', "window", "SECONDS", "length of the moving window (default 10)")            \
	X(STATE_AT, 0, "state-at", "TIME",                                                         \
			"show the instant TIME: 2026-01-31 10:00:06.5, 10:00:06 (UTC), or -3.2s")  \
	X(STATE_OF, 0, "state-of", "LIST",                                                         \
			"with --batch: the state of host=H,pid=N,tid=N,fd=N,cpu=N,disk=D (any of " \
			"them)")                                                                   \
	X(DUMP, 0, "dump", "DIR",                                                                  \
			"at the end, write the window's original events as CTF traces in DIR")     \
	X(DUMP_TEXT, 0, "dump-text", "FILE",                                                       \
			"at the end, write the window's original events to FILE, as text")         \
	X(REPORT, 0, "report", "DIR",                                                              \
			"at the end, write the verdict with its evidence to DIR: report.md, "      \
			"JSON, the decision log, a trace of requests that stand for others")       \
	X(SCHEMA, 's', "schema", "FILE",                                                           \
			"what events mean; may be given more than once, also by the name of a "    \
			"ready one; inferred: none, not even one that is chosen by itself")                                                               \
	X(SHOW_SCHEMA, 0, "show-schema", NULL,                                                     \
			"print the schema in force, guessed or given, of events that occurred, "   \
			"and end")                                                                 \
	X(SHOW_SCHEMA_ALL, 0, "show-schema-all", NULL,                                             \
			"the same, of all events that the traces declare")                         \
	X(POINTS, 0, "points", NULL,                                                               \
			"print the sessions and tracepoints that hosts offer (this one, or "       \
			"those of --control), and end")                                            \
	X(CONTROL, 0, "control", "HOST=HOW",                                                       \
			"control HOST's tracing by HOW: ssh://[user@]host[:port], or local")       \
	X(CONTROL_RELAY, 0, "control.relay_url", "URL",                                            \
			"the relay daemon as controlled hosts see it")                             \
	X(CONTROL_SSH, 0, "control.ssh", "PROGRAM", "reach hosts by PROGRAM instead of ssh")       \
	X(MODE, 0, "mode", "WHICH",                                                                \
			"observe (default), approve each step, or autopilot within the budget")    \
	X(AUTOPILOT, 0, "autopilot", NULL, "as --mode=autopilot")                                  \
	X(STRATEGY, 0, "strategy", "NAME",                                                         \
			"how points are chosen; the first is the usual one:" STRATEGY_NAMES)       \
	X(BUDGET, 0, "budget", "AMOUNT",                                                           \
			"what steps may cost: 5k (events/s, default), 2%, or events|bytes|cpu|"    \
			"learn|points=AMOUNT; may be given more than once")                        \
	X(LEARN, 0, "learn", "FILE",                                                               \
			"where points stand: a profile that was saved; default: the last one "     \
			"learned")                                                                 \
	X(SAVE_PROFILE, 0, "save-profile", "FILE",                                                 \
			"at the end, learn from what was recorded, as if all points had been on, " \
			"and write that profile to FILE")                                          \
	X(UNTIL, 0, "until", "WHEN",                                                               \
			"with --batch: end at a verdict (one that names nothing waits for what "   \
			"costs more), when points are learned, or after SECONDS")                  \
	X(LOG, 0, "log", "FILE", "append every decision to FILE, as JSON lines")                   \
	X(REPLAY_LOG, 0, "replay-log", "FILE",                                                     \
			"with --batch and recordings: take the decisions in FILE (of --log) "      \
			"again")                                                                   \
	X(REHEARSE, 0, "rehearse", NULL,                                                           \
			"with --batch and recordings in which everything was on: play autopilot "  \
			"on them, which sees the skeleton and what it enables")                    \
	X(REHEARSE_FROM, 0, "rehearse-from", "SECONDS",                                            \
			"with --rehearse: begin so long after the recording's first event")        \
	X(REHEARSE_FOR, 0, "rehearse-for", "SECONDS", "with --rehearse: end then at the latest")   \
	X(THEME, 't', "theme", "NAME", "default, light, colorblind, mono, or a theme of yours")    \
	X(ASCII, 'a', "ascii", NULL, "draw with ASCII characters only")                            \
	X(NO_COLOR, 'm', "no-color", NULL, "no colours (as the variable NO_COLOR)")                \
	X(CONFIG, 'c', "config", "FILE", "read FILE instead of the configuration file")            \
	X(COMPLETION, 0, "completion", "SHELL",                                                    \
			"print a completion script for bash, zsh or fish, and end")                \
	X(HELP, 'h', "help", NULL, "print this help, and end")                                     \
	X(VERSION, 'V', "version", NULL, "print the version, and end")

#define USUAL_COST_PERCENT 3u /* as the help says */

struct options {
	const char **sources; /* "net://..." or a path; owned array of borrowed or owned texts */
	uint32_t n_sources;
	const char *reader;   /* own or babeltrace2; NULL: auto */
	const char *processes[LOCAL_PROCESSES]; /* their numbers, or programs' names */
	uint32_t n_processes;
	char *const *command; /* to be started; NULL: none */
	const char *functions; /* patterns; NULL: all */
	uint64_t cost_percent; /* of what these processes do, that watching may take */
	const char *list_url; /* NULL: not asked for */
	bool batch;
	bool compare; /* BEFORE is `baseline` */
	struct output_style style;
	uint64_t count;    /* 0: no limit */
	uint64_t delay_ns; /* at least 10 ms */
	bool horizon_given;
	enum horizon horizon;
	enum metric metric;
	uint64_t window_ns;
	struct instant state_at;                /* kind INSTANT_NONE: not given */
	struct output_select state_of;          /* set: given */
	const char *dump_directory, *dump_file; /* NULL: not asked for */
	const char *report;                     /* NULL: not asked for */
	const char **schemas;                   /* file names, or names of ready schemas */
	uint32_t n_schemas;
	bool show_schema, show_schema_all;
	bool points;
	const char **controls; /* HOST=HOW each, checked */
	uint32_t n_controls;
	const char *control_relay; /* NULL: not given */
	const char *control_ssh;   /* NULL: ssh */
	bool mode_given;
	enum step_mode mode;
	const char *strategy; /* NULL: the usual */
	bool budget_given;
	struct step_budget budget; /* valid if given */
	const char *learn;         /* NULL: not given */
	const char *save_profile;  /* NULL: not asked for */
	struct batch_until until;
	const char *log;        /* NULL: none */
	const char *replay_log; /* NULL: none */
	bool rehearse;
	uint64_t rehearse_from_ns, rehearse_for_ns; /* 0: from the begin, to the end */
	const char *baseline;                       /* NULL: not given */
	const char *workload;                       /* NULL: not asked for */
	const char *save_baseline;                  /* NULL: not asked for */
	const char *request;                        /* "PROGRAM:FUNCTION"; NULL: not given */
	const char *theme;                          /* NULL: not given */
	bool ascii;
	bool no_color;
	struct settings_file config; /* the person's file; also holds their key bindings */
};

/*
 * Parses. STATUS_OK: go on; STATUS_END: all was said on `out`, end with 0; STATUS_INVALID: what is
 * wrong was said on `err`, end with 2. Free with options_release() in every case.
 */
enum status options_parse(
		struct options *options, int argc, char *const *argv, FILE *out, FILE *err);
/* One more SOURCE, as on the command line. STATUS_NO_MEMORY. */
enum status options_add_source(struct options *options, const char *source);
void options_release(struct options *options);

#endif
