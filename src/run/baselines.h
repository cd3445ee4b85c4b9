/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_BASELINES_H
#define PT_RUN_BASELINES_H

#include "run/pipeline.h"

/*
 * What later runs are compared with, from files and to files, or made of recordings on the spot.
 */

/*
 * Compares with what is at `path`: a file of :baseline save or --save-baseline, or a directory of
 * recordings, which is read to its end here, with the schemas named. False: `error` says why.
 */
bool baselines_set(struct pipeline *pipeline, const char *path, const char *const *schemas,
		uint32_t n_schemas, char *error, size_t size);

/* Writes the groups and types of a horizon to a file. False: `error` says why. */
bool baselines_save(struct pipeline *pipeline, enum horizon horizon, const char *path, char *error,
		size_t size);

#endif
