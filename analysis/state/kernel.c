/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/internal.h"
#include "state/socket_table.h"

/*
 * Linux' scheduler, as its events tell: who runs on a CPU, who waits for one, who is blocked and
 * on what. (The states and their transitions are those of Trace Compass' kernel model, Ezzati-
 * Jivan, Montplaisir, Dagenais.)
 */

#define CLONE_FILES     0x400u
#define COMM_LENGTH     15u
#define KTHREADD        2
#define SOFTIRQ_NET_TX  2
#define SOFTIRQ_NET_RX  3
#define SOFTIRQ_BLOCK   4
#define SOFTIRQ_TIMER   1
#define SOFTIRQ_HRTIMER 8
#define WAKER_TOLD_NS   UINT64_C(50000) /* from who wakes a thread to that it is woken, at most */

/* --- sched_switch ---------------------------------------------------------------------------- */

/* What prev_state says (-1: not told): the meaning of its bits depends on the kernel. */
static enum thread_status status_after(const struct switch_states *states, int64_t prev_state)
{
	if (prev_state < 0) {
		return THREAD_UNKNOWN;
	}
	if (prev_state == 0 || (prev_state & states->preempted)) {
		return THREAD_WAIT_CPU;
	}
	return prev_state & states->dead ? THREAD_DEAD : THREAD_BLOCKED;
}

/* Names of calls that tell what they wait for by themselves. */
static bool is_one_of(const char *name, const char *const *names)
{
	uint32_t i;

	for (i = 0; names[i]; i++) {
		if (strcmp(name, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

static enum wait_kind wait_of_fd(struct state_cx *cx, const struct thread_state *thread)
{
	const struct call *call = &thread->call;
	uint16_t slot = cx->plans[call->type].fd_slot;

	if (call->bytes == 0 || slot == STATE_NO_FIELD) {
		return WAIT_OTHER;
	}
	switch (files_kind(cx, thread, (int32_t)call->slots[slot])) {
	case FD_FILE:
		return WAIT_DISK;
	case FD_SOCKET:
		return WAIT_NET;
	default:
		return WAIT_OTHER;
	}
}

/*
 * What a thread that blocks in a call waits for, as far as the call tells; who wakes it will tell
 * more, where the call leaves it open.
 */
static enum wait_kind wait_of(struct state_cx *cx, const struct thread_state *thread)
{
	static const char *const locks[] = {"futex", "futex_waitv", "futex_time64", "semop",
			"semtimedop", "flock", NULL};
	static const char *const timers[] = {
			"nanosleep", "clock_nanosleep", "clock_nanosleep_time64", NULL};
	static const char *const disks[] = {"fsync", "fdatasync", "sync", "syncfs",
			"sync_file_range", "msync", "readahead", NULL};
	static const char *const nets[] = {"recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg",
			"sendmmsg", "accept", "accept4", "connect", NULL};
	const char *name;

	if (!thread->call.open) {
		return WAIT_OTHER;
	}
	name = names_text(cx->names, thread->call.name);
	return is_one_of(name, locks)    ? WAIT_LOCK
	       : is_one_of(name, timers) ? WAIT_TIMER
	       : is_one_of(name, disks)  ? WAIT_DISK
	       : is_one_of(name, nets)   ? WAIT_NET
					 : wait_of_fd(cx, thread);
}

static void switch_out(struct state_cx *cx, struct host_state *host, struct thread_state *prev,
		int64_t prev_state, uint64_t now_ns)
{
	struct thread_what what = {.status = status_after(&host->states, prev_state),
			.syscall = prev->call.open ? prev->call.name : 0};

	if (what.status == THREAD_BLOCKED) {
		what.wait = wait_of(cx, prev);
		prev->call.slept = true;
	}
	prev->on_cpu = CPU_NONE;
	attribute_set(&cx->store, &prev->status, now_ns, what_pack(what));
}

/* What it served of a softirq so far. */
static void switch_softirq_out(
		const struct cpu_state *cpu, struct thread_state *prev, uint64_t now_ns)
{
	struct thread_softirq *softirq = &prev->softirq;

	if (cpu->softirq_depth > 0) {
		*softirq = (struct thread_softirq){.open = true,
				.number = cpu->softirq,
				.ran_ns = now_ns - cpu->softirq_begin_ns,
				.wait_ns = cpu->softirq_wait_ns};
	} else if (softirq->open) {
		softirq->ran_ns += now_ns - softirq->since_ns;
	}
}

/* A thread runs on one CPU: where it was on another, events of that one were lost. */
static void switch_in(struct state_cx *cx, uint32_t host, uint32_t cpu_number,
		struct thread_state *next, uint64_t now_ns)
{
	if (next->on_cpu != CPU_NONE && next->on_cpu != cpu_number) {
		struct cpu_state *other = state_cpu(cx, host, next->on_cpu);

		if (other && other->current == next) {
			cpu_forget(cx, other, now_ns);
		}
	}
	next->on_cpu = cpu_number;
}

static void take_prio(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field)
{
	if (has_field(plan, field)) {
		uint64_t prio = PRIO_KNOWN | (uint32_t)event->slots[plan->slots[field]];

		attribute_set(&cx->store, &thread->prio, event->ts_ns, prio);
	}
}

static void take_name(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field)
{
	uint32_t length;
	const char *comm;

	if (!has_field(plan, field)) {
		return;
	}
	comm = event_bytes(event, plan->slots[field], &length);
	if (comm) {
		thread_name(cx, thread, event->ts_ns, comm, length);
	}
}

enum {
	SWITCH_PREV,
	SWITCH_NEXT,
	SWITCH_STATE,
	SWITCH_PREV_COMM,
	SWITCH_NEXT_COMM,
	SWITCH_PREV_PRIO,
	SWITCH_NEXT_PRIO
};

/* NULL: nobody that can be kept. */
static void take_cpu(struct state_cx *cx, uint32_t host, const struct event *event,
		struct cpu_state *cpu, struct thread_state *next, int64_t next_tid)
{
	if (next) {
		switch_in(cx, host, event->cpu, next, event->ts_ns);
		next->softirq.since_ns = event->ts_ns;
	}
	/* Interrupts do not switch: what is still open here lost its exit. A softirq goes with its
	 * thread, and where it really lost its exit nothing comes of that. */
	cpu->irq_depth = cpu->softirq_depth = 0;
	cpu->in_timer = false;
	cpu->current = next;
	cpu->idle = next_tid == 0;
	threads_switch(cx->threads, host, event->cpu,
			thread_host_key((uint64_t)next_tid, event->cpu));
	attribute_set(&cx->store, &cpu->running, event->ts_ns, (uint64_t)next_tid + 1);
	cpu_changed(cx, cpu, event->ts_ns);
}

static void sched_switch(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t prev_tid = field_int(plan, event, SWITCH_PREV, 0);
	int64_t next_tid = field_int(plan, event, SWITCH_NEXT, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *prev = state_thread(cx, host, prev_tid);
	struct thread_state *next;

	if (!cpu) {
		return;
	}
	if (cpu->current ? cpu->current != prev : cpu->idle && prev) {
		sockets_miss(cx, host);
	}
	if (cpu->current && cpu->current != prev) {
		thread_lose(cx, cpu->current, event->ts_ns);
	}
	cpu->current = NULL;
	if (prev) {
		switch_softirq_out(cpu, prev, event->ts_ns);
		take_name(cx, prev, plan, event, SWITCH_PREV_COMM);
		take_prio(cx, prev, plan, event, SWITCH_PREV_PRIO);
		switch_out(cx, &cx->hosts[host], prev, field_int(plan, event, SWITCH_STATE, -1),
				event->ts_ns);
	}
	next = state_thread(cx, host, next_tid);
	if (next) {
		take_name(cx, next, plan, event, SWITCH_NEXT_COMM);
		take_prio(cx, next, plan, event, SWITCH_NEXT_PRIO);
	}
	if (cpu->running.value == 0) {
		attribute_mark(&cx->store, &cpu->taken_from, event->ts_ns, (uint64_t)prev_tid + 1);
	}
	take_cpu(cx, host, event, cpu, next, next_tid);
}

/* --- wake-ups -------------------------------------------------------------------------------- */

enum { WAKE_TID, WAKE_COMM, WAKE_PRIO, WAKE_TARGET };

/* Whom the interrupt or timer on the waker's CPU works for. */
static enum wait_kind waker_kind(const struct cpu_state *cpu)
{
	if (cpu->in_timer) {
		return WAIT_TIMER;
	}
	if (cpu->irq_depth > 0 || cpu->softirq_depth == 0) {
		return WAIT_OTHER;
	}
	switch (cpu->softirq) {
	case SOFTIRQ_NET_TX:
	case SOFTIRQ_NET_RX:
		return WAIT_NET;
	case SOFTIRQ_BLOCK:
		return WAIT_DISK;
	case SOFTIRQ_TIMER:
	case SOFTIRQ_HRTIMER:
		return WAIT_TIMER;
	default:
		return WAIT_OTHER;
	}
}

/* What the call left open, the context of the wake-up tells. */
static void refine_wait(struct thread_state *thread, enum wait_kind kind)
{
	struct thread_what what = what_unpack(thread->status.value);

	if (what.status == THREAD_BLOCKED && what.wait == WAIT_OTHER && kind != WAIT_OTHER) {
		what.wait = kind;
		thread->status.value = what_pack(what);
	}
}

static struct thread_state *woken(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	struct thread_state *thread = state_thread(cx, host, field_int(plan, event, WAKE_TID, 0));
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);

	if (thread && cpu) {
		take_name(cx, thread, plan, event, WAKE_COMM);
		take_prio(cx, thread, plan, event, WAKE_PRIO);
		refine_wait(thread, waker_kind(cpu));
	}
	return thread;
}

static enum interrupt_kind interrupt_of(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_DISK:
		return INTERRUPT_DISK;
	case WAIT_NET:
		return INTERRUPT_NETWORK;
	case WAIT_TIMER:
		return INTERRUPT_TIMER;
	default:
		return INTERRUPT_OTHER;
	}
}

/*
 * The interrupt that wakes a thread. INTERRUPT_NONE: whoever runs does it; so in a softirq for the
 * network that received nothing from outside, as what stays on the host is received while it is
 * sent.
 */
static enum interrupt_kind waking_interrupt(const struct cpu_state *cpu)
{
	enum wait_kind kind = waker_kind(cpu);
	bool nobody = cpu->running.value == 1; /* tid 0 */
	bool softly = cpu->irq_depth == 0 &&
		      (kind == WAIT_DISK || kind == WAIT_TIMER ||
				      (kind == WAIT_NET && cpu->from_outside));

	return cpu->irq_depth > 0 || cpu->in_timer || softly || nobody ? interrupt_of(kind)
								       : INTERRUPT_NONE;
}

/*
 * Who runs when an interrupt or a timer wakes a thread has nothing to do with it. Where only some
 * processes are recorded, the recorder tells who wakes theirs.
 */
static void set_waker(struct state_cx *cx, struct thread_state *thread, const struct event *event)
{
	const struct thread_state *waker = state_current(cx, event);
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);
	enum interrupt_kind kind = cpu ? waking_interrupt(cpu) : INTERRUPT_NONE;
	bool told = waker && waker != thread && cpu && kind == INTERRUPT_NONE;
	uint64_t value = waker_pack(told ? waker->tid : -1, kind);

	if (cpu && cpu->waker) {
		value = event->ts_ns - cpu->waker_ns < WAKER_TOLD_NS ? cpu->waker : value;
		cpu->waker = 0;
	}
	if (waker_interrupt(value) == INTERRUPT_OTHER) {
		/* The call tells, in which the thread is blocked. */
		value = waker_pack(-1, interrupt_of(what_unpack(thread->status.value).wait));
	}
	attribute_set(&cx->store, &thread->waker, event->ts_ns, value);
}

static void enqueue(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns)
{
	struct thread_what what = what_unpack(thread->status.value);

	if (thread->on_cpu == CPU_NONE && what.status != THREAD_WAIT_CPU) {
		what.status = THREAD_WAIT_CPU;
		what.wait = WAIT_OTHER;
		what.woken = true;
		attribute_set(&cx->store, &thread->status, now_ns, what_pack(what));
	}
}

/*
 * It is woken, on the waker's CPU: from now on it waits for a CPU only. sched_wakeup comes when it
 * is on a run queue, maybe later and on that queue's CPU; it counts where sched_waking is missing.
 */
static void sched_waking(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = woken(cx, plan, event);

	if (thread) {
		set_waker(cx, thread, event);
		enqueue(cx, thread, event->ts_ns);
	}
}

static void sched_wakeup(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = woken(cx, plan, event);

	if (thread) {
		if (!cx->has_waking) {
			set_waker(cx, thread, event);
		}
		enqueue(cx, thread, event->ts_ns);
	}
}

enum { MIGRATE_TID, MIGRATE_COMM, MIGRATE_FROM };

static void sched_migrate(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_thread(
			cx, event_host(cx, event), field_int(plan, event, MIGRATE_TID, 0));

	if (thread) {
		take_name(cx, thread, plan, event, MIGRATE_COMM);
		attribute_add(&cx->store, &thread->migrations, event->ts_ns, 1);
		if (has_field(plan, MIGRATE_FROM)) {
			attribute_mark(&cx->store, &thread->moved_from, event->ts_ns,
					event->slots[plan->slots[MIGRATE_FROM]] + 1);
		}
	}
}

static void sched_setprio(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread) {
		take_prio(cx, thread, plan, event, 1);
	}
}

/* --- birth and death ------------------------------------------------------------------------- */

enum { FORK_PARENT, FORK_CHILD, FORK_PARENT_PID, FORK_CHILD_PID, FORK_COMM, FORK_NS, FORK_VTIDS };

/* The child returns from the call that its parent is in. */
static void inherit_call(struct thread_state *parent, struct thread_state *child, uint64_t now_ns)
{
	if (parent->call.open) {
		child->call.open = true;
		child->call.inherited = true;
		child->call.name = parent->call.name;
		child->call.type = parent->call.type;
		child->call.ts_ns = now_ns;
	}
}

/* The flags of the call that makes it, where its entry was kept and has them. */
static uint64_t clone_flags(
		struct state_cx *cx, const struct thread_state *parent, bool same_process)
{
	const struct call *call = &parent->call;
	bool is_clone = strcmp(names_text(cx->names, call->name), "clone") == 0;

	if (call->open && call->bytes > 0) {
		const struct event_type *type = &cx->registry->types[call->type];
		uint32_t i;

		for (i = 0; i < type->n_fields; i++) {
			const struct field *field = &type->fields[i];

			if (field->kind <= FIELD_INT &&
					(strcmp(field->name, "clone_flags") == 0 ||
							(is_clone && strcmp(field->name, "flags") ==
											0))) {
				return call->slots[i];
			}
		}
	}
	return same_process ? CLONE_FILES : 0;
}

/* In another pid namespace it has another tid: that is what its user-space events carry. */
static void take_namespace(
		struct state_cx *cx, struct thread_state *thread, uint64_t space, uint64_t vtid)
{
	thread->vtid = (int32_t)vtid;
	if (space != THREAD_HOST_NS && vtid != 0) {
		threads_alias(cx->threads, thread->host, thread_ns_key(space, vtid),
				thread_host_key((uint64_t)thread->tid, 0));
	}
}

/* The innermost vtid of a fork: the last number of an array. */
static uint64_t last_number(const struct event *event, uint16_t slot)
{
	uint32_t length, header[2];
	const char *tree = event_bytes(event, slot, &length);
	uint64_t value = 0;

	if (!tree || length < sizeof(header)) {
		return 0;
	}
	memcpy(header, tree, sizeof(header));
	if (header[0] != TREE_ARRAY || header[1] == 0 ||
			length < sizeof(header) + (uint64_t)header[1] * 16) {
		return 0;
	}
	memcpy(&value, tree + sizeof(header) + (size_t)header[1] * 16 - 8, sizeof(value));
	return value;
}

static void sched_fork(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t child_tid = field_int(plan, event, FORK_CHILD, 0);
	struct thread_state *parent =
			state_thread(cx, host, field_int(plan, event, FORK_PARENT, 0));
	struct thread_state *child = state_find_thread(cx, host, child_tid);

	if (child) { /* its tid begins anew: the old one's end was not seen */
		thread_die(cx, child, event->ts_ns);
	}
	child = state_thread(cx, host, child_tid);
	if (!child) {
		return;
	}
	child->born_ns = event->ts_ns;
	child->thread->pid = child->pid = (int32_t)field_int(plan, event, FORK_CHILD_PID, -1);
	take_name(cx, child, plan, event, FORK_COMM);
	attribute_set(&cx->store, &child->status, event->ts_ns, THREAD_WAIT_FORK);
	child->fork_number = cx->number;
	log_hold(cx->log, cx->number);
	if (has_field(plan, FORK_NS) && has_field(plan, FORK_VTIDS)) {
		take_namespace(cx, child, (uint64_t)field_int(plan, event, FORK_NS, 0),
				last_number(event, plan->slots[FORK_VTIDS]));
	}
	if (parent) {
		bool same;

		if (parent->pid < 0) {
			parent->thread->pid = parent->pid =
					(int32_t)field_int(plan, event, FORK_PARENT_PID, -1);
		}
		same = child->pid >= 0 && child->pid == parent->pid;
		child->ppid = same ? parent->ppid : parent->pid;
		child->kthread = parent->tid == KTHREADD;
		if (!same) {
			threads_bear_process(cx->threads, host, child->pid, parent->pid,
					parent->call.open ? parent->call.name : 0);
		}
		inherit_call(parent, child, event->ts_ns);
		files_on_fork(cx, parent, child, clone_flags(cx, parent, same));
	}
}

enum { EXEC_TID, EXEC_OLD_TID, EXEC_FILENAME };

/*
 * A thread other than the first of its process takes over the tid of that one, which ends with all
 * others of the process.
 */
static struct thread_state *take_over(struct state_cx *cx, struct thread_state *old, int64_t tid,
		const struct event *event)
{
	struct thread_state *leader = state_find_thread(cx, old->host, tid), *thread;
	uint32_t cpu_number = old->on_cpu;
	struct cpu_state *cpu;

	if (leader) {
		thread_die(cx, leader, event->ts_ns);
	}
	thread = state_thread(cx, old->host, tid);
	if (!thread) {
		return NULL;
	}
	thread->pid = thread->thread->pid = (int32_t)tid;
	thread->ppid = old->ppid;
	files_on_fork(cx, old, thread, CLONE_FILES);
	thread->call = old->call; /* it is in the execve of the old one */
	old->call = (struct call){.open = false};
	old->on_cpu = CPU_NONE;
	cpu = cpu_number != CPU_NONE ? state_cpu(cx, old->host, cpu_number) : NULL;
	if (cpu && cpu->current == old) {
		cpu->current = thread;
		thread->on_cpu = cpu_number;
		threads_switch(cx->threads, old->host, cpu_number,
				thread_host_key((uint64_t)tid, cpu_number));
		attribute_set(&cx->store, &cpu->running, event->ts_ns, (uint64_t)tid + 1);
	}
	thread_die(cx, old, event->ts_ns);
	if (cpu) {
		cpu_changed(cx, cpu, event->ts_ns);
	}
	return thread;
}

static void sched_exec(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	int64_t tid = field_int(plan, event, EXEC_TID, 0);
	int64_t old_tid = field_int(plan, event, EXEC_OLD_TID, tid);
	struct thread_state *thread = state_thread(cx, event_host(cx, event), old_tid);
	const char *path, *base;
	uint32_t length, i;

	if (thread && tid != old_tid) {
		thread = take_over(cx, thread, tid, event);
	}
	if (!thread) {
		return;
	}
	path = has_field(plan, EXEC_FILENAME)
			       ? event_bytes(event, plan->slots[EXEC_FILENAME], &length)
			       : NULL;
	if (path) {
		base = path;
		for (i = 0; i < length; i++) {
			if (path[i] == '/') {
				base = path + i + 1;
			}
		}
		length -= (uint32_t)(base - path);
		thread_name(cx, thread, event->ts_ns, base,
				length > COMM_LENGTH ? COMM_LENGTH : length);
	}
	files_on_exec(cx, thread);
}

static void sched_exit(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread) {
		thread->exited = true;
	}
}

/* A tid may be given anew before the kernel frees its last owner: that one's end is not ours. */
static void sched_free(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_find_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread && (thread->exited || thread->born_ns == 0) && thread->on_cpu == CPU_NONE) {
		thread_die(cx, thread, event->ts_ns);
	}
}

static void power_frequency(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = state_cpu(
			cx, event_host(cx, event), (uint32_t)field_int(plan, event, 1, event->cpu));

	if (cpu) {
		attribute_set(&cx->store, &cpu->frequency_khz, event->ts_ns,
				event->slots[plan->slots[0]]);
	}
}

/* The recorder tells nothing more of the CPU until it runs a process that is recorded. */
static void cpu_left(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);

	(void)plan;
	if (cpu) {
		cpu_forget(cx, cpu, event->ts_ns);
	}
}

/* A thread runs that the CPU was not told to run: since when, nobody knows. */
static void cpu_taken(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t tid = field_int(plan, event, 0, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *thread = state_thread(cx, host, tid);

	if (!cpu || !thread || cpu->current == thread) {
		return;
	}
	if (cpu->current) {
		thread_lose(cx, cpu->current, event->ts_ns);
	}
	take_name(cx, thread, plan, event, 1);
	take_cpu(cx, host, event, cpu, thread, tid);
}

enum { WAKER_TID, WAKER_COMM, WAKER_INTERRUPT };

/* Who is about to wake a thread, on a CPU of which the recorder has not told whom it runs. */
static void told_waker(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	/* In the order of events.def of the probe. */
	static const enum interrupt_kind kinds[] = {INTERRUPT_NONE, INTERRUPT_TIMER, INTERRUPT_DISK,
			INTERRUPT_NETWORK, INTERRUPT_OTHER};
	uint32_t host = event_host(cx, event);
	int64_t tid = field_int(plan, event, WAKER_TID, -1);
	uint64_t kind = (uint64_t)field_int(plan, event, WAKER_INTERRUPT, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *thread = tid > 0 ? state_thread(cx, host, tid) : NULL;

	if (thread) {
		take_name(cx, thread, plan, event, WAKER_COMM);
	}
	if (cpu) {
		cpu->waker = waker_pack(thread ? thread->tid : -1,
				kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind]
									: INTERRUPT_OTHER);
		cpu->waker_ns = event->ts_ns;
	}
}

const struct state_rule kernel_rules[] = {
		{.names = "sched_switch",
				.handle = sched_switch,
				.fields = {"prev_tid|prev_pid", "next_tid|next_pid", "prev_state",
						"prev_comm", "next_comm", "prev_prio", "next_prio"},
				.required = 2},
		{.names = "pythiatop_cpu_left", .handle = cpu_left},
		{.names = "pythiatop_cpu_taken",
				.handle = cpu_taken,
				.fields = {"tid", "comm"},
				.required = 1},
		{.names = "pythiatop_waker",
				.handle = told_waker,
				.fields = {"tid", "comm", "interrupt"},
				.required = 1},
		{.names = "sched_waking",
				.handle = sched_waking,
				.fields = {"tid|pid", "comm", "prio", "target_cpu"},
				.required = 1},
		{.names = "sched_wakeup|sched_wakeup_new",
				.handle = sched_wakeup,
				.fields = {"tid|pid", "comm", "prio", "target_cpu"},
				.required = 1},
		{.names = "sched_migrate_task",
				.handle = sched_migrate,
				.fields = {"tid|pid", "comm", "orig_cpu"},
				.required = 1},
		{.names = "sched_pi_setprio",
				.handle = sched_setprio,
				.fields = {"tid|pid", "newprio"},
				.required = 2},
		{.names = "sched_process_fork",
				.handle = sched_fork,
				.fields = {"parent_tid", "child_tid", "parent_pid", "child_pid",
						"child_comm", "child_ns_inum|ns_inum", "vtids"},
				.required = 2},
		{.names = "sched_process_exec",
				.handle = sched_exec,
				.fields = {"tid|pid", "old_tid|old_pid", "filename"},
				.required = 1},
		{.names = "sched_process_exit",
				.handle = sched_exit,
				.fields = {"tid|pid"},
				.required = 1},
		{.names = "sched_process_free",
				.handle = sched_free,
				.fields = {"tid|pid"},
				.required = 1},
		{.names = "power_cpu_frequency|cpu_frequency",
				.handle = power_frequency,
				.fields = {"state|frequency", "cpu_id|cpu"},
				.required = 1},
		{.names = NULL},
};

/* --- what was there before ------------------------------------------------------------------- */

enum {
	DUMP_TID,
	DUMP_PID,
	DUMP_PPID,
	DUMP_VTID,
	DUMP_VPID,
	DUMP_NAME,
	DUMP_TYPE,
	DUMP_NS,
	DUMP_TABLE
};

/* Fills only what is missing: what was observed since is newer than the list. */
static void dump_process(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_thread(
			cx, event_host(cx, event), field_int(plan, event, DUMP_TID, 0));
	uint32_t made_in;

	if (!thread) {
		return;
	}
	cx->hosts[thread->host].statedump = true;
	if (thread->pid < 0) {
		thread->pid = thread->thread->pid = (int32_t)field_int(plan, event, DUMP_PID, -1);
	}
	if (thread->ppid < 0) {
		thread->ppid = (int32_t)field_int(plan, event, DUMP_PPID, -1);
	}
	if (thread->vpid < 0) {
		thread->vpid = (int32_t)field_int(plan, event, DUMP_VPID, -1);
	}
	if (thread->vtid < 0 && has_field(plan, DUMP_NS) && has_field(plan, DUMP_VTID)) {
		take_namespace(cx, thread, (uint64_t)field_int(plan, event, DUMP_NS, 0),
				(uint64_t)field_int(plan, event, DUMP_VTID, 0));
	}
	if (thread->comm.value == 0) {
		take_name(cx, thread, plan, event, DUMP_NAME);
	}
	if (thread->pid >= 0 && thread->ppid >= 0 &&
			!threads_is_child(cx->threads, thread->host, thread->pid, thread->ppid,
					&made_in)) {
		threads_bear_process(cx->threads, thread->host, thread->pid, thread->ppid, 0);
	}
	if (field_int(plan, event, DUMP_TYPE, 0) == 1 && !thread->kthread) {
		thread->kthread = true;
	}
	files_on_statedump(cx, thread, (uint64_t)field_int(plan, event, DUMP_TABLE, 0));
}

/* From lttng-modules 2.12 on, one for each pid namespace that the process is in. */
static void dump_pid_ns(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));
	uint64_t space = (uint64_t)field_int(plan, event, 3, 0);

	if (!thread) {
		return;
	}
	if (space != THREAD_HOST_NS && thread->vtid < 0) {
		thread->vpid = (int32_t)field_int(plan, event, 2, -1);
	}
	if (space != THREAD_HOST_NS) {
		take_namespace(cx, thread, space, (uint64_t)field_int(plan, event, 1, 0));
	}
}

const struct state_rule dump_rules[] = {
		{.names = "lttng_statedump_process_state",
				.handle = dump_process,
				.fields = {"tid", "pid", "ppid", "vtid", "vpid", "name", "type",
						"ns_inum", "file_table_address"},
				.required = 2},
		{.names = "lttng_statedump_process_pid_ns",
				.handle = dump_pid_ns,
				.fields = {"tid", "vtid", "vpid", "ns_inum"},
				.required = 4},
		{.names = NULL},
};
