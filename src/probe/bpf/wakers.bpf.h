/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Who, or what, wakes threads of the processes that are recorded. */

/* What each CPU serves. */
struct serving {
	__u32 pause; /* number of pauses before: the end of what was served then may not have come */
	bool timer, irq;
	bool outside; /* a packet came from another host, in this softirq */
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

/* Begins to serve a softirq, or (number -1) ends. */
static __always_inline void serve_softirq(int number)
{
	struct serving *here = serves();

	if (here) {
		here->softirq = (__u8)(number + 1);
		here->outside = false;
	}
}

/* Numbers of softirqs, as the kernel names them. */
enum {
	TIMER_SOFTIRQ = 1,
	NET_TX_SOFTIRQ = 2,
	NET_RX_SOFTIRQ = 3,
	BLOCK_SOFTIRQ = 4,
	HRTIMER_SOFTIRQ = 8,
};

/* Values of pythiatop_waker.interrupt. */
enum waking_by {
	BY_THREAD = 0,
	BY_TIMER,
	BY_DISK,
	BY_NETWORK,
	BY_OTHER,
};

/*
 * What wakes a thread. A softirq of the network that received nothing from outside counts as the
 * thread that runs: what stays on the host is received while it is sent.
 */
static __always_inline enum waking_by waking_by(int running)
{
	struct serving *here = serves();

	if (!here) {
		return running ? BY_THREAD : BY_OTHER;
	}
	if (here->timer) {
		return BY_TIMER;
	}
	if (here->irq) {
		return BY_OTHER;
	}
	switch (here->softirq - 1) {
	case TIMER_SOFTIRQ:
	case HRTIMER_SOFTIRQ:
		return BY_TIMER;
	case BLOCK_SOFTIRQ:
		return BY_DISK;
	case NET_TX_SOFTIRQ:
	case NET_RX_SOFTIRQ:
		return running && !here->outside ? BY_THREAD : BY_NETWORK;
	default:
		return running ? BY_THREAD : BY_OTHER;
	}
}

/* Who wakes a thread of theirs, where its CPU was told to run none of theirs. */
static __always_inline int tell_waker(void)
{
	int running = (int)bpf_get_current_pid_tgid();
	enum waking_by by;

	if (!some_only || ours_runs()) {
		return 0;
	}
	by = waking_by(running);
	RECORD(pythiatop_waker);
	__builtin_memset(record->body.comm, 0, PROBE_COMM);
	if (by == BY_THREAD) {
		bpf_get_current_comm(record->body.comm, PROBE_COMM);
	}
	record->body.tid = by == BY_THREAD ? running : -1;
	record->body.interrupt = by;
	SUBMIT();
	return 0;
}
