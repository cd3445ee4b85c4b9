/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_WALK_H
#define PT_INTAKE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * Finds the recorded traces under a path: a directory that holds a file `metadata` is one; others
 * are searched, sorted by name, so that the same recording always gives the same list. Symbolic
 * links to directories are followed, after everything that can be reached without them. A directory
 * is looked at once, by the first name that leads to it: no trace is named twice, and links in a
 * circle end.
 *
 * Bounds: WALK_MAX_DEPTH levels, links counted like directories; WALK_MAX_TRACES traces;
 * WALK_MAX_ENTRIES names looked at.
 */
#define WALK_MAX_DEPTH   12
#define WALK_MAX_TRACES  1024u
#define WALK_MAX_ENTRIES 100000u

struct walk {
	char **paths; /* owned */
	uint32_t n;
	int full;   /* a bound was reached: there may be more */
	int closed; /* errno of the first directory that cannot be read; 0: none */
};

/*
 * STATUS_OK: at least one was found. Otherwise `error` says why not. Free with walk_release(), in
 * every case.
 */
enum status walk_traces(struct walk *walk, const char *path, char *error, size_t error_size);
void walk_release(struct walk *walk);

/* What a directory is known by, whatever name leads to it; 0: there is none. */
uint64_t walk_identity(const char *path);

#endif
