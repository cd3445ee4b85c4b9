/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/baselines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "config/baseline_file.h"
#include "run/new_file.h"

#define POLL_NS 1000000000u /* for something to come from a source */

static bool read_to_end(struct pipeline *pipeline, const char *path, char *error, size_t size)
{
	struct intake *intake = pipeline_intake(pipeline);

	while (!pipeline_ended(pipeline)) {
		bool more = pipeline_step(pipeline);

		if (!pipeline_ended(pipeline)) {
			pipeline_wait(pipeline, more ? 0 : clock_monotonic_ns() + POLL_NS, -1);
		}
	}
	if (intake_failed(intake, true, 0, error, size) > 0) {
		return false;
	}
	if (!intake_any_events(intake)) {
		snprintf(error, size, "%s: no events to compare with", path);
		return false;
	}
	return true;
}

static bool set_recording(struct pipeline *pipeline, struct pipeline *of_then, const char *path,
		char *error, size_t size)
{
	const struct baseline *made;
	struct baseline named;

	if (intake_attach(pipeline_intake(of_then), path, error, size) != STATUS_OK ||
			!read_to_end(of_then, path, error, size)) {
		return false;
	}
	made = engine_baseline(pipeline_engine(of_then), HORIZON_ALL);
	if (made && made->n == 0) {
		snprintf(error, size, "%s: no request was complete", path);
		return false;
	}
	if (made) {
		named = *made;
		named.origin = path;
	}
	if (!made || engine_set_baseline(pipeline_engine(pipeline), &named) != STATUS_OK) {
		snprintf(error, size, "%s: out of memory", path);
		return false;
	}
	return true;
}

bool baselines_is_recording(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool baselines_set(struct pipeline *pipeline, struct pipeline *of_then, const char *path,
		char *error, size_t size)
{
	return of_then ? set_recording(pipeline, of_then, path, error, size)
		       : pipeline_set_baseline(pipeline, path, error, size) == STATUS_OK;
}

bool baselines_save(struct pipeline *pipeline, enum horizon horizon, const char *path, char *error,
		size_t size)
{
	const struct baseline *baseline = engine_baseline(pipeline_engine(pipeline), horizon);
	struct new_file file;
	bool written;

	if (!baseline || baseline->n == 0) {
		snprintf(error, size, "%s",
				"There is nothing to save: no request was complete in "
				"that time.");
		return false;
	}
	written = new_file_open(&file, path);
	if (written) {
		written = baseline_file_write(file.out, baseline) == STATUS_OK;
		written = new_file_finish(&file, written);
	}
	if (!written) {
		snprintf(error, size, "Cannot write %s: %s", path, strerror(errno));
	}
	return written;
}
