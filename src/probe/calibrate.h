/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_CALIBRATE_H
#define PT_PROBE_CALIBRATE_H

#include <stdbool.h>

#include "probe/kernel.h"

/*
 * What recording a function takes from a program on this machine: functions of our own are called a
 * few thousand times with probes and without. ns a call: of the probe at the entry, and what one at
 * the exit takes besides. 0: it cannot be measured.
 */
struct calibrate_cost {
	double entry_ns, exit_ns;
};

/*
 * Of functions that begin with an instruction that the kernel emulates, and of others (binary.h).
 * Takes some 50 ms. Nothing may be recorded meanwhile: these hits are dropped.
 */
void calibrate(struct kernel *kernel, struct calibrate_cost costs[2]);

#endif
