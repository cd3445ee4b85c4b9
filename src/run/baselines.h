/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_BASELINES_H
#define PT_RUN_BASELINES_H

#include "run/pipeline.h"

/*
 * What later runs are compared with, from files and to files, or made of recordings on the spot.
 */

/* A directory of recordings, rather than a file of :baseline save or --save-baseline. */
bool baselines_is_recording(const char *path);

/*
 * Compares with what is at `path`: a file, or recordings, which are read to their end here, in a
 * pipeline that knows schemas and the like as this one does and goes afterwards (NULL: a file).
 * False: `error` says why.
 */
bool baselines_set(struct pipeline *pipeline, struct pipeline *of_then, const char *path,
		char *error, size_t size);

/* Writes the groups and types of a horizon to a file. False: `error` says why. */
bool baselines_save(struct pipeline *pipeline, enum horizon horizon, const char *path, char *error,
		size_t size);

#endif
