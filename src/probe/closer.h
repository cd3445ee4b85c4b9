/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_CLOSER_H
#define PT_PROBE_CLOSER_H

/*
 * Closes what the kernel takes long to close, while the caller goes on: since Linux 6.12 the last
 * close of probes on functions waits until no call that was probed is under way or 0.1 s has gone
 * by, often twice, although nothing is probed any more from the first moment on. Those that are
 * closed at the same time wait together.
 *
 * Threads: closer_close() and closer_wait() from one; each close has a thread of its own, of at
 * most CLOSER_THREADS, beyond which it is waited for.
 */
#define CLOSER_THREADS 256u

void closer_close(int fd);
/* Returns once everything is closed. */
void closer_wait(void);

#endif
