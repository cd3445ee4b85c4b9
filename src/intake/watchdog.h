/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_WATCHDOG_H
#define PT_INTAKE_WATCHDOG_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Whether the reader process of a recording gets on, by what the kernel knows of it
 * (/proc/PID/stat and io): libbabeltrace2 cannot be asked while it reads, and some damage makes it
 * turn in a circle for ever.
 *
 * It gets on if it wrote to its ring, or read from files. Otherwise the time counts that it had to
 * do so: while it can run, the CPU time that it got, however loaded the machine is; while it
 * sleeps, all of it. A sixth of that where it waits for a disk, or touches new memory: of files
 * that are mapped nothing else is seen where they are in the page cache already.
 *
 * No more than WATCHDOG_MAX_CHECK_NS counts between two checks: a console that was stopped itself
 * has not seen that its readers stood still. Who looks must not count while the reader waits for
 * him.
 */
#define WATCHDOG_CHECK_NS     500000000u /* between two checks at /proc, at least */
#define WATCHDOG_MAX_CHECK_NS 2000000000u

struct watchdog {
	uint64_t checked_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t written, read_bytes, faults, cpu_ns;
	uint64_t still_ns;
};

/* It gets on, whatever /proc says: begins anew. */
void watchdog_reset(struct watchdog *watchdog);

/*
 * Looks at the process; `written` is how far it wrote in its ring, or anything else that grows when
 * it gets on. Returns for how long it has not got on, in ns. Without /proc that is the time since
 * `written` grew, a sixth of it.
 */
uint64_t watchdog_check(struct watchdog *watchdog, pid_t pid, uint64_t written, uint64_t mono_ns);

#endif
