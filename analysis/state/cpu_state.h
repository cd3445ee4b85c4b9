/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_CPU_STATE_H
#define PT_STATE_CPU_STATE_H

#include "pythiatop/snapshot/state.h"
#include "softirq.h"
#include "state/thread_state.h"

/* What is known of a CPU, over the window. */

enum cpu_mode {
	CPU_UNKNOWN = 0,
	CPU_IDLE,
	CPU_USER,
	CPU_SYSCALL,
	CPU_IRQ,
	CPU_SOFTIRQ,
};

#define TENTHS     10u /* of a window */
#define IRQ_DEPTH  8
#define STATE_PERF 32 /* different perf counters; further ones are left out */

struct cpu_state {
	uint64_t first_ns;            /* 0: no kernel event so far */
	struct thread_state *current; /* NULL: not known, or the idle loop */
	bool idle;                    /* it is the idle loop */
	uint32_t irq_depth, softirq_depth;
	uint64_t irq_begin_ns[IRQ_DEPTH];
	int32_t irq_number[IRQ_DEPTH];
	uint32_t irq_name[IRQ_DEPTH];
	bool in_timer;     /* a high resolution timer's function runs */
	int32_t softirq;   /* the one being served; valid if softirq_depth > 0 */
	bool from_outside; /* it has received from another host, in the softirq at hand */
	uint64_t waker;    /* waker_pack(), of the wake-up that comes next: told at this instant */
	uint64_t waker_ns;
	uint64_t softirq_begin_ns, softirq_wait_ns;
	uint64_t raised_ns[SOFTIRQS]; /* 0: not pending, or not seen */
	struct attribute mode;        /* enum cpu_mode */
	/* Sums of it, for state_snapshot.c: see tenths.h. */
	uint64_t mode_tenths[TENTHS], mode_ns[TENTHS][CPU_SOFTIRQ + 1];
	struct attribute running;     /* tid + 1 of the current thread; 0: not known */
	struct attribute taken_from;  /* tid + 1 that it was taken from, where running was 0 */
	struct attribute frequency_khz;
	uint64_t perf_last[STATE_PERF]; /* counters of the CPU when last seen */
	uint32_t perf_seen;
};

/* cpu_threads.c: a CPU; NULL: the event has none, or out of memory. Its first event is noted. */
struct cpu_state *state_cpu(struct state_cx *cx, uint32_t host, uint32_t cpu);
/* What a CPU does has changed: takes down its mode and its thread's status. */
void cpu_changed(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns);
/* Nobody knows what it does from now on, until its next sched_switch. */
void cpu_forget(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns);

#endif
