/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_IRQS_H
#define PT_STATE_IRQS_H

#include "state/cx.h"

/* Interrupts and softirqs that ended. */

struct irq_record {
	uint64_t end_ns, duration_ns;
	uint64_t raised_ns; /* from raise to entry; UINT64_MAX: not seen */
	uint32_t host, cpu;
	uint32_t name; /* interned; 0: not told */
	int32_t number;
	bool soft;
};

enum status irqs_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

#endif
