/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Stacks of threads, now and then: which functions they are in. */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} sampled SEC(".maps");

/* Of each CPU two copies of a stack: the timer's program may interrupt that of system calls. */
#define STACK_OF_TIMER 0
#define STACK_OF_CALL  1

struct stack_words {
	__u64 words[PROBE_STACK_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct stack_words);
} stack_words SEC(".maps");

/* When a stack was last looked at in each system call. */
__u64 sampled_calls[PROBE_SYSCALLS];

/* As much as there is, by halves: a copy that fails leaves zeros in all of its room. */
static __always_inline void read_stack(struct stack_words *stack, __u64 sp)
{
	__u32 n = PROBE_STACK_WORDS;

	for (int i = 0; i < 6; i++, n /= 2) {
		if (bpf_probe_read_user(stack->words, n * 8, (void *)sp) == 0) {
			return;
		}
	}
}

/* 1: `value` < `limit`, else 0; without a branch, which the verifier would follow both ways of. */
static __always_inline __u64 is_below(__u64 value, __u64 limit)
{
	__u64 below = (~value & (value - limit)) >> 63; /* limit < 2^63 */

	asm volatile("" : "+r"(below));
	return below;
}

/*
 * Stacks are searched for all that points into the code, without knowing frames: programs come
 * without frame pointers. What is no return address is found out later, by the code before it.
 */
static __always_inline void take_stack(struct pt_regs *regs, __u32 copy)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 begins = BPF_CORE_READ(task, mm, start_code), ends = BPF_CORE_READ(task, mm, end_code);
	__u64 sp = BPF_CORE_READ(regs, sp), ip = BPF_CORE_READ(regs, ip);
	struct stack_words *stack = bpf_map_lookup_elem(&stack_words, &copy);
	struct probe_stack *record;
	__u64 n = 0;

	if (!stack || !begins || is_own() || !ours_runs()) {
		return;
	}
	record = bpf_ringbuf_reserve(&sampled, sizeof(*record), 0);
	if (!record) {
		return;
	}
	read_stack(stack, sp);
	/* What has no room left takes that of the last one. */
	for (__u32 i = 0; i < PROBE_STACK_WORDS; i++) {
		record->returns[n & (PROBE_STACK_RETURN - 1)] = stack->words[i];
		n += is_below(stack->words[i] - begins, ends - begins);
		n -= n / PROBE_STACK_RETURN;
	}
	record->text_begins = begins;
	record->text_ends = ends;
	record->at = ip >= begins && ip < ends ? ip : 0;
	record->n = (__u32)n;
	record->padding = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* By a timer of each CPU. Before Linux 5.15 a program cannot tell the registers of the thread. */
SEC("perf_event")
int sample_cpu(void *context)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		take_stack((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), STACK_OF_TIMER);
	}
	return 0;
}

/* Threads that wait are in system calls: one of each call in 10 ms. */
SEC("tp_btf/sys_enter")
int sample_call(__u64 *ctx)
{
	__u64 number = ctx[1], now_ns = bpf_ktime_get_ns();

	if (number >= PROBE_SYSCALLS || now_ns - sampled_calls[number] < 10 * 1000 * 1000) {
		return 0;
	}
	if (ours_runs()) {
		sampled_calls[number] = now_ns;
		take_stack((void *)ctx[0], STACK_OF_CALL);
	}
	return 0;
}
