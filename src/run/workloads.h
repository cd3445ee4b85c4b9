/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_WORKLOADS_H
#define PT_RUN_WORKLOADS_H

#include "run/pipeline.h"

/*
 * Writes the workload of a horizon to a new file: types, shapes, arrivals, demands
 * (docs/behaviour.md). False, and a message, if there is no request, or the file cannot be written.
 */
bool workloads_save(struct pipeline *pipeline, enum horizon horizon, const char *path, char *error,
		size_t size);

#endif
