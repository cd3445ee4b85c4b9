/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOFTIRQ_H
#define PT_SOFTIRQ_H

#include <stddef.h>
#include <stdint.h>

/* The softirqs of Linux, by their numbers (include/linux/interrupt.h). */
#define SOFTIRQS 10

/* NULL: there is none of that number. */
static inline const char *softirq_name(uint64_t number)
{
	static const char *const names[SOFTIRQS] = {"hi", "timer", "net_tx", "net_rx", "block",
			"irq_poll", "tasklet", "sched", "hrtimer", "rcu"};

	return number < SOFTIRQS ? names[number] : NULL;
}

#endif
