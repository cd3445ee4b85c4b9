/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_SCHEDULE_H
#define TESTBED_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/*
 * When which type of request comes, by a workload that pythiatop wrote (--workload,
 * docs/behaviour.md).
 *
 * The numbers in a second are Poisson's, with a mean that is drawn for each second where the
 * workload is burstier than chance: gamma of mean `rate_per_s` and such a variance that the index
 * of dispersion is the workload's. (So numbers are negative binomial: Greenwood & Yule 1920.)
 * Within a second requests come at random. The same for a seed.
 *
 * Threads: one at a time.
 */
struct schedule;

/* `types`: their names, as the workload has them, but that _ and blanks are the same. NULL, and a
 * message on stderr, if the file is none, or has none of these types. */
struct schedule *schedule_read(
		const char *path, const char *const *types, size_t n_types, uint64_t seed);

/* The next request: returns its type; *at_ns: since the begin. */
size_t schedule_next(struct schedule *schedule, uint64_t *at_ns);

#endif
