/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Which events, threads and system calls are recorded. */

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
