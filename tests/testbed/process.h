/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_PROCESS_H
#define TESTBED_PROCESS_H

/*
 * Who this process is. Call process_adopt() before other threads are started; the name may be read
 * by any thread after that.
 */

/* Takes the name, also as the one ps and traces show (pt-NAME), and asks for SIGTERM when the
 * parent dies. */
void process_adopt(const char *name);

/* Such as compute-1. */
const char *process_name(void);

#endif
