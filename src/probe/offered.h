/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_OFFERED_H
#define PT_PROBE_OFFERED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The functions that may be recorded, by what a person has named: specifications
 * "PROGRAM[:PATTERN[,PATTERN...]]", without patterns all. A provider is what the events of a
 * program are named after (program.h).
 */
struct offered {
	const char *provider, *name; /* cleaned, as events have it */
	const char *path;            /* of the file */
	uint64_t offset;             /* in it */
};

/*
 * Calls `take` for each, of `provider` or of all (NULL), until it returns false: then it is false,
 * too. Programs that are not there are left out, and those whose functions cannot be recorded
 * (binary_unwinds()).
 */
bool offered_each(const char *const *specs, uint32_t n, const char *provider,
		bool (*take)(void *context, const struct offered *offered), void *context);

/*
 * Takes "PROVIDER:FUNCTION_entry" or ..._exit apart: `name` becomes the provider, and has the
 * function behind. False: it is none that may be recorded.
 */
bool offered_split(const char *const *specs, uint32_t n, char *name, char program[PATH_MAX],
		char **function, bool *exit);

#endif
