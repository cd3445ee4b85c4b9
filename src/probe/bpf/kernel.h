/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_KERNEL_H
#define PT_PROBE_KERNEL_H

/*
 * What the BPF programs need to know of the kernel's types. Only names matter: where a member is in
 * the kernel that runs is found when the programs are loaded (CO-RE), so these need not be whole,
 * and the kernel that they are built on does not matter. Members that some kernels lack are asked
 * for before they are read.
 */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true  1
#define false 0

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

/* Helpers that are asked for before they are called. */
enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,
};

#define BPF_F_NO_PREALLOC 1u
#define BPF_RB_NO_WAKEUP 1ul

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct thread_info {
	__u32 status;
	__u32 cpu; /* x86: since 5.16 */
};

struct mm_struct {
	unsigned long start_code, end_code;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* since 5.14 */
	int exit_state;
	unsigned int cpu; /* before 5.16 */
	int prio;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct files_struct *files;
	struct mm_struct *mm;
	unsigned long nvcsw, nivcsw;
	char comm[16];
};

/* Before 5.14. */
struct task_struct___state {
	volatile long state;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	__u16 sk_type, sk_protocol;
};

struct inet_connection_sock {
	struct {
		__u32 lrcvtime;
	} icsk_ack;
};

struct tcp_sock {
	__u32 copied_seq, write_seq, rcv_nxt, snd_una;
	__u64 tcp_clock_cache;
};

struct unix_sock {
	struct sock *peer;
	void *addr;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct socket {
	short type;
	struct file *file;
	struct sock *sk;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct linux_binprm {
	const char *filename;
};

struct irqaction {
	const char *name;
};

struct timerqueue_node {
	__s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
	__s64 _softexpires;
	void *function;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since 5.15 */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
};

/* Before 5.17. */
struct request___disk {
	struct gendisk *rq_disk;
};

enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
};

struct net_device {
	char name[16];
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned char *head;
	unsigned int len;
	__u16 network_header, transport_header;
};

/* x86_64 */
struct pt_regs {
	unsigned long r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp;
};

#pragma clang attribute pop

#endif
