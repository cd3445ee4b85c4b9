/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Which processes are recorded: those that were asked for, and what they start. */

/* Events are of some processes only, those in the map, and of all that these start. */
const volatile bool some_only;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s32);
	__type(value, __u8); /* enum probe_process */
} processes SEC(".maps");

/* How many have come to be PROBE_PROCESS_UNTOLD since this side took it up. */
__u32 n_untold;

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
	__u8 how = READ_ONCE(state) == PROBE_RECORD ? PROBE_PROCESS_TOLD : PROBE_PROCESS_UNTOLD;

	if (pid != parent->tgid && is_ours(parent->tgid)) {
		bpf_map_update_elem(&processes, &pid, &how, 0);
		if (how == PROBE_PROCESS_UNTOLD) {
			__sync_fetch_and_add(&n_untold, 1);
		}
	}
	return 0;
}

static __always_inline void queue_forget(__s32 tid);

/* Attached after all others, so that the last event is recorded. */
SEC("tp_btf/sched_process_free")
int follow_free(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__s32 pid = task->tgid;

	queue_forget(task->pid);
	if (task->pid == pid) {
		bpf_map_delete_elem(&processes, &pid);
	}
	return 0;
}
