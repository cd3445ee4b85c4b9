/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_INTERNAL_H
#define PT_STATE_INTERNAL_H

#include "pythiatop/snapshot/snapshot.h"
#include "softirq.h"
#include "state/state.h"
#include "state/sockets.h"
#include "state/store.h"

/*
 * What the files of the state share, and nobody else includes.
 *
 * Each file owns one kind of thing and says in tables which events it wants: state_rule for events
 * by name, call_rule for system calls that have ended. state.c resolves both to field numbers once
 * per event type, so that an event of no interest costs one branch.
 *
 * Order of one event: its rule's handler; for the exit of a system call the call_rule's handler,
 * while the call is still open; then the call is closed.
 */
#define STATE_FIELDS    14
#define STATE_NO_FIELD  UINT16_MAX
#define STATE_PLAN_PERF 8  /* of one event type */
#define STATE_PERF      32 /* different perf counters; further ones are left out */

struct state_cx;
struct state_plan;
struct file_table; /* files.c: what a process has open; shared by its threads */
struct thread_io;  /* files.c: what a thread read and wrote */
struct files;
struct disks;
struct nets;
struct sockets; /* socket_table.c */

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

enum cpu_mode {
	CPU_UNKNOWN = 0,
	CPU_IDLE,
	CPU_USER,
	CPU_SYSCALL,
	CPU_IRQ,
	CPU_SOFTIRQ,
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

/* The state's part of a thread: outlives struct thread until nothing of the window is about it. */
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
	struct attribute status; /* what_pack() */
	struct attribute comm;   /* interned */
	struct attribute prio;   /* PRIO_KNOWN | as u32 */
	struct attribute waker;  /* who, or what, woke it last: waker_pack() */
	uint32_t status_near, waker_near; /* in their pasts, where fill_doing() looked last */
	struct attribute migrations;
	struct attribute moved_from; /* CPU + 1 whose run queue it was moved away from last */
	struct attribute owner; /* whom it works for; see state_set_owner() */
	struct attribute *perf; /* running totals, by cx->perf_names; n_perf of them */
	uint32_t n_perf;
	struct file_table *files; /* files.c's; on_* below keep it */
	struct thread_io *io;
};

#define PRIO_KNOWN (UINT64_C(1) << 32)

typedef void state_handle(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event);

/* An event that a file wants. A field may have alternatives: "prev_tid|prev_pid". */
struct state_rule {
	const char *names; /* "softirq_entry|irq_softirq_entry" */
	state_handle *handle;
	const char *fields[STATE_FIELDS];
	uint8_t required; /* so many of the fields must be there, the first ones */
};

struct call_end {
	struct thread_state *thread;
	const struct call *call;
	const struct event *exit;
	const struct event *entry; /* the kept copy; NULL: not kept (inherited, or too long) */
	const uint16_t *in, *out;  /* slots of the rule's fields; STATE_NO_FIELD: not there */
	int64_t ret;
};

/* A system call that a file wants to hear of when it ends. */
struct call_rule {
	const char *names;                                            /* "open|openat|openat2" */
	void (*end)(struct state_cx *cx, const struct call_end *end); /* NULL: nothing */
	const char *in[STATE_FIELDS], *out[STATE_FIELDS]; /* fields of the entry, of the exit */
	/* And when it begins; `in`: slots of the fields of the entry. */
	void (*begin)(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
			const uint16_t *in);
};

/* By event type. */
struct state_plan {
	state_handle *handle; /* NULL: of no interest */
	uint16_t slots[STATE_FIELDS];
	uint16_t ctx_tid, vpid, pid_ns, procname; /* contexts */
	uint32_t call;                            /* interned name of the system call */
	uint16_t fd_slot;                         /* of an entry's argument */
	uint16_t from_fd_slot, to_fd_slot; /* of calls with two fds, or one of another name */
	const struct call_rule *call_rule; /* entries: slots_call are `in`; exits: `out` */
	uint16_t slots_call[STATE_FIELDS];
	uint32_t n_perf;
	uint16_t perf_slots[STATE_PLAN_PERF]; /* of perf_* contexts */
	uint8_t perf_index[STATE_PLAN_PERF];  /* in cx->perf_names */
};

#define IRQ_DEPTH 8

struct cpu_state {
	uint64_t first_ns;            /* 0: no kernel event so far */
	struct thread_state *current; /* NULL: not known, or the idle loop */
	bool idle;                    /* it is the idle loop */
	uint32_t irq_depth, softirq_depth;
	uint64_t irq_begin_ns[IRQ_DEPTH];
	int32_t irq_number[IRQ_DEPTH];
	uint32_t irq_name[IRQ_DEPTH];
	bool in_timer;   /* a high resolution timer's function runs */
	int32_t softirq; /* the one being served; valid if softirq_depth > 0 */
	bool from_outside; /* it has received from another host, in the softirq at hand */
	uint64_t waker;  /* waker_pack(), of the wake-up that comes next: told at this instant */
	uint64_t waker_ns;
	uint64_t softirq_begin_ns, softirq_wait_ns;
	uint64_t raised_ns[SOFTIRQS]; /* 0: not pending, or not seen */
	struct attribute mode;        /* enum cpu_mode */
	struct attribute running;     /* tid + 1 of the current thread; 0: not known */
	struct attribute taken_from;  /* tid + 1 that it was taken from, where running was 0 */
	struct attribute frequency_khz;
	uint64_t perf_last[STATE_PERF]; /* counters of the CPU when last seen */
	uint32_t perf_seen;
};

/* How prev_state of sched_switch reads, by kernel release; see kernel.c. */
struct switch_states {
	uint32_t preempted, dead;
};

struct host_state {
	struct cpu_state *cpus;
	uint32_t n_cpus;
	bool statedump;
	bool ended;                      /* its kernel is no longer traced */
	uint64_t last_ns;                /* of its kernel's events */
	bool tells_received, tells_sent; /* packets of interfaces: such events have come */
	struct switch_states states;
	struct attribute events; /* running total, sampled */
};

struct state_cx {
	struct registry *registry;
	struct names *names;
	struct threads *threads;
	struct event_log *log;
	struct store store;
	uint32_t (*innermost)(const struct thread *thread); /* see struct state_config */
	uint64_t now_ns, window_ns;
	uint64_t number;          /* of the event being handled, in the log */
	bool no_use;              /* set by its handler: it tells nothing, after all */
	struct host_state *hosts; /* by registry host */
	uint32_t n_hosts;
	struct state_plan *plans; /* by event type */
	uint32_t n_plans, plan_room;
	struct files *files; /* of files.c, disks.c, net.c: theirs alone */
	struct disks *disks;
	struct nets *nets;
	struct sockets *sockets;
	struct series calls;             /* struct call_record, by end */
	struct series irqs;              /* struct irq_record, by end */
	uint64_t last_id;                /* of a thread */
	bool has_waking;                 /* sched_waking is traced: it tells the waker better */
	uint32_t perf_names[STATE_PERF]; /* interned */
	uint32_t n_perf;
	struct thread_state *oldest, *newest; /* of all threads */
};

/* --- for handlers ---------------------------------------------------------------------------- */

static inline uint32_t event_host(const struct state_cx *cx, const struct event *event)
{
	return cx->registry->streams[event->stream].host;
}

static inline bool has_field(const struct state_plan *plan, uint32_t field)
{
	return plan->slots[field] != STATE_NO_FIELD;
}

/* Value of a field of the rule; `otherwise` if the type does not have it. */
static inline int64_t field_int(const struct state_plan *plan, const struct event *event,
		uint32_t field, int64_t otherwise)
{
	return has_field(plan, field) ? (int64_t)event->slots[plan->slots[field]] : otherwise;
}

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

/* --- what the other files do ------------------------------------------------------------------ */

/* files.c. Every thread has a file table (its process') or NULL; tables count their threads. */
extern const struct state_rule files_rules[];
extern const struct call_rule files_calls[];
bool files_create(struct state_cx *cx);
void files_destroy(struct state_cx *cx);
/* flags: of clone(2), CLONE_FILES tells sharing; where not known, set for threads of a process. */
void files_on_fork(struct state_cx *cx, struct thread_state *parent, struct thread_state *child,
		uint64_t flags);
void files_on_exec(struct state_cx *cx, struct thread_state *thread);
/* The statedump lists the thread, after its pid is known. file_table is the kernel's address of its
 * table (lttng-modules >= 2.12: fds are listed by it); 0: not told. */
void files_on_statedump(struct state_cx *cx, struct thread_state *thread, uint64_t file_table);
void files_on_free(struct state_cx *cx, struct thread_state *thread);   /* dead: lets go of fds */
void files_on_forget(struct state_cx *cx, struct thread_state *thread); /* its memory goes */
/* Events of a CPU (CPU_NONE: of any) of a host were lost until now. */
void files_on_loss(struct state_cx *cx, uint32_t host, const struct loss *loss);
/* Forgets what ended before cx->store.horizon_ns. */
void files_expire(struct state_cx *cx);
/* Calls that made fds which were closed a window ago are no longer held in the log. O(1): called as
 * time goes on, so that a dump holds exactly what is still referenced. */
void files_let_go(struct state_cx *cx);
/* view->fds; and for view->threads, one call each. The window is (from_ns, at_ns]. */
enum status files_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);
void files_fill_thread(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t at_ns, struct state_thread *out);
uint32_t files_count_open(const struct state_cx *cx, uint32_t host, uint64_t at_ns);
/* What the fd of a thread's call is now: for what it is blocked on. */
enum fd_kind files_kind(const struct state_cx *cx, const struct thread_state *thread, int32_t fd);
/* Disk and network bytes of a thread in (from, to], added to *out. */
void files_add_resources(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t to_ns, struct state_resources *out);

/* disks.c */
extern const struct state_rule disks_rules[];
bool disks_create(struct state_cx *cx);
void disks_destroy(struct state_cx *cx);
uint32_t disks_name(const struct disks *disks, uint32_t host, uint64_t dev);
void disks_expire(struct state_cx *cx);
enum status disks_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

/* net.c */
extern const struct state_rule nets_rules[];
bool nets_create(struct state_cx *cx);
void nets_destroy(struct state_cx *cx);
void nets_expire(struct state_cx *cx);
enum status nets_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

/* --- cpu_threads.c, kernel.c, lives.c, calls.c, irqs.c, perf.c, users.c ----------------------- */

struct call_record {
	uint64_t end_ns, duration_ns;
	uint32_t name, process; /* interned */
	uint32_t host;
	int32_t tid, pid;
	bool failed;
};

struct irq_record {
	uint64_t end_ns, duration_ns;
	uint64_t raised_ns; /* from raise to entry; UINT64_MAX: not seen */
	uint32_t host, cpu;
	uint32_t name; /* interned; 0: not told */
	int32_t number;
	bool soft;
};

extern const struct state_rule kernel_rules[];
extern const struct state_rule life_rules[];
extern const struct state_rule irqs_rules[];
extern const struct state_rule users_rules[];
extern const struct state_rule pages_rules[];
/* kernel.c: what an event's field says that the thread is called, if there is that field. */
void thread_take_name(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field);
/* Of system calls, found by what their names begin with. */
void calls_entry(struct state_cx *cx, const struct state_plan *plan, const struct event *event);
void calls_exit(struct state_cx *cx, const struct state_plan *plan, const struct event *event);
/* The call a thread is in has ended, or nobody will know: lets go of its entry. */
void call_close(struct state_cx *cx, struct call *call);
enum status calls_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);
enum status irqs_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

/* events.c: view->events */
enum status events_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);

/* cpu_threads.c: a CPU; NULL: the event has none, or out of memory. Its first event is noted. */
struct cpu_state *state_cpu(struct state_cx *cx, uint32_t host, uint32_t cpu);
/* What a CPU does has changed: takes down its mode and its thread's status. */
void cpu_changed(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns);
/* Nobody knows what it does from now on, until its next sched_switch. */
void cpu_forget(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns);
/* It leaves its CPU without anybody having said where to. */
void thread_lose(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);
void thread_name(struct state_cx *cx, struct thread_state *thread, uint64_t at_ns, const char *comm,
		uint32_t length);
/* thread_end.c: what it holds of others goes, its past stays; and where it is known to be dead. */
void thread_end(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);
void thread_die(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns);
/* Perf counters of an event go to who ran since the last one. */
void perf_take(struct state_cx *cx, const struct state_plan *plan, const struct event *event);

#endif
