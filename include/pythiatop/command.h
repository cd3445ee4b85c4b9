/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_COMMAND_H
#define PYTHIATOP_COMMAND_H

#include <stddef.h>

#include "pythiatop/step.h"

/*
 * Everything that can be typed after ':', in the ONE table that completion, the help screen, the
 * man page and those who answer are made from: ui/commands.c answers what is the screen's own,
 * src/run/command.c the others.
 *
 * X(ID, name, arguments, help). Arguments are "" if there are none, "[FILE]" if they may be left
 * out.
 */
#define PYTHIATOP_COMMANDS(X)                                                                      \
	X(APPROVE, "approve", "N", "approve step N")                                               \
	X(AT, "at", "TIME", "freeze, and show that instant: 10:00:06.5 (UTC), or -3.2s")           \
	X(ATTACH, "attach", "URL", "watch a relay daemon, a session of it, or a recording")        \
	X(BASELINE_LOAD, "baseline load", "[FILE]",                                                \
			"compare with how the groups performed when FILE was saved")               \
	X(BASELINE_NOW, "baseline now", "", "compare with how requests perform now, from now on")  \
	X(BASELINE_SAVE, "baseline save", "[FILE]",                                                \
			"save how the groups perform now, to compare with later")                  \
	X(BUDGET, "budget", "[events|bytes|cpu|learn|points] VALUE",                               \
			"what steps may cost: 5k events/s, 2% of a CPU, learn 50k, points 3")      \
	X(DETACH, "detach", "URL", "stop watching it")                                             \
	X(DISABLE, "disable", "CONTEXT", "propose to disable the point of that row of the tree")   \
	X(DRY_RUN, "dry-run", "[N]",                                                               \
			"ask the hosts what they would do of step N; nothing is changed")          \
	X(DUMP, "dump", "DIR",                                                                     \
			"write the window's original events as CTF traces in a new directory")     \
	X(DUMP_TEXT, "dump-text", "FILE", "write the window's original events to a file, as text") \
	X(ENABLE, "enable", "CONTEXT", "propose to enable the point of that row of the tree")      \
	X(EPOCH, "epoch", "", "begin a new epoch, and compare it with the one before")             \
	X(EXPLAIN, "explain", "[GROUP]",                                                           \
			"explain by key-values how long the requests of the group take")           \
	X(EXPORT_JSON, "export json", "FILE", "write what is shown to a file, as JSON")            \
	X(EXPORT_CSV, "export csv", "FILE", "... as comma-separated values")                       \
	X(EXPORT_FOLDED, "export folded", "FILE",                                                  \
			"write the calling contexts to a file, for flame graphs")                  \
	X(EXPORT_TEXT, "export text", "FILE", "... as text")                                       \
	X(HORIZON, "horizon", "10s|epoch|all", "which part of the past statistics speak of")       \
	X(LEAVE, "leave", "N POINT", "leave that point out of step N; they count from 1")          \
	X(METRIC, "metric", "variance|cov|modes", "what groups are ordered by")                    \
	X(MODE, "mode", "observe|approve|autopilot", "what may be done without asking")            \
	X(PROFILE_LOAD, "profile load", "FILE", "learn where points stand from a profile")         \
	X(PROFILE_SAVE, "profile save", "FILE", "save where points stand, and what they cost")     \
	X(QUIT, "quit", "", "quit")                                                                \
	X(REJECT, "reject", "N", "reject step N")                                                  \
	X(REPORT, "report", "DIR",                                                                 \
			"write the verdict and its evidence, for others: text, JSON, a trace")     \
	X(SCHEMA_SAVE, "schema save", "FILE", "write the schema in force to a file")               \
	X(STRATEGY, "strategy", "NAME", "how points are chosen:" STRATEGY_NAMES)                   \
	X(TAKE, "take", "N POINT", "take that point of step N back")                               \
	X(THEME, "theme", "NAME", "change the colours: default, light, colorblind, mono")          \
	X(UNDO, "undo", "N|all", "undo step N, or everything")                                   \
	X(WORKLOAD_SAVE, "workload save", "FILE",                                                  \
			"save types and shapes of requests, when they come, what they demand")

enum command {
#define X(id, name, arguments, help) COMMAND_##id,
	PYTHIATOP_COMMANDS(X)
#undef X
			COMMAND_COUNT,
	COMMAND_NONE = COMMAND_COUNT,
};

struct command_row {
	const char *name, *arguments, *help;
};

extern const struct command_row commands[COMMAND_COUNT];

/*
 * What a line without blanks at its ends asks for, and in it the argument, "" if there is none.
 * COMMAND_NONE: no command, or one with an argument too many or none.
 */
enum command command_find(const char *line, const char **argument);

/*
 * A sentence about a line that is no command: "expected: " those that begin with its first word,
 * with what they do if it is one alone; else that it is unknown, and all there are. Returns `out`.
 */
char *command_suggest(const char *line, char *out, size_t size);

#endif
