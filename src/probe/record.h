/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_RECORD_H
#define PT_PROBE_RECORD_H

/*
 * What the BPF programs put into the ring buffers; both they and the probe include this, so it
 * knows no other header: __u8 to __u64 and __s32, __s64 must be known.
 *
 * A record is a head, the numbers of the event in the order of events.def, without gaps, and then
 * its strings, in their order, each with its final 0. Of system calls the numbers are the first
 * arguments (of an exit: the value returned, then those), and what was copied from user space
 * follows, as struct probe_copied says.
 */
#define PROBE_COMM      16
#define PROBE_VTIDS     8    /* levels of pid namespaces that are told */
#define PROBE_NAME      64   /* bytes of the name of a device or interrupt, with the final 0 */
#define PROBE_PATH      4096 /* bytes of a path, with the final 0 */
#define PROBE_TEXTS     3    /* strings of a system call */
#define PROBE_CPUS      1024
#define PROBE_SYSCALLS  512
#define PROBE_ADDRESS   28 /* bytes of a socket address: that of IPv6 */
#define PROBE_ARGUMENTS 6
#define PROBE_FEW       3                     /* most calls have no more of them to tell */
#define PROBE_FUNCTIONS 16384                 /* at once */
#define PROBE_HOOKS     (2 * PROBE_FUNCTIONS) /* the entry and the exit of each */
#define PROBE_SETS      4096
#define PROBE_THREADS   65536 /* that filters name */
#define PROBE_PROCESSES 65536 /* where not all are recorded */
#define PROBE_STRING    64    /* bytes of an argument that is a string, with the final 0 */

enum probe_event {
#define EVENT(name, tracepoint, since, fields) PROBE_##name,
#include "events.def"
#undef EVENT
/* No BPF program tells these: the probe itself does. */
#define DUMP(name, fields) PROBE_##name,
#include "statedump.def"
#undef DUMP
	PROBE_TYPED, /* those above have one type each */
	PROBE_SYSCALL_ENTRY = PROBE_TYPED,
	PROBE_SYSCALL_EXIT,
	PROBE_COMPAT_ENTRY, /* of a 32-bit program: its calls have other numbers */
	PROBE_COMPAT_EXIT,
	PROBE_FUNCTION_ENTRY, /* of a program's function: `syscall` of the head is its number */
	PROBE_FUNCTION_EXIT,
	PROBE_FUNCTION_SUMMARY, /* put in by the probe itself: struct body_summary */
};

/* Of a kernel event, where single ones are chosen. */
enum probe_choice {
	PROBE_NONE,
	PROBE_ALL,
	PROBE_FILTERED, /* of the threads that filters name */
};

/* Of hooks that were attached in one go. */
enum probe_set {
	PROBE_SET_OFF,
	PROBE_SET_COUNTS, /* hits are counted, and nothing is recorded */
	PROBE_SET_RECORDS,
};

/* What becomes of events. */
enum probe_state {
	PROBE_DROP, /* there is no session: they are counted as lost */
	PROBE_RECORD,
	PROBE_PAUSED, /* on purpose: nothing is recorded, and nothing lost */
	PROBE_ENDED, /* nobody wants them any more */
};

/* Of a process that is recorded: whether the trace tells of its beginning. */
enum probe_process {
	PROBE_PROCESS_TOLD = 1, /* by an event, or a dump of the state */
	PROBE_PROCESS_UNTOLD,   /* it began in a pause, or before it was to be recorded */
};

/* How long a CPU ran threads that are recorded, while that is counted; a line of the cache each. */
struct probe_busy {
	__u64 since_ns; /* 0: it runs none */
	__u64 ns;       /* before */
	__u64 padding[6];
};

struct probe_head {
	__u64 ts_ns;   /* CLOCK_MONOTONIC */
	__u16 event;   /* enum probe_event */
	__u16 bytes;   /* that follow the head, of those that were reserved */
	__s32 syscall; /* its number */
};

/* Fields as structures. Aligned to 4 bytes only, as CTF is not aligned at all. */
#define U32(field)  __u32 field;
#define S32(field)  __s32 field;
#define U64(field)  __u64 field;
#define S64(field)  __s64 field;
#define X64(field)  __u64 field;
#define O32(field)  __u32 field;
#define X32(field)  __u32 field;
#define IPV4(field) __u32 field;
#define COMM(field) char field[PROBE_COMM];
#define NONE        __u32 nothing; /* no structure is empty; no record holds this */
#define TEXT(field)
#define VTIDS(field)                                                                               \
	__u32 n_##field;                                                                           \
	__s32 field[PROBE_VTIDS];
#define EVENT(name, tracepoint, since, fields)                                                     \
	struct body_##name {                                                                       \
		fields                                                                             \
	} __attribute__((packed, aligned(4)));
#include "events.def"
#undef EVENT
#define DUMP(name, fields)                                                                         \
	struct body_##name {                                                                       \
		fields                                                                             \
	} __attribute__((packed, aligned(4)));
#include "statedump.def"
#undef DUMP
#undef NONE
#undef O32
#undef X32
#undef IPV4
#undef U32
#undef S32
#undef U64
#undef S64
#undef X64
#undef COMM
#undef TEXT
#undef VTIDS

struct body_syscall_entry {
	__u64 arguments[PROBE_ARGUMENTS];
};

struct body_syscall_exit {
	__s64 ret;
	__u64 arguments[PROBE_ARGUMENTS];
};

/* Who called a function or left it, as LTTng's contexts tell it. */
struct body_function {
	__s32 vpid, vtid;
	__u32 pid_ns, padding; /* what follows is aligned */
	char comm[PROBE_COMM];
};

/*
 * Of an entry follow, where something is to be told of them, the six registers of arguments, and
 * then, if one of them is a string, that; of an exit the value returned, a __s64.
 *
 * The cookie of a hook says what to do: its number (2 * function, + 1 at the exit), the set that it
 * is attached with, and PROBE_COOKIE_* bits.
 */
#define PROBE_COOKIE(hook, set, bits) ((__u64)(bits) << 32 | (__u64)(set) << 16 | (hook))
#define PROBE_COOKIE_ARGUMENTS        1u
#define PROBE_COOKIE_TEXT             2u /* the register of it is in the three bits from 8 on */
#define PROBE_COOKIE_ROOT             4u
#define PROBE_COOKIE_OWN              8u /* of the probe itself, to measure what a hit costs */
#define PROBE_COOKIE_REGISTER(bits)   ((bits) >> 8 & 7)

/*
 * Calls of a function by a process, from a function that is recorded, too, or from elsewhere:
 * summed up in the kernel instead of recorded one by one.
 */
#define PROBE_BUCKETS                                                                              \
	32 /* of durations: the number k has those from 2^k ns to less than twice that */
#define PROBE_FRAMES 32 /* functions open on a thread, at most */

struct probe_call {
	__u32 function, caller; /* caller: its number + 1, 0: none that is recorded */
	__s32 vpid;
	__u32 padding;
};

struct probe_sum {
	__u64 count, sum_ns, min_ns, max_ns;
	__u64 squares; /* sum of squares of durations, each in units of 1,024 ns */
	__u32 buckets[PROBE_BUCKETS];
};

struct body_summary {
	struct probe_call call;
	struct probe_sum sum;
};

/*
 * What looks like code of the program's own on the stack of a thread: where it was, and what may be
 * return addresses, the innermost first. `text_begins` and `text_ends` are of that code in the
 * process' memory.
 */
#define PROBE_STACK_WORDS  1024 /* of 8 bytes, that are looked through */
#define PROBE_STACK_RETURN 64   /* at most that are told */

struct probe_stack {
	__u64 text_begins, text_ends;
	__u64 at; /* 0: not in that code */
	__u32 n, padding;
	__u64 returns[PROBE_STACK_RETURN];
};

/*
 * What to take of a system call's arguments. How many at the entry and at the exit (0, PROBE_FEW or
 * all; all where something is copied), and what to copy from user space: an argument's number + 1,
 * 0: none.
 */
struct probe_copies {
	__u8 entry, exit;
	__u8 text[PROBE_TEXTS]; /* at the entry, strings */
	__u8 address;     /* at the entry, a socket address; its length is the next argument */
	__u8 address_out; /* at the exit, a socket address, if the call succeeded */
	__u8 pair_out;    /* at the exit, two numbers of 32 bits */
	__u8 padding[2];
};

/* Follows the numbers of a system call of which something was copied. */
struct probe_copied {
	__u16 text_bytes[PROBE_TEXTS]; /* each with its final 0; 0: cannot be read */
	__u16 address_bytes;           /* 0: cannot be read, or none */
	__u16 pair;                    /* 1: the two numbers follow */
	__u16 padding[3];
};

#endif
