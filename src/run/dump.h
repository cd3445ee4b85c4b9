/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DUMP_H
#define PT_RUN_DUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "pythiatop/focus.h"
#include "run/pipeline.h"

/*
 * Writes the original events of the window, after the older ones that are still referred to, in the
 * order they were produced: as text in the manner of babeltrace2, or as CTF 1.8 traces in a new
 * directory, one for each host and domain (DIRECTORY/HOST/DOMAIN), by a pythiatop-source of its
 * own.
 *
 * Both are written beside their place, under a name that ends in this process' number, and renamed
 * when they are whole; what was written is removed if that fails. Meanwhile nothing is analysed:
 * the events that come wait in their rings.
 *
 * `said` is one sentence: what was written, with what is missing; or, if false, why it was not.
 */
bool dump_text(struct pipeline *pipeline, const struct focus *focus, const char *path, char *said,
		size_t size);
bool dump_traces(struct pipeline *pipeline, const struct focus *focus, const char *directory,
		char *said, size_t size);

#endif
