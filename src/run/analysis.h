/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_ANALYSIS_H
#define PT_RUN_ANALYSIS_H

#include "pythiatop/console.h"
#include "run/pipeline.h"

/*
 * The analysis thread behind the screen: drives a pipeline, answers the focus, publishes.
 *
 * A changed focus and a command are answered at once, otherwise a snapshot comes at most ten times
 * a second, and only if it would show something else.
 *
 * Threads: analysis_start(), analysis_stop() and the calls of the console_host belong to one
 * thread, the screen's. The pipeline is the analysis thread's between start and stop.
 */
struct analysis;

/* Starts the thread. NULL with errno on failure. The pipeline stays the caller's. */
struct analysis *analysis_start(struct pipeline *pipeline, const struct focus *focus);

/* Ends the thread and frees what it published. Waits only for the step going on. */
void analysis_stop(struct analysis *analysis);

/* What the screen calls; valid until analysis_stop(). */
void analysis_host(struct analysis *analysis, struct console_host *host);

#endif
