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
	X(SESSION, 's', "session", "NAME", "the session's name (default: probe)")                  \
	X(HOST, 0, "host", "NAME", "the host's name (default: its own)")                           \
	X(LIVE, 0, "live", "US", "send news at least this often, in us (default 200000)")          \
	X(BUFFER, 0, "buffer", "KIB",                                                              \
			"ring buffer of each CPU (default 4096); what does not fit is lost and "   \
			"counted")                                                                 \
	X(EVENTS, 0, "events", NULL,                                                               \
			"list the kernel events, where they are taken from, and whether this "     \
			"kernel has that, and end")                                                \
	X(HELP, 'h', "help", NULL, "print this help, and end")                                     \
	X(VERSION, 'V', "version", NULL, "print the version, and end")

#endif
