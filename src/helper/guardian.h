/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_GUARDIAN_H
#define PT_HELPER_GUARDIAN_H

#include "helper/worker.h"

/*
 * The process that a console talks to. It never calls lttng-ctl, whose calls block as long as a
 * session daemon or a traced application likes: a worker process does (helper/worker.h), and is
 * killed when a call takes too long, is given up, or the end has come; then another one is started.
 * So leases, give-ups and deadlines are answered whatever happens below.
 *
 * The end is an undo of all that is ours: tried for UNDO_MS, then left to the owner record.
 *
 * Threads: one. Memory: CONTROL_MAX_QUEUE requests of at most QUEUE_BYTES together, and
 * OUT_BYTES of answers that the console did not read; then the worker waits.
 */

/* Serves standard input until the end of the lease, the input, or a signal. Returns the exit code.
 */
int guardian_run(const struct helper *helper);

/* Undoes what dead owners left, says so on standard output, and ends. Returns the exit code. */
int guardian_undo(const struct helper *helper);

#endif
