/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_REPORT_H
#define PT_RUN_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "run/pipeline.h"

/*
 * What was found, for somebody who was not there, in a directory that is new or empty:
 *
 *   report.md         the page: output/report.h
 *   report.json       the document of --batch=json
 *   decisions.jsonl   the decision log of this run, as run/decisions.h has it; of a run that takes
 *                     the decisions of a log again, a copy of that log
 *   trace/            the original events of the exemplars (run/exemplars.h) alone, as CTF traces
 *
 * It is about the verdict (output/verdict.h); where there is none, about what is known of the group
 * in focus, or of the first that is searched.
 *
 * Written under another name beside its place (temporary_name()) and renamed when it is whole; if
 * that fails what was written is removed. Returns when it is done: dump_job.h is for when the
 * analysis has to go on. `said` is one sentence: what was written, or why it was not.
 */
bool report_write(struct pipeline *pipeline, const struct focus *focus, const char *directory,
		char *said, size_t size);

#endif
