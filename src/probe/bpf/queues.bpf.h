/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Run queues that recorded threads wait on. */

/*
 * Where only some processes are recorded: whom a thread of theirs waits for on a run queue. Who has
 * the processor meanwhile is told, as if it were recorded, until nobody waits there any more.
 */
#define NO_CPU (-1)

struct queued {
	__s32 cpu;   /* on whose run queue it is; NO_CPU: on none */
	__u32 pause; /* number of pauses before: what was counted then counts no more */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_THREADS);
	__type(key, __s32); /* of a thread */
	__type(value, struct queued);
} queues SEC(".maps");

__u32 pauses;
int n_queued[PROBE_CPUS];
bool told_other[PROBE_CPUS]; /* whom the CPU runs was told, though that one is not recorded */

static __always_inline void count_queued(__s32 cpu, int by)
{
	if (cpu >= 0 && cpu < PROBE_CPUS) {
		__sync_fetch_and_add(&n_queued[cpu], by);
	}
}

/* The thread is on the CPU's run queue from now on, or with NO_CPU on none. */
static __always_inline void queue_on(__s32 tid, __s32 cpu)
{
	struct queued *known, now = {.cpu = cpu, .pause = pauses};
	__s32 before = NO_CPU;

	if (!some_only) {
		return;
	}
	known = bpf_map_lookup_elem(&queues, &tid);
	if (known) {
		before = known->pause == pauses ? known->cpu : NO_CPU;
		*known = now;
	} else if (cpu == NO_CPU || bpf_map_update_elem(&queues, &tid, &now, 0)) {
		return;
	}
	if (before != cpu) {
		count_queued(before, -1);
		count_queued(cpu, 1);
	}
}

static __always_inline bool is_queued(__s32 tid)
{
	struct queued *known = bpf_map_lookup_elem(&queues, &tid);

	return known && known->pause == pauses && known->cpu != NO_CPU;
}

static __always_inline bool is_waited_for(__u32 cpu)
{
	return cpu < PROBE_CPUS && n_queued[cpu] > 0;
}

static __always_inline void queue_forget(__s32 tid)
{
	if (is_queued(tid)) {
		queue_on(tid, NO_CPU);
	}
	bpf_map_delete_elem(&queues, &tid);
}
