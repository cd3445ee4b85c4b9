/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_INTERNAL_H
#define PT_STATE_INTERNAL_H

#include "pythiatop/snapshot/snapshot.h"
#include "state/state.h"
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
#define STATE_FIELDS   14
#define STATE_NO_FIELD UINT16_MAX

struct state_cx;
struct state_plan;
struct file_table; /* files.c: what a process has open; shared by its threads */
struct thread_io;  /* files.c: what a thread read and wrote */
struct files;
struct disks;
struct nets;

/* The system call that a thread is in. */
struct call {
	bool open;
	uint32_t name;   /* interned: "openat", without syscall_entry_ and compat_ */
	uint32_t type;   /* event type of the entry */
	uint64_t number; /* of the entry, in the log; held while the call is open */
	uint64_t ts_ns;
	/* A copy of the entry event's values; bytes 0: too long to keep, or inherited by fork. */
	uint32_t bytes, room;
	uint64_t *slots;
};

/* A CPU of a host, from its first kernel event on. */
enum cpu_mode {
	CPU_UNKNOWN = 0,
	CPU_IDLE,
	CPU_USER,
	CPU_SYSCALL,
	CPU_IRQ,
	CPU_SOFTIRQ,
};

/* The state's part of a thread; never NULL for threads from the calls below. */
struct thread_state {
	struct thread *thread;
	struct thread_state *prev, *next;    /* of all, living or dead, oldest first */
	uint64_t id;                         /* for focus: never reused, unlike a tid */
	uint64_t first_ns;                   /* first seen */
	uint64_t born_ns, dead_ns;           /* 0: not seen */
	uint64_t fork_number;                /* in the log, held while it lives; 0: not seen */
	uint32_t host;
	int32_t tid, pid, ppid, vtid, vpid;  /* -1: not known */
	uint32_t on_cpu;                     /* CPU_NONE: none that we know of */
	bool exited, uncertain, kernel;      /* kernel: seen in kernel events */
	uint32_t cpu_of_queue;
	struct call call;
	struct attribute status;             /* see status_pack() in kernel.h */
	struct attribute comm;               /* interned */
	struct attribute waker;              /* tid + 1 of who woke it last */
	struct attribute switches, migrations, wakeups;
	struct attribute stack;              /* depth << 32 | interned name of the innermost span */
	struct attribute *perf;              /* by index of cx->perf_names; n_perf of them */
	uint64_t *perf_last;
	uint32_t n_perf;
	struct file_table *files;            /* files.c's; on_* below keep it */
	struct thread_io *io;
};

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
	const char *names; /* "open|openat|openat2" */
	void (*end)(struct state_cx *cx, const struct call_end *end);
	const char *in[STATE_FIELDS], *out[STATE_FIELDS]; /* fields of the entry, of the exit */
};

/* By event type. */
struct state_plan {
	state_handle *handle; /* NULL: of no interest */
	uint16_t slots[STATE_FIELDS];
	uint16_t ctx_tid, ctx_pid;          /* of the kernel's contexts */
	uint16_t vtid, vpid, pid_ns, procname; /* of user-space contexts */
	uint32_t call;                      /* interned name of the system call */
	const struct call_rule *call_rule;  /* entries: slots_call are `in`; exits: `out` */
	uint16_t slots_call[STATE_FIELDS];
	uint16_t *perf;                     /* slots of perf_* contexts, by cx->perf_names */
	uint32_t n_perf;
};

struct cpu_state {
	bool known;  /* there was a kernel event */
	uint32_t softirqs; /* being served, a bit each; nested ones are possible by loss only */
	uint32_t irq_depth;
	struct thread_state *current; /* NULL: not known, or idle */
	bool idle;
	bool seen_switch;
	uint64_t irq_begin_ns[8], softirq_begin_ns[16], raised_ns[16];
	int32_t irq_number[8];
	uint64_t first_ns;
	struct attribute mode;    /* enum cpu_mode */
	struct attribute thread;  /* tid + 1 of the current thread; 0: not known */
	struct attribute frequency_khz;
};

struct host_state {
	struct cpu_state *cpus;
	uint32_t n_cpus;
	bool has_kernel, statedump;
	const char *kernel_release; /* registry's; "" */
	uint32_t runnable_bits;     /* of prev_state: that mean preempted; see kernel.c */
	bool reporting_states;      /* prev_state of Linux >= 4.14 */
	uint32_t n_alive;
	struct attribute events;    /* running total */
	uint64_t discarded;
};

struct state_cx {
	struct registry *registry;
	struct names *names;
	struct threads *threads;
	struct event_log *log;
	struct store store;
	uint64_t now_ns, window_ns;
	uint64_t number;             /* of the event being handled, in the log */
	struct host_state *hosts;    /* by registry host */
	uint32_t n_hosts;
	const struct state_plan *plans; /* by event type */
	struct files *files;         /* of files.c, disks.c, net.c: theirs alone */
	struct disks *disks;
	struct nets *nets;
	struct irqs *irqs;
	struct calls *calls;
	uint32_t perf_names[32];     /* interned */
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

/* The thread that runs on the event's CPU; NULL: not known, or the idle loop. */
struct thread_state *state_current(struct state_cx *cx, const struct event *event);
/* The thread of a host by its tid (as the kernel counts), new if it was not known. NULL: tid 0,
 * or out of memory. */
struct thread_state *state_thread(struct state_cx *cx, uint32_t host, int64_t tid);
/* The same, NULL if it is not known. */
struct thread_state *state_find_thread(struct state_cx *cx, uint32_t host, int64_t tid);
/* The name of its process at an instant, "" if not known. */
const char *state_process_name(
                const struct state_cx *cx, const struct thread_state *thread, uint64_t at_ns);

/* --- what the other files do; called by state.c ---------------------------------------------- */

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
void files_on_free(struct state_cx *cx, struct thread_state *thread); /* dead: lets go of fds */
void files_on_forget(struct state_cx *cx, struct thread_state *thread); /* its memory goes */
/* Events of a CPU (CPU_NONE: of any) of a host were lost until now. */
void files_on_loss(struct state_cx *cx, uint32_t host, uint32_t cpu, const struct loss *loss);
/* Forgets what ended before cx->store.horizon_ns. */
void files_expire(struct state_cx *cx);
/* view->fds; and for view->threads, one call each. The window is (from_ns, at_ns]. */
enum status files_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
                uint64_t at_ns, struct snapshot *snapshot);
void files_fill_thread(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
                uint64_t at_ns, struct state_thread *out);
uint32_t files_count_open(const struct state_cx *cx, uint32_t host, uint64_t at_ns);
/* What the fd of a thread's call is now: for what it is blocked on. */
enum fd_kind files_kind(const struct state_cx *cx, const struct thread_state *thread, int32_t fd);
/* Disk and network bytes of a thread in (from, to], added to *out. */
void files_add_resources(struct state_cx *cx, const struct thread_state *thread,
                uint64_t from_ns, uint64_t to_ns, struct state_resources *out);

/* disks.c */
extern const struct state_rule disks_rules[];
bool disks_create(struct state_cx *cx);
void disks_destroy(struct state_cx *cx);
void disks_expire(struct state_cx *cx);
enum status disks_fill(struct state_cx *cx, uint64_t from_ns, uint64_t at_ns,
                struct snapshot *snapshot);

/* net.c */
extern const struct state_rule nets_rules[];
bool nets_create(struct state_cx *cx);
void nets_destroy(struct state_cx *cx);
void nets_expire(struct state_cx *cx);
enum status nets_fill(struct state_cx *cx, uint64_t from_ns, uint64_t at_ns,
                struct snapshot *snapshot);

/* irqs.c */
extern const struct state_rule irqs_rules[];

#endif
