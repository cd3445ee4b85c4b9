/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Who, or what, wakes threads of the processes that are recorded. */

/* What each CPU serves. */
struct serving {
	__u32 pause; /* number of pauses before: the end of what was served then may not have come */
	bool timer, irq;
	__u8 softirq; /* number + 1; 0: none */
};
static struct serving serving[PROBE_CPUS];

static __always_inline struct serving *serves(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct serving *here = cpu < PROBE_CPUS ? &serving[cpu] : 0;

	if (here && here->pause != pauses) {
		*here = (struct serving){.pause = pauses};
	}
	return here;
}

#define SERVES(what, value)                                                                        \
	do {                                                                                       \
		struct serving *here = serves();                                                   \
		if (here) {                                                                        \
			here->what = (value);                                                      \
		}                                                                                  \
	} while (0)

/* Numbers of softirqs. */
#define TIMER   1
#define NET_TX  2
#define NET_RX  3
#define BLOCK   4
#define HRTIMER 8

/*
 * In which interrupt a thread is woken: 0, by the one that runs. So in softirqs of the network, as
 * what stays on the host is received while it is sent, unless nobody runs.
 */
static __always_inline __u32 waking_interrupt(int running)
{
	struct serving *here = serves();
	__u8 softirq = here && here->softirq ? here->softirq - 1 : 0;

	if (here && (here->timer || (!here->irq && (softirq == TIMER || softirq == HRTIMER)))) {
		return 1;
	}
	if (here && !here->irq && softirq == BLOCK) {
		return 2;
	}
	if (here && !here->irq && (softirq == NET_RX || softirq == NET_TX) && !running) {
		return 3;
	}
	return !running || (here && here->irq) ? 4 : 0;
}

/* Who wakes a thread of theirs, where its CPU was told to run none of theirs. */
static __always_inline int tell_waker(void)
{
	int running = (int)bpf_get_current_pid_tgid();
	__u32 interrupt;

	if (!some_only || ours_runs()) {
		return 0;
	}
	interrupt = waking_interrupt(running);
	RECORD(pythiatop_waker);
	__builtin_memset(record->body.comm, 0, PROBE_COMM);
	if (!interrupt) {
		bpf_get_current_comm(record->body.comm, PROBE_COMM);
	}
	record->body.tid = interrupt ? -1 : running;
	record->body.interrupt = interrupt;
	SUBMIT();
	return 0;
}
