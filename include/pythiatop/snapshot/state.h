/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_STATE_H
#define PYTHIATOP_SNAPSHOT_STATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The state of the watched systems at one instant, and what they did in the window that ends there.
 *
 * Times "_ns" without further word are totals within the window, cut at its ends. Counts and bytes
 * are of what ended in the window. Shares and rates are of the part of it that was recorded. What was not measured is told by a flag or by -1, never by 0.
 * Figures are valid from the first event that told them: what happened on a CPU before its first
 * sched_switch is `unknown`, not idle.
 */

enum thread_status {
	THREAD_UNKNOWN = 0,
	THREAD_WAIT_FORK, /* made, never ran so far */
	THREAD_WAIT_CPU,  /* runnable, on a run queue */
	THREAD_BLOCKED,
	THREAD_RUN_USER,
	THREAD_RUN_SYSCALL,
	THREAD_INTERRUPTED, /* its CPU serves an irq or a softirq */
	THREAD_DEAD,        /* exited within the window */
};

/* What the kernel was told by when it woke a thread, where no other thread did. */
enum interrupt_kind {
	INTERRUPT_NONE = 0, /* a thread did, or it is not known */
	INTERRUPT_TIMER,
	INTERRUPT_DISK,
	INTERRUPT_NETWORK,
	INTERRUPT_OTHER,
};

enum fd_confidence {
	FD_OBSERVED = 0, /* the call that made it was seen */
	FD_STATEDUMP,    /* listed by the tracer when it attached */
	FD_GUESSED,      /* used by a call; nobody told what it is */
};

enum fd_kind {
	FD_UNKNOWN = 0,
	FD_FILE,
	FD_SOCKET,
	FD_PIPE,
	FD_EVENT, /* epoll, eventfd, timerfd, signalfd, inotify */
};

/* As people and programs read them: "run_user", "pipe", "statedump". */
const char *thread_status_name(enum thread_status status);
const char *interrupt_kind_name(enum interrupt_kind kind);
const char *fd_kind_name(enum fd_kind kind);
const char *fd_confidence_name(enum fd_confidence confidence);

struct state_host {
	const char *host, *kernel; /* release, "" if no kernel trace */
	bool has_kernel;           /* kernel events come from it */
	bool statedump;            /* the tracer listed what was there before */
	uint32_t cpus, threads, open_fds;
	uint64_t window_ns; /* of the window, from the host's first event to its end of recording */
	double events_per_s;
	uint64_t discarded;
	/* cpus x window = threads + idle + irq + unknown, exactly. */
	uint64_t capacity_ns, threads_ns, idle_ns, irq_ns, unknown_ns;
};

struct state_cpu {
	const char *host;
	uint32_t cpu;
	double busy_percent; /* of the known part of the window; valid if known_ns > 0 */
	uint64_t known_ns, user_ns, syscall_ns, irq_ns, softirq_ns, idle_ns;
	int64_t tid;            /* of the current thread; -1: not known */
	const char *name;       /* its name */
	uint64_t frequency_khz; /* 0: not told */
};

struct state_perf {
	const char *name; /* of the context, "perf_cpu_cycles" */
	uint64_t value;   /* counted in the window */
};

struct state_thread {
	uint64_t id; /* stable while it lives; for focus */
	const char *host;
	int64_t tid, pid, ppid; /* -1: not known */
	int64_t vtid, vpid;     /* in its own pid namespace; -1: as tid and pid */
	const char *name;       /* "" if not known */
	enum thread_status status;
	uint64_t since_ns;     /* instant the status began; 0: not known */
	const char *syscall;   /* it is in; "" if none */
	const char *waits_for; /* what it is blocked on: the call, "disk", "futex", ...; "" */
	int64_t waker_tid;     /* who woke it last; -1: not seen */
	bool uncertain;        /* events were lost since */
	bool measured;         /* the times below are known: there are kernel events */
	uint64_t window_ns;    /* state_host.window_ns of its host */
	uint64_t cpu_ns, user_ns, syscall_ns; /* cpu = user + syscall */
	uint64_t irq_ns; /* its CPU served interrupts meanwhile; not in cpu_ns */
	uint64_t runqueue_ns, blocked_ns;
	uint64_t switches, migrations, wakeups;
	uint64_t max_runqueue_ns;
	/* From a wake-up until it ran; valid if latencies > 0. */
	uint64_t latencies, latency_ns, latency_min_ns, latency_max_ns;
	bool has_prio;
	int32_t prio;                     /* as the tracer gives it: 20 is nice 0 */
	uint64_t read_bytes, write_bytes; /* by system calls */
	/* disk: of block requests it issued; net: of read_bytes and write_bytes, on IP sockets. */
	uint64_t disk_read_bytes, disk_write_bytes, net_read_bytes, net_write_bytes;
	uint64_t io_ns; /* in reads and writes */
	uint64_t pages_allocated, pages_freed;
	uint32_t open_fds, stack_depth; /* user-space call stack, innermost in `context` */
	const char *context;
	uint32_t n_perf;
	const struct state_perf *perf;
};

struct state_syscall {
	const char *host, *name;
	const char *process; /* "" where rows are summed over all, or not known */
	int64_t pid, tid;    /* -1 where summed, or not known */
	uint64_t count, errors, total_ns, min_ns, max_ns, running; /* running: entered, not left */
	double mean_ns, sd_ns;
	bool summed; /* over all callers of the host */
};

struct state_fd {
	uint64_t id;
	const char *host;
	int64_t pid;
	const char *process;
	int32_t fd;
	const char *path; /* or peer, "" if not known */
	enum fd_kind kind;
	enum fd_confidence confidence;
	bool open, uncertain;
	uint64_t opened_ns, closed_ns;                                      /* 0: not seen */
	uint64_t read_bytes, write_bytes, reads, writes, read_ns, write_ns; /* since it is known */
	uint64_t window_read_bytes, window_write_bytes;
};

struct state_disk {
	const char *host, *name; /* "(8,0)" or the name the trace gives */
	uint64_t reads, writes, read_bytes, write_bytes, errors;
	uint64_t mean_ns, max_ns; /* from issue to completion; valid if reads + writes > 0 */
	uint32_t pending;
};

struct state_net {
	const char *host, *name;
	bool has_received, has_sent; /* such events have come from the host: else not measured */
	uint64_t received_packets, received_bytes, sent_packets, sent_bytes;
};

struct state_irq {
	const char *host, *name;
	bool soft;
	int64_t number;
	uint64_t count, total_ns, min_ns, max_ns;
	uint64_t raise_mean_ns,
			raise_max_ns; /* softirq: from raise to entry; valid if raised > 0 */
	uint64_t raised;
};

struct state_event {
	uint64_t ts_ns;
	const char *host, *name, *values; /* "a=1, b=x" */
	uint32_t cpu;
	int64_t tid;
	bool older; /* from before the window: kept because what it opened is open */
};

struct state_view {
	/* The window is [at_ns - window_ns, at_ns], from the first event of all on. */
	uint64_t at_ns, window_ns;
	bool measured;             /* there are kernel events at all */
	bool trimmed;              /* a memory bound was reached: oldest detail has gone */
	uint32_t n_hosts, n_cpus, n_threads, n_syscalls, n_fds, n_disks, n_nets, n_irqs, n_events;
	const struct state_host *hosts;
	const struct state_cpu *cpus;
	const struct state_thread *threads;   /* most CPU first */
	const struct state_syscall *syscalls; /* sums first, then callers; most time first */
	const struct state_fd *fds; /* of the thread or process in focus; open ones first, then most bytes */
	const struct state_disk *disks;
	const struct state_net *nets;
	const struct state_irq *irqs;
	const struct state_event *events; /* of the thread or fd in focus, newest first */
};

/* What a request used; part of the request view. Conserved per host and window. */
struct state_resources {
	bool measured;  /* false: there are no kernel events of its hosts, or no thread is known */
	bool no_thread; /* nothing of it is known to have run on a thread: an interrupt */
	uint64_t cpu_ns, runqueue_ns, blocked_ns, irq_ns, unknown_ns; /* sum over its threads */
	uint64_t blocked_disk_ns, blocked_net_ns, blocked_lock_ns, blocked_timer_ns,
			blocked_other_ns;
	uint64_t disk_read_bytes, disk_write_bytes, net_read_bytes, net_write_bytes;
};

#endif
