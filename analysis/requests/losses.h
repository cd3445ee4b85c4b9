/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_LOSSES_H
#define PT_REQUESTS_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When events of each host were lost.
 *
 * Memory: at most LOSSES_PER_HOST intervals a host. When they are used up the two oldest become
 * one with what lies between: that may taint a request too many, never one too few.
 */
#define LOSSES_PER_HOST 64

struct host_losses {
	uint32_t n;
	uint64_t newest_ns; /* end of the latest */
	struct {
		uint64_t begin_ns, end_ns;
	} items[LOSSES_PER_HOST];
};

struct losses {
	struct host_losses **hosts; /* by number; NULL: none lost */
	uint32_t n_hosts;
};

void losses_release(struct losses *losses);
/* False if out of memory. */
bool losses_add(struct losses *losses, uint32_t host, uint64_t begin_ns, uint64_t end_ns);
/* Was anything lost on that host between the two instants, both included? */
bool losses_touch(const struct losses *losses, uint32_t host, uint64_t begin_ns, uint64_t end_ns);

#endif
