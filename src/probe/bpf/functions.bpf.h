/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Functions of programs: what all probes of them share. */

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
