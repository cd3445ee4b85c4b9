/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/baselines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "config/baseline_file.h"
#include "run/new_file.h"

#define LOOK_NS 1000000000u /* for something to come from a source */

static bool read_to_end(struct pipeline *pipeline, const char *path, char *error, size_t size)
{
	struct intake *intake = pipeline_intake(pipeline);

	while (!pipeline_ended(pipeline)) {
		bool more = pipeline_step(pipeline);

		if (!pipeline_ended(pipeline)) {
			pipeline_wait(pipeline, more ? 0 : clock_monotonic_ns() + LOOK_NS, -1);
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

/* A pipeline of its own, which goes once the baseline is copied. */
static bool set_recording(struct pipeline *pipeline, const char *path, const char *const *schemas,
		uint32_t n_schemas, char *error, size_t size)
{
	struct pipeline *of_then = pipeline_create(0, false);
	const struct baseline *made;
	struct baseline named;
	bool good = of_then != NULL;

	snprintf(error, size, "%s: out of memory or descriptors", path);
	for (uint32_t i = 0; good && i < n_schemas; i++) {
		good = pipeline_add_schema(of_then, schemas[i], error, size) == STATUS_OK;
	}
	good = good && intake_attach(pipeline_intake(of_then), path, error, size) == STATUS_OK &&
	       read_to_end(of_then, path, error, size);
	if (good) {
		made = engine_baseline(pipeline_engine(of_then), HORIZON_ALL);
		good = made && made->n > 0;
		if (good) {
			named = *made;
			named.origin = path;
			good = engine_set_baseline(pipeline_engine(pipeline), &named) == STATUS_OK;
		}
		if (!good) {
			snprintf(error, size, "%s: %s", path,
					made ? "no request was complete" : "out of memory");
		}
	}
	if (of_then) {
		pipeline_destroy(of_then);
	}
	return good;
}

bool baselines_set(struct pipeline *pipeline, const char *path, const char *const *schemas,
		uint32_t n_schemas, char *error, size_t size)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		return set_recording(pipeline, path, schemas, n_schemas, error, size);
	}
	return pipeline_set_baseline(pipeline, path, error, size) == STATUS_OK;
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
