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

/* By what is told, each in a file; the order matters: later ones use what earlier ones define. */
#include "processes.bpf.h"
#include "chosen.bpf.h"
#include "records.bpf.h"
#include "queues.bpf.h"
#include "wakers.bpf.h"
#include "scheduler.bpf.h"
#include "interrupts.bpf.h"
#include "disks.bpf.h"
#include "networks.bpf.h"
#include "sockets.bpf.h"
#include "syscalls.bpf.h"
#include "functions.bpf.h"
#include "calls.bpf.h"
#include "stacks.bpf.h"
