/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DUMP_H
#define PT_RUN_DUMP_H

#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

#include "pythiatop/focus.h"
#include "run/dump_watch.h"
#include "run/pipeline.h"

/*
 * Writes the original events of the window, after the older ones that are still referred to, in the
 * order they were produced: as text in the manner of babeltrace2, or as CTF 1.8 traces in a new
 * directory, one for each host and domain (DIRECTORY/HOST/DOMAIN), by a pythiatop-source of its
 * own.
 *
 * Both are written beside their place, under a name that ends in this process' number, and renamed
 * when they are whole; what was written is removed if that fails. These calls
 * return when it is done: dump_job.h is for when the analysis has to go on.
 *
 * `said` is one sentence: what was written, with what is missing; or, if false, why it was not.
 */

/* `watch` may be NULL. */
bool dump_text(struct pipeline *pipeline, const struct focus *focus, const char *path,
		const struct dump_watch *watch, char *said, size_t size);
bool dump_traces(struct pipeline *pipeline, const struct focus *focus, const char *directory,
		const struct dump_watch *watch, char *said, size_t size);

/*
 * The events of some kept requests as CTF traces in `directory`, which is made here, as a part of
 * something that its caller puts in its place, or removes. `path`: what that will be called.
 */
bool dump_requests(struct pipeline *pipeline, const uint64_t *ids, uint32_t n,
		const char *directory, const char *path, uint64_t *n_events, char *said,
		size_t size);

/* A path without the '/' at its end. */
void dump_trim(char *out, size_t size, const char *path);

#endif
