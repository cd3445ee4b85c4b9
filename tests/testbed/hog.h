/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_HOG_H
#define TESTBED_HOG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A process beside this one that takes the CPU from it: pt-hog (hog.c) computes in bursts on one
 * CPU, the last we may use, and all threads of this process are bound to the same one, as batch
 * work, which does not push others aside when it wakes up. The other services keep to the other
 * CPUs meanwhile. All of this needs no privilege and can be taken back.
 *
 * The hog ends when told, and with this process, however that ends.
 *
 * Threads: all functions may be called by any thread; the end of the one that starts a hog ends it.
 */

struct hog_options {
	uint32_t threads;
	uint64_t on_ns, off_ns; /* how long the bursts are, and how far apart; off_ns 0: one burst
				 */
};

/* All return 0, or -1 (errno). A hog of ours that runs is ended first. */
int hog_start(const struct hog_options *options);
/* Another service has the hog: keeps us off its CPU, if there is another. */
int hog_avoid(void);
/* Back to where hog_start() or hog_avoid() found us. */
int hog_stop(void);

#endif
