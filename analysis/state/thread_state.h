/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_THREAD_STATE_H
#define PT_STATE_THREAD_STATE_H

#include "pythiatop/snapshot/state.h"
#include "state/rules.h"
#include "state/sockets.h"
#include "state/store.h"
#include "state/threads.h"

/* What is known of a thread, over the window. */

struct state_cx;
struct file_table; /* files.c: what a process has open; shared by its threads */
struct thread_io;  /* thread_io.c: what a thread read and wrote */
struct thread_lives;

/* The system call that a thread is in. */
struct call {
	bool open;
	bool inherited;  /* by fork: the child returns from its parent's call */
	uint32_t name;   /* interned: "openat", without syscall_entry_ and compat_ */
	uint32_t type;   /* event type of the entry */
	uint64_t number; /* of the entry, in the log; held while the call is open */
	uint64_t ts_ns;
	/* A copy of the entry event's values; bytes 0: too long to keep, or inherited by fork. */
	uint32_t bytes, room;
	uint64_t *slots;
	bool slept;       /* the thread was blocked in it */
	bool sends, sent; /* on send_fd; and a packet with bytes has gone out */
	int32_t send_fd;
	/* It connects: the packets that asked for it came from that end. */
	uint32_t n_syns, syn_seq;
	struct socket_end syn_from;
};

/* What a blocked thread waits for. */
enum wait_kind {
	WAIT_OTHER = 0,
	WAIT_DISK,
	WAIT_NET,
	WAIT_LOCK,
	WAIT_TIMER,
};

/* A value of thread_state.waker: a thread, or (tid -1) the kernel; 0: not told. */
#define WAKER_KERNEL (UINT64_C(1) << 40)

static inline uint64_t waker_pack(int32_t tid, enum interrupt_kind kind)
{
	return tid >= 0 ? (uint64_t)tid + 1 : kind ? WAKER_KERNEL | (uint64_t)kind : 0;
}

static inline int32_t waker_tid(uint64_t value)
{
	return value & WAKER_KERNEL ? -1 : (int32_t)(uint32_t)value - 1;
}

static inline enum interrupt_kind waker_interrupt(uint64_t value)
{
	return value & WAKER_KERNEL ? (enum interrupt_kind)(value & 0xff) : INTERRUPT_NONE;
}

/* A value of thread_state.status: since when it holds is the attribute's. */
struct thread_what {
	enum thread_status status;
	enum wait_kind wait; /* of THREAD_BLOCKED */
	bool woken;          /* of THREAD_WAIT_CPU: by a wake-up, not preempted */
	uint32_t syscall;    /* interned name of the call it is in; 0: none */
};

static inline uint64_t what_pack(struct thread_what what)
{
	return (uint64_t)what.syscall << 32 | (uint64_t)what.woken << 16 |
	       (uint64_t)what.wait << 8 | (uint64_t)what.status;
}

static inline struct thread_what what_unpack(uint64_t value)
{
	return (struct thread_what){.status = (enum thread_status)(value & 0xff),
			.wait = (enum wait_kind)(value >> 8 & 0xff),
			.woken = (value >> 16 & 1) != 0,
			.syscall = (uint32_t)(value >> 32)};
}

/*
 * A softirq in which the CPU switched to another thread. With PREEMPT_RT softirqs run as a part of
 * the thread that serves them, and give way as it does.
 */
struct thread_softirq {
	bool open;
	int32_t number;
	uint64_t ran_ns;   /* before it last came back to a CPU */
	uint64_t since_ns; /* when it did */
	uint64_t wait_ns;  /* see cpu_state */
};

/* The state's part of a thread: outlives struct thread until nothing of the window is about it. */
struct thread_state {
	struct thread *thread;            /* NULL: it has gone, this is its past */
	struct thread_state *prev, *next; /* of all, oldest first */
	uint64_t id;                      /* for focus: never reused, unlike a tid */
	uint64_t first_ns;                /* first seen */
	uint64_t born_ns, dead_ns;        /* 0: not seen */
	uint64_t fork_number;             /* in the log, held while it lives; 0: not seen */
	uint32_t host;
	int32_t tid, pid, ppid, vtid, vpid; /* -1: not known */
	uint32_t on_cpu;                    /* CPU_NONE: none that we know of */
	bool exited, uncertain;
	bool kthread; /* of the kernel: its CPU time is the kernel's */
	struct call call;
	struct thread_softirq softirq;
	struct attribute status;          /* what_pack() */
	struct attribute comm;            /* interned */
	struct attribute prio;            /* PRIO_KNOWN | as u32 */
	struct attribute waker;           /* who, or what, woke it last: waker_pack() */
	uint32_t status_near, waker_near; /* in their pasts, where fill_doing() looked last */
	struct attribute migrations;
	struct attribute moved_from; /* CPU + 1 whose run queue it was moved away from last */
	struct attribute owner;      /* whom it works for; see state_set_owner() */
	struct attribute *perf;      /* running totals, by cx->perf_names; n_perf of them */
	uint32_t n_perf;
	struct thread_lives *lives; /* thread_life.c's */
	struct file_table *files; /* files.c's; on_* below keep it */
	struct thread_io *io;
	uint64_t io_ns; /* when it last read, wrote, took pages or gave them back; 0: never */
};

#define PRIO_KNOWN (UINT64_C(1) << 32)

/* cpu_threads.c: the thread that runs on the event's CPU; NULL: not known, or the idle loop. */
struct thread_state *state_current(struct state_cx *cx, const struct event *event);
/* The thread of a host by its tid (as the kernel counts), new if it was not known. NULL: tid 0,
 * or out of memory. */
struct thread_state *state_thread(struct state_cx *cx, uint32_t host, int64_t tid);
/* The same, NULL if it is not known. */
struct thread_state *state_find_thread(struct state_cx *cx, uint32_t host, int64_t tid);
/* The name of its process at an instant, "" if not known. */
const char *state_process_name(
		const struct state_cx *cx, const struct thread_state *thread, uint64_t at_ns);
void thread_name(struct state_cx *cx, struct thread_state *thread, uint64_t at_ns, const char *comm,
		uint32_t length);
/* It leaves its CPU without anybody having said where to. */
void thread_lose(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);
/* kernel.c: the name of the thread, where the event has it in that field. */
void thread_take_name(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field);
/* thread_end.c: what it holds of others goes, its past stays. */
void thread_end(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);
/* Likewise, and it is known to be dead. */
void thread_die(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);

#endif
