/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/workloads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/output.h"
#include "run/new_file.h"

bool workloads_save(struct pipeline *pipeline, enum horizon horizon, const char *path, char *error,
		size_t size)
{
	const struct focus focus = {.parts = FOCUS_SHAPES | FOCUS_THOROUGH, .horizon = horizon};
	struct snapshot *snapshot = pipeline_answer(pipeline, &focus);
	struct new_file file;
	bool written;

	if (!snapshot || snapshot->shapes.n == 0) {
		snprintf(error, size, "%s",
				snapshot ? "There is no workload: no request has ended in that "
					   "time."
					 : "out of memory");
		snapshot_destroy(snapshot);
		return false;
	}
	written = new_file_open(&file, path);
	if (written) {
		written = output_workload(file.out, snapshot) == STATUS_OK;
		written = new_file_finish(&file, written);
	}
	if (!written) {
		snprintf(error, size, "Cannot write %s: %s", path, strerror(errno));
	}
	snapshot_destroy(snapshot);
	return written;
}
