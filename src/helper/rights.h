/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_RIGHTS_H
#define PT_HELPER_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/settings.h"

/*
 * What this host's own configuration lets a console do, and the sizes of what is made for it. The
 * console has no say in it.
 *
 * Read from /etc/pythiatop/control.conf, then from $XDG_CONFIG_HOME/pythiatop/control.conf; with
 * --config FILE from that file alone, as a forced command of ssh may want. Both hold together: what
 * is denied anywhere is denied, what is allowed must be allowed in each file that has such lines, a
 * limit is the smaller one, and read-only is read-only. `name = value`; those that may be repeated
 * are lists:
 *
 *   control.allow = GLOB...         points that may be enabled (default: all); repeated
 *   control.deny = GLOB...          points that may not; repeated
 *   control.relay = GLOB...         relay daemons that may be sent to (default: all); repeated
 *   control.read_only = yes         nothing may be changed
 *   control.max_points = 2000       rules that are on at once
 *   control.subbuf_kb = 256         size of a sub-buffer of `skeleton` and `explore`, 2^n
 *   control.subbufs = 8             their number, 2^n
 *   control.tracefile_mb = 16       size of one file at the relay daemon ...
 *   control.tracefiles = 4          ... and how many a stream has there
 *   control.filter_slots = 2        channels for rules with a filter; each costs streams
 *   control.call_seconds = 25       the longest that one call of lttng-ctl may take
 *   control.functions = PROGRAM:NAMES...  functions of programs that may be recorded (none): a path
 *                                   or a program's name, and patterns with commas between; repeated
 *   control.tree = WHAT...          of functions and the probe's kernel events only those of these
 *                                   processes, see probe/processes.h (default: of all); repeated
 *   control.context = perf:NAME     also $app.PROVIDER:NAME: added to our channels; repeated
 */
#define RIGHTS_MAX_LIST      256u
#define RIGHTS_MAX_FUNCTIONS 32u
#define RIGHTS_MAX_TREES     16u

struct rights_list {
	const char *words[RIGHTS_MAX_LIST]; /* point into the files */
	uint32_t n;
};

struct rights {
	bool read_only;
	bool only_functions; /* --functions: of LTTng and of kernel events there is nothing to do */
	struct rights_list allow[2], deny, relay[2], contexts, functions, trees;
	uint64_t max_points, subbuf_kb, subbufs, tracefile_mb, tracefiles, filter_slots,
			call_seconds;
	struct settings_file files[2];
};

/*
 * `path` NULL: the usual files. False: `error` says which line of which file is wrong; nobody
 * should go on with rights that were not understood. Free with rights_release(), in every case.
 */
bool rights_read(struct rights *rights, const char *path, char *error, size_t size);
void rights_release(struct rights *rights);

/*
 * What a command line adds to the files. Functions, "PROGRAM:NAMES": nothing but such is done then;
 * false: it is no such text. A process, see probe/processes.h: functions of it alone. Texts are
 * borrowed and taken apart.
 */
bool rights_add_functions(struct rights *rights, char *functions);
void rights_add_tree(struct rights *rights, char *tree);

bool rights_point(const struct rights *rights, const char *name);
bool rights_relay(const struct rights *rights, const char *url);

/* Does the text match LTTng's kind of pattern: `*` is anything, `\` takes a character as it is? */
bool rights_glob(const char *pattern, const char *text);

#endif
