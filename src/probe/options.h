/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_OPTIONS_H
#define PT_PROBE_OPTIONS_H

/*
 * The options of pythiatop-probe: the parser, --help and the manual page are made of this table.
 * X(ID, short letter or 0, long name, argument or NULL, help)
 */
#define PROBE_OPTIONS(X)                                                                           \
	X(RELAY, 'r', "relay", "URL",                                                              \
			"record into the relay daemon at net://HOST[:CONTROL[:DATA]]")             \
	X(KERNEL, 'k', "kernel", NULL, "record kernel events, as lttng enable-event -k -a would")  \
	X(FUNCTION, 'f', "function", "PROGRAM:NAMES",                                              \
			"record entries and exits of functions of a program: a path, or the "      \
			"name of one that runs or is in the PATH; NAMES are patterns or "          \
			"0xOFFSET, with commas between; may be given again")                       \
	X(WITHIN, 'w', "within", "PROGRAM:NAMES",                                                  \
			"of functions only what runs within these, which are recorded, too: "      \
			"they begin requests")                                                     \
	X(ONE_IN, 'n', "one-in", "N", "with --within: of one in N requests (default 1)")           \
	X(SUMMARY, 0, "summary", NULL,                                                             \
			"of functions, instead of each call, once a second an event for each "     \
			"function, caller and process: how many calls, their durations")           \
	X(PID, 'p', "pid", "PID", "functions of this process only (default: of all)")              \
	X(TREE, 't', "tree", "WHAT",                                                               \
			"of kernel events and functions only those of some processes and of all "  \
			"that these start: WHAT is a PID, a program's name or path, or the "       \
			"directory of a control group; may be given again")                        \
	X(LIMIT, 0, "limit", "PERCENT",                                                            \
			"of a CPU that recording the functions of one program may take; beyond, "  \
			"the most expensive are let go of (default 25)")                           \
	X(COST, 0, "cost", "PERCENT",                                                              \
			"of what recorded processes have of the processors, recording kernel "     \
			"events may take, where they have much to do; beyond, only spans of time " \
			"are recorded (default, and 100: no limit)")                               \
	X(BESIDE, 0, "beside", "PID",                                                              \
			"with --cost: that process, and what it has started, works on what is "    \
			"recorded, and counts, too (default: the probe alone)")                    \
	X(ONE_BY_ONE, 0, "one-by-one", NULL,                                                       \
			"attach functions by a perf event each, as before Linux 6.6: at most 64")  \
	X(LIST, 'l', "list", "PROGRAM[:NAMES]",                                                    \
			"list the functions that can be recorded, where they stand in the file "   \
			"and, of at most 256, their arguments; and end")                           \
	X(SEEN, 0, "seen", "SECONDS",                                                              \
			"with --list: watch the program for so long, and list only functions "     \
			"that its threads were seen in, and on how many of their stacks")          \
	X(SERVE, 0, "serve", NULL, "for pythiatop-control: do what it asks on standard input")     \
	X(SESSION, 's', "session", "NAME", "the session's name (default: probe)")                  \
	X(HOST, 0, "host", "NAME", "the host's name (default: its own)")                           \
	X(LIVE, 0, "live", "US", "send news at least this often, in us (default 200000)")          \
	X(BUFFER, 0, "buffer", "KIB",                                                              \
			"ring buffer of each CPU (default 16384, beyond 4 CPUs 8192, beyond 8 "    \
			"4096); what does not fit is lost and counted")                            \
	X(KEEP, 0, "keep", "MIB",                                                                  \
			"what the relay daemon keeps of each stream; older packets are "           \
			"overwritten (default: all)")                                              \
	X(EVENTS, 0, "events", NULL,                                                               \
			"list the kernel events, where they are taken from, and whether this "     \
			"kernel has that, and end")                                                \
	X(HELP, 'h', "help", NULL, "print this help, and end")                                     \
	X(VERSION, 'V', "version", NULL, "print the version, and end")

#endif
