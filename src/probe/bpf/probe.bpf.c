/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In the kernel: one program for each event of events.def, and two for system calls. Each reserves
 * its record in the ring buffer of its CPU, then takes the time, then fills it in. So a record that
 * an interrupt put in between is behind it with an earlier time, and is there once it is.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../record.h"

/* Some helpers are for programs under the GPL alone; the kernel has this name for version 2 or
 * later. */
char LICENSE[] SEC("license") = "GPL";

extern int LINUX_KERNEL_VERSION __kconfig;
#define KERNEL(major, minor) (((major) << 16) + ((minor) << 8))

#define MAX_RT_PRIO  100
#define TS_COMPAT    2
#define X32_BIT      0x40000000
#define MAX_ERRNO    4095
#define READ_ONCE(x) (*(volatile __typeof__(x) *)&(x))

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real ones are larger */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, PROBE_CPUS);
	__uint(key_size, sizeof(__u32));
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_SYSCALLS);
	__type(key, __u32);
	__type(value, struct probe_copies);
} copies SEC(".maps");

#define COPY_ROOM     (PROBE_TEXTS * PROBE_PATH + PROBE_ADDRESS + 16)
#define PROBE_LARGEST (COPY_ROOM + sizeof(struct probe_copied) + sizeof(struct body_syscall_exit))

/* Where what is copied from user space is put together: at the entry and exit of a call. */
struct copying {
	struct body_syscall_exit numbers;
	struct probe_copied copied; /* right behind the numbers */
	char bytes[COPY_ROOM];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct copying);
} copying SEC(".maps");

/* Of the probe itself: its own calls are not recorded. */
int own_tgid;

enum probe_state state;

/* Events that found no room, or no session, by CPU. */
__u64 lost[PROBE_CPUS];
__u64 lost_functions[PROBE_CPUS];

static __always_inline bool is_own(void)
{
	return (int)(bpf_get_current_pid_tgid() >> 32) == own_tgid;
}

/* --- Processes -------------------------------------------------------------------------------- */

/* Events are of some processes only, those in the map, and of all that these start. */
const volatile bool some_only;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s32);
	__type(value, __u8);
} processes SEC(".maps");

static __always_inline bool is_ours(__s32 pid)
{
	return !some_only || bpf_map_lookup_elem(&processes, &pid);
}

/* Of interrupts, too, it counts whom they stopped. */
static __always_inline bool ours_runs(void)
{
	return is_ours((__s32)(bpf_get_current_pid_tgid() >> 32));
}

/* Attached before all others, so that a child is known when its first event comes. */
SEC("tp_btf/sched_process_fork")
int follow_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__s32 pid = child->tgid;
	__u8 one = 1;

	if (pid != parent->tgid && is_ours(parent->tgid)) {
		bpf_map_update_elem(&processes, &pid, &one, 0);
	}
	return 0;
}

/* Attached after all others, so that the last event is recorded. */
SEC("tp_btf/sched_process_free")
int follow_free(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__s32 pid = task->tgid;

	if (task->pid == pid) {
		bpf_map_delete_elem(&processes, &pid);
	}
	return 0;
}

/* --- What is chosen --------------------------------------------------------------------------- */

/*
 * Where single events are chosen, not all of them: whether each is recorded, and of which threads.
 * A thread's key is (event * 2 + field) << 32 | tid; fields are those of filter.c, in its order.
 */
bool choosy;
__u8 choices[PROBE_TYPED];
__u8 chosen_syscalls[PROBE_SYSCALLS];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_THREADS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u8);
} threads SEC(".maps");

static __always_inline bool names_thread(__u32 event, __u32 field, __s32 tid)
{
	__u64 key = (__u64)(event * 2 + field) << 32 | (__u32)tid;

	return bpf_map_lookup_elem(&threads, &key);
}

/* The threads that the event's fields name; an event without any is not filtered. */
static __always_inline bool is_chosen(__u32 event, __s32 first, __s32 second)
{
	if (!choosy) {
		return true;
	}
	switch (choices[event]) {
	case PROBE_ALL:
		return true;
	case PROBE_FILTERED:
		return names_thread(event, 0, first) || names_thread(event, 1, second);
	default:
		return false;
	}
}

#define SIGRETURN 15

/* The threads that return from a signal handler: the kernel forgets the call's number on the way. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} returning SEC(".maps");

static __always_inline void enter_return(long number)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u8 one = 1;

	if (number == SIGRETURN) {
		bpf_map_update_elem(&returning, &thread, &one, 0);
	}
}

/* The exit of a call whose number is not known any more: is it one of those? */
static __always_inline bool leave_return(void)
{
	__u64 thread = bpf_get_current_pid_tgid();

	return bpf_map_delete_elem(&returning, &thread) == 0;
}

/*
 * Since 6.11 the kernel makes calls of its own in programs whose functions are recorded: what
 * recording does is nothing that they do. At the exit they have no number.
 */
#define URETPROBE 335
#define UPROBE    336

static __always_inline bool is_chosen_syscall(long number, bool compat)
{
	if (!compat && (number == URETPROBE || number == UPROBE)) {
		return false;
	}
	return !choosy || (!compat && number >= 0 && number < PROBE_SYSCALLS &&
					  chosen_syscalls[number]);
}

/* --- Records ---------------------------------------------------------------------------------- */

/* In the ring of this CPU; without room the event is counted in `lost_here`. */
static __always_inline void *reserve_or_count(__u64 size, __u64 *lost_here)
{
	__u32 cpu = bpf_get_smp_processor_id();
	enum probe_state now = READ_ONCE(state);
	void *own = now == PROBE_RECORD ? bpf_map_lookup_elem(&rings, &cpu) : 0;
	void *record = own ? bpf_ringbuf_reserve(own, size, 0) : 0;

	if (!record && now != PROBE_ENDED && cpu < PROBE_CPUS) {
		__sync_fetch_and_add(&lost_here[cpu], 1);
	}
	return record;
}

static __always_inline void *reserve(__u64 size)
{
	return reserve_or_count(size, lost);
}

static __always_inline void begin(struct probe_head *head, enum probe_event event, __u16 bytes)
{
	head->event = event;
	head->bytes = bytes;
	head->syscall = 0;
	head->ts_ns = bpf_ktime_get_ns();
}

/*
 * Reserves `record`, of an event without strings; leaves the program if there is no room, or the
 * event is not chosen of the threads that it names.
 */
#define RECORD(name) RECORD_OF(name, 0, 0)
#define RECORD_OF(name, first, second)                                                             \
	struct {                                                                                   \
		struct probe_head head;                                                            \
		struct body_##name body;                                                           \
	} *record;                                                                                 \
	if (!is_chosen(PROBE_##name, first, second)) {                                             \
		return 0;                                                                          \
	}                                                                                          \
	record = reserve(sizeof(*record));                                                         \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, PROBE_##name, sizeof(record->body))

/* One with a string of at most `room` bytes. */
#define RECORD_TEXT(name, room)                                                                    \
	struct {                                                                                   \
		struct probe_head head;                                                            \
		struct body_##name body;                                                           \
		char text[room];                                                                   \
	} *record;                                                                                 \
	if (!is_chosen(PROBE_##name, 0, 0)) {                                                      \
		return 0;                                                                          \
	}                                                                                          \
	record = reserve(sizeof(*record));                                                         \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, PROBE_##name, sizeof(record->body))

#define SUBMIT() bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP)

#define PUT_TEXT(from)                                                                             \
	do {                                                                                       \
		long n = bpf_probe_read_kernel_str(record->text, sizeof(record->text), from);      \
		if (n <= 0) {                                                                      \
			record->text[0] = 0;                                                       \
			n = 1;                                                                     \
		}                                                                                  \
		record->head.bytes += (__u16)n;                                                    \
	} while (0)

#define PUT_COMM(to, task) bpf_probe_read_kernel(to, PROBE_COMM, (task)->comm)

/* --- The scheduler ---------------------------------------------------------------------------- */

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

static __always_inline int leave_cpu(void)
{
	RECORD(pythiatop_cpu_left);
	record->head.bytes = 0;
	SUBMIT();
	return 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	/* Told by the event since 5.18: by then another CPU may have set it anew. */
	unsigned int state = LINUX_KERNEL_VERSION >= KERNEL(5, 18) ? (unsigned int)ctx[3]
								   : state_of(prev);

	bool leaves = is_ours(prev->tgid), comes = is_ours(next->tgid);

	if (!leaves && !comes) {
		return 0;
	}
	RECORD_OF(sched_switch, prev->pid, next->pid);
	PUT_COMM(record->body.prev_comm, prev);
	record->body.prev_tid = prev->pid;
	record->body.prev_prio = prev->prio - MAX_RT_PRIO;
	record->body.prev_state = reported(ctx[0], state, prev->exit_state);
	PUT_COMM(record->body.next_comm, next);
	record->body.next_tid = next->pid;
	record->body.next_prio = next->prio - MAX_RT_PRIO;
	SUBMIT();
	return comes ? 0 : leave_cpu();
}

#define WAKING(name)                                                                               \
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
		record->body.target_cpu = cpu_of(task);                                            \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

WAKING(sched_waking)
WAKING(sched_wakeup_new)

SEC("tp_btf/sched_migrate_task")
int on_sched_migrate_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (!is_ours(task->tgid)) {
		return 0;
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

/* --- Interrupts and timers -------------------------------------------------------------------- */

SEC("tp_btf/irq_handler_entry")
int on_irq_handler_entry(__u64 *ctx)
{
	struct irqaction *action = (void *)ctx[1];

	if (!ours_runs()) {
		return 0;
	}
	RECORD_TEXT(irq_handler_entry, PROBE_NAME);
	record->body.irq = (int)ctx[0];
	PUT_TEXT(action->name);
	SUBMIT();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_handler_exit(__u64 *ctx)
{
	if (!ours_runs()) {
		return 0;
	}
	RECORD(irq_handler_exit);
	record->body.irq = (int)ctx[0];
	record->body.ret = (int)ctx[2];
	SUBMIT();
	return 0;
}

#define SOFTIRQ(name)                                                                              \
	SEC("tp_btf/softirq_" #name)                                                               \
	int on_irq_softirq_##name(__u64 *ctx)                                                      \
	{                                                                                          \
		if (!ours_runs()) {                                                                \
			return 0;                                                                  \
		}                                                                                  \
		RECORD(irq_softirq_##name);                                                        \
		record->body.vec = (__u32)ctx[0];                                                  \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

SOFTIRQ(raise)
SOFTIRQ(entry)
SOFTIRQ(exit)

SEC("tp_btf/hrtimer_start")
int on_timer_hrtimer_start(__u64 *ctx)
{
	struct hrtimer *timer = (void *)ctx[0];

	if (!ours_runs()) {
		return 0;
	}
	RECORD(timer_hrtimer_start);
	record->body.hrtimer = (__u64)timer;
	record->body.function = (__u64)timer->function;
	record->body.expires = timer->node.expires;
	record->body.softexpires = timer->_softexpires;
	record->body.mode = (__u32)ctx[1];
	SUBMIT();
	return 0;
}

#define HRTIMER(name)                                                                              \
	SEC("tp_btf/hrtimer_" #name)                                                               \
	int on_timer_hrtimer_##name(__u64 *ctx)                                                    \
	{                                                                                          \
		if (!ours_runs()) {                                                                \
			return 0;                                                                  \
		}                                                                                  \
		RECORD(timer_hrtimer_##name);                                                      \
		record->body.hrtimer = ctx[0];                                                     \
		SUBMIT();                                                                          \
		return 0;                                                                          \
	}

HRTIMER(cancel)
HRTIMER(expire_exit)

SEC("tp_btf/hrtimer_expire_entry")
int on_timer_hrtimer_expire_entry(__u64 *ctx)
{
	struct hrtimer *timer = (void *)ctx[0];

	if (!ours_runs()) {
		return 0;
	}
	RECORD(timer_hrtimer_expire_entry);
	record->body.hrtimer = (__u64)timer;
	bpf_probe_read_kernel(&record->body.now, sizeof(record->body.now), (void *)ctx[1]);
	record->body.function = (__u64)timer->function;
	SUBMIT();
	return 0;
}

/* --- Disks ------------------------------------------------------------------------------------ */

static __always_inline __u32 device_of(struct request *request)
{
	struct request___disk *before = (void *)request;
	struct gendisk *disk;

	if (bpf_core_field_exists(before->rq_disk)) {
		disk = BPF_CORE_READ(before, rq_disk);
	} else {
		disk = BPF_CORE_READ(request, q, disk);
	}
	return disk ? (__u32)BPF_CORE_READ(disk, major) << 20 |
					       (__u32)BPF_CORE_READ(disk, first_minor)
		    : 0;
}

/* What kind of request it is, in the bits of LTTng's field (lttng-modules, block.h). */
static __always_inline __u32 rwbs_of(unsigned int flags)
{
	enum { OP_READ, OP_WRITE, OP_FLUSH, OP_DISCARD, OP_SECURE_ERASE = 5, OP_MASK = 0xff };
	enum {
		RWBS_WRITE = 1,
		RWBS_DISCARD = 2,
		RWBS_READ = 4,
		RWBS_RAHEAD = 8,
		RWBS_SYNC = 32,
		RWBS_META = 64,
		RWBS_SECURE = 128,
		RWBS_FLUSH = 256,
		RWBS_FUA = 512,
		RWBS_PREFLUSH = 1024,
	};
	unsigned int op = flags & OP_MASK;
	__u32 bits = op == OP_READ           ? RWBS_READ
		     : op == OP_WRITE        ? RWBS_WRITE
		     : op == OP_FLUSH        ? RWBS_FLUSH
		     : op == OP_DISCARD      ? RWBS_DISCARD
		     : op == OP_SECURE_ERASE ? RWBS_DISCARD | RWBS_SECURE
					     : 0;

#define FLAG(name) (flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_##name) & 1)
	bits |= FLAG(RAHEAD) ? RWBS_RAHEAD : 0;
	bits |= FLAG(SYNC) ? RWBS_SYNC : 0;
	bits |= FLAG(META) ? RWBS_META : 0;
	bits |= FLAG(FUA) ? RWBS_FUA : 0;
	bits |= FLAG(PREFLUSH) ? RWBS_PREFLUSH : 0;
#undef FLAG
	return bits;
}

/* Requests that carry a driver's own command have no place on the disk. */
static __always_inline bool is_passthrough(unsigned int flags)
{
	unsigned int op = flags & 0xff;

	return op == 34 || op == 35; /* REQ_OP_DRV_IN, REQ_OP_DRV_OUT; before 5.12 two more */
}

static __always_inline __u64 sector_of(struct request *request)
{
	return is_passthrough(request->cmd_flags) || request->__sector == (__u64)-1
			       ? 0
			       : request->__sector;
}

SEC("tp_btf/block_rq_issue")
int on_block_rq_issue(__u64 *ctx)
{
	struct request *request = (void *)ctx[0];
	bool passthrough = is_passthrough(request->cmd_flags);

	RECORD_OF(block_rq_issue, (__s32)bpf_get_current_pid_tgid(), 0);
	record->body.dev = device_of(request);
	record->body.sector = sector_of(request);
	record->body.nr_sector = passthrough ? 0 : request->__data_len >> 9;
	record->body.bytes = request->__data_len;
	record->body.tid = (__s32)bpf_get_current_pid_tgid();
	record->body.rwbs = rwbs_of(request->cmd_flags);
	bpf_get_current_comm(record->body.comm, sizeof(record->body.comm));
	SUBMIT();
	return 0;
}

/* Since 5.17 the event has the block layer's own number (blk_status_to_errno()). */
static __always_inline __s32 error_of(__u64 status)
{
	if (LINUX_KERNEL_VERSION < KERNEL(5, 17)) {
		return (__s32)status;
	}
	switch ((__u8)status) {
	case 0:
		return 0;
	case 1:
		return -95; /* EOPNOTSUPP */
	case 2:
		return -110; /* ETIMEDOUT */
	case 3:
		return -28; /* ENOSPC */
	case 4:
		return -67; /* ENOLINK */
	case 5:
		return -121; /* EREMOTEIO */
	case 6:
		return -52; /* EBADE */
	case 7:
		return -61; /* ENODATA */
	case 8:
		return -84; /* EILSEQ */
	case 9:
		return -12; /* ENOMEM */
	case 12:
		return -11; /* EAGAIN */
	default:
		return -5; /* EIO */
	}
}

SEC("tp_btf/block_rq_complete")
int on_block_rq_complete(__u64 *ctx)
{
	struct request *request = (void *)ctx[0];

	RECORD(block_rq_complete);
	record->body.dev = device_of(request);
	record->body.sector = sector_of(request);
	record->body.nr_sector = (__u32)ctx[2] >> 9;
	record->body.error = error_of(ctx[1]);
	record->body.rwbs = rwbs_of(request->cmd_flags);
	SUBMIT();
	return 0;
}

/* --- Networks --------------------------------------------------------------------------------- */

SEC("tp_btf/net_dev_queue")
int on_net_dev_queue(__u64 *ctx)
{
	struct sk_buff *packet = (void *)ctx[0];

	/* What the probe itself sends would be told by what it sends next. */
	if (is_own() || !ours_runs()) {
		return 0;
	}
	RECORD_TEXT(net_dev_queue, PROBE_NAME);
	record->body.skbaddr = (__u64)packet;
	record->body.len = packet->len;
	PUT_TEXT(packet->dev->name);
	SUBMIT();
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int on_net_if_receive_skb(__u64 *ctx)
{
	struct sk_buff *packet = (void *)ctx[0];

	if (!ours_runs()) {
		return 0;
	}
	RECORD_TEXT(net_if_receive_skb, PROBE_NAME);
	record->body.skbaddr = (__u64)packet;
	record->body.len = packet->len;
	PUT_TEXT(packet->dev->name);
	SUBMIT();
	return 0;
}

/* --- System calls ----------------------------------------------------------------------------- */

#define S_IFMT      0170000
#define S_IFSOCK    0140000
#define UNIX        1
#define INET        2
#define INET6       10
#define STREAM      1
#define SEQPACKET   5
#define PROTOCOL_TCP 6

/* The socket behind a descriptor of the thread that runs; NULL: it is none that has a connection. */
static __always_inline struct sock *socket_of(unsigned int fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = 0;
	struct socket *socket;
	short type;

	if (!table || fd >= BPF_CORE_READ(table, max_fds)) {
		return 0;
	}
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[fd]) || !file ||
			(BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK) {
		return 0;
	}
	socket = BPF_CORE_READ(file, private_data);
	type = socket ? BPF_CORE_READ(socket, type) : 0;
	return type == STREAM || type == SEQPACKET ? BPF_CORE_READ(socket, sk) : 0;
}

static __always_inline __u64 high_half(const __be32 *words)
{
	return (__u64)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]);
}

static __always_inline __u64 low_half(const __be32 *words)
{
	return (__u64)__builtin_bswap32(words[2]) << 32 | __builtin_bswap32(words[3]);
}

#define MAPPED(address) (0xffff00000000ull | __builtin_bswap32(address))

static __always_inline __u64 inode_of(struct sock *sk)
{
	struct socket *socket = sk ? BPF_CORE_READ(sk, sk_socket) : 0;

	return socket ? BPF_CORE_READ(socket, file, f_inode, i_ino) : 0;
}

/* The events of sockets have the same fields. */
static __always_inline void put_socket(
		struct body_socket_recv *body, struct sock *sk, bool sends, __u64 length)
{
	unsigned short family = BPF_CORE_READ(sk, __sk_common.skc_family);

	body->family = family;
	body->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	body->sport = body->dport = 0;
	body->saddr_high = body->saddr_low = body->daddr_high = body->daddr_low = 0;
	body->named = body->position = 0;
	body->length = length;
	body->tid = (__s32)bpf_get_current_pid_tgid();
	if (family == UNIX) {
		struct unix_sock *own = (void *)sk;

		body->saddr_low = inode_of(sk);
		body->daddr_low = inode_of(BPF_CORE_READ(own, peer));
		body->named = BPF_CORE_READ(own, addr) != 0;
		return;
	}
	body->sport = BPF_CORE_READ(sk, __sk_common.skc_num);
	body->dport = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (family == INET6) {
		struct in6_addr address;

		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_rcv_saddr);
		body->saddr_high = high_half(address.in6_u.u6_addr32);
		body->saddr_low = low_half(address.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_daddr);
		body->daddr_high = high_half(address.in6_u.u6_addr32);
		body->daddr_low = low_half(address.in6_u.u6_addr32);
	} else {
		body->saddr_low = MAPPED(BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		body->daddr_low = MAPPED(BPF_CORE_READ(sk, __sk_common.skc_daddr));
	}
	if (BPF_CORE_READ(sk, sk_protocol) == PROTOCOL_TCP) {
		struct tcp_sock *tcp = (void *)sk;

		body->position = sends ? BPF_CORE_READ(tcp, write_seq)
				       : BPF_CORE_READ(tcp, copied_seq);
	}
}

/* A program of its own for each of them, at the calls that it is about. */
#define SOCKET_EVENT(name, sends, length)                                                          \
	do {                                                                                       \
		struct sock *sk = socket_of((unsigned int)regs->di);                               \
		if (is_connected(sk)) {                                                            \
			RECORD(name);                                                              \
			put_socket((void *)&record->body, sk, sends, length);                      \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline bool is_connected(struct sock *sk)
{
	unsigned short family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;

	return family == UNIX || family == INET || family == INET6;
}

static __always_inline bool is_compat(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

/* Of the probe's own calls, and of processes that nobody asked for, nothing is told. */
static __always_inline bool is_wanted(void)
{
	return !is_own() && ours_runs();
}

/* Before the call sends: so that who receives it is behind in time, whoever runs first. */
static __always_inline int tell_send(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	__u64 length = 0;

	switch ((long)ctx[1]) {
	case 1:  /* write */
	case 44: /* sendto */
		length = regs->dx;
		break;
	case 20:  /* writev */
	case 40:  /* sendfile64 */
	case 46:  /* sendmsg */
	case 307: /* sendmmsg */
		break;
	default:
		return 0;
	}
	if (!is_compat()) {
		SOCKET_EVENT(socket_send, 1, length);
	}
	return 0;
}

#define PEEK        2 /* MSG_PEEK */
#define IN_PROGRESS 115

static __always_inline int tell_recv(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long ret = (long)ctx[1];

	switch ((long)regs->orig_ax) {
	case 45: /* recvfrom */
		if (regs->r10 & PEEK) {
			return 0;
		}
		break;
	case 47: /* recvmsg */
		if (regs->dx & PEEK) {
			return 0;
		}
		break;
	case 0:  /* read */
	case 19: /* readv */
		break;
	default:
		return 0;
	}
	if (ret >= 0 && !is_compat()) {
		SOCKET_EVENT(socket_recv, 0, (__u64)ret);
	}
	return 0;
}

static __always_inline int tell_listen(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];

	if (regs->orig_ax == 50 && ctx[1] == 0 && !is_compat()) {
		SOCKET_EVENT(socket_listen, 0, 0);
	}
	return 0;
}

static __always_inline int tell_connect(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long ret = (long)ctx[1];

	if (regs->orig_ax == 42 && (ret == 0 || ret == -IN_PROGRESS) && !is_compat()) {
		SOCKET_EVENT(socket_connect, 0, 0);
	}
	return 0;
}

/* The first `n`: none, PROBE_FEW or all. */
static __always_inline void get_arguments(struct pt_regs *regs, __u64 *arguments, int n)
{
	if (n > 0) {
		arguments[0] = regs->di;
		arguments[1] = regs->si;
		arguments[2] = regs->dx;
	}
	if (n > PROBE_FEW) {
		arguments[3] = regs->r10;
		arguments[4] = regs->r8;
		arguments[5] = regs->r9;
	}
}

/* Only of calls of 64-bit programs that are known. */
static __always_inline struct probe_copies *copies_of(long number, bool compat)
{
	__u32 key = (__u32)number;

	return !compat && number >= 0 && number < PROBE_SYSCALLS
			       ? bpf_map_lookup_elem(&copies, &key)
			       : 0;
}

static __always_inline __u64 argument(const __u64 *arguments, __u8 number)
{
	return number > 0 && number <= PROBE_ARGUMENTS ? arguments[(number - 1) & 7] : 0;
}

/* A record of one of a few sizes, as those of the ring buffer are to be known beforehand. */
#define PUT_COPIED(room, what, n_numbers)                                                          \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			char bytes[room];                                                          \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, what, (__u16)size);                                   \
			record->head.syscall = (__s32)number;                                      \
			bpf_probe_read_kernel(record->bytes, room,                                 \
					(char *)&at->copied - (n_numbers) * sizeof(__u64));        \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

#define PUT_COPIED_ANY(what, n_numbers)                                                            \
	do {                                                                                       \
		__u32 size = used + sizeof(at->copied) + (n_numbers) * sizeof(__u64);              \
		if (size <= 112) {                                                                 \
			PUT_COPIED(112, what, n_numbers);                                          \
		} else if (size <= 240) {                                                          \
			PUT_COPIED(240, what, n_numbers);                                          \
		} else if (size <= 1008) {                                                         \
			PUT_COPIED(1008, what, n_numbers);                                         \
		} else {                                                                           \
			PUT_COPIED(PROBE_LARGEST, what, n_numbers);                                \
		}                                                                                  \
	} while (0)

/* Copies `n` bytes of a socket address; they follow `used` others. */
static __always_inline __u32 copy_address(
		struct copying *at, __u32 used, __u64 address, __u32 length)
{
	__u64 n = length > PROBE_ADDRESS ? PROBE_ADDRESS : length;

	/* In one register, so that the verifier sees the bound of what is used. */
	__asm__ volatile("%0 &= 31" : "+r"(n));
	if (address && n >= 2 && used <= PROBE_TEXTS * PROBE_PATH &&
			!bpf_probe_read_user(&at->bytes[used], n, (void *)address)) {
		at->copied.address_bytes = (__u16)n;
		return used + (__u32)n;
	}
	return used;
}

/* The strings and the address that a call is given. */
static __always_inline int enter_copied(
		struct pt_regs *regs, long number, const struct probe_copies *what)
{
	__u32 zero = 0, used = 0;
	struct copying *at = bpf_map_lookup_elem(&copying, &zero);
	__u64 *arguments;

	if (!at) {
		return 0;
	}
	arguments = at->numbers.arguments;
	get_arguments(regs, arguments, PROBE_ARGUMENTS);
	at->copied = (struct probe_copied){.pair = 0};
	for (int i = 0; i < PROBE_TEXTS; i++) {
		__u64 text = argument(arguments, what->text[i]);
		long n = 0;

		if (text && used <= (PROBE_TEXTS - 1) * PROBE_PATH) {
			n = bpf_probe_read_user_str(&at->bytes[used], PROBE_PATH, (void *)text);
		}
		if (n > 0 && n <= PROBE_PATH) {
			at->copied.text_bytes[i] = (__u16)n;
			used += (__u32)n;
		}
	}
	if (what->address) {
		used = copy_address(at, used, argument(arguments, what->address),
				(__u32)argument(arguments, what->address + 1));
	}
	PUT_COPIED_ANY(PROBE_SYSCALL_ENTRY, 6);
	return 0;
}

/* The entry of a call with `n` of its arguments. */
#define PUT_ENTRY(n)                                                                               \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			__u64 arguments[n];                                                        \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, event, sizeof(record->arguments));                    \
			record->head.syscall = (__s32)number;                                      \
			get_arguments(regs, record->arguments, n);                                 \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline int tell_entry(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long number = (long)ctx[1];
	bool compat = is_compat();
	struct probe_copies *what = copies_of(number, compat);
	enum probe_event event = compat ? PROBE_COMPAT_ENTRY : PROBE_SYSCALL_ENTRY;

	if (!is_chosen_syscall(number, compat)) {
		return 0;
	}
	enter_return(number);
	if (what && (what->text[0] || what->address)) {
		return enter_copied(regs, number, what);
	}
	if (what && what->entry == 0) {
		PUT_ENTRY(0);
	} else if (what && what->entry <= PROBE_FEW) {
		PUT_ENTRY(PROBE_FEW);
	} else {
		PUT_ENTRY(PROBE_ARGUMENTS);
	}
	return 0;
}

/* What a call that succeeded filled in. */
static __always_inline int exit_copied(
		struct pt_regs *regs, long number, long ret, const struct probe_copies *what)
{
	__u32 one = 1, used = 0, length = 0;
	struct copying *at = bpf_map_lookup_elem(&copying, &one);
	__u64 *arguments, from;

	if (!at) {
		return 0;
	}
	arguments = at->numbers.arguments;
	at->numbers.ret = ret;
	get_arguments(regs, arguments, PROBE_ARGUMENTS);
	at->copied = (struct probe_copied){.pair = 0};
	from = argument(arguments, what->pair_out);
	if (from && ret >= 0 && !bpf_probe_read_user(at->bytes, 8, (void *)from)) {
		at->copied.pair = 1;
		used = 8;
	}
	from = argument(arguments, what->address_out);
	if (from && ret >= 0 &&
			!bpf_probe_read_user(&length, sizeof(length),
					(void *)argument(arguments, what->address_out + 1))) {
		used = copy_address(at, used, from, length);
	}
	PUT_COPIED_ANY(PROBE_SYSCALL_EXIT, 7);
	return 0;
}

/* The exit of a call with `n` of its arguments. */
#define PUT_EXIT(n)                                                                                \
	do {                                                                                       \
		struct {                                                                           \
			struct probe_head head;                                                    \
			__s64 ret;                                                                 \
			__u64 arguments[n];                                                        \
		} *record = reserve(sizeof(*record));                                              \
		if (record) {                                                                      \
			begin(&record->head, event, sizeof(*record) - sizeof(record->head));       \
			record->head.syscall = (__s32)number;                                      \
			record->ret = ret;                                                         \
			get_arguments(regs, record->arguments, n);                                 \
			SUBMIT();                                                                  \
		}                                                                                  \
	} while (0)

static __always_inline int tell_exit(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long ret = (long)ctx[1], number = (long)regs->orig_ax;
	bool compat = is_compat();
	struct probe_copies *what = copies_of(number, compat);
	enum probe_event event = compat ? PROBE_COMPAT_EXIT : PROBE_SYSCALL_EXIT;

	if (!is_chosen_syscall(number, compat) ||
			(number < 0 && !compat && !leave_return())) {
		return 0;
	}
	if (what && (what->pair_out || what->address_out)) {
		return exit_copied(regs, number, ret, what);
	}
	if (what && what->exit == 0) {
		PUT_EXIT(0);
	} else if (what && what->exit <= PROBE_FEW) {
		PUT_EXIT(PROBE_FEW);
	} else {
		PUT_EXIT(PROBE_ARGUMENTS);
	}
	return 0;
}

/*
 * A program for each of these, where they are chosen one by one; where all are recorded one at either
 * end of a call, since to run a program costs as much as to record a call. What is told of a socket
 * stands before the entry of the call that sends, and behind the exit of the one that received.
 */
#define AT_CALL(end, event, tell)                                                                  \
	SEC("tp_btf/sys_" #end)                                                                    \
	int on_##event(__u64 *ctx)                                                                 \
	{                                                                                          \
		return is_wanted() ? tell(ctx) : 0;                                                \
	}

AT_CALL(enter, socket_send, tell_send)
AT_CALL(enter, sys_enter, tell_entry)
AT_CALL(exit, sys_exit, tell_exit)
AT_CALL(exit, socket_recv, tell_recv)
AT_CALL(exit, socket_listen, tell_listen)
AT_CALL(exit, socket_connect, tell_connect)

SEC("tp_btf/sys_enter")
int on_all_enter(__u64 *ctx)
{
	if (is_wanted()) {
		tell_send(ctx);
		tell_entry(ctx);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int on_all_exit(__u64 *ctx)
{
	if (is_wanted()) {
		tell_exit(ctx);
		tell_recv(ctx);
		tell_listen(ctx);
		tell_connect(ctx);
	}
	return 0;
}

/* --- Functions of programs -------------------------------------------------------------------- */

/* Hits of each hook since the beginning, recorded or not. */
__u64 hits[PROBE_HOOKS];

/*
 * What each set of hooks does (enum probe_set): one that is being replaced nothing. And of hooks those that are not
 * wanted any more: to take probes away takes a while.
 */
__u8 sets[PROBE_SETS];
__u8 unwanted[PROBE_HOOKS];

/* Functions are recorded only within a root's, and of these one in `one_in`. 0: all are. */
__u32 one_in;

/* The threads that are within a root function, and how deep: a root may call itself. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u32);
} within SEC(".maps");

static __always_inline void put_caller(struct body_function *body)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct pid *leader_pid = BPF_CORE_READ(leader, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	__u64 at = bpf_core_field_offset(pid->numbers) + level * bpf_core_type_size(struct upid);

	body->vtid = body->vpid = 0;
	bpf_probe_read_kernel(&body->vtid, sizeof(__s32), (void *)pid + at);
	bpf_probe_read_kernel(&body->vpid, sizeof(__s32), (void *)leader_pid + at);
	body->pid_ns = namespace_of(pid);
	bpf_get_current_comm(body->comm, sizeof(body->comm));
}

/*
 * A root is entered: its thread is within from now on, if this request is among those that are
 * chosen. The choice is of whole requests, by when they begin.
 */
static __always_inline void enter_root(__u64 thread)
{
	__u32 *depth = bpf_map_lookup_elem(&within, &thread), one = 1;

	if (depth) {
		(*depth)++;
	} else if (one_in <= 1 || bpf_get_prandom_u32() % one_in == 0) {
		bpf_map_update_elem(&within, &thread, &one, 0);
	}
}

static __always_inline void leave_root(__u64 thread)
{
	__u32 *depth = bpf_map_lookup_elem(&within, &thread);

	if (depth && --*depth == 0) {
		bpf_map_delete_elem(&within, &thread);
	}
}

/* The hook that was hit, if it is to be recorded; else PROBE_HOOKS. */
static __always_inline __u32 hook_of(__u64 cookie, __u64 thread, bool entry)
{
	__u32 hook = cookie & 0xffff, set = cookie >> 16 & 0xffff, bits = cookie >> 32;
	bool recorded = true;

	if (hook >= PROBE_HOOKS || set >= PROBE_SETS || !sets[set] || unwanted[hook] ||
			(!(bits & PROBE_COOKIE_OWN) && (is_own() || !ours_runs()))) {
		return PROBE_HOOKS;
	}
	__sync_fetch_and_add(&hits[hook], 1);
	if (sets[set] == PROBE_SET_COUNTS) {
		return PROBE_HOOKS;
	}
	if (one_in) {
		if (entry && (bits & PROBE_COOKIE_ROOT)) {
			enter_root(thread);
		}
		recorded = bpf_map_lookup_elem(&within, &thread);
		if (!entry && (bits & PROBE_COOKIE_ROOT)) {
			leave_root(thread);
		}
	}
	return recorded ? hook : PROBE_HOOKS;
}

/* --- Sums of calls ---------------------------------------------------------------------------- */

bool summing; /* instead of recording each call */

struct frames {
	__u32 depth; /* functions that are open; of more than PROBE_FRAMES the innermost are not known */
	__u32 functions[PROBE_FRAMES];
	__u64 since_ns[PROBE_FRAMES], stack[PROBE_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* thread */
	__type(value, struct frames);
} stacks SEC(".maps");

/*
 * Two of them: calls are added to one, while the other is read and emptied. Whoever was still adding
 * to that when they changed has long ended by then.
 */
struct sums {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct probe_call);
	__type(value, struct probe_sum);
} sums SEC(".maps"), other_sums SEC(".maps");

bool adds_to_other;

/* What a new thread begins with, and a new sum: both are too large for the stack. */
static const struct frames no_frames;
static const struct probe_sum no_sum;

/* In one register, so that the verifier sees the bound of what is used. */
#define IN_FRAMES(at) __asm__ volatile("%0 &= 31" : "+r"(at))

/*
 * Functions whose exits were not seen (attached later, left by a jump) are no more open once one is
 * entered that does not stand below them on the stack.
 */
static __always_inline int open_frame(__u64 thread, __u32 function, __u64 stack)
{
	struct frames *frames = bpf_map_lookup_elem(&stacks, &thread);
	__u64 depth;

	if (!frames) {
		bpf_map_update_elem(&stacks, &thread, &no_frames, 0);
		frames = bpf_map_lookup_elem(&stacks, &thread);
	}
	if (!frames) {
		__sync_fetch_and_add(&lost_functions[0], 1);
		return 0;
	}
	depth = frames->depth <= PROBE_FRAMES ? frames->depth : PROBE_FRAMES;
	for (int i = 0; i < PROBE_FRAMES && depth > 0; i++) {
		__u64 above = depth - 1;

		IN_FRAMES(above);
		if (frames->stack[above] > stack) {
			break;
		}
		depth = above;
		frames->depth = (__u32)depth;
	}
	frames->depth++;
	if (depth < PROBE_FRAMES) {
		IN_FRAMES(depth);
		frames->functions[depth] = function;
		frames->stack[depth] = stack;
		frames->since_ns[depth] = bpf_ktime_get_ns();
	}
	return 0;
}

static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 bucket = 0;

	for (int shift = 16; shift > 0; shift /= 2) {
		if (ns >> shift) {
			ns >>= shift;
			bucket += (__u32)shift;
		}
	}
	return ns > 1 || bucket >= PROBE_BUCKETS ? PROBE_BUCKETS - 1 : bucket;
}

static __always_inline void add_to(void *map, const struct probe_call *call, __u64 ns)
{
	struct probe_sum *sum = bpf_map_lookup_elem(map, call);

	if (!sum) {
		bpf_map_update_elem(map, call, &no_sum, 1 /* BPF_NOEXIST */);
		sum = bpf_map_lookup_elem(map, call);
	}
	if (!sum) {
		__sync_fetch_and_add(&lost_functions[0], 1);
		return;
	}
	sum->min_ns = sum->count == 0 || ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	sum->count++;
	sum->sum_ns += ns;
	sum->squares += (ns >> 10) * (ns >> 10);
	sum->buckets[bucket_of(ns) & (PROBE_BUCKETS - 1)]++;
}

static __always_inline void add_call(const struct probe_call *call, __u64 ns)
{
	if (READ_ONCE(adds_to_other)) {
		add_to(&other_sums, call, ns);
	} else {
		add_to(&sums, call, ns);
	}
}

/* The innermost frame of that function ends, and whatever was left open within it. */
static __always_inline int close_frame(__u64 thread, __u32 function)
{
	struct frames *frames = bpf_map_lookup_elem(&stacks, &thread);
	struct probe_call call = {.function = function};
	struct body_function caller;
	__u64 at, above;

	if (!frames || frames->depth == 0) {
		return 0;
	}
	if (frames->depth > PROBE_FRAMES) {
		frames->depth--;
		return 0;
	}
	at = frames->depth;
	for (int i = 0; i < PROBE_FRAMES && at > 0; i++) {
		at--;
		IN_FRAMES(at);
		if (frames->functions[at] == function) {
			break;
		}
		if (at == 0) {
			return 0; /* it was entered before it was recorded */
		}
	}
	IN_FRAMES(at);
	frames->depth = (__u32)at;
	if (at > 0) {
		above = at - 1;
		IN_FRAMES(above);
		call.caller = frames->functions[above] + 1;
	}
	put_caller(&caller);
	call.vpid = caller.vpid;
	add_call(&call, bpf_ktime_get_ns() - frames->since_ns[at]);
	return 0;
}

struct entry_plain {
	struct probe_head head;
	struct body_function body;
};

struct entry_arguments {
	struct probe_head head;
	struct body_function body;
	__u64 arguments[PROBE_ARGUMENTS];
};

struct entry_text {
	struct probe_head head;
	struct body_function body;
	__u64 arguments[PROBE_ARGUMENTS];
	char text[PROBE_STRING];
};

struct exit_value {
	struct probe_head head;
	struct body_function body;
	__s64 value;
};

#define FUNCTION(type, event, hook)                                                                \
	struct type *record = reserve_or_count(sizeof(*record), lost_functions);                   \
	if (!record) {                                                                             \
		return 0;                                                                          \
	}                                                                                          \
	begin(&record->head, event, sizeof(*record) - sizeof(record->head));                       \
	record->head.syscall = (__s32)((hook) / 2);                                                \
	put_caller(&record->body)

#define PUT_REGISTERS(regs, to)                                                                    \
	do {                                                                                       \
		(to)[0] = (regs)->di;                                                              \
		(to)[1] = (regs)->si;                                                              \
		(to)[2] = (regs)->dx;                                                              \
		(to)[3] = (regs)->cx;                                                              \
		(to)[4] = (regs)->r8;                                                              \
		(to)[5] = (regs)->r9;                                                              \
	} while (0)

static __always_inline int enter_plain(__u32 hook)
{
	FUNCTION(entry_plain, PROBE_FUNCTION_ENTRY, hook);
	SUBMIT();
	return 0;
}

static __always_inline int enter_arguments(struct pt_regs *regs, __u32 hook)
{
	FUNCTION(entry_arguments, PROBE_FUNCTION_ENTRY, hook);
	PUT_REGISTERS(regs, record->arguments);
	SUBMIT();
	return 0;
}

static __always_inline int enter_text(struct pt_regs *regs, __u32 hook, __u32 at)
{
	long n;

	FUNCTION(entry_text, PROBE_FUNCTION_ENTRY, hook);
	PUT_REGISTERS(regs, record->arguments);
	n = bpf_probe_read_user_str(record->text, sizeof(record->text),
			(void *)record->arguments[at < PROBE_ARGUMENTS ? at : 0]);
	if (n <= 0) {
		record->text[0] = 0;
	}
	SUBMIT();
	return 0;
}

SEC("uprobe")
int on_function_entry(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 hook = hook_of(cookie, bpf_get_current_pid_tgid(), true), bits = cookie >> 32;

	if (hook >= PROBE_HOOKS) {
		return 0;
	}
	if (summing) {
		return open_frame(bpf_get_current_pid_tgid(), hook / 2, regs->sp);
	}
	if (bits & PROBE_COOKIE_TEXT) {
		return enter_text(regs, hook, PROBE_COOKIE_REGISTER(bits));
	}
	return bits & PROBE_COOKIE_ARGUMENTS ? enter_arguments(regs, hook) : enter_plain(hook);
}

SEC("uprobe")
int on_function_exit(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 hook = hook_of(cookie, bpf_get_current_pid_tgid(), false);

	if (hook >= PROBE_HOOKS) {
		return 0;
	}
	if (summing) {
		return close_frame(bpf_get_current_pid_tgid(), hook / 2);
	}
	FUNCTION(exit_value, PROBE_FUNCTION_EXIT, hook);
	record->value = (__s64)regs->ax;
	SUBMIT();
	return 0;
}

/* Run by the probe, as itself: its number as the kernel has it, whatever its pid namespace. */
SEC("raw_tp/sys_enter")
int tell_own(void *ctx)
{
	own_tgid = (int)(bpf_get_current_pid_tgid() >> 32);
	return 0;
}
