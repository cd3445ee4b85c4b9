/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_KERNEL_SIDE_H
#define PT_PROBE_KERNEL_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/cpu_ring.h"
#include "pythiatop/status.h"

/*
 * The BPF programs in the kernel, and what they recorded: a ring for each CPU. The only user of
 * libbpf. All of it is the process': the kernel takes it away with it, however it ends.
 *
 * Threads: one. Memory: `ring_bytes` of the kernel's for each CPU that is online.
 */
struct kernel; /* opaque */

/* A sentence about what went wrong, with what to do. */
struct kernel_fault {
	char text[640];
};

struct kernel_event {
	const char *name, *tracepoint, *since; /* static */
	bool present;                          /* this kernel has the tracepoint */
};

/* Of events.def and the two of system calls. `n`: how many. NULL: this kernel has no BTF. */
const struct kernel_event *kernel_events(uint32_t *n);

/*
 * Loads the programs and attaches them; nothing is recorded so far. STATUS_NOT_FOUND: the kernel
 * lacks what they need. STATUS_BUSY: this user may not. STATUS_IO: something else.
 */
enum status kernel_open(struct kernel **kernel, size_t ring_bytes, struct kernel_fault *fault);

/* Takes the programs away. NULL is allowed. */
void kernel_close(struct kernel *kernel);

/* From now on events go into the rings, or are dropped and counted. */
void kernel_record(struct kernel *kernel, bool on);

/* Detaches the programs: nothing is recorded any more; what is in the rings stays. */
void kernel_detach(struct kernel *kernel);

uint32_t kernel_n_rings(const struct kernel *kernel);
const uint32_t *kernel_cpus(const struct kernel *kernel); /* of the rings */
struct cpu_ring *kernel_ring(struct kernel *kernel, uint32_t at);

/*
 * Events that the ring's CPU dropped since the beginning. What no CPU of a ring dropped is told of
 * the first one, as kernel_count_lost() counted it last: events of CPUs that came later, and those
 * that came while the same program ran.
 */
uint64_t kernel_lost(const struct kernel *kernel, uint32_t at);
void kernel_count_lost(struct kernel *kernel);

/* The probe's own process as the kernel numbers it: another number in a pid namespace of its own.
 */
int kernel_own_pid(const struct kernel *kernel);

#endif
