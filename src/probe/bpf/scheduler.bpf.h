/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Events of the scheduler. */

static __always_inline int cpu_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->thread_info.cpu) ? (int)task->thread_info.cpu
							    : (int)task->cpu;
}

/*
 * The state that a thread is left in, as the kernel's own event and LTTng tell it: one bit each for
 * what is reported, and 0x100 for a thread that was preempted (__trace_sched_switch_state()).
 */
#define REPORTED        0x7f
#define REPORT_IDLE     0x80
#define REPORT_MAX      0x100
#define STATE_IDLE      0x402
#define STATE_RTLOCK    0x1000
#define UNINTERRUPTIBLE 2

static __always_inline __s64 reported(bool preempt, unsigned int state, unsigned int exit_state)
{
	unsigned int shown = (state | exit_state) & REPORTED;

	if (preempt) {
		return REPORT_MAX;
	}
	if ((state & STATE_IDLE) == STATE_IDLE) {
		return REPORT_IDLE;
	}
	if (state & STATE_RTLOCK) {
		shown = UNINTERRUPTIBLE;
	}
	/* The highest bit: what fls() is for. */
	return shown & 0x40   ? 0x40
	       : shown & 0x20 ? 0x20
	       : shown & 0x10 ? 0x10
	       : shown & 8    ? 8
	       : shown & 4    ? 4
	       : shown & 3    ? ((shown & 2) ? 2 : 1)
			      : 0;
}

static __always_inline unsigned int state_of(struct task_struct *task)
{
	struct task_struct___state *before = (void *)task;

	return bpf_core_field_exists(task->__state) ? READ_ONCE(task->__state)
						    : (unsigned int)BPF_CORE_READ(before, state);
}

/* Whom that is recorded each CPU was told to run last; 0: nobody. */
int runs[PROBE_CPUS];

/* Where it is wanted: how long the CPUs run those that are recorded. */
bool counts_busy;
struct probe_busy busy[PROBE_CPUS];

static __always_inline void note_busy(__u32 cpu, int pid)
{
	__u64 now_ns, since_ns = busy[cpu].since_ns;

	if (!counts_busy || (!pid && !since_ns)) {
		return;
	}
	now_ns = bpf_ktime_get_ns();
	busy[cpu].ns += since_ns ? now_ns - since_ns : 0;
	busy[cpu].since_ns = pid ? now_ns : 0;
}

static __always_inline void note_runs(int pid)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (cpu < PROBE_CPUS) {
		runs[cpu] = pid;
		note_busy(cpu, pid);
	}
}

/* That the thread runs, of a process that is recorded, unless its CPU was told so. */
static __always_inline int tell_runs(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	int pid = (int)bpf_get_current_pid_tgid();

	if (cpu >= PROBE_CPUS || runs[cpu] == pid) {
		return 0;
	}
	runs[cpu] = pid;
	note_busy(cpu, pid);
	RECORD(pythiatop_cpu_taken);
	bpf_get_current_comm(record->body.comm, PROBE_COMM);
	record->body.tid = pid;
	SUBMIT();
	return 0;
}

static __always_inline int leave_cpu(void)
{
	RECORD(pythiatop_cpu_left);
	record->head.bytes = 0;
	SUBMIT();
	return 0;
}

/* Whom the CPU ran was told, and it runs another: nobody waits for that one. */
static __always_inline int leave_told(__u32 cpu)
{
	if (cpu >= PROBE_CPUS || !told_other[cpu]) {
		return 0;
	}
	told_other[cpu] = false;
	return leave_cpu();
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	/* Told by the event since 5.18: by then another CPU may have set it anew. */
	unsigned int state = LINUX_KERNEL_VERSION >= KERNEL(5, 18) ? (unsigned int)ctx[3]
								   : state_of(prev);

	__s64 left_in = reported(ctx[0], state, prev->exit_state);
	__u32 cpu = bpf_get_smp_processor_id();
	bool leaves = is_ours(prev->tgid), comes = is_ours(next->tgid), waited;

	note_runs(comes ? next->pid : 0);
	if (leaves) {
		queue_on(prev->pid, left_in == 0 || left_in == REPORT_MAX ? (__s32)cpu : NO_CPU);
	}
	if (comes) {
		queue_on(next->pid, NO_CPU);
	}
	waited = is_waited_for(cpu);
	if (!leaves && !comes && !waited) {
		return leave_told(cpu);
	}
	RECORD_OF(sched_switch, prev->pid, next->pid);
	PUT_COMM(record->body.prev_comm, prev);
	record->body.prev_tid = prev->pid;
	record->body.prev_prio = prev->prio - MAX_RT_PRIO;
	record->body.prev_state = left_in;
	PUT_COMM(record->body.next_comm, next);
	record->body.next_tid = next->pid;
	record->body.next_prio = next->prio - MAX_RT_PRIO;
	SUBMIT();
	if (cpu < PROBE_CPUS) {
		told_other[cpu] = !comes && waited;
	}
	return comes || waited ? 0 : leave_cpu();
}

#define WAKING(name, waker)                                                                        \
	SEC("tp_btf/" #name)                                                                       \
	int on_##name(__u64 *ctx)                                                                  \
	{                                                                                          \
		struct task_struct *task = (void *)ctx[0];                                         \
                                                                                                   \
		if (!is_ours(task->tgid)) {                                                        \
			return 0;                                                                  \
		}                                                                                  \
		queue_on(task->pid, cpu_of(task));                                                 \
		waker;                                                                             \
		RECORD_OF(name, task->pid, 0);                                                     \
		PUT_COMM(record->body.comm, task);                                                 \
		record->body.tid = task->pid;                                                      \
		record->body.prio = task->prio - MAX_RT_PRIO;                                      \
		record->body.target_cpu = cpu_of(task);                                            \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

WAKING(sched_waking, tell_waker())
WAKING(sched_wakeup_new, )

SEC("tp_btf/sched_migrate_task")
int on_sched_migrate_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (!is_ours(task->tgid)) {
		return 0;
	}
	if (is_queued(task->pid)) {
		queue_on(task->pid, (__s32)ctx[1]);
	}
	RECORD_OF(sched_migrate_task, task->pid, 0);
	PUT_COMM(record->body.comm, task);
	record->body.tid = task->pid;
	record->body.prio = task->prio - MAX_RT_PRIO;
	record->body.orig_cpu = cpu_of(task);
	record->body.dest_cpu = (int)ctx[1];
	SUBMIT();
	return 0;
}

SEC("tp_btf/sched_pi_setprio")
int on_sched_pi_setprio(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0], *donor = (void *)ctx[1];
	int prio = donor ? BPF_CORE_READ(donor, prio) : task->prio;

	if (!is_ours(task->tgid)) {
		return 0;
	}
	RECORD_OF(sched_pi_setprio, task->pid, 0);
	PUT_COMM(record->body.comm, task);
	record->body.tid = task->pid;
	record->body.oldprio = task->prio - MAX_RT_PRIO;
	record->body.newprio = (prio < task->prio ? prio : task->prio) - MAX_RT_PRIO;
	SUBMIT();
	return 0;
}

static __always_inline __u32 namespace_of(struct pid *pid)
{
	unsigned int level = BPF_CORE_READ(pid, level);
	struct upid innermost = {0};
	struct pid_namespace *space;

	bpf_probe_read_kernel(&space, sizeof(space),
			(void *)pid + bpf_core_field_offset(pid->numbers) +
					level * bpf_core_type_size(struct upid) +
					bpf_core_field_offset(innermost.ns));
	return BPF_CORE_READ(space, ns.inum);
}

SEC("tp_btf/sched_process_fork")
int on_sched_process_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct pid *pid = BPF_CORE_READ(child, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);

	if (!is_ours(parent->tgid)) {
		return 0;
	}
	RECORD(sched_process_fork);
	PUT_COMM(record->body.parent_comm, parent);
	record->body.parent_tid = parent->pid;
	record->body.parent_pid = parent->tgid;
	record->body.parent_ns_inum = namespace_of(BPF_CORE_READ(parent, thread_pid));
	PUT_COMM(record->body.child_comm, child);
	record->body.child_tid = child->pid;
	record->body.child_pid = child->tgid;
	record->body.child_ns_inum = namespace_of(pid);
	/* Of more levels than are told, the innermost ones. */
	record->body.n_vtids = level < PROBE_VTIDS ? level + 1 : PROBE_VTIDS;
	for (int i = 0; i < PROBE_VTIDS; i++) {
		int from = (int)level - (int)record->body.n_vtids + 1 + i;

		record->body.vtids[i] = 0;
		if (from <= (int)level) {
			bpf_probe_read_kernel(&record->body.vtids[i], sizeof(__s32),
					(void *)pid + bpf_core_field_offset(pid->numbers) +
							from * bpf_core_type_size(struct upid));
		}
	}
	SUBMIT();
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_sched_process_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *program = (void *)ctx[2];

	if (!is_ours(task->tgid)) {
		return 0;
	}
	RECORD_TEXT(sched_process_exec, PROBE_PATH);
	record->body.tid = task->pid;
	record->body.old_tid = (int)ctx[1];
	PUT_TEXT(program->filename);
	SUBMIT();
	return 0;
}

#define ENDING(name)                                                                               \
	SEC("tp_btf/" #name)                                                                       \
	int on_##name(__u64 *ctx)                                                                  \
	{                                                                                          \
		struct task_struct *task = (void *)ctx[0];                                         \
                                                                                                   \
		if (!is_ours(task->tgid)) {                                                        \
			return 0;                                                                  \
		}                                                                                  \
		RECORD_OF(name, task->pid, 0);                                                     \
		PUT_COMM(record->body.comm, task);                                                 \
		record->body.tid = task->pid;                                                      \
		record->body.prio = task->prio - MAX_RT_PRIO;                                      \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

ENDING(sched_process_exit)
ENDING(sched_process_free)
