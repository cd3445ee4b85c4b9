/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_BRANCH_H
#define TESTBED_BRANCH_H

/*
 * Work that runs beside a worker's own, in a thread of its own: each worker has one, made when it
 * is first needed, so that no branch waits for another.
 *
 * Threads: a branch is begun and awaited by the same thread, one at a time.
 * Memory: what was passed must live until branch_wait() returns.
 */

/* 0, or an errno: then nothing runs. */
int branch_begin(void (*run)(void *), void *argument);

/* Waits for the end of what the calling thread began. */
void branch_wait(void);

#endif
